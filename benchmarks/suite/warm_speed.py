"""How much time settings cost when Docs are annotated whose words have been seen before.

python -m benchmarks.suite.warm_speed jnlpba --data assets/suite \
    --setting clusters 'components.cascade_segmenter.model.templates.clusters={"news": "news.gz"}'

The pipelines of all settings take turns in one process, on the Docs of dev, with confidences.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from ..lib.arguments import add_rounds, existing, new_parser, runner_for
from ..lib.machine import describe_run, size_in_bytes
from ..lib.processes import Result, TaskRunner
from ..reports.output import print_results, write_json
from .arguments import AS_IT_IS, add_settings, read_settings
from .corpora import CORPORA
from .shares import Share


def measure(
    runner: TaskRunner,
    data: Path,
    name: str,
    settings: Mapping[str, Mapping[str, Any]],
    rounds: int,
) -> list[Result]:
    """A row for each setting: F1, tokens a second, speed over the first setting, megabytes.

    The ratio of speeds is the median over rounds, in each of which all settings have a turn.
    """
    whole = Share.prepare(runner, data, name, 1.0)
    every: dict[str, Mapping[str, Any]] = {AS_IT_IS: {}, **settings}
    trained = {setting: whole.train(setting, its) for setting, its in every.items()}
    models = {setting: (result["model"], "spacy") for setting, result in trained.items()}
    timed = runner.run(
        "peers.evaluation:evaluate",
        {"models": models, "data": whole.corpora["dev"], "rounds": rounds},
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
    parser = new_parser(__doc__, output="warm_speed.json")
    parser.add_argument("corpora", nargs="+", choices=sorted(CORPORA))
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    add_settings(parser)
    add_rounds(parser, rounds=9)
    arguments = parser.parse_args()
    settings = read_settings(arguments.setting)
    results = describe_run()
    runner = runner_for(arguments, "warm_speed")
    found = [
        row
        for name in arguments.corpora
        for row in measure(runner, arguments.data, name, settings, arguments.rounds)
    ]
    write_json({**results, "rows": found}, arguments.output)
    print_results({"rows": found}, None)


if __name__ == "__main__":
    main()
