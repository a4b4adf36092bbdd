"""What settings gain where little is annotated: on shares of the training documents.

python -m benchmarks.suite.few_documents wikigold gum --data assets/suite \
    --setting clusters 'components.cascade_segmenter.model.templates.clusters={"news": "news.gz"}'

F1 on dev, its tokens and sentences given, with the config that `init` makes for each share.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..lib.arguments import existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.processes import Result, TaskRunner
from ..reports.output import print_results, write_json
from .arguments import AS_IT_IS, add_settings, read_settings
from .corpora import CORPORA
from .shares import Share

SHARES = (0.01, 0.1)


def measure(
    runner: TaskRunner, data: Path, name: str, settings: Mapping[str, Mapping[str, Any]]
) -> list[Result]:
    """A row for each share of a corpus: its words, and F1 by the setting."""
    rows = []
    for share in SHARES:
        part = Share.prepare(runner, data, name, share)
        every: dict[str, Mapping[str, Any]] = {AS_IT_IS: {}, **settings}
        found = {its: part.train(its, every[its])["f1"] for its in every}
        rows.append({"corpus": name, "share": share, **part.sizes, "f1": found})
    return rows


def main() -> None:
    parser = new_parser(__doc__, output="few_documents.json")
    parser.add_argument("corpora", nargs="+", choices=sorted(CORPORA))
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    add_settings(parser)
    arguments = parser.parse_args()
    settings = read_settings(arguments.setting)
    results = describe_run()
    runner = runner_for(arguments, "few_documents")
    found = [
        row for name in arguments.corpora for row in measure(runner, arguments.data, name, settings)
    ]
    write_json({**results, "rows": found}, arguments.output)
    print_results({"rows": found}, None)


if __name__ == "__main__":
    main()
