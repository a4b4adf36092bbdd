"""What is compared: our models and their peers, and how each is trained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import CONFIGS
from measure import Laboratory, Result, is_installed


@dataclass(frozen=True)
class Setting:
    """What a training gets besides its own settings.

    train, dev: corpora without ending, each there as `.spacy` and as `.tsv`. models: folder.
    threads: of our models; peers have one.
    """

    laboratory: Laboratory
    train: Path
    dev: Path
    models: Path
    threads: int
    peer_iterations: int
    ner_seconds: float
    ner_evaluations: int = 10

    def corpora(self, ending: str) -> dict[str, str]:
        """Both corpora in one format."""
        return {"train": f"{self.train}{ending}", "dev": f"{self.dev}{ending}"}


@dataclass(frozen=True)
class Contender(ABC):
    """One of those that are compared; `name` tells it apart, `title` is for people."""

    name: str
    title: str

    reader = "spacy"
    """How its model is read: `spacy` or `crfsuite`."""
    package = "spacy"
    """The distribution that it needs."""

    def model(self, models: Path) -> Path:
        """Where its trained model is kept."""
        return models / self.name

    @abstractmethod
    def train(self, setting: Setting, repeat: int) -> Result:
        """Train it, and keep the model of the first repeat."""

    def _model_of(self, setting: Setting, repeat: int) -> str:
        path = self.model(setting.models)
        return str(path.with_name(f"{path.name}-{repeat}") if repeat else path)

    def seconds(self, result: Result) -> float:
        """Seconds of its training, with everything but reading files and scoring."""
        return float(result["seconds"])

    def series(self, result: Result) -> list[tuple[float, float]]:
        """Seconds since the beginning, and dev F1 then."""
        return [(seconds, f1) for seconds, _, f1 in result["series"]]


@dataclass(frozen=True)
class Ours(Contender):
    """A config of ours, with other settings where there are any."""

    config: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def train(self, setting: Setting, repeat: int) -> Result:
        """By spaCy's own loop, so many threads where the trainer can have more than one."""
        arguments = {
            "config": str(CONFIGS / self.config),
            **setting.corpora(".spacy"),
            "model": self._model_of(setting, repeat),
            "threads": setting.threads,
            "overrides": dict(self.overrides),
        }
        run = setting.laboratory.run
        return run("train_as_configured", arguments, cores=setting.threads, repeat=repeat)


@dataclass(frozen=True)
class CrfSuite(Contender):
    """python-crfsuite with the templates of our single-phase models."""

    algorithm: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    reader = "crfsuite"
    package = "python-crfsuite"

    def train(self, setting: Setting, repeat: int) -> Result:
        """On columns, in a process without spaCy."""
        parameters = dict(self.parameters)
        if self.algorithm == "lbfgs":
            parameters["max_iterations"] = setting.peer_iterations
        arguments = {
            **setting.corpora(".tsv"),
            "model": self._model_of(setting, repeat),
            "algorithm": self.algorithm,
            "parameters": parameters,
        }
        return setting.laboratory.run("train_crfsuite", arguments, repeat=repeat)

    def seconds(self, result: Result) -> float:
        """Features and training."""
        return float(result["features_seconds"] + result["training_seconds"])

    def series(self, result: Result) -> list[tuple[float, float]]:
        """Its end: it does not show how it gets there."""
        return [(self.seconds(result), result["f1"])]


@dataclass(frozen=True)
class SpacyNer(Contender):
    """spaCy's `ner`, which has so many seconds to learn in."""

    def train(self, setting: Setting, repeat: int) -> Result:
        """The best pipeline of several evaluations."""
        arguments = {
            **setting.corpora(".spacy"),
            "model": self._model_of(setting, repeat),
            "seconds": setting.ner_seconds,
            "evaluations": setting.ner_evaluations,
        }
        return setting.laboratory.run("train_spacy_ner_for", arguments, repeat=repeat)


OURS: tuple[Ours, ...] = (
    Ours("crf", "CRF, one phase", "crf.cfg"),
    Ours("crf_online", "CRF, one phase, online", "crf_online.cfg"),
    Ours(
        "crf_crf",
        "CRF + CRF",
        "icrf.cfg",
        {"components.cascade_types.trainer.C": 0.0},
    ),
    Ours("icrf", "ICRF", "icrf.cfg"),
    Ours("memb", "MEMB", "memb.cfg"),
    Ours("ocr", "OCR", "ocr.cfg"),
)
PEERS: tuple[Contender, ...] = (
    CrfSuite(
        "crfsuite", "python-crfsuite, L-BFGS", algorithm="lbfgs", parameters={"c1": 0.0, "c2": 1.0}
    ),
    CrfSuite(
        "crfsuite_pa", "python-crfsuite, PA", algorithm="pa", parameters={"type": 1, "c": 1.0}
    ),
    SpacyNer("ner", "spaCy ner"),
)
CONTENDERS: dict[str, Contender] = {c.name: c for c in (*OURS, *PEERS)}


def missing(contenders: Iterable[Contender]) -> dict[str, str]:
    """For each that cannot take part, a line that says how to add it."""
    return {
        contender.name: f"{contender.title} is left out: {contender.package} is not installed. "
        'Add it with pip install "spacy-cascade[bench]".'
        for contender in contenders
        if not is_installed(contender.package)
    }
