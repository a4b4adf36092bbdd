"""The figures of JNLPBA: their targets, their table and their file of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .markdown import curve_table, machine_sentence, table
from .output import read_json, write_json


@dataclass(frozen=True)
class Target:
    """What a measure must reach, and what is aimed at. more: larger values are better."""

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
    """One measured value. note: what the value is made of."""

    measure: str
    value: float
    unit: str
    note: str = ""

    def cells(self) -> list[str]:
        target = TARGETS.get(self.measure)
        wanted = ["", "", ""]
        if target is not None:
            sign = "≥" if target.more else "≤"
            wanted = [f"{sign} {target.must:g}", f"{sign} {target.aim:g}"]
            wanted.append(target.verdict(self.value))
        value = f"{self.value:,.{_DIGITS.get(self.unit, 0)}f} {self.unit}"
        return [self.measure, value, *wanted, self.note]


def make_table(figures: Mapping[str, Sequence[Row]]) -> str:
    """All rows, with a line above those of each figure."""
    rows = []
    for name, of_figure in figures.items():
        rows.append([f"**{name}**", *[""] * 5])
        rows.extend(row.cells() for row in of_figure)
    return table(["measure", "value", "must", "aim", "reached", ""], rows, "lrrrll")


def machines_of(figures: Mapping[str, dict[str, Any]]) -> str:
    """On what the figures were measured, with which releases."""
    names: dict[str, list[str]] = {}
    for name, figure in figures.items():
        names.setdefault(machine_sentence(figure["machine"]), []).append(name)
    return "\nMeasured with:\n\n" + "".join(
        f"- {', '.join(of_machine)}: {sentence}\n" for sentence, of_machine in names.items()
    )


class Report:
    """Results of a run in a JSON file, with a table beside it.

    Figures of an earlier run stay if it had the same corpora and settings. Each has the machine
    and the releases that it was measured with.
    """

    def __init__(self, path: Path, machine: dict[str, Any], conditions: dict[str, Any]) -> None:
        self.path = path
        self.machine, self.conditions = machine, conditions
        self.figures: dict[str, dict[str, Any]] = {}
        if path.exists():
            earlier = read_json(path)
            if earlier["conditions"] == conditions:
                self.figures = earlier["figures"]

    def add(self, name: str, rows: Sequence[Row], details: dict[str, Any]) -> None:
        """Add a figure and write both files. Curves in the details get a table, too."""
        measured = [asdict(row) for row in rows]
        self.figures[name] = {"machine": self.machine, "rows": measured, "details": details}
        self.write()

    def write(self) -> None:
        write_json({"conditions": self.conditions, "figures": self.figures}, self.path)
        self.path.with_suffix(".md").write_text(self.table(), encoding="utf8")

    def table(self) -> str:
        sizes = ", ".join(
            f"{name}: {part['documents']:,} documents, {part['tokens']:,} tokens"
            for name, part in self.conditions["corpus"].items()
        )
        heading = f"{sizes}.\n\n"
        rows = {k: [Row(**row) for row in v["rows"]] for k, v in self.figures.items()}
        machines = machines_of(self.figures)
        return heading + make_table(rows) + "".join([*map(self._curves, self.figures), machines])

    def _curves(self, name: str) -> str:
        curves = self.figures[name]["details"].get("curves")
        if not curves:
            return ""
        picture = self.picture(name)
        text = f"\n**{name}**, by length of the list:\n\n" + curve_table(curves, "N")
        return text + (f"\n![{name}]({picture.name})\n" if picture.exists() else "")

    def picture(self, name: str) -> Path:
        return self.path.with_name(f"{self.path.stem}_{name}.png")
