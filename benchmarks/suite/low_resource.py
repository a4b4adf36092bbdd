"""What unlabelled text gains where 1 % or 5 % of a corpus are labelled.

python -m benchmarks.suite.low_resource --data assets/suite

Blocks of ten sentences are drawn as labelled, and others as unlabelled. F1 on dev, its tokens and
sentences given, with the config that `init` makes for the labelled part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..lib.arguments import add_at_once, existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.package import TOKENS_GIVEN
from ..lib.processes import Result, TaskRunner
from ..reports.low_resource_report import CLUSTERS, make_report
from ..reports.output import write_table
from .corpora import CORPORA, Prepared

NAMES = ("wikigold", "gum", "bionlp13cg", "btc", "anatem")
DRAWS = {0.01: 3, 0.05: 1}
"""How often each share is drawn."""
METHODS = ("self", "cotrain")
MOST = 1_000_000
"""Tokens of unlabelled text; more than any of these corpora has."""
ROUNDS = 2
TRAINING: dict[str, Any] = {
    "training.max_steps": 4,
    "components.cascade_segmenter.trainer.iterations": 33,
    "components.cascade_classifier.trainer.iterations": 33,
}
"""As many iterations as `init` sets, with a third of the evaluations on dev, which take longer."""
OWN_CLUSTERS: dict[str, Any] = {
    "min_count": 2, "size": 32, "epochs": 20, "clusters": 64, "processes": 1,
}  # fmt: skip
"""For so little text."""


@dataclass(frozen=True)
class Draw:
    """A labelled and an unlabelled part of a corpus. stem: what paths of its files begin with."""

    runner: TaskRunner
    name: str
    share: float
    seed: int
    stem: str
    dev: str
    sizes: Result

    @classmethod
    def prepare(
        cls, runner: TaskRunner, data: Path, name: str, share: float, seed: int, most: int
    ) -> Draw:
        prepared = Prepared(runner, data)
        prepared.sizes(name)
        folder = prepared.folder(name)
        stem = f"{folder}/low-{share:g}-{seed}"
        parts = {part: f"{stem}.{part}.spacy" for part in ("labelled", "unlabelled")}
        drawn = {"train": f"{folder / 'train.spacy'}", "share": share, "seed": seed, "most": most}
        sizes = runner.run("lib.corpora:split_blocks", {**drawn, **parts})
        dev = str(folder / "dev.spacy")
        corpora = {"train": parts["labelled"], "dev": dev, "lang": CORPORA[name].lang}
        runner.run("lib.package:write_training_config", {"output": f"{stem}.cfg", **corpora})
        return cls(runner, name, share, seed, stem, dev, sizes)

    def learn(self, method: str, has_clusters: bool = False) -> Result:
        """What a method gives. has_clusters: whether word clusters of all the text are features."""
        parts = {part: f"{self.stem}.{part}.spacy" for part in ("labelled", "unlabelled")}
        clusters = f"{self.stem}.clusters" if has_clusters else ""
        if has_clusters:
            made = {"sources": sorted(parts.values()), "output": clusters, "settings": OWN_CLUSTERS}
            self.runner.run("lib.package:write_clusters", made)
        # Their paths are those of the workflow.
        readers = {f"corpora.{part}": {**TOKENS_GIVEN, "path": None} for part in ("train", "dev")}
        arguments = {
            "config": f"{self.stem}.cfg", "train": parts["labelled"], "dev": self.dev,
            "unlabelled": parts["unlabelled"], "method": method, "rounds": ROUNDS,
            "overrides": {**readers, **TRAINING}, "clusters": clusters,
        }  # fmt: skip
        found = self.runner.run("lib.package:learn_unlabelled", arguments)
        label = f"{method} + {CLUSTERS}" if has_clusters else method
        row = {
            "corpus": self.name, "share": self.share, "seed": self.seed, **self.sizes,
            "method": label, "learnt": found,
        }  # fmt: skip
        before, after = 100 * found["labelled_f1"], 100 * found["best_f1"]
        print(self.name, self.share, self.seed, label, f"{before:.2f} {after:.2f}", flush=True)
        return row


def jobs(
    runner: TaskRunner,
    data: Path,
    names: Sequence[str],
    methods: Sequence[str],
    draws: Mapping[float, int],
    most: int = MOST,
) -> Iterator[Callable[[], list[Result]]]:
    """The draws, the first one of each share first. draws: how many there are of each.

    most: tokens of unlabelled text.
    """
    for seed in range(max(draws.values())):
        for share in (share for share, n_draws in draws.items() if seed < n_draws):
            for name in names:
                yield partial(_measure, runner, data, name, share, seed, methods, most)


def _measure(
    runner: TaskRunner,
    data: Path,
    name: str,
    share: float,
    seed: int,
    methods: Sequence[str],
    most: int,
) -> list[Result]:
    draw = Draw.prepare(runner, data, name, share, seed, most)
    return [draw.learn(method.removesuffix("+"), method.endswith("+")) for method in methods]


def main() -> None:
    parser = new_parser(__doc__, output="low_resource.json")
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--corpora", nargs="+", choices=sorted(CORPORA), default=NAMES)
    parser.add_argument(
        "--methods", nargs="+", choices=[*METHODS, *(f"{m}+" for m in METHODS)], default=METHODS,
        help="with +: the pipeline also looks at word clusters of the same text",
    )  # fmt: skip
    parser.add_argument("--shares", nargs="+", type=float, choices=DRAWS, default=list(DRAWS))
    parser.add_argument("--draws", type=int, help="of each share, at most")
    parser.add_argument("--most", type=int, default=MOST, help="tokens of unlabelled text")
    add_at_once(parser)
    arguments = parser.parse_args()
    results = describe_run()
    runner = runner_for(arguments, "low_resource")
    draws = {
        share: min(DRAWS[share], arguments.draws or DRAWS[share]) for share in arguments.shares
    }
    names, methods = arguments.corpora, arguments.methods
    every = list(jobs(runner, arguments.data, names, methods, draws, arguments.most))
    found = runner.run_in_parallel(every, arguments.at_once)
    results["rows"] = [row for rows in found for row in rows]
    write_table(results, arguments.output, make_report(results))


if __name__ == "__main__":
    main()
