"""Trained models that several figures need; each is trained once in a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ...lib.processes import Result, TaskRunner
from ...lib.variants import config_path
from ...peers.systems import SYSTEMS, TrainingSetup, missing

LISTED = 10
"""Length of N-best lists for the measurement of speed."""
RERANKED = 6
"""Length of lists that are reranked, the default of `rerank train`."""


@dataclass(frozen=True)
class FigureSetup:
    """Where the corpora are, and how often to measure. Its methods train and return results.

    config: of the cascade, one of `configs/` or a path.
    """

    runner: TaskRunner
    corpora: Path
    peer_iterations: int = 200
    ner_seconds: float = 20.0
    rounds: int = 5
    passes: int = 5
    config: str = "memb.cfg"

    def path(self, name: str) -> str:
        return str(self.corpora / name)

    def model(self, name: str) -> str:
        folder = self.runner.work / "models"
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / name)

    @property
    def data(self) -> dict[str, str]:
        return {name: self.path(f"{name}.spacy") for name in ("train", "dev")}

    @property
    def speed_test(self) -> dict[str, str | int]:
        return {"dev": self.path("dev.spacy"), "rounds": self.rounds, "passes": self.passes}

    def compile_kernels(self) -> None:
        """Compile every kernel before anything is timed."""
        for name in (self.config, "ocr.cfg"):
            self.runner.compile_kernels(name, self.path("dev.spacy"))

    def cascade(self) -> Result:
        """The cascade, trained and scored after each update."""
        return self._train(self.config, model=self.model(Path(self.config).stem))

    def training_only(self, repeat: int = 0, **settings: int) -> Result:
        return self._train(self.config, repeat, evaluate=False, **settings)

    def of_init(self) -> FigureSetup:
        """The same with the config that `init` makes for the corpus."""
        path = self.model("init.cfg")
        task = {"output": path, **self.data, "lang": "en"}
        self.runner.run("lib.package:write_training_config", task)
        return replace(self, config=path)

    def _train(self, config: str, repeat: int = 0, **settings: str | int) -> Result:
        arguments = {"config": str(config_path(config)), **self.data, **settings}
        return self.runner.run("lib.training:train_cascade", arguments, repeat=repeat)

    def crfsuite(self) -> Result | None:
        """The peer, trained and scored; None if it is not installed."""
        line = missing([SYSTEMS["crfsuite"]]).get("crfsuite")
        if line:
            print(f"  {line}")
            return None
        return self._train_system("crfsuite", self.peer_model.parent)

    @property
    def peer_model(self) -> Path:
        """The path of its model: another one for each number of iterations."""
        return Path(self.model(f"{self.peer_iterations}-iterations")) / "crfsuite"

    def _train_system(self, name: str, folder: Path) -> Result:
        folder.mkdir(parents=True, exist_ok=True)
        corpora = self.corpora / "train", self.corpora / "dev"
        setup = TrainingSetup(self.runner, *corpora, folder, 1, self.peer_iterations, 0.0)
        return SYSTEMS[name].train(setup, 0)

    def cascade_model(self) -> str:
        self.cascade()
        return self.model(Path(self.config).stem)

    def semi_markov_model(self) -> str:
        """The folder of the cascade with a semi-Markov segmenter."""
        self._train("semi.cfg", model=self.model("semi"))
        return self.model("semi")

    def online_model(self) -> str:
        """The folder of the online cascade, trained on minibatches and scored by its config."""
        model = Path(self.model("ocr"))
        self._train_system(model.name, model.parent)
        return str(model)

    def reranked_model(self) -> str:
        """The folder of the online cascade with a trained reranker."""
        paths = {"model": self.online_model(), "output": self.model("reranked")}
        self.runner.run("lib.reranking:rerank", {**paths, **self.data, "n_best": RERANKED})
        return paths["output"]

    def spacy_ner_model(self) -> str:
        """The folder of a spaCy `ner` pipeline, trained for a short time."""
        model = self.model(f"ner-{self.ner_seconds:g}")
        task = {**self.data, "model": model, "seconds": self.ner_seconds, "evaluations": 1}
        self.runner.run("peers.spacy_ner:train_spacy_ner_for", task)
        return model


def best_f1(result: Result) -> float:
    return max(float(f1) for *_, f1 in result["series"])


def seconds_to_best(result: Result, within: float = 0.1) -> tuple[float, float]:
    """Training seconds (wall-clock, processor) until F1 on dev was within a margin of the best."""
    enough = best_f1(result) - within
    return next((passed, computed) for passed, computed, f1 in result["series"] if f1 >= enough)


def crfsuite_seconds(result: Result) -> tuple[float, float]:
    """Seconds of the features and the training of crfsuite (wall-clock, processor)."""
    return result["features_seconds"] + result["training_seconds"], result["computed_seconds"]


def training_seconds(result: Result) -> float:
    return float(result["initialize_seconds"]) + sum(result["update_seconds"])
