"""Trained models that several figures need; each is trained once in a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...lib.machine import is_installed
from ...lib.paths import CONFIGS
from ...lib.processes import Result, TaskRunner

LISTED = 10
"""Length of N-best lists for the measurement of speed."""
RERANKED = 6
"""Length of lists that are reranked, the default of `train-reranker`."""


@dataclass(frozen=True)
class FigureSetup:
    """Where the corpora are, and how often to measure. Its methods train and return results."""

    runner: TaskRunner
    corpora: Path
    peer_iterations: int = 200
    ner_steps: int = 100
    rounds: int = 5
    passes: int = 5

    def path(self, name: str) -> str:
        """A file of the prepared corpora."""
        return str(self.corpora / name)

    def model(self, name: str) -> str:
        """The path of a trained model."""
        folder = self.runner.work / "models"
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / name)

    def compile_kernels(self) -> None:
        """Compile every kernel before anything is timed."""
        for name in ("memb.cfg", "crf.cfg", "ocr.cfg", "crf_online.cfg"):
            self.runner.compile_kernels(name, self.path("dev.spacy"))

    def cascade(self) -> Result:
        """The cascade, trained and scored after each update."""
        return self._train("memb.cfg", "cascade")

    def one_phase(self) -> Result:
        """Our one-phase CRF, trained and scored after each update."""
        return self._train("crf.cfg", "single_phase")

    def online(self) -> Result:
        """The online cascade, trained on minibatches and scored by its config."""
        return self._train("ocr.cfg", "online", "lib.training:train_as_configured")

    def online_one_phase(self) -> Result:
        """Our one-phase online CRF, the same way."""
        return self._train(
            "crf_online.cfg", "online_single_phase", "lib.training:train_as_configured"
        )

    def online_model(self) -> str:
        """The folder of the trained online cascade."""
        self.online()
        return self.model("online")

    def reranked(self) -> Result:
        """F1 of entities of the online cascade by the length of the reranked lists."""
        arguments = {
            "model": self.online_model(),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "output": self.model("reranked"),
            "n_best": RERANKED,
        }
        return self.runner.run("lib.reranking:rerank", arguments)

    def reranked_model(self) -> str:
        """The folder of the online cascade with a trained reranker."""
        self.reranked()
        return self.model("reranked")

    def _train(self, config: str, model: str, task: str = "lib.training:train_cascade") -> Result:
        arguments = {
            "config": str(CONFIGS / config),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "model": self.model(model),
        }
        return self.runner.run(task, arguments)

    def training_only(self, repeat: int = 0, **settings: int) -> Result:
        """Training of the cascade without scoring."""
        arguments = {
            "config": str(CONFIGS / "memb.cfg"),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "evaluate": False,
        }
        return self.runner.run(
            "lib.training:train_cascade", {**arguments, **settings}, repeat=repeat
        )

    def cascade_model(self) -> str:
        """The folder of the trained cascade."""
        self.cascade()
        return self.model("cascade")

    def crfsuite(self) -> Result | None:
        """python-crfsuite with L-BFGS, trained and scored; None if it is not installed."""
        parameters = {"c1": 0.0, "c2": 1.0, "max_iterations": self.peer_iterations}
        return self._train_crfsuite(self.crfsuite_model(), "lbfgs", parameters)

    def crfsuite_pa(self) -> Result | None:
        """python-crfsuite with passive-aggressive updates (PA-I), the same way."""
        return self._train_crfsuite(self.model("crfsuite-pa"), "pa", {"type": 1, "c": 1.0})

    def _train_crfsuite(
        self, model: str, algorithm: str, parameters: dict[str, float]
    ) -> Result | None:
        if not is_installed("python-crfsuite"):
            print('  left out: python-crfsuite; install it with pip install "spacy-cascade[bench]"')
            return None
        arguments = {
            "train": self.path("train.tsv"),
            "dev": self.path("dev.tsv"),
            "model": model,
            "algorithm": algorithm,
            "parameters": parameters,
        }
        return self.runner.run("peers.crfsuite:train_crfsuite", arguments)

    def crfsuite_model(self) -> str:
        """The file of the trained model of crfsuite."""
        return self.model(f"crfsuite-{self.peer_iterations}")

    def spacy_ner_model(self) -> str:
        """The folder of a spaCy `ner` pipeline, trained for a few steps."""
        model = self.model(f"ner-{self.ner_steps}")
        arguments = {
            "train_path": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "model": model,
            "steps": self.ner_steps,
        }
        self.runner.run("peers.spacy_ner:train_spacy_ner", arguments)
        return f"{model}/model-last"


def best_f1(result: Result) -> float:
    """The best F1 on dev of a training."""
    return max(float(f1) for *_, f1 in result["series"])


def seconds_to_best(result: Result, within: float = 0.1) -> tuple[float, float]:
    """Training seconds (wall-clock, processor) until F1 on dev was within a margin of the best."""
    enough = best_f1(result) - within
    return next((passed, computed) for passed, computed, f1 in result["series"] if f1 >= enough)


def crfsuite_seconds(result: Result) -> tuple[float, float]:
    """Seconds of the features and the training of crfsuite (wall-clock, processor)."""
    return result["features_seconds"] + result["training_seconds"], result["computed_seconds"]


def training_seconds(result: Result) -> float:
    """Seconds of the whole training."""
    return float(result["initialize_seconds"]) + sum(result["update_seconds"])
