"""What several figures need: trained models, each made once in a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from measure import Laboratory, Result, is_installed

CONFIGS = Path(__file__).parent.parent / "configs"
LISTED = 10
"""Length of the N-best lists whose speed is measured."""
RERANKED = 6
"""Length of those that are reranked, the default of `train-reranker`."""


@dataclass(frozen=True)
class Bench:
    """Where the corpora are, and how often to measure."""

    laboratory: Laboratory
    corpora: Path
    configs: Path = CONFIGS
    peer_iterations: int = 200
    ner_steps: int = 100
    rounds: int = 5
    passes: int = 5

    def path(self, name: str) -> str:
        """A file of the prepared corpora."""
        return str(self.corpora / name)

    def config(self, name: str) -> str:
        """A config file of the project."""
        return str(self.configs / name)

    def model(self, name: str) -> str:
        """Where a trained model is kept."""
        folder = self.laboratory.work / "models"
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / name)

    def warm_up(self) -> None:
        """Have every kernel compiled and kept before anything is timed."""
        for name in ("memb.cfg", "crf.cfg", "ocr.cfg", "crf_online.cfg"):
            if Path(self.config(name)).exists():
                self.laboratory.run("compile_training", self.few_sentences(name))

    def cascade(self) -> Result:
        """The cascade, trained and scored after each update."""
        return self._train("memb.cfg", "cascade")

    def single_phase(self) -> Result | None:
        """Our single-phase CRF, the same way; None where its config is not there."""
        if not Path(self.config("crf.cfg")).exists():
            print("  left out: the single-phase CRF, whose config crf.cfg is not there")
            return None
        return self._train("crf.cfg", "single_phase")

    def online(self) -> Result:
        """The online cascade, trained on minibatches and scored as its config says."""
        return self._train("ocr.cfg", "online", "train_as_configured")

    def online_single_phase(self) -> Result:
        """Our single-phase online CRF, the same way."""
        return self._train("crf_online.cfg", "online_single_phase", "train_as_configured")

    def online_model(self) -> str:
        """The folder of the trained online cascade."""
        self.online()
        return self.model("online")

    def reranked(self) -> Result:
        """Entity F1 of the online cascade by the number of segmentations that are reranked."""
        arguments = {
            "model": self.online_model(),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "output": self.model("reranked"),
            "n_best": RERANKED,
        }
        return self.laboratory.run("rerank", arguments)

    def reranked_model(self) -> str:
        """The folder of the online cascade with a reranker of the `RERANKED` best."""
        self.reranked()
        return self.model("reranked")

    def _train(self, config: str, model: str, task: str = "train_cascade") -> Result:
        arguments = {
            "config": self.config(config),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "model": self.model(model),
        }
        return self.laboratory.run(task, arguments)

    def training_only(self, repeat: int = 0, **settings: int) -> Result:
        """The cascade's training without scores in between."""
        arguments = {
            "config": self.config("memb.cfg"),
            "train": self.path("train.spacy"),
            "dev": self.path("dev.spacy"),
            "evaluate": False,
        }
        return self.laboratory.run("train_cascade", {**arguments, **settings}, repeat=repeat)

    def cascade_model(self) -> str:
        """The folder of the trained cascade."""
        self.cascade()
        return self.model("cascade")

    def few_sentences(self, config: str) -> dict[str, str | int]:
        """Arguments of the task that trains just enough to call every kernel."""
        return {"config": self.config(config), "train": self.path("dev.spacy"), "sentences": 20}

    def crfsuite(self) -> Result | None:
        """python-crfsuite with L-BFGS, trained and scored; None where it is not installed."""
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
        return self.laboratory.run("train_crfsuite", arguments)

    def crfsuite_model(self) -> str:
        """The file of the peer's trained model."""
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
        self.laboratory.run("train_spacy_ner", arguments)
        return f"{model}/model-last"


def best_f1(result: Result) -> float:
    """The best dev F1 of a training."""
    return max(float(f1) for *_, f1 in result["series"])


def seconds_to_best(result: Result, within: float = 0.1) -> tuple[float, float]:
    """Training seconds, passed and computed, until dev F1 was as good as its best but for a bit."""
    enough = best_f1(result) - within
    return next((passed, computed) for passed, computed, f1 in result["series"] if f1 >= enough)


def crfsuite_seconds(result: Result) -> tuple[float, float]:
    """Seconds of the peer's features and training, passed and computed."""
    return result["features_seconds"] + result["training_seconds"], result["computed_seconds"]


def training_seconds(result: Result) -> float:
    """Seconds of the whole training."""
    return float(result["initialize_seconds"]) + sum(result["update_seconds"])
