"""F1 by the width of the prior and the size of the corpus: is the rule of `init` for sigma right?

python -m benchmarks.suite.prior_width conll2003 conll2002-nl jnlpba --data assets/suite

Each corpus is cut to shares, the smaller inside the larger, and trained with multiples of the sigma
that `init` chooses for that share. Training ends by the score on dev, as `init` sets it.
"""

from __future__ import annotations

import argparse

from spacy.util import load_config

from ..lib.package import STAGES
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import corpora_parser, for_each_corpus
from .shares import Share

SHARES = (0.01, 0.1, 1.0)
FACTORS = (0.5, 1.0, 2.0, 4.0)


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """A row for each share of a corpus: its words, sigma, and F1 and updates by the factor."""
    rows = []
    for share in SHARES:
        part = Share.prepare(runner, arguments.data, name, share)
        components = load_config(part.config)["components"]
        sigmas = {name: components[name]["penalty"]["sigma"] for name in STAGES}
        found = {}
        for factor in arguments.factors:
            widths = {f"components.{n}.penalty.sigma": factor * its for n, its in sigmas.items()}
            result = part.train(f"{factor:g}", widths)
            found[f"{factor:g}"] = {name: result[name] for name in ("f1", "updates")}
        rows.append(
            {"corpus": name, "share": share, **part.sizes, "sigma": sigmas, "factors": found}
        )
    return rows


def main() -> None:
    parser = corpora_parser(__doc__, "prior_width.json")
    parser.add_argument("--factors", nargs="+", type=float, default=list(FACTORS), help="of sigma")
    run(parser, "prior_width", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
