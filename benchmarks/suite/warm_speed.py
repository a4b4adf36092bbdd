"""How much time settings cost when Docs are annotated whose words have been seen before.

python -m benchmarks.suite.warm_speed jnlpba --data assets/suite \
    --setting clusters 'components.cascade_segmenter.model.templates.clusters={"news": "news.gz"}'

The pipelines of all settings take turns in one process, on the Docs of dev, with confidences.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

from ..lib.arguments import add_rounds
from ..lib.machine import size_in_bytes
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import AS_IT_IS, add_settings, corpora_parser, for_each_corpus, read_settings
from .shares import Share


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """A row for each setting: F1, tokens a second, speed over the first setting, megabytes.

    The ratio of speeds is the median over rounds, in each of which all settings have a turn.
    """
    whole = Share.prepare(runner, arguments.data, name, 1.0)
    every = {AS_IT_IS: {}, **read_settings(arguments.setting)}
    trained = {setting: whole.train(setting, its) for setting, its in every.items()}
    models = {setting: (result["model"], "spacy") for setting, result in trained.items()}
    timed = runner.run(
        "peers.evaluation:evaluate",
        {"models": models, "data": whole.corpora["dev"], "rounds": arguments.rounds},
    )
    base = timed["models"][AS_IT_IS]
    return [
        {
            "corpus": name,
            "setting": setting,
            "f1": trained[setting]["f1"],
            "tokens_per_second": timed["tokens"] / median(found["seconds"]),
            "speed": median(map(_ratio, base["seconds"], found["seconds"])),
            "megabytes": size_in_bytes(Path(trained[setting]["model"])) / 1e6,
        }
        for setting, found in timed["models"].items()
    ]


def _ratio(base: float, seconds: float) -> float:
    return base / seconds


def main() -> None:
    parser = corpora_parser(__doc__, "warm_speed.json")
    add_settings(parser)
    add_rounds(parser, rounds=9)
    run(parser, "warm_speed", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
