"""Adaptation to new documents: F1 on old and new ones, beside retraining and spaCy's `ner`.

python -m benchmarks.experiments.adaptation corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from ..lib.arguments import new_parser
from ..lib.machine import available_cores
from ..lib.package import for_stages
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..reports.adaptation_report import make_report
from ..reports.output import run

SIZES = (20, 100, 500)
NER_SECONDS = (5.0, 30.0)
"""Training times of spaCy's `ner` on new sentences."""
OURS = {"memb": "memb.cfg", "ocr": "ocr.cfg"}


@dataclass(frozen=True)
class Study:
    """The old documents of a corpus and the new ones, which have another type, and their tasks."""

    runner: TaskRunner
    sizes: Sequence[int]
    draws: int
    updates: int
    ner_train_seconds: float
    ner_seconds: Sequence[float]

    def corpus(self, name: str) -> str:
        return str(self.runner.work / "corpora" / f"{name}.spacy")

    def model(self, name: str) -> str:
        (self.runner.work / "models").mkdir(parents=True, exist_ok=True)
        return str(self.runner.work / "models" / name)

    def split_corpus(self, train: Path, dev: Path) -> Result:
        """Write the parts, and return their sizes."""
        arguments = {
            "train": str(train), "dev": str(dev), "folder": str(self.runner.work / "corpora"),
            "sizes": list(self.sizes), "draws": self.draws,
        }  # fmt: skip
        return self.runner.run("lib.adaptation:split_corpus", arguments)

    def corpora(self) -> list[str]:
        """Names of the parts for training from scratch."""
        few = [f"old-{size}-{draw}" for size in self.sizes for draw in range(self.draws)]
        return ["old", *few, "all"]

    def train(self, ours: str, part: str) -> Result:
        arguments = {
            "config": str(CONFIGS / OURS[ours]),
            "train": self.corpus(part),
            "dev": self.corpus("dev_old"),
            "model": self.model(f"{ours}-{part}"),
        }
        return self.runner.run("lib.training:train_as_configured", arguments)

    def adapt(self, ours: str, size: int, draw: int) -> Result:
        arguments = {
            "model": self.model(f"{ours}-old"),
            "data": self.corpus(f"new-{size}-{draw}"),
            "output": self.model(f"{ours}-adapted-{size}-{draw}"),
            "overrides": for_stages("trainer.threads", 1) if ours == "memb" else {},
            "updates": self.updates,
        }
        return self.runner.run("lib.adaptation:adapt_cascade", arguments)

    def train_ner(self) -> Result:
        arguments = {
            "train": self.corpus("old"), "dev": self.corpus("dev_old"),
            "model": self.model("ner-old"), "seconds": self.ner_train_seconds, "evaluations": 5,
        }  # fmt: skip
        return self.runner.run("peers.spacy_ner:train_spacy_ner_for", arguments)

    def resume_ner(self, size: int) -> Result:
        """Continue its training on the first draw of the new part."""
        arguments = {
            "model": self.model("ner-old"), "train": self.corpus(f"new-{size}-0"),
            "output": self.model(f"ner-resumed-{size}"), "seconds": list(self.ner_seconds),
        }  # fmt: skip
        return self.runner.run("peers.spacy_ner:resume_spacy_ner_for", arguments)

    def score(self, name: str) -> Result:
        parts = {part: self.corpus(f"dev_{part}") for part in ("old", "new")}
        arguments = {"model": self.model(name), "parts": parts}
        return self.runner.run("lib.adaptation:score_parts", arguments)


def train_all(study: Study, train: Path, dev: Path) -> Result:
    """Train, adapt and score all models."""
    sizes = study.split_corpus(train, dev)
    runner, cores = study.runner, available_cores()
    for config in OURS.values():
        runner.compile_kernels(config, study.corpus("dev_old"))
    jobs = [partial(study.train, "memb", part) for part in study.corpora()]
    runner.run_in_parallel([study.train_ner, partial(study.train, "ocr", "old"), *jobs], cores)
    seconds: Result = {}
    draws = [(size, draw) for size in study.sizes for draw in range(study.draws)]
    for ours in OURS:
        for size, draw in draws:
            name = f"{ours}-adapted-{size}-{draw}"
            seconds[name] = study.adapt(ours, size, draw)["seconds"]
    for part in study.corpora():
        seconds[f"memb-{part}"] = study.train("memb", part)["seconds"]
    runner.run_in_parallel([partial(study.resume_ner, size) for size in study.sizes], cores)
    resumed = [f"ner-resumed-{size}/{s:g}" for size in study.sizes for s in study.ner_seconds]
    names = [*seconds, "ocr-old", "ner-old", *resumed]
    scores = runner.run_in_parallel([partial(study.score, name) for name in names], cores)
    return {"documents": sizes, "seconds": seconds, "scores": dict(zip(names, scores, strict=True))}


def summarize(study: Study, found: Result) -> list[Result]:
    """Lines of the table: means over draws, and differences from the models before adaptation."""
    sizes, draws = study.sizes, study.draws
    lines = []

    def add(title: str, names: Sequence[str], before: str, seconds: float | None) -> None:
        old, new = (mean(_f1(found, name, part) for name in names) for part in ("old", "new"))
        lines.append({
            "title": title, "old": old, "new": new, "seconds": seconds,
            "old_change": old - _f1(found, before, "old"),
            "new_change": new - _f1(found, before, "new"),
        })  # fmt: skip

    def add_ours(title: str, pattern: str, before: str) -> None:
        names = [pattern.format(draw) for draw in range(draws)]
        add(title, names, before, mean(found["seconds"][name] for name in names))

    add("MEMB, old documents", ["memb-old"], "memb-old", found["seconds"]["memb-old"])
    for size in sizes:
        add_ours(f"adapted to {size} sentences", f"memb-adapted-{size}-{{}}", "memb-old")
        add_ours(f"trained on old and {size} sentences", f"memb-old-{size}-{{}}", "memb-old")
    add("trained on all documents", ["memb-all"], "memb-old", found["seconds"]["memb-all"])
    add("OCR, old documents", ["ocr-old"], "ocr-old", None)
    for size in sizes:
        add_ours(f"adapted to {size} sentences", f"ocr-adapted-{size}-{{}}", "ocr-old")
    add("spaCy ner, old documents", ["ner-old"], "ner-old", None)
    for size in sizes:
        for seconds in study.ner_seconds:
            name = f"ner-resumed-{size}/{seconds:g}"
            add(f"resumed on {size} sentences", [name], "ner-old", seconds)
    return lines


def _f1(found: Mapping[str, Any], model: str, part: str) -> float:
    return float(found["scores"][model][part]["f1"])


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study = Study(
        runner, arguments.sizes, arguments.draws, arguments.updates,
        arguments.ner_train_seconds, sorted(arguments.ner_seconds),
    )  # fmt: skip
    found = train_all(study, arguments.train, arguments.dev)
    names = ("sizes", "draws", "updates", "ner_train_seconds", "ner_seconds")
    settings = {name: getattr(arguments, name) for name in names}
    return {"settings": settings, "lines": summarize(study, found), **found}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="jnlpba_adapt.json")
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=list(SIZES), help="sentences")
    add("--draws", type=int, default=3, help="random orders of new documents")
    add("--updates", type=int, default=2, help="of an adaptation")
    add("--ner-train-seconds", type=float, default=120.0)
    add("--ner-seconds", type=float, nargs="+", default=list(NER_SECONDS))
    run(parser, "adaptation", measure, make_report)


if __name__ == "__main__":
    main()
