"""Every corpus of the suite, our systems and their peers, in one table.

python -m benchmarks.suite --data FOLDER

A run that was stopped goes on where it was: results that are in the file are not measured again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..lib.arguments import existing, new_parser, runner_for
from ..lib.paths import PROJECT
from .corpora import CORPORA, MissingCorpus
from .running import Suite, plan
from .systems import RAW, ROWS, TOKENS


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, output="suite.jsonl")
    add = parser.add_argument
    add("--data", type=existing, default=PROJECT / "assets" / "suite", help="folder of corpora")
    add("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    add("--systems", nargs="+", choices=ROWS, default=list(ROWS))
    add("--inputs", nargs="+", choices=(TOKENS, RAW), default=[TOKENS, RAW], help="of our systems")
    add("--again", action="store_true", help="also measure what has a result")
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    rows = [ROWS[name] for name in arguments.systems]
    suite = Suite(runner_for(arguments, "suite"), Path(arguments.data), arguments.output)
    try:
        for line in suite.run(plan(arguments.corpora, rows, arguments.inputs), arguments.again):
            print(line, flush=True)
    except MissingCorpus as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
