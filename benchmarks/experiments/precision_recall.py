"""Precision against recall: thresholds on one model, and the cost of a miss in training.

python -m benchmarks.experiments.precision_recall corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from ..lib.arguments import add_at_once, add_rounds, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.package import CLASSIFIER, REJECTING, SEGMENTER, Settings, false_negative_weight
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..reports.output import write_report
from ..reports.precision_recall_report import make_report

Variant = tuple[str, str, Settings, Sequence[float]]
"""Config, the component with another cost of a miss, other settings, and the costs."""
VARIANTS: dict[str, Variant] = {
    "segmenter": ("memb.cfg", SEGMENTER, {}, (0.3, 0.5, 1.0, 2.0, 4.0)),
    "rejecting classifier": ("memb.cfg", CLASSIFIER, REJECTING, (0.5, 1.0, 2.0)),
    "segmenter, online": ("ocr.cfg", SEGMENTER, {}, (0.3, 1.0, 3.0)),
}


def measure(
    runner: TaskRunner,
    train: Path,
    dev: Path,
    variants: Mapping[str, Variant],
    rounds: int,
    at_once: int,
) -> Result:
    """Scores of every variant and cost of a miss, and curves of the first variant with cost 1."""
    corpora = {"train": str(train), "dev": str(dev)}
    jobs, rows, models = [], [], {}
    for name, (config, component, overrides, costs) in variants.items():
        for miss in costs:
            model = str(runner.work / f"{name} {miss}".replace(" ", "-"))
            models[name, miss] = model
            settings = {**overrides, **false_negative_weight(component, miss)}
            arguments = {"config": str(CONFIGS / config), **corpora, "model": model}
            rows.append({"component": name, "config": config, "miss": miss})
            task = {**arguments, "overrides": settings}
            jobs.append(partial(runner.run, "lib.thresholds:train_and_score", task))
    scores = runner.run_in_parallel(jobs, at_once)
    model = models[next(iter(variants)), 1.0]
    arguments = {"model": model, "dev": str(dev), "output": f"{model}-calibrated"}
    found = runner.run("lib.thresholds:sweep_thresholds", {**arguments, "rounds": rounds})
    return {**found, "miss": [{**row, **s} for row, s in zip(rows, scores, strict=True)]}


def draw(results: Result, path: str) -> None:
    from ..reports.precision_recall_picture import draw

    draw(results, path)


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="jnlpba_precision_recall.json")
    add_rounds(parser, 7)
    add_at_once(parser)
    arguments = parser.parse_args()
    runner = runner_for(arguments, "precision_recall")
    results = describe_run()
    results |= measure(
        runner, arguments.train, arguments.dev, VARIANTS, arguments.rounds, arguments.at_once
    )
    report = make_report(results)
    write_report(results, arguments.output, report, "Precision against recall", draw)


if __name__ == "__main__":
    main()
