"""F1 by the width of the prior and the size of the corpus: is the rule of `init` for sigma right?

python -m benchmarks.suite.prior_width conll2003 conll2002-nl jnlpba --data assets/suite

Each corpus is cut to shares, the smaller inside the larger, and trained with multiples of the sigma
that `init` chooses for that share. Training ends by the score on dev, as `init` sets it.
"""

from __future__ import annotations

from pathlib import Path

from ..lib.arguments import existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.package import read_sigmas, sigma_settings
from ..lib.processes import Result, TaskRunner
from ..reports.output import print_results, write_json
from .corpora import CORPORA
from .shares import Share

SHARES = (0.01, 0.1, 1.0)
FACTORS = (0.5, 1.0, 2.0, 4.0)


def measure(runner: TaskRunner, data: Path, name: str, factors: list[float]) -> list[Result]:
    """A row for each share of a corpus: its words, sigma, and F1 and updates by the factor."""
    rows = []
    for share in SHARES:
        part = Share.prepare(runner, data, name, share)
        sigmas = read_sigmas(part.config)
        found = {}
        for factor in factors:
            result = part.train(f"{factor:g}", sigma_settings(sigmas, factor))
            found[f"{factor:g}"] = {name: result[name] for name in ("f1", "updates")}
        rows.append(
            {"corpus": name, "share": share, **part.sizes, "sigma": sigmas, "factors": found}
        )
    return rows


def main() -> None:
    parser = new_parser(__doc__, output="prior_width.json")
    parser.add_argument("corpora", nargs="+", choices=sorted(CORPORA))
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--factors", nargs="+", type=float, default=list(FACTORS), help="of sigma")
    arguments = parser.parse_args()
    results = describe_run()
    runner = runner_for(arguments, "prior_width")
    found = [
        row
        for name in arguments.corpora
        for row in measure(runner, arguments.data, name, arguments.factors)
    ]
    write_json({**results, "rows": found}, arguments.output)
    print_results({"rows": found}, None)


if __name__ == "__main__":
    main()
