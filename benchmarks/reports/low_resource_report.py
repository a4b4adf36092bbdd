"""Tables of results of `suite.low_resource`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from .markdown import machine_sentence, table

Result = dict[str, Any]
CLUSTERS = "clusters"
MEAN = "mean"


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
    for share in sorted({row["share"] for row in rows}):
        of_share = [row for row in rows if row["share"] == share]
        parts += [f"## {share:.0%} labelled\n", _scores(of_share), _gains(of_share)]
    parts += ["## What was added in the first round, and how right it was\n", _added(rows)]
    return "\n".join(parts)


def _names(rows: Sequence[Result], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _scores(rows: Sequence[Result]) -> str:
    """A row for each corpus, and their mean; columns by method."""
    methods = _names(rows, "method")
    header = ["", "draws", "tokens", "entities", "labelled alone"]
    header += [f"{method}: {what}" for method in methods for what in ("first round", "kept")]
    lines = []
    for name in _names(rows, "corpus"):
        own = [row for row in rows if row["corpus"] == name]
        draws = [row for row in own if row["method"] == methods[0]]
        sizes = [f"{mean(row[key] for row in draws):,.0f}" for key in ("tokens", "entities")]
        lines.append([name, f"{len(draws)}", *sizes, *(f"{x:.2f}" for x in _columns(own, methods))])
    means = [f"{x:.2f}" for x in _of_corpora(rows, methods)]
    return table(header, [*lines, [MEAN, "", "", "", *means]])


def _columns(rows: Sequence[Result], methods: Sequence[str]) -> list[float]:
    """Means over the draws of one corpus: labelled alone, and two columns for each method."""
    plain = [row for row in rows if row["method"] == methods[0]]
    found = [mean(map(labelled, plain))]
    for method in methods:
        own = [row for row in rows if row["method"] == method]
        found += [mean(map(score, own)) for score in (first_round, kept)]
    return found


def _of_corpora(rows: Sequence[Result], methods: Sequence[str]) -> list[float]:
    every = [
        _columns([row for row in rows if row["corpus"] == name], methods)
        for name in _names(rows, "corpus")
    ]
    return [mean(column) for column in zip(*every, strict=True)]


def _gains(rows: Sequence[Result]) -> str:
    """Sentences: the mean gain of each method over corpora, and how many draws gained."""
    lines = []
    for method in _names(rows, "method"):
        own = [row for row in rows if row["method"] == method]
        before, first, after = (_mean_of(own, score) for score in (labelled, first_round, kept))
        better = sum(kept(row) > labelled(row) for row in own)
        lines.append(
            f"- {method}: {after - before:+.2f} F1 kept, {first - before:+.2f} in the first round; "
            f"better in {better} of {len(own)} draws"
        )
    return "\n".join([*lines, ""])


def _mean_of(rows: Sequence[Result], score: Callable[[Result], float]) -> float:
    """Of the means of corpora."""
    names = _names(rows, "corpus")
    return mean(mean(score(row) for row in rows if row["corpus"] == name) for name in names)


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
