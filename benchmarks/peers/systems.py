"""The systems that are compared, our models and their peers, and how each is trained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..lib.machine import is_installed
from ..lib.package import WITHOUT_PENALTY
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path


@dataclass(frozen=True)
class TrainingSetup:
    """What the training of every system gets besides its own settings.

    train, dev: corpora without suffix; each is there as `.spacy` and as `.tsv`. models: folder.
    threads: of our models; peers have one. lang, ner_reader: of the pipeline of spaCy's `ner`.
    others: further corpora that models are scored on, whose words have vectors, too.
    """

    runner: TaskRunner
    train: Path
    dev: Path
    models: Path
    threads: int
    peer_iterations: int
    ner_seconds: float
    ner_evaluations: int = 10
    lang: str = "en"
    ner_reader: Mapping[str, Any] = field(default_factory=lambda: {"@readers": "spacy.Corpus.v1"})
    others: Sequence[str] = ()

    def corpora(self, suffix: str) -> dict[str, str]:
        return {"train": f"{self.train}{suffix}", "dev": f"{self.dev}{suffix}"}


@dataclass(frozen=True)
class System(ABC):
    """A system that is compared. name: in commands and results. title: in tables."""

    name: str
    title: str

    reader = "spacy"
    """How its model is loaded: by `spacy`, or with features of python-crfsuite."""
    package = "spacy"
    """The distribution that the system needs."""
    has_words = False
    """Whether it has word knowledge that its corpus does not give."""

    def model(self, models: Path) -> Path:
        return models / self.name

    @abstractmethod
    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train the system, and keep the model of the first repeat."""

    def _model_of(self, setup: TrainingSetup, repeat: int) -> str:
        path = self.model(setup.models)
        return str(path.with_name(f"{path.name}-{repeat}") if repeat else path)

    def seconds(self, result: Result) -> float:
        """Seconds of the whole training, without reading files and scoring."""
        return float(result["seconds"])

    def series(self, result: Result) -> list[tuple[float, float]]:
        """F1 on dev by seconds since the beginning."""
        return [(seconds, f1) for seconds, _, f1 in result["series"]]

    def settings(self, setup: TrainingSetup) -> Result:
        """What a training depends on besides its corpus."""
        return {}


@dataclass(frozen=True)
class Ours(System):
    """A config of ours. overrides: other settings."""

    config: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train with spaCy's own loop."""
        arguments = {
            "config": str(config_path(self.config)),
            **setup.corpora(".spacy"),
            "model": self._model_of(setup, repeat),
            "threads": setup.threads,
            "overrides": dict(self.overrides),
        }
        task = "lib.training:train_as_configured"
        return setup.runner.run(task, arguments, cores=setup.threads, repeat=repeat)


