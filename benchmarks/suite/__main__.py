"""Every corpus of the suite, our systems and their peers, in one table.

python -m benchmarks.suite --data FOLDER
python -m benchmarks.suite --data FOLDER --systems init --setting "minimum count 1" components.cascade_segmenter.model.min_count=1
python -m benchmarks.suite --data FOLDER --fast

A run that was stopped goes on where it was: results that are in the file are not measured again.
"""  # noqa: E501

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..lib.arguments import new_parser, runner_for
from ..lib.paths import PROJECT
from ..reports import suite_report
from ..reports.suite_results import DEFAULT, RAW, TOKENS, Entry, read_entries
from .arguments import add_settings, read_settings
from .corpora import CORPORA, MissingCorpus
from .running import Suite, TrainingsFailed, plan
from .systems import ROWS, Row, with_settings

FLOORS: dict[str, float] = {"wikigold": 65.0, "sec-filings": 89.0, "gum": 49.0}
"""F1 on dev, in percent, that `init`'s default reaches at least, by corpus."""


def below(entries: Iterable[Entry], floors: dict[str, float]) -> list[str]:
    """A line for each corpus whose F1 is below its floor or is missing."""
    f1 = {entry["corpus"]: entry["f1"] for entry in entries if entry["system"] == DEFAULT}
    missing = [f"{corpus}: there is no result" for corpus in floors if corpus not in f1]
    return missing + [
        f"{corpus}: F1 {f1[corpus]:.2f} on dev is below the floor of {floor:.2f}"
        for corpus, floor in floors.items()
        if corpus in f1 and f1[corpus] < floor
    ]


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, output="suite.jsonl")
    add = parser.add_argument
    add("--data", type=Path, default=PROJECT / "assets" / "suite", help="folder of the corpora")
    add("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    add("--systems", nargs="+", choices=ROWS, default=list(ROWS))
    add("--inputs", nargs="+", choices=(TOKENS, RAW), default=[TOKENS, RAW], help="of our systems")
    add_settings(parser)
    add("--again", action="store_true", help="also measure what has a result")
    add("--fast", action="store_true", help="small corpora and floors only; nothing is stored")
    return parser.parse_args()


def chosen_rows(names: Sequence[str], settings: Sequence[Sequence[str]]) -> list[Row]:
    further = read_settings(settings)
    rows = [ROWS[name] for name in names]
    return [row if row.is_peer else with_settings(row, further) for row in rows]


def run_fast(suite: Suite) -> list[str]:
    """Train `init`'s default on the small corpora anew. Returns what is below its floor."""
    suite.output.unlink(missing_ok=True)
    for line in suite.run(plan(FLOORS, [ROWS[DEFAULT]], [TOKENS]), again=True):
        print(line, flush=True)
    return below(read_entries(suite.output), FLOORS)


def main() -> int:
    arguments = read_arguments()
    runner = runner_for(arguments, "suite")
    try:
        if arguments.fast:
            mistakes = run_fast(Suite(runner, arguments.data, runner.work / "fast.jsonl", ()))
            print("\n".join(mistakes), file=sys.stderr, end="\n" if mistakes else "")
            return 1 if mistakes else 0
        rows = chosen_rows(arguments.systems, arguments.setting)
        trainings = plan(arguments.corpora, rows, arguments.inputs)
        for line in Suite(runner, arguments.data, arguments.output).run(trainings, arguments.again):
            print(line, flush=True)
        suite_report.write(arguments.output)
    except (MissingCorpus, TrainingsFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
