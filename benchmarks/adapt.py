"""Learning without forgetting: F1 on old and new documents, beside retraining and spaCy's `ner`.

python benchmarks/adapt.py corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from adapting import SPLITS
from bench import CONFIGS
from comparison_report import table
from measure import HERE, Laboratory, Result, available_cores, circumstances

SIZES = (20, 100, 500)
NER_SECONDS = (5.0, 30.0)
"""What spaCy's `ner` is given for new sentences."""
_COMPONENTS = ("cascade_segmenter", "cascade_classifier")
OURS = {"memb": "memb.cfg", "ocr": "ocr.cfg"}
TITLES = {
    "type": "Documents with a new type",
    "topic": "Documents of another topic",
    "memb": "MEMB",
    "ocr": "OCR, online",
}


@dataclass(frozen=True)
class Study:
    """One way of cutting the corpus, and what to do with the parts."""

    laboratory: Laboratory
    split: str
    sizes: Sequence[int]
    draws: int
    updates: int
    ner_train_seconds: float
    ner_seconds: Sequence[float]

    @property
    def folder(self) -> Path:
        """Where its corpora and models are."""
        return self.laboratory.work / self.split

    def corpus(self, name: str) -> str:
        """One of the parts."""
        return str(self.folder / "corpora" / f"{name}.spacy")

    def model(self, name: str) -> str:
        """A trained pipeline."""
        (self.folder / "models").mkdir(parents=True, exist_ok=True)
        return str(self.folder / "models" / name)

    def cut(self, train: Path, dev: Path) -> Result:
        """Write the parts; how large they are."""
        arguments = {
            "train": str(train), "dev": str(dev), "folder": str(self.folder / "corpora"),
            "split": self.split, "sizes": list(self.sizes), "draws": self.draws,
        }  # fmt: skip
        return self.laboratory.run("split_corpus", arguments)

    def corpora(self) -> list[str]:
        """Names of what is trained on from scratch."""
        few = [f"old-{size}-{draw}" for size in self.sizes for draw in range(self.draws)]
        return ["old", *few, "all"]

    def train(self, ours: str, part: str) -> Result:
        """Train one of our configs on a part."""
        arguments = {
            "config": str(CONFIGS / OURS[ours]),
            "train": self.corpus(part),
            "dev": self.corpus("dev_old"),
            "model": self.model(f"{ours}-{part}"),
        }
        return self.laboratory.run("train_as_configured", arguments)

    def adapt(self, ours: str, size: int, draw: int) -> Result:
        """Adapt one of ours that knows the old part."""
        threads = {f"components.{name}.trainer.threads": 1 for name in _COMPONENTS}
        arguments = {
            "model": self.model(f"{ours}-old"),
            "data": self.corpus(f"new-{size}-{draw}"),
            "output": self.model(f"{ours}-adapted-{size}-{draw}"),
            "overrides": threads if ours == "memb" else {},
            "updates": self.updates,
        }
        return self.laboratory.run("adapt_cascade", arguments)

    def train_ner(self) -> Result:
        """Train spaCy's `ner` on the old part."""
        arguments = {
            "train": self.corpus("old"), "dev": self.corpus("dev_old"),
            "model": self.model("ner-old"), "seconds": self.ner_train_seconds, "evaluations": 5,
        }  # fmt: skip
        return self.laboratory.run("train_spacy_ner_for", arguments)

    def resume_ner(self, size: int) -> Result:
        """Go on with it on the first draw of the new part."""
        arguments = {
            "model": self.model("ner-old"), "train": self.corpus(f"new-{size}-0"),
            "output": self.model(f"ner-resumed-{size}"), "seconds": list(self.ner_seconds),
        }  # fmt: skip
        return self.laboratory.run("resume_spacy_ner_for", arguments)

    def score(self, name: str) -> Result:
        """F1 of a model on both parts of dev."""
        parts = {part: self.corpus(f"dev_{part}") for part in ("old", "new")}
        return self.laboratory.run("score_parts", {"model": self.model(name), "parts": parts})


def measure(study: Study, train: Path, dev: Path) -> Result:
    """All models of one way of cutting the corpus, trained, adapted and scored."""
    sizes = study.cut(train, dev)
    laboratory, cores = study.laboratory, available_cores()
    for config in OURS.values():  # kernels into the cache
        few = {"config": str(CONFIGS / config), "train": study.corpus("dev_old"), "sentences": 20}
        laboratory.run("compile_training", few)
    at_once = [partial(study.train, "memb", part) for part in study.corpora()]
    at_once = [study.train_ner, partial(study.train, "ocr", "old"), *at_once]
    laboratory.side_by_side(at_once, cores)
    seconds: Result = {}
    draws = [(size, draw) for size in study.sizes for draw in range(study.draws)]
    for ours in OURS:
        for size, draw in draws:
            name = f"{ours}-adapted-{size}-{draw}"
            seconds[name] = study.adapt(ours, size, draw)["seconds"]
    for part in study.corpora():
        seconds[f"memb-{part}"] = study.train("memb", part)["seconds"]
    laboratory.side_by_side([partial(study.resume_ner, size) for size in study.sizes], cores)
    resumed = [f"ner-resumed-{size}/{s:g}" for size in study.sizes for s in study.ner_seconds]
    names = [*seconds, "ocr-old", "ner-old", *resumed]
    scores = laboratory.side_by_side([partial(study.score, name) for name in names], cores)
    return {
        "documents": sizes,
        "seconds": seconds,
        "scores": dict(zip(names, scores, strict=True)),
    }