@dataclass(frozen=True)
class CrfSuite(System):
    """python-crfsuite with the templates of our one-phase models.

    min_count: how often a feature occurs at least in the training corpus.
    """

    algorithm: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    min_count: int = 1

    reader = "crfsuite"
    package = "python-crfsuite"

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train on columns, in a process without spaCy."""
        arguments = {
            **setup.corpora(".tsv"),
            "model": self._model_of(setup, repeat),
            "algorithm": self.algorithm,
            "parameters": self.all_parameters(setup),
            "min_count": self.min_count,
            "features": self.reader,
        }
        return setup.runner.run("peers.crfsuite:train_crfsuite", arguments, repeat=repeat)

    def all_parameters(self, setup: TrainingSetup) -> dict[str, Any]:
        """The parameters with the limit of iterations, which only L-BFGS has."""
        limit = {"max_iterations": setup.peer_iterations} if self.algorithm == "lbfgs" else {}
        return {**limit, **self.parameters}

    def settings(self, setup: TrainingSetup) -> Result:
        return {
            "algorithm": self.algorithm,
            "min_count": self.min_count,
            **self.all_parameters(setup),
        }

    def seconds(self, result: Result) -> float:
        return float(result["features_seconds"] + result["training_seconds"])

    def series(self, result: Result) -> list[tuple[float, float]]:
        """The end of training only: crfsuite does not show F1 before."""
        return [(self.seconds(result), result["f1"])]


@dataclass(frozen=True)
class CrfSuiteWithClusters(CrfSuite):
    """python-crfsuite with word clusters besides."""

    reader = "crfsuite_clusters"
    has_words = True


@dataclass(frozen=True)
class SpacyNer(System):
    """spaCy's `ner`, which has a fixed time for training."""

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train, and keep the best pipeline of several evaluations."""
        arguments = {
            **setup.corpora(".spacy"),
            "model": self._model_of(setup, repeat),
            "seconds": setup.ner_seconds,
            "evaluations": setup.ner_evaluations,
            "lang": setup.lang,
            "reader": dict(setup.ner_reader),
        }
        return setup.runner.run("peers.spacy_ner:train_spacy_ner_for", arguments, repeat=repeat)

    def settings(self, setup: TrainingSetup) -> Result:
        return {"processor_seconds": setup.ner_seconds, "evaluations": setup.ner_evaluations}


@dataclass(frozen=True)
class PatientNer(System):
    """spaCy's `ner` as `spacy train` trains it: until F1 on dev has not risen for a while.

    optimize: of its configuration, `efficiency` or `accuracy`, whose patience it has.
    """

    optimize: str = "efficiency"

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train with spaCy's own loop, in a time without limit."""
        run, model = setup.runner.run, self._model_of(setup, repeat)
        corpora = setup.corpora(".spacy")
        arguments = {
            "output": f"{model}.cfg",
            **corpora,
            "lang": setup.lang,
            "optimize": self.optimize,
            "reader": dict(setup.ner_reader),
            "vectors": self._vectors(setup, model),
        }
        run("peers.spacy_ner:write_ner_config", arguments)
        task = {"config": arguments["output"], **corpora, "model": model}
        return run("lib.training:train_as_configured", task, repeat=repeat)

    def _vectors(self, setup: TrainingSetup, model: str) -> str | None:
        """The pipeline whose vectors it has; none."""
        return None

    def settings(self, setup: TrainingSetup) -> Result:
        return {"optimize": self.optimize}


@dataclass(frozen=True)
class NerWithVectors(PatientNer):
    """The same with word vectors."""

    has_words = True

    def _vectors(self, setup: TrainingSetup, model: str) -> str:
        """Those of all words of the corpora that the model will meet."""
        output = f"{model}-vectors"
        sources = [*setup.corpora(".spacy").values(), *setup.others]
        arguments = {"sources": sources, "output": output, "lang": setup.lang}
        setup.runner.run("peers.spacy_ner:write_vectors", arguments)
        return output


OURS: tuple[Ours, ...] = (
    Ours("crf", "CRF, one phase", "crf.cfg"),
    Ours("crf_online", "CRF, one phase, online", "crf_online.cfg"),
    Ours("crf_crf", "CRF + CRF", "icrf.cfg", WITHOUT_PENALTY),
    Ours("icrf", "ICRF", "icrf.cfg"),
    Ours("memb", "MEMB", "memb.cfg"),
    Ours("ocr", "OCR", "ocr.cfg"),
)
PEERS: tuple[System, ...] = (
    CrfSuite(
        "crfsuite", "python-crfsuite, L-BFGS", algorithm="lbfgs", parameters={"c1": 0.0, "c2": 1.0}
    ),
    CrfSuite(
        "crfsuite_pa", "python-crfsuite, PA", algorithm="pa", parameters={"type": 1, "c": 1.0}
    ),
    SpacyNer("ner", "spaCy ner"),
)
SYSTEMS: dict[str, System] = {system.name: system for system in (*OURS, *PEERS)}


def missing(systems: Iterable[System]) -> dict[str, str]:
    """A line for each system whose package is not installed."""
    return {
        system.name: f"{system.title} is left out: {system.package} is not installed. "
        'Add it with pip install "spacy-cascade[bench]".'
        for system in systems
        if not is_installed(system.package)
    }
