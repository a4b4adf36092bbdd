"""What unlabelled text gains where 1 % or 5 % of a corpus are labelled.

python -m benchmarks.suite.low_resource --data assets/suite

Blocks of ten sentences are drawn as labelled, and others as unlabelled. F1 on dev, its tokens and
sentences given, with the config that `init` makes for the labelled part.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from ..lib.arguments import add_at_once
from ..lib.package import TOKENS_GIVEN
from ..lib.processes import Result, TaskRunner
from ..reports.markdown import by, machine_sentence, table
from ..reports.output import run
from .arguments import data_parser
from .corpora import CORPORA, Prepared

CLUSTERS = "clusters"
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
    "min_count": 2, "dimensions": 32, "epochs": 20, "sizes": [4, 16, 64], "processes": 1,
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


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """All methods on each draw, the first draw of each share first."""
    most = arguments.draws or max(DRAWS.values())
    draws = {share: min(DRAWS[share], most) for share in arguments.shares}
    jobs = [
        partial(_learn_from, runner, arguments, name, share, seed)
        for seed in range(max(draws.values()))
        for share in draws
        if seed < draws[share]
        for name in arguments.corpora
    ]
    found = runner.run_in_parallel(jobs, arguments.at_once)
    return {"rows": [row for rows in found for row in rows]}


def _learn_from(
    runner: TaskRunner, arguments: argparse.Namespace, name: str, share: float, seed: int
) -> list[Result]:
    draw = Draw.prepare(runner, arguments.data, name, share, seed, arguments.most)
    return [draw.learn(way.removesuffix("+"), way.endswith("+")) for way in arguments.methods]


def labelled(row: Result) -> float:
    return 100 * float(row["learnt"]["labelled_f1"])


def kept(row: Result) -> float:
    return 100 * float(row["learnt"]["best_f1"])


def first_round(row: Result) -> float:
    """The student of the first round, whether dev would keep it or not."""
    rounds = row["learnt"]["rounds"]
    return 100 * float(rounds[0]["student_f1"]) if rounds else labelled(row)


def make_report(results: Result) -> str:
    rows = results["rows"]
    parts = [
        "# Learning from unlabelled text\n",
        "Entity F1 on dev in percent, tokens and sentences given; means over draws of the labelled "
        "part. *Kept* is the best pipeline on dev: that of the labelled part alone, or the student "
        "or product of a round. *First round* is its student without a choice on dev. "
        f"Gains are over the labelled part alone.\n\n{machine_sentence(results['machine'])}\n",
    ]
    for share, of_share in sorted(by(rows, "share").items()):
        parts += [f"## {share:.0%} labelled\n", _scores(of_share), _gains(of_share)]
    parts += ["## What was added in the first round, and how right it was\n", _added(rows)]
    return "\n".join(parts)


def _scores(rows: Sequence[Result]) -> str:
    """A row for each corpus, and their mean; columns by method."""
    by_method = by(rows, "method")
    plain = next(iter(by_method.values()))
    columns = {"labelled alone": (plain, labelled)}
    for method, own in by_method.items():
        columns |= {f"{method}: first round": (own, first_round), f"{method}: kept": (own, kept)}
    lines = []
    for name, draws in by(plain, "corpus").items():
        sizes = [f"{mean(row[key] for row in draws):,.0f}" for key in ("tokens", "entities")]
        scores = (mean(map(score, by(own, "corpus")[name])) for own, score in columns.values())
        lines.append([name, f"{len(draws)}", *sizes, *(f"{score:.2f}" for score in scores)])
    means = (f"{_mean_of(own, score):.2f}" for own, score in columns.values())
    header = ["", "draws", "tokens", "entities", *columns]
    return table(header, [*lines, ["mean", "", "", "", *means]])


def _gains(rows: Sequence[Result]) -> str:
    """Sentences: the mean gain of each method over corpora, and how many draws gained."""
    lines = []
    for method, own in by(rows, "method").items():
        before, first, after = (_mean_of(own, score) for score in (labelled, first_round, kept))
        better = sum(kept(row) > labelled(row) for row in own)
        lines.append(
            f"- {method}: {after - before:+.2f} F1 kept, {first - before:+.2f} in the first round; "
            f"better in {better} of {len(own)} draws"
        )
    return "\n".join([*lines, ""])


def _mean_of(rows: Sequence[Result], score: Callable[[Result], float]) -> float:
    """Of the means of corpora."""
    return mean(mean(map(score, own)) for own in by(rows, "corpus").values())


def _added(rows: Sequence[Result]) -> str:
    header = ["", "labelled", "method", "spans", "expected right", "right", "background right"]
    lines = []
    for row in rows:
        if row["seed"] == 0 and row["learnt"]["rounds"]:
            added = row["learnt"]["rounds"][0]["added"]
            shares = [added[key] for key in ("expected", "right", "background_right")]
            cells = ["-" if share is None else f"{100 * share:.1f}" for share in shares]
            lines.append(
                [row["corpus"], f"{row['share']:.0%}", row["method"], f"{added['spans']:,}", *cells]
            )
    return table(header, lines, "lrlrrrr")


def main() -> None:
    parser = data_parser(__doc__, "low_resource.json")
    parser.add_argument("--corpora", nargs="+", choices=sorted(CORPORA), default=NAMES)
    parser.add_argument(
        "--methods", nargs="+", choices=[*METHODS, *(f"{m}+" for m in METHODS)], default=METHODS,
        help="with +: the pipeline also looks at word clusters of the same text",
    )  # fmt: skip
    parser.add_argument("--shares", nargs="+", type=float, choices=DRAWS, default=list(DRAWS))
    parser.add_argument("--draws", type=int, help="of each share, at most")
    parser.add_argument("--most", type=int, default=MOST, help="tokens of unlabelled text")
    add_at_once(parser)
    run(parser, "low_resource", measure, make_report)


if __name__ == "__main__":
    main()
