"""Tables of results of `suite.active_learning`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

from ..lib.active_learning import RANDOM
from ..lib.processes import Result
from .markdown import by, machine_sentence, table

SHARE = 0.9
"""Of the final F1, that is to be reached."""


def needed(rounds: Sequence[Result], wanted: float, unit: str = "sentences") -> float | None:
    """Annotated sentences, or tokens, at which F1 reaches what is wanted; None where it does not.

    Between two rounds, F1 counts as linear in the logarithm of the number.
    """
    if rounds and rounds[0]["f1"] >= wanted:
        return float(rounds[0][unit])
    for before, after in pairwise(rounds):
        if before["f1"] < wanted <= after["f1"]:
            share = (wanted - before["f1"]) / (after["f1"] - before["f1"])
            low, high = math.log(before[unit]), math.log(after[unit])
            return math.exp(low + share * (high - low))
    return None


def choice_name(choice: Result) -> str:
    if choice["measure"] == RANDOM:
        return RANDOM
    return f"{choice['measure']}, diversity {choice['diversity']:g}"


def make_report(results: Result) -> str:
    rows, settings = results["rows"], results["settings"]
    text = (
        "# Active learning, simulated\n\n"
        f"Annotated sentences and tokens needed for {SHARE:.0%} of the entity F1 on dev that a "
        f"training on the whole pool reaches (*final*). The pool has up to "
        f"{settings['sentences']:,} sentences of train; the first {settings['sizes'][0]} are drawn "
        f"at random. Each round retrains the cascade of the default settings "
        f"({settings['updates']} updates, temperatures of 2) and chooses among the rest, until the "
        f"F1 is reached; orders of the pool: {settings['seeds']}. *Against random*: of the "
        "sentences, and of the tokens, that a random choice needs.\n\n"
        f"{machine_sentence(results['machine'])}\n\n"
    )
    curves = "Means over the orders that have not reached the F1 before.\n\n" + _curves(rows)
    return f"{text}{needed_table(rows)}\n## F1 by annotated sentences\n\n{curves}"


def needed_table(rows: Sequence[Result]) -> str:
    """What each choice needs in each corpus."""
    header = ["", "choice", "final F1", "sentences", "against random", "tokens", "against random"]
    lines = []
    for (corpus, name), own in _by_choice(rows).items():
        cells = []
        for unit in ("sentences", "tokens"):
            found, base = (_mean_needed(r, unit) for r in (own, _by_choice(rows)[corpus, RANDOM]))
            cells.append("-" if found is None else f"{found:,.0f}")
            cells.append("-" if found is None or base is None else f"{found / base:.2f}")
        final = mean(row["final"]["f1"] for row in own)
        lines.append([corpus, name, f"{final:.1f}", *cells])
    return table(header, lines, "llrrrrr")


def _by_choice(rows: Sequence[Result]) -> dict[tuple[str, str], list[Result]]:
    return by(({**row, "choice": choice_name(row["choice"])} for row in rows), "corpus", "choice")


def _mean_needed(rows: Sequence[Result], unit: str) -> float | None:
    found = [needed(row["rounds"], SHARE * row["final"]["f1"], unit) for row in rows]
    known = [value for value in found if value is not None]
    return mean(known) if known and len(known) == len(found) else None


def _curves(rows: Sequence[Result]) -> str:
    sizes = sorted({found["sentences"] for row in rows for found in row["rounds"]})
    lines = []
    for (corpus, name), own in _by_choice(rows).items():
        by_size = [
            [f["f1"] for row in own for f in row["rounds"] if f["sentences"] == size]
            for size in sizes
        ]
        lines.append([corpus, name, *(f"{mean(f):.1f}" if f else "" for f in by_size)])
    return table(["", "choice", *(f"{size:,}" for size in sizes)], lines)
