"""Precision against recall: thresholds on one trained model, and a bias learnt in training.

python benchmarks/dial.py corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from measure import (
    HERE,
    Laboratory,
    Result,
    available_cores,
    circumstances,
    write_results,
)

CONFIGS = HERE.parent / "configs"
REJECTING = {
    "components.cascade_classifier.reject": True,
    "training.annotating_components": ["cascade_segmenter"],
}
Variant = tuple[str, str, dict[str, Any], Sequence[float]]
"""Config, the component whose `miss` is set, other settings, and values of `miss`."""
VARIANTS: dict[str, Variant] = {
    "segmenter": ("memb.cfg", "cascade_segmenter", {}, (0.3, 0.5, 1.0, 2.0, 4.0)),
    "rejecting classifier": ("memb.cfg", "cascade_classifier", REJECTING, (0.5, 1.0, 2.0)),
    "segmenter, online": ("ocr.cfg", "cascade_segmenter", {}, (0.3, 1.0, 3.0)),
}
ASKED = 85.0
"""Per cent of precision, and of recall, at which the other one is told."""
TITLES = {
    "best segmentation": "entities of the best segmentation",
    "entities": "entities chosen among all likely spans",
    "spans": "all likely spans, overlapping or not",
}


def measure(
    laboratory: Laboratory,
    train: Path,
    dev: Path,
    variants: Mapping[str, Variant],
    rounds: int,
    at_once: int,
) -> Result:
    """Scores of every variant and value of `miss`, and the curves of the first with a miss of 1."""
    corpora = {"train": str(train), "dev": str(dev)}
    jobs, rows, models = [], [], {}
    for name, (config, component, overrides, values) in variants.items():
        for miss in values:
            model = str(laboratory.work / f"{name} {miss}".replace(" ", "-"))
            models[name, miss] = model
            settings = {**overrides, f"components.{component}.objective.miss": miss}
            arguments = {"config": str(CONFIGS / config), **corpora, "model": model}
            rows.append({"component": name, "config": config, "miss": miss})
            task = {**arguments, "overrides": settings}
            jobs.append(partial(laboratory.run, "train_and_score", task))
    scores = laboratory.side_by_side(jobs, at_once)
    model = models[next(iter(variants)), 1.0]
    arguments = {"model": model, "dev": str(dev), "output": f"{model}-calibrated"}
    found = laboratory.run("sweep_thresholds", {**arguments, "rounds": rounds})
    return {**found, "miss": [{**row, **s} for row, s in zip(rows, scores, strict=True)]}


def make_table(results: Result) -> str:
    """The results as Markdown."""
    machine = results["machine"]
    packages = ", ".join(f"{name} {of}" for name, of in machine["packages"].items())
    text = f"{machine['processor']}, {machine['system']}, Python {machine['python']}, {packages}.\n"
    text += "\nA threshold on the confidences of one model, memb.cfg:\n\n"
    ends = [f"recall at precision {ASKED:.0f}", f"precision at recall {ASKED:.0f}"]
    rows = []
    for name, curve in results["curves"].items():
        top = max(curve, key=lambda point: point["f1"])
        most = max(curve, key=lambda point: point["recall"])
        rows.append(
            [
                TITLES[name],
                _told(best_beyond(curve, "precision"), "recall"),
                f"{top['f1']:.2f} at {top['threshold']:.2f}",
                _told(best_beyond(curve, "recall"), "precision"),
                f"{most['recall']:.2f}",
            ]
        )
    text += _markdown(["", ends[0], "best F1", ends[1], "highest recall"], rows)
    plain, listing, likelier = (median(seconds) for seconds in results["seconds"].values())
    text += (
        f"\nWith the list of all likely spans annotating takes {listing / plain:.2f} times as "
        f"long, with those of a probability of 0.1 or more {likelier / plain:.2f} times.\n"
    )
    text += "\nModels trained with another cost of a miss:\n\n"
    rows = [
        [f"{row['component']}, {row['config']}", f"{row['miss']:g}"]
        + [f"{row[key]:.2f}" for key in ("precision", "recall", "f1")]
        for row in results["miss"]
    ]
    return text + _markdown(["`miss` of", "value", "precision", "recall", "F1"], rows)


def best_beyond(curve: Sequence[Result], name: str) -> Result | None:
    """The point of best F1 with at least `ASKED` of precision, or of recall."""
    enough = [point for point in curve if point["found"] and point[name] >= ASKED]
    return max(enough, key=lambda point: point["f1"], default=None)


def _told(point: Result | None, name: str) -> str:
    return "–" if point is None else f"{point[name]:.2f} at {point['threshold']:.2f}"


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---", *["---:"] * (len(titles) - 1)], *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def main() -> None:
    """Read the arguments, measure, and write the results, their table and their picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--rounds", type=int, default=7, help="passes that are timed")
    parser.add_argument("--at-once", type=int, default=available_cores(), help="trainings")
    parser.add_argument("--reuse", action="store_true", help="take what an earlier run measured")
    parser.add_argument("--output", type=Path, default=HERE / "results/jnlpba_dial.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="for kernels and models")
    arguments = parser.parse_args()
    laboratory = Laboratory(arguments.work.resolve() / "dial", reuse=arguments.reuse)
    results = circumstances()
    train, dev = arguments.train.resolve(), arguments.dev.resolve()
    results |= measure(laboratory, train, dev, VARIANTS, arguments.rounds, arguments.at_once)
    picture = ("dial_picture.py", "Precision against recall")
    write_results(results, arguments.output, make_table(results), picture, laboratory.kernel_cache)


if __name__ == "__main__":
    main()