def summarize(study: Study, found: Result) -> list[Result]:
    """Lines of the table: means over draws, and what they have more than before."""
    sizes, draws = study.sizes, study.draws
    lines = []

    def add(title: str, names: Sequence[str], before: str, seconds: float | None) -> None:
        old, new = (mean(_f1(found, name, part) for name in names) for part in ("old", "new"))
        lines.append({
            "title": title, "old": old, "new": new, "seconds": seconds,
            "old_change": old - _f1(found, before, "old"),
            "new_change": new - _f1(found, before, "new"),
        })  # fmt: skip

    def of_ours(title: str, pattern: str, before: str) -> None:
        names = [pattern.format(draw) for draw in range(draws)]
        add(title, names, before, mean(found["seconds"][name] for name in names))

    add("MEMB, old documents", ["memb-old"], "memb-old", found["seconds"]["memb-old"])
    for size in sizes:
        of_ours(f"adapted to {size} sentences", f"memb-adapted-{size}-{{}}", "memb-old")
        of_ours(f"trained on old and {size} sentences", f"memb-old-{size}-{{}}", "memb-old")
    add("trained on all documents", ["memb-all"], "memb-old", found["seconds"]["memb-all"])
    add("OCR, old documents", ["ocr-old"], "ocr-old", None)
    for size in sizes:
        of_ours(f"adapted to {size} sentences", f"ocr-adapted-{size}-{{}}", "ocr-old")
    add("spaCy ner, old documents", ["ner-old"], "ner-old", None)
    for size in sizes:
        for seconds in study.ner_seconds:
            name = f"ner-resumed-{size}/{seconds:g}"
            add(f"resumed on {size} sentences", [name], "ner-old", seconds)
    return lines


def _f1(found: Mapping[str, Any], model: str, part: str) -> float:
    return float(found["scores"][model][part]["f1"])


def make_report(results: Result) -> str:
    """The results as Markdown."""
    machine = results["machine"]
    packages = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
    settings = results["settings"]
    text = [
        "# Learning without forgetting\n",
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}, {packages}.\n",
        f"Pipelines are trained on the old documents and adapted to sentences of new ones, taken "
        f"document by document, all entities annotated; F1 on the old and on the new documents of "
        f"dev. Means of {settings['draws']} draw(s) of documents; spaCy's `ner` is resumed on the "
        f"first one, after {settings['ner_train_seconds']:g} s of training. Seconds: one thread, "
        "reading and scoring not counted.\n",
    ]
    for split, found in results["studies"].items():
        parts = found["documents"]
        text.append(
            f"## {TITLES[split]}\n\nTrain: {parts['old']['documents']:,} old of "
            f"{parts['all']['documents']:,} documents; dev: {parts['dev_old']['documents']:,} old, "
            f"{parts['dev_new']['documents']:,} new.\n"
        )
        text.append(change_table(found["lines"]))
    return "\n".join(text)


def change_table(lines: Sequence[Result]) -> str:
    """What `summarize` found of one way of cutting the corpus."""
    header = ["", "F1 old", "change", "F1 new", "change", "seconds"]
    rows = [
        [
            line["title"],
            f"{line['old']:.2f}", f"{line['old_change']:+.2f}",
            f"{line['new']:.2f}", f"{line['new_change']:+.2f}",
            "" if line["seconds"] is None else f"{line['seconds']:.1f}",
        ]
        for line in lines
    ]  # fmt: skip
    return table(header, rows)


def main() -> None:
    """Read the arguments, measure, write the results and the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="sentences")
    parser.add_argument("--draws", type=int, default=3, help="of new documents")
    parser.add_argument("--updates", type=int, default=2, help="of an adaptation")
    parser.add_argument("--splits", nargs="+", choices=SPLITS, default=list(SPLITS))
    parser.add_argument("--ner-train-seconds", type=float, default=120.0)
    parser.add_argument("--ner-seconds", type=float, nargs="+", default=list(NER_SECONDS))
    parser.add_argument("--output", type=Path, default=HERE / "results/jnlpba_adapt.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="models and kernels")
    parser.add_argument("--reuse", action="store_true", help="take earlier results from --work")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    laboratory = Laboratory(
        work / f"adapt-{arguments.output.stem}", arguments.reuse, work / "kernels"
    )
    results = circumstances()
    studies = {}
    for split in arguments.splits:
        study = Study(
            laboratory, split, arguments.sizes, arguments.draws, arguments.updates,
            arguments.ner_train_seconds, sorted(arguments.ner_seconds),
        )  # fmt: skip
        found = measure(study, arguments.train.resolve(), arguments.dev.resolve())
        lines = summarize(study, found)
        studies[split] = {"lines": lines, **found}
    results |= {
        "settings": {
            name: getattr(arguments, name)
            for name in ("sizes", "draws", "updates", "ner_train_seconds", "ner_seconds")
        },
        "studies": studies,
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    report = make_report(results)
    arguments.output.with_suffix(".md").write_text(report, encoding="utf8")
    print(report)


if __name__ == "__main__":
    main()
