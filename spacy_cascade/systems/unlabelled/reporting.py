"""The report on what was learnt from unlabelled Docs, for readers and for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...cli.output import percent
from .pseudo_labels import Confidence
from .rounds import Learnt

HEADER = (
    "round", "documents", "spans", "expected right, %", "right, %", "background tokens",
    "right, %", "F1 of the student", "F1 of the product",
)  # fmt: skip


def as_json(learnt: Learnt, sure: Confidence) -> dict[str, Any]:
    """All that is known, with all digits; shares from 0 to 1."""
    return {**asdict(learnt), "method": learnt.method.value, "sure": asdict(sure)}


def as_markdown(learnt: Learnt, sure: Confidence) -> str:
    """Tables of rounds and of labels, with what the columns mean."""
    kept = f"{learnt.best}, {percent(learnt.best_f1)}"
    lines = [
        "# Learning from unlabelled text",
        "",
        f"Method: {learnt.method.value}. {learnt.n_labelled:,} labelled and "
        f"{learnt.n_unlabelled:,} unlabelled Docs.",
        f"Spans count from a confidence of {sure.threshold:g}, background up to a probability of "
        f"{sure.background:g}.",
        "",
        f"Entity F1 on dev without unlabelled text: {percent(learnt.labelled_f1)}. Kept: {kept}.",
        f"It ended because {learnt.because}.",
    ]
    if learnt.rounds:
        rounds = [HEADER, ("---:",) * len(HEADER), *rounds_of(learnt)]
        lines += ["", *map(_row, rounds), "", _meaning(learnt.knows_gold), "", *_labels(learnt)]
    return "\n".join([*lines, ""])


def rounds_of(learnt: Learnt) -> list[tuple[str, ...]]:
    """A row of `HEADER` for each round."""
    return [
        (
            f"{number}", f"{each.added.documents:,}", f"{each.added.spans:,}",
            percent(each.added.expected), percent(each.added.right),
            f"{each.added.background:,}", percent(each.added.background_right),
            percent(each.student_f1), percent(each.product_f1),
        )
        for number, each in enumerate(learnt.rounds, 1)
    ]  # fmt: skip


def _labels(learnt: Learnt) -> list[str]:
    """Spans added in each round, by label."""
    labels = sorted({label for each in learnt.rounds for label in each.added.by_label})
    columns = [f"round {number}" for number in range(1, len(learnt.rounds) + 1)]
    rows = [_row(["spans added", *columns]), _row(["---", *["---:"] * len(columns)])]
    for label in labels:
        counts = [f"{each.added.by_label.get(label, 0):,}" for each in learnt.rounds]
        rows.append(_row([label, *counts]))
    return rows


def _meaning(knows_gold: bool) -> str:
    if knows_gold:
        return (
            "The unlabelled Docs have entities, which nothing learnt from: the columns *right* "
            "compare with them. *Expected right* is the mean confidence of the spans."
        )
    return (
        "The entities of the unlabelled Docs are not known. *Expected right* is an estimate: the "
        "mean confidence of the spans, which was calibrated on dev."
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
