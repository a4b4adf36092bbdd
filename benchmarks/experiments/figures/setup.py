"""Trained models that several figures need; each is trained once in a run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import cast

from thinc.api import Config

from ...lib.package import STAGES
from ...lib.processes import Result, TaskRunner, child_environment, run_python
from ...lib.variants import config_path
from ...peers.systems import OURS, SYSTEMS, CrfSuite, TrainingSetup, missing
from ...reports.output import read_json

LISTED = 10
"""Length of N-best lists for the measurement of speed."""
RERANKED = 6
"""Length of lists that are reranked, the default of `rerank train`."""


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
        for name in ("memb.cfg", "crf.cfg", "ocr.cfg", "crf_online.cfg"):
            self.runner.compile_kernels(name, self.path("dev.spacy"))

    def cascade(self) -> Result:
        """The cascade, trained and scored after each update."""
        return self._train("memb.cfg", model=self.model("cascade"))

    def one_phase(self) -> Result:
        """Our one-phase CRF, the same way."""
        return self._train("crf.cfg", model=self.model("single_phase"))

    def training_only(self, repeat: int = 0, **settings: int) -> Result:
        return self._train("memb.cfg", repeat, evaluate=False, **settings)

    def _train(self, config: str, repeat: int = 0, **settings: str | int) -> Result:
        arguments = {"config": str(config_path(config)), **self.data, **settings}
        return self.runner.run("lib.training:train_cascade", arguments, repeat=repeat)

    def system(self, name: str) -> Result | None:
        """The system of that name, trained and scored; None if it is not installed."""
        system = SYSTEMS[name]
        line = missing([system]).get(name)
        if line:
            print(f"  {line}")
            return None
        corpora = self.corpora / "train", self.corpora / "dev"
        folder = self.system_model(name).parent
        folder.mkdir(parents=True, exist_ok=True)
        setup = TrainingSetup(self.runner, *corpora, folder, 1, self.peer_iterations, 0.0)
        return system.train(setup, 0)

    def system_model(self, name: str) -> Path:
        """The path of its model; peers have another one for each number of iterations."""
        is_ours = SYSTEMS[name] in OURS
        return Path(self.model(name if is_ours else f"{self.peer_iterations}-iterations/{name}"))

    def online(self) -> Result:
        """The online cascade, trained on minibatches and scored by its config."""
        return cast(Result, self.system("ocr"))

    def online_one_phase(self) -> Result:
        """Our one-phase online CRF, the same way."""
        return cast(Result, self.system("crf_online"))

    def reranked(self) -> Result:
        """F1 of entities of the online cascade by the length of the reranked lists."""
        paths = {"model": self.online_model(), "output": self.model("reranked")}
        return self.runner.run("lib.reranking:rerank", {**paths, **self.data, "n_best": RERANKED})

    def train_command(self, config: str) -> dict[str, float]:
        """Seconds and processor seconds of `spacy train` on one thread, and the best F1."""
        settings = [
            "--paths.train",
            self.path("train.spacy"),
            "--paths.dev",
            self.path("dev.spacy"),
        ]
        for component in STAGES:
            if (
                "threads"
                in Config().from_disk(config_path(config))["components"][component]["trainer"]
            ):
                settings += [f"--components.{component}.trainer.threads", "1"]
        environment = child_environment(1, self.runner.kernel_cache)
        with tempfile.TemporaryDirectory() as folder:
            command = ["-m", "spacy", "train", str(config_path(config)), "--output", folder]
            before, begin = _seconds_of_children(), perf_counter()
            run_python([*command, *settings], environment)
            seconds, computed = perf_counter() - begin, _seconds_of_children() - before
            meta = read_json(Path(folder) / "model-best/meta.json")
        f1 = 100 * meta["performance"]["ents_f"]
        return {"seconds": seconds, "computed_seconds": computed, "f1": f1}

    def curve(self, name: str, limits: Sequence[int]) -> Result | None:
        """F1 of a peer of crfsuite by its processor time; None if it is not installed."""
        system = SYSTEMS[name]
        if not isinstance(system, CrfSuite) or missing([system]):
            return None
        arguments = {
            **{part: self.path(f"{part}.tsv") for part in ("train", "dev")},
            "model": self.model(f"{name}-curve"),
            "algorithm": system.algorithm,
            "parameters": dict(system.parameters),
            "limits": list(limits),
        }
        return self.runner.run("peers.crfsuite:crfsuite_curve", arguments)

    def cascade_model(self) -> str:
        self.cascade()
        return self.model("cascade")

    def online_model(self) -> str:
        self.online()
        return self.model("ocr")

    def reranked_model(self) -> str:
        """The folder of the online cascade with a trained reranker."""
        self.reranked()
        return self.model("reranked")

    def spacy_ner_model(self) -> str:
        """The folder of a spaCy `ner` pipeline, trained for a few steps."""
        model = self.model(f"ner-{self.ner_steps}")
        arguments = {**self.data, "model": model, "steps": self.ner_steps}
        self.runner.run("peers.spacy_ner:train_spacy_ner", arguments)
        return f"{model}/model-last"


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


def _seconds_of_children() -> float:
    """Processor seconds of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system
