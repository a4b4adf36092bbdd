"""Tables and sentences in Markdown that several reports share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..lib.processes import Result

Curves = Mapping[str, Sequence[Sequence[float]]]
"""Points `(x, y)` by name."""


def by(rows: Iterable[Result], *keys: str) -> dict[Any, list[Result]]:
    """Rows by what they have under a key, or under several, in the order of the first ones."""
    found: dict[Any, list[Result]] = {}
    for row in rows:
        values = tuple(row[key] for key in keys)
        found.setdefault(values if len(keys) > 1 else values[0], []).append(row)
    return found


def table(header: Sequence[str], rows: Iterable[Sequence[str]], alignment: str = "") -> str:
    """A table. alignment: `l` or `r` for each column; by default text first, then numbers."""
    letters = alignment or "l" + "r" * (len(header) - 1)
    rule = ["---:" if letter == "r" else "---" for letter in letters]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (header, rule, *rows))


def curve_table(curves: Curves, x: str, digits: int = 2) -> str:
    """A row for each curve and a column for each x."""
    columns = sorted({point[0] for curve in curves.values() for point in curve})
    rows = []
    for name, curve in curves.items():
        values = {point[0]: f"{point[1]:.{digits}f}" for point in curve}
        rows.append([name, *(values.get(column, "") for column in columns)])
    return table([x, *(f"{column:g}" for column in columns)], rows)


def in_milliseconds(curves: Curves) -> dict[str, list[tuple[float, float]]]:
    return {name: [(n, 1000 * seconds) for n, seconds in c] for name, c in curves.items()}


def thousands(value: float) -> str:
    return f"{round(value, -3):,.0f}"


def machine_sentence(machine: Mapping[str, Any]) -> str:
    """What the results were measured on."""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    cores = f"{machine['cores']} cores, " if "cores" in machine else ""
    return (
        f"{machine['processor']}, {cores}{machine['system']}, Python {machine['python']}, "
        f"{packages}."
    )


def measured_with(machine: Mapping[str, Any]) -> str:
    """The line below a table: the releases that made it."""
    packages = machine["packages"]
    names = ("spacy-cascade", "spacy", "python-crfsuite")
    releases = ", ".join(f"{name} {packages[name]}" for name in names if name in packages)
    cores = f" ({n} cores)" if (n := machine.get("cores", 1)) > 1 else ""
    return f"{releases}; {machine['processor']}{cores}"
