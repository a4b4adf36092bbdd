"""Floors of F1 for a fast subset of the suite: a check that nothing got worse."""

from __future__ import annotations

from collections.abc import Iterable

from ..reports.suite_results import DEFAULT, Entry

FLOORS: dict[str, float] = {"wikigold": 65.0, "sec-filings": 89.0, "btc": 72.0}
"""F1 on dev, in percent, that `init`'s default reaches at least, by corpus."""


def below(entries: Iterable[Entry], floors: dict[str, float]) -> list[str]:
    """A line for each corpus whose F1 is below its floor or is missing."""
    f1 = {entry["corpus"]: entry["f1"] for entry in entries if entry["system"] == DEFAULT}
    missing = [f"{corpus}: there is no result" for corpus in floors if corpus not in f1]
    return missing + [
        f"{corpus}: F1 {f1[corpus]:.2f} on dev is below the floor of {floor:.2f}"
        for corpus, floor in floors.items()
        if corpus in f1 and f1[corpus] < floor
    ]
