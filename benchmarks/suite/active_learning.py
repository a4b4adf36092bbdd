"""Sentences that must be annotated for 90 % of the final F1: chosen by `suggest`, and at random.

python -m benchmarks.suite.active_learning jnlpba bionlp13cg btc --data /data/corpora

Annotation is simulated: it is that of the corpus, shown for the sentences that were chosen. The
final F1 is that of a training on the whole pool.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product

from ..lib.active_learning import RANDOM
from ..lib.processes import Result, TaskRunner
from ..reports.active_learning_report import SHARE, make_report
from ..reports.output import run
from .arguments import corpora_parser, for_each_corpus
from .corpora import Prepared

SENTENCES = 4000
SIZES = (20, 50, 100, 150, 200, 300, 400, 600, 800, 1100, 1500, 2000)
"""Annotated sentences by round."""
UPDATES = 3


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> Iterator[Result]:
    """A row for each choice and seed of a corpus, and for the training on the pool."""
    prepared = Prepared(runner, arguments.data)
    prepared.sizes(name)
    folder = prepared.folder(name)
    files = {part: str(folder / f"{part}.spacy") for part in ("train", "dev")}
    choices: list[Result] = [{"measure": RANDOM}]
    choices += [
        {"measure": measure, "diversity": diversity}
        for measure, diversity in product(arguments.measures, arguments.diversity)
    ]
    simulate = partial(runner.run, "lib.active_learning:simulate")
    for seed in range(arguments.seeds):
        shared = {
            **files, "sentences": arguments.sentences, "seed": seed, "updates": arguments.updates,
        }  # fmt: skip
        all_at_once = {"choice": choices[0], "sizes": [arguments.sentences]}
        final = simulate({**shared, **all_at_once})["rounds"][0]
        for choice in choices:
            rounds = {"choice": choice, "sizes": arguments.sizes, "until": SHARE * final["f1"]}
            found = simulate({**shared, **rounds})["rounds"]
            yield {
                "corpus": name, "seed": seed, "choice": choice, "final": final, "rounds": found,
            }  # fmt: skip


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    names = ("sentences", "sizes", "seeds", "updates")
    settings = {name: getattr(arguments, name) for name in names}
    return {"settings": settings, **for_each_corpus(rows_of)(runner, arguments)}


def main() -> None:
    parser = corpora_parser(__doc__, "active_learning.json")
    add = parser.add_argument
    add("--sentences", type=int, default=SENTENCES, help="of the pool")
    add("--sizes", type=int, nargs="+", default=list(SIZES), help="annotated sentences by round")
    add("--seeds", type=int, default=1, help="orders of the pool")
    add("--updates", type=int, default=UPDATES, help="of a training")
    add("--measures", nargs="+", default=["entropy"])
    add("--diversity", type=float, nargs="+", default=[0.5])
    run(parser, "active_learning", measure, make_report)


if __name__ == "__main__":
    main()
