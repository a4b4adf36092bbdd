"""Precision against recall: thresholds on one model, and the cost of a miss in training.

python -m benchmarks.experiments.precision_recall corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_cascade.tools.reports.diagrams import sweep, sweep_listed
from spacy_cascade.tools.reports.reading import judge

from ..lib.arguments import add_at_once, add_rounds, new_parser
from ..lib.corpora import annotate_words, read_docs
from ..lib.package import CLASSIFIER, REJECTING, SEGMENTER, Settings, calibrate, read_examples
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..lib.timing import Timings
from ..lib.training import train_as_configured
from ..reports.markdown import by, machine_sentence, table
from ..reports.output import Picture, run
from ..reports.plotting import COLOURS, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = dict[str, float]
"""Precision, recall and F1 in percent, and the number of entities found, at a threshold."""

SEGMENTERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "listing": {"overlapping": True},
    "likelier": {"overlapping": True, "threshold": 0.1},
}
"""Settings of the segmenter: without a list, with all likely spans, and with fewer of them."""


def sweep_thresholds(model: str, dev: str, output: str, rounds: int) -> dict[str, Any]:
    """Scores on dev by threshold, and the seconds to annotate dev without and with lists.

    There are three curves: entities of the best segmentation, entities chosen among all likely
    spans, and these spans themselves. output: folder for the model with confidences calibrated on
    dev. rounds: timed passes of each pipeline, in turn.
    """
    nlp = spacy.load(model)
    calibrated, _ = calibrate(nlp, read_examples(dev, nlp))
    calibrated.to_disk(output)
    pipelines = {
        name: spacy.load(output, config={"components": {SEGMENTER: settings}})
        for name, settings in SEGMENTERS.items()
    }
    # This is the pass before those that are timed, too.
    found = {name: judge(nlp, annotated(nlp, dev)) for name, nlp in pipelines.items()}
    timings = Timings()
    for _ in range(rounds):
        for name, pipeline in pipelines.items():
            gold = read_docs(dev, pipeline.vocab)
            timings.add(name, partial(annotate_words, pipeline, gold))
    return {
        "curves": {
            "best segmentation": points(sweep(found["plain"])),
            "entities": points(sweep(found["listing"])),
            "spans": points(sweep_listed(found["listing"])),
        },
        "seconds": timings.seconds,
    }


def train_and_score(
    config: str, train: str, dev: str, model: str, overrides: dict[str, Any]
) -> Point:
    """Precision, recall and F1 of entities on dev, at the best update of a config."""
    train_as_configured(config, train, dev, model, overrides=overrides)
    nlp = spacy.load(model)
    scores = nlp.evaluate(read_examples(dev, nlp))
    names = {"precision": "ents_p", "recall": "ents_r", "f1": "ents_f"}
    return {name: 100 * (scores[key] or 0.0) for name, key in names.items()}


def annotated(nlp: Language, dev: str) -> list[Example]:
    """The examples of dev, with what the pipeline finds in them."""
    examples = read_examples(dev, nlp)
    found = nlp.pipe([example.predicted for example in examples])
    return [Example(doc, example.reference) for doc, example in zip(found, examples, strict=True)]


def points(swept: Any) -> list[Point]:
    return [
        {
            "threshold": threshold,
            "precision": 100 * score.precision,
            "recall": 100 * score.recall,
            "f1": 100 * score.f1,
            "found": score.n_predicted,
        }
        for threshold, score in (swept.every(1) if swept else ())
    ]


Variant = tuple[str, str, Settings, Sequence[float]]
"""Config, the component with another cost of a miss, other settings, and the costs."""
VARIANTS: dict[str, Variant] = {
    "segmenter": ("memb.cfg", SEGMENTER, {}, (0.3, 0.5, 1.0, 2.0, 4.0)),
    "rejecting classifier": ("memb.cfg", CLASSIFIER, REJECTING, (0.5, 1.0, 2.0)),
    "segmenter, online": ("ocr.cfg", SEGMENTER, {}, (0.3, 1.0, 3.0)),
}


def measure(
    runner: TaskRunner, arguments: argparse.Namespace, variants: Mapping[str, Variant] = VARIANTS
) -> Result:
    """Scores of every variant and cost of a miss, and curves of the first variant with cost 1."""
    corpora = {"train": str(arguments.train), "dev": str(arguments.dev)}
    jobs, rows, models = [], [], {}
    for name, (config, component, overrides, costs) in variants.items():
        for miss in costs:
            model = str(runner.work / f"{name} {miss}".replace(" ", "-"))
            models[name, miss] = model
            settings = {**overrides, f"components.{component}.loss.false_negative_weight": miss}
            task = {"config": str(CONFIGS / config), **corpora, "model": model}
            task["overrides"] = settings
            rows.append({"component": name, "config": config, "miss": miss})
            jobs.append(partial(runner.run, "experiments.precision_recall:train_and_score", task))
    scores = runner.run_in_parallel(jobs, arguments.at_once)
    model = models[next(iter(variants)), 1.0]
    task = {"model": model, "dev": corpora["dev"], "output": f"{model}-calibrated"}
    task["rounds"] = arguments.rounds
    found = runner.run("experiments.precision_recall:sweep_thresholds", task)
    return {**found, "miss": [{**row, **s} for row, s in zip(rows, scores, strict=True)]}


LEVEL = 85.0
"""Percent of precision, and of recall, at which the other one is reported."""
TITLES = {
    "best segmentation": "entities of the best segmentation",
    "entities": "entities chosen among all likely spans",
    "spans": "all likely spans, overlapping or not",
}


def make_report(results: Result) -> str:
    machine = {k: v for k, v in results["machine"].items() if k != "cores"}
    plain, listing, likelier = (median(seconds) for seconds in results["seconds"].values())
    rows = [
        [f"{row['component']}, {row['config']}", f"{row['miss']:g}"]
        + [f"{row[key]:.2f}" for key in ("precision", "recall", "f1")]
        for row in results["miss"]
    ]
    return (
        f"{machine_sentence(machine)}\n\nA threshold on the confidences of one model, memb.cfg:\n\n"
        f"{_curve_table(results['curves'])}\nWith the list of all likely spans annotation takes "
        f"{listing / plain:.2f} times as long, with the list of spans with a probability of 0.1 or "
        f"more {likelier / plain:.2f} times.\n\nModels trained with another cost of a missed "
        f"entity:\n\n{table(['cost in', 'value', 'precision', 'recall', 'F1'], rows)}"
    )


def _curve_table(curves: Mapping[str, Sequence[Point]]) -> str:
    rows = []
    for name, curve in curves.items():
        top = max(curve, key=lambda point: point["f1"])
        rows.append(
            [
                TITLES[name],
                _cell(best_with(curve, "precision"), "recall"),
                f"{top['f1']:.2f} at {top['threshold']:.2f}",
                _cell(best_with(curve, "recall"), "precision"),
                f"{max(point['recall'] for point in curve):.2f}",
            ]
        )
    ends = [f"recall at precision {LEVEL:.0f}", f"precision at recall {LEVEL:.0f}"]
    return table(["", ends[0], "best F1", ends[1], "highest recall"], rows)


def best_with(curve: Sequence[Point], name: str) -> Point | None:
    """The point of best F1 among those whose precision, or recall, is at least `LEVEL`."""
    enough = [point for point in curve if point["found"] and point[name] >= LEVEL]
    return max(enough, key=lambda point: point["f1"], default=None)


def _cell(point: Point | None, name: str) -> str:
    return "–" if point is None else f"{point[name]:.2f} at {point['threshold']:.2f}"


LABELLED = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Thresholds that are written beside a curve."""
MARKERS = ("s", "^", "D")
LEAST = 30
"""Percent at which both axes begin."""


