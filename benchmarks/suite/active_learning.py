"""Sentences that must be annotated for 90 % of the final F1: chosen by `suggest`, and at random.

python -m benchmarks.suite.active_learning jnlpba bionlp13cg btc --data /data/corpora

Annotation is simulated: it is that of the corpus, shown for the sentences that were chosen. The
final F1 is that of a training on the whole pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..lib.active_learning import RANDOM
from ..lib.arguments import existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.processes import Result, TaskRunner
from ..reports.active_learning_report import SHARE, make_report
from ..reports.output import write_table
from .corpora import CORPORA, Prepared

SENTENCES = 4000
SIZES = (20, 50, 100, 150, 200, 300, 400, 600, 800, 1100, 1500, 2000)
"""Annotated sentences by round."""
UPDATES = 3


def measure(
    runner: TaskRunner, data: Path, name: str, choices: list[Result], settings: Result
) -> Iterator[Result]:
    """A row for each choice and seed of a corpus, and for the training on the pool."""
    prepared = Prepared(runner, data)
    prepared.sizes(name)
    folder = prepared.folder(name)
    files = {part: str(folder / f"{part}.spacy") for part in ("train", "dev")}
    simulate = partial(runner.run, "lib.active_learning:simulate")
    for seed in range(settings["seeds"]):
        shared = {
            **files, "sentences": settings["sentences"], "seed": seed,
            "updates": settings["updates"],
        }  # fmt: skip
        all_at_once = {"measure": RANDOM}
        final = simulate({**shared, "choice": all_at_once, "sizes": [settings["sentences"]]})
        for choice in choices:
            until = SHARE * final["rounds"][0]["f1"]
            rounds = {"choice": choice, "sizes": settings["sizes"], "until": until}
            found = simulate({**shared, **rounds})
            yield {
                "corpus": name, "seed": seed, "choice": choice,
                "final": final["rounds"][0], "rounds": found["rounds"],
            }  # fmt: skip


def main() -> None:
    parser = new_parser(__doc__, output="active_learning.json")
    add = parser.add_argument
    add("corpora", nargs="+", choices=sorted(CORPORA))
    add("--data", type=existing, default="assets/suite", help="as for the suite")
    add("--sentences", type=int, default=SENTENCES, help="of the pool")
    add("--sizes", type=int, nargs="+", default=list(SIZES), help="annotated sentences by round")
    add("--seeds", type=int, default=1, help="orders of the pool")
    add("--updates", type=int, default=UPDATES, help="of a training")
    add("--measures", nargs="+", default=["entropy"])
    add("--diversity", type=float, nargs="+", default=[0.5])
    arguments = parser.parse_args()
    runner = runner_for(arguments, f"active-{arguments.output.stem}")
    settings = {key: getattr(arguments, key) for key in ("sentences", "sizes", "seeds", "updates")}
    choices: list[Result] = [{"measure": RANDOM}]
    choices += [
        {"measure": measure, "diversity": diversity}
        for measure in arguments.measures
        for diversity in arguments.diversity
    ]
    results = {**describe_run(), "settings": settings, "rows": []}
    for name in arguments.corpora:
        results["rows"] += measure(runner, arguments.data, name, choices, settings)
        write_table(results, arguments.output, make_report(results))


if __name__ == "__main__":
    main()
