"""What further settings of a system of the suite gain, made of its stored results.

python -m benchmarks.reports.settings_report RESULTS.jsonl [--system init]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import mean

from ..lib.arguments import existing
from .markdown import table
from .suite_results import (
    ALONE,
    DEFAULT,
    TOKENS,
    Column,
    Competitor,
    Entry,
    difference,
    home_columns,
    read_entries,
    shifted_columns,
)


def by_setting(entries: Sequence[Entry], system: str) -> list[Competitor]:
    """The settings of a system on tokens, the fixed one first."""
    found: dict[str, dict[str, Entry]] = {}
    for entry in sorted(entries, key=lambda entry: not entry["is_fixed"]):
        if entry["system"] == system and entry["input"] == TOKENS:
            found.setdefault(entry["setting"], {})[entry["corpus"]] = entry
    return [Competitor(setting, system, False, of) for setting, of in found.items()]


def settings_table(entries: Sequence[Entry], system: str = DEFAULT) -> str:
    """F1 with the fixed setting, and for each other one the difference to it.

    At home with a paired 95 % interval (bootstrap over documents). Empty where there is one only.
    """
    return _gains(by_setting(entries, system), home_columns(entries), shifted_columns(entries))


def _gains(found: Sequence[Competitor], *blocks: Sequence[Column]) -> str:
    """A table of blocks of columns, each with its mean."""
    if len(found) < 2:
        return ""
    fixed, others = found[0], found[1:]
    rows = []
    for columns in blocks:
        known = [c for c in columns if fixed.f1(c) is not None and any(o.f1(c) for o in others)]
        rows += [_row(fixed, others, column) for column in known]
        if known:
            means = [_mean_gain(fixed, other, known) for other in others]
            rows.append(["**mean**", _mean(fixed, known), *means])
    return table(["dev F1", fixed.title, *(other.title for other in others)], rows)


def words_table(entries: Sequence[Entry]) -> str:
    """What `init` gains away from home by the tables of words, over `init --no-words`."""
    settings = {ALONE: "without tables of words", DEFAULT: "with those of the package"}
    compared = [
        {**e, "system": DEFAULT, "setting": settings[e["system"]], "is_fixed": e["system"] == ALONE}
        for e in entries
        if e["system"] in settings
    ]
    return _gains(by_setting(compared, DEFAULT), shifted_columns(compared))


def _row(fixed: Competitor, others: Sequence[Competitor], column: Column) -> list[str]:
    cells = [_cell(fixed, other, column) for other in others]
    return [" → ".join(column), f"{fixed.f1(column):.2f}", *cells]


def _cell(fixed: Competitor, other: Competitor, column: Column) -> str:
    before, after = fixed.f1(column), other.f1(column)
    if before is None or after is None:
        return ""
    if len(column) > 1:
        return f"{after - before:+.2f}"
    gain = difference(other, fixed, column[0])
    return f"{gain.value:+.2f} ({gain.low:+.1f} to {gain.high:+.1f})"


def _mean(fixed: Competitor, columns: Sequence[Column]) -> str:
    return f"{mean(fixed.f1(column) or 0.0 for column in columns):.2f}"


def _mean_gain(fixed: Competitor, other: Competitor, columns: Sequence[Column]) -> str:
    """Over the columns that the setting has."""
    pairs = [(fixed.f1(column), other.f1(column)) for column in columns]
    gains = [after - before for before, after in pairs if before is not None and after is not None]
    if not gains:
        return ""
    return f"{mean(gains):+.2f}" + (f" of {len(gains)}" if len(gains) < len(columns) else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=existing, help="file of the suite")
    parser.add_argument("--system", default=DEFAULT, help="one with several settings")
    arguments = parser.parse_args()
    print(settings_table(read_entries(arguments.results), arguments.system))


if __name__ == "__main__":
    main()
