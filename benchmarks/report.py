"""Targets, the table, and the JSON file of results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Target:
    """What a measure must reach and what it aims at; `more` says which way is better."""

    must: float
    aim: float
    more: bool

    def verdict(self, value: float) -> str:
        """`aim`, `must` or `miss`."""
        for name, limit in (("aim", self.aim), ("must", self.must)):
            if value >= limit if self.more else value <= limit:
                return name
        return "miss"


AT_LEAST, AT_MOST = True, False
TARGETS = {
    "dev F1 of the cascade": Target(77.0, 78.5, AT_LEAST),
    "cascade over our single-phase CRF": Target(1.0, 2.0, AT_LEAST),
    "training time over crfsuite": Target(0.2, 0.05, AT_MOST),
    "online cascade over the cascade": Target(-0.3, 0.0, AT_LEAST),
    "online training time over crfsuite pa": Target(0.25, 0.1, AT_MOST),
    "oracle F1 of the 11 best segmentations": Target(91.0, 93.0, AT_LEAST),
    "F1 gained by reranking over the online cascade": Target(0.3, 1.2, AT_LEAST),
    "10 best segmentations over 1 best": Target(4.0, 2.0, AT_MOST),
    "raw text with reranking over spaCy ner, first pass": Target(10, 25, AT_LEAST),
    "raw text with reranking over spaCy ner, warm": Target(10, 25, AT_LEAST),
    "two threads over one": Target(1.6, 1.85, AT_LEAST),
    "peak memory over crfsuite": Target(1.0, 0.6, AT_MOST),
    "Docs to entities over crfsuite, first pass": Target(10, 20, AT_LEAST),
    "Docs to entities over crfsuite, warm": Target(10, 20, AT_LEAST),
    "raw text over spaCy ner, first pass": Target(20, 40, AT_LEAST),
    "raw text over spaCy ner, warm": Target(20, 40, AT_LEAST),
    "cost of confidences": Target(2.0, 1.3, AT_MOST),
    "model on disk": Target(40, 10, AT_MOST),
    "load and first Doc": Target(2.0, 0.7, AT_MOST),
    "all features: peak memory": Target(6.0, 6.0, AT_MOST),
    "all features: training time over default": Target(3.0, 3.0, AT_MOST),
    "first compilation, training": Target(25, 8, AT_MOST),
    "first compilation, decoding": Target(25, 8, AT_MOST),
}
_DIGITS = {"F1": 2, "points": 2, "x": 2, "s": 2, "MB": 1, "GB": 2}


@dataclass(frozen=True)
class Row:
    """One measured value. A note says what it is made of."""

    measure: str
    value: float
    unit: str
    note: str = ""

    def cells(self) -> list[str]:
        """Its cells in the table."""
        target = TARGETS.get(self.measure)
        wanted = ["", "", ""]
        if target is not None:
            sign = "≥" if target.more else "≤"
            wanted = [f"{sign} {target.must:g}", f"{sign} {target.aim:g}"]
            wanted.append(target.verdict(self.value))
        value = f"{self.value:,.{_DIGITS.get(self.unit, 0)}f} {self.unit}"
        return [self.measure, value, *wanted, self.note]


def make_table(figures: dict[str, list[Row]], heading: str) -> str:
    """All rows as a Markdown table."""
    lines = [
        heading,
        "",
        "| measure | value | must | aim | reached | |",
        "|---|---:|---:|---:|---|---|",
    ]
    for name, rows in figures.items():
        lines.append(f"| **{name}** | | | | | |")
        lines.extend("| " + " | ".join(row.cells()) + " |" for row in rows)
    return "\n".join(lines) + "\n"


def make_curve_table(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Curves as a Markdown table with a column for each x."""
    columns = sorted({x for curve in curves.values() for x, _ in curve})
    lines = ["| N | " + " | ".join(f"{x:g}" for x in columns) + " |"]
    lines.append("|---|" + "---:|" * len(columns))
    for name, curve in curves.items():
        values = {x: f"{y:.2f}" for x, y in curve}
        lines.append(f"| {name} | " + " | ".join(values.get(x, "") for x in columns) + " |")
    return "\n".join(lines) + "\n"


class Report:
    """Results of a run, kept in a JSON file with its table beside it.

    Figures that an earlier run on an equal machine, corpus and settings put there stay.
    """

    def __init__(self, path: Path, conditions: dict[str, Any]) -> None:
        self.path = path
        self.conditions = conditions
        self.figures: dict[str, dict[str, Any]] = {}
        if path.exists():
            earlier = json.loads(path.read_text(encoding="utf8"))
            if earlier["conditions"] == conditions:
                self.figures = earlier["figures"]

    def add(self, name: str, rows: Sequence[Row], details: dict[str, Any]) -> None:
        """Put in a figure and write both files.

        Under `curves` the details may have lists of `(x, y)` by name, which get a table too.
        """
        self.figures[name] = {"rows": [asdict(row) for row in rows], "details": details}
        self.write()

    def write(self) -> None:
        """Write the JSON file and the table."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"conditions": self.conditions, "figures": self.figures}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        self.path.write_text(text + "\n", encoding="utf8")
        self.path.with_suffix(".md").write_text(self.table(), encoding="utf8")

    def table(self) -> str:
        """The table of all figures."""
        machine, corpus = self.conditions["machine"], self.conditions["corpus"]
        packages = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
        heading = (
            f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python "
            f"{machine['python']}, {packages}. Training on {corpus['train']['documents']:,} "
            f"documents with {corpus['train']['tokens']:,} tokens, dev "
            f"{corpus['dev']['documents']:,} with {corpus['dev']['tokens']:,}."
        )
        rows = {k: [Row(**row) for row in v["rows"]] for k, v in self.figures.items()}
        return make_table(rows, heading) + "".join(map(self._curves, self.figures))

    def _curves(self, name: str) -> str:
        """The table of a figure's curves, and the picture where it was drawn."""
        curves = self.figures[name]["details"].get("curves")
        if not curves:
            return ""
        picture = self.picture(name)
        text = f"\n**{name}**, by length of the list:\n\n" + make_curve_table(curves)
        return text + (f"\n![{name}]({picture.name})\n" if picture.exists() else "")

    def picture(self, name: str) -> Path:
        """Where the picture of a figure's curves is kept."""
        return self.path.with_name(f"{self.path.stem}_{name}.png")
