"""What settings gain where little is annotated: on shares of the training documents.

python -m benchmarks.suite.few_documents wikigold gum --data assets/suite \
    --setting "one table" 'components.cascade_segmenter.model.templates.words={"news": "news.gz"}'

F1 on dev, its tokens and sentences given, with the config that `init` makes for each share.
"""

from __future__ import annotations

import argparse

from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import AS_IT_IS, add_settings, corpora_parser, for_each_corpus, read_settings
from .shares import Share

SHARES = (0.01, 0.1)


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """A row for each share of a corpus: its words, and F1 by the setting."""
    rows = []
    for share in SHARES:
        part = Share.prepare(runner, arguments.data, name, share)
        every = {AS_IT_IS: {}, **read_settings(arguments.setting)}
        found = {its: part.train(its, every[its])["f1"] for its in every}
        rows.append({"corpus": name, "share": share, **part.sizes, "f1": found})
    return rows


def main() -> None:
    parser = corpora_parser(__doc__, "few_documents.json")
    add_settings(parser)
    run(parser, "few_documents", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