def draw(results: Result, path: str) -> None:
    """Draw the curves of one model, and a point for each model with another cost of a miss."""
    figure, (axes,) = new_figure(7.2, 6, grid="both")
    axes.axvline(LEVEL, color="#bbbbbb", linewidth=0.8)
    axes.axhline(LEVEL, color="#bbbbbb", linewidth=0.8)
    for (name, curve), colour in zip(reversed(results["curves"].items()), COLOURS, strict=False):
        found = [point for point in curve if point["found"]]
        axes.plot(*_columns(found), color=colour, linewidth=1.8, label=TITLES[name])
        if name != "best segmentation":
            _label_thresholds(axes, found, colour)
    by_component = by(results["miss"], "component").items()
    for (name, rows), marker in zip(by_component, MARKERS, strict=False):
        costs = ", ".join(format(row["miss"], "g") for row in rows)
        label = f"cost of a miss in {name}: {costs}"
        axes.plot(*_columns(rows), marker, color="#444444", markersize=5, label=label)
    axes.set(xlim=(LEAST, 100), ylim=(LEAST, 100), xlabel="recall, %", ylabel="precision, %")
    axes.legend(frameon=False, loc="lower left")
    save(figure, path)


def _columns(points: Sequence[Mapping[str, float]]) -> list[list[float]]:
    return [[point[key] for point in points] for key in ("recall", "precision")]


def _label_thresholds(axes: Axes, curve: Sequence[Mapping[str, float]], colour: str) -> None:
    for point in curve:
        is_inside = point["precision"] > LEAST and point["recall"] > LEAST
        if point["threshold"] in LABELLED and is_inside:
            place = point["recall"], point["precision"]
            axes.plot(*place, "o", color=colour, markersize=4)
            axes.annotate(
                f"{point['threshold']:g}", place, (5, 4), textcoords="offset points", fontsize=9,
                color=colour,
            )  # fmt: skip


REPORT = make_report, Picture("Precision against recall", draw)


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="jnlpba_precision_recall.json")
    add_rounds(parser, 7)
    add_at_once(parser)
    run(parser, "precision_recall", measure, *REPORT)


if __name__ == "__main__":
    main()
