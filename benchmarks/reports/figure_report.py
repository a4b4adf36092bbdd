"""The figures of JNLPBA: their file of results, their table, and the tables of pages.

The README has the short table, and a page has speed and size in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..lib.paths import RESULTS
from .against_peers import headline_lines
from .markdown import machine_sentence, measured_with, table, thousands
from .output import read_json, write_json
from .suite_results import read_both

_DIGITS = {"F1": 2, "points": 2, "x": 2, "s": 2, "MB": 1, "GB": 2}


@dataclass(frozen=True)
class Row:
    """One measured value. note: what the value is made of."""

    measure: str
    value: float
    unit: str
    note: str = ""

    def cells(self) -> list[str]:
        return [self.measure, f"{self.value:,.{_DIGITS.get(self.unit, 0)}f} {self.unit}", self.note]


def make_table(figures: Mapping[str, Sequence[Row]]) -> str:
    """All rows, with a line above those of each figure."""
    rows = []
    for name, of_figure in figures.items():
        rows.append([f"**{name}**", "", ""])
        rows.extend(row.cells() for row in of_figure)
    return table(["measure", "value", ""], rows, "lrl")


def by_machine(
    figures: Mapping[str, Any], names: Iterable[str], said: Callable[[Mapping[str, Any]], str]
) -> dict[str, str]:
    """The names of figures by what is said of the machine and releases that measured them."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(said(figures[name]["machine"]), []).append(name)
    return {sentence: ", ".join(of_machine) for sentence, of_machine in found.items()}


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
        """Add a figure and write both files."""
        measured = [asdict(row) for row in rows]
        self.figures[name] = {"machine": self.machine, "rows": measured, "details": details}
        write_json({"conditions": self.conditions, "figures": self.figures}, self.path)
        self.path.with_suffix(".md").write_text(self.table(), encoding="utf8")

    def table(self) -> str:
        sizes = ", ".join(
            f"{name}: {part['documents']:,} documents, {part['tokens']:,} tokens"
            for name, part in self.conditions["corpus"].items()
        )
        rows = {k: [Row(**row) for row in v["rows"]] for k, v in self.figures.items()}
        machines = by_machine(self.figures, self.figures, machine_sentence).items()
        measured = "".join(f"- {names}: {sentence}\n" for sentence, names in machines)
        return f"{sizes}.\n\n{make_table(rows)}\nMeasured with:\n\n{measured}"


_VALUE = re.compile(r"\{([^{}|]+)\|([^{}|]+)\}")

# Each value is {MEASURE|FORMAT}, the measures of results/jnlpba.json.
HEADLINE = """
| F1 on JNLPBA, after all updates | {F1 after all updates|.1f} | {dev F1 of crfsuite|.1f} | python-crfsuite, all 200 iterations |
| its training, all updates | {computed by the cascade|.0f} s | {computed by crfsuite|.0f} s | python-crfsuite, all 200 iterations |
| words to entities, new text | {Docs to entities with confidences, first pass|thousands} tokens/s | {Docs to entities, crfsuite, first pass|thousands} | python-crfsuite |
| raw text to entities, new text | {raw text with confidences, first pass|thousands} tokens/s | {raw text, spaCy ner, first pass|thousands} | spaCy `ner` |
| confidences in these two rows | on | none | |
"""  # noqa: E501
CASCADE = """
| | here | peer | |
|---|---:|---:|---|
| training, all updates | {training in all|.1f} s | {training of crfsuite|.1f} s | crfsuite, all 200 iterations; one thread |
| the same, processor time | {computed by the cascade|.1f} s | {computed by crfsuite|.1f} s | |
| training, to within 0.1 of the best F1 | {training to 0.1 F1 below the best|.1f} s | | of crfsuite no F1 was measured in between |
| two threads against one | {two threads over one|.2f} x | | same weights to the last bit |
| peak memory of training | {peak memory of training|.0f} MB | {peak memory of crfsuite|.0f} MB | crfsuite, which holds no spaCy |
| words to entities with confidences, new text | {Docs to entities with confidences, first pass|thousands} tokens/s | {Docs to entities, crfsuite, first pass|thousands} | crfsuite, without confidences |
| the same text again, where every word is known | {Docs to entities with confidences, warm|thousands} tokens/s | {Docs to entities, crfsuite, warm|thousands} | crfsuite |
| the same text again, without confidences | {Docs to entities, warm|thousands} tokens/s | {Docs to entities, crfsuite, warm|thousands} | crfsuite |
| raw text with `nlp.pipe` and confidences, new text | {raw text with confidences, first pass|thousands} tokens/s | {raw text, spaCy ner, first pass|thousands} | spaCy `ner` |
| the same text again | {raw text with confidences, warm|thousands} tokens/s | {raw text, spaCy ner, warm|thousands} | spaCy `ner` |
| confidences | {cost of confidences|.2f} x the time | | |
| model on disk | {model on disk|.1f} MB | | the whole pipeline |
| loading and first Doc | {load and first Doc|.1f} s | | after `import spacy`, with compiled kernels |
| all {all features: features|,.0f} features (`min_count = 1`) | {all features: peak memory|.2f} GB | | {all features: training time over default|.1f} x the time |
| first compilation, once | {first compilation, training|.0f} s to train, {first compilation, decoding|.0f} s to annotate | | |
| 10 best segmentations against 1 | {10 best segmentations over 1 best|.2f} x the time | | |
| raw text, OCR with the trained reranker, new text | {raw text with reranking, first pass|thousands} tokens/s | | |
"""  # noqa: E501


def fill(text: str, values: Mapping[str, float]) -> str:
    """Replace names by values in a text. Raises `KeyError` for a name without value."""
    return _VALUE.sub(lambda match: _shown(values[match[1]], match[2]), text)


def _shown(value: float, form: str) -> str:
    return thousands(value) if form == "thousands" else f"{value:{form}}"


def headline() -> str:
    figures = _figures()
    entries = read_both(RESULTS / "suite.jsonl", RESULTS / "words.jsonl")
    shown = ("accuracy", "training", "decoding", "raw_text")
    head = "| | here | peer | |\n|---|---:|---:|---|"
    lines = [head, *headline_lines(entries), fill(HEADLINE.strip(), _values(figures)), ""]
    return "\n".join(lines) + _releases(figures, shown)


def cascade() -> str:
    figures = _figures()
    return fill(CASCADE.lstrip(), _values(figures)) + _releases(figures, figures)


def _figures() -> dict[str, Any]:
    figures: dict[str, Any] = read_json(RESULTS / "jnlpba.json")["figures"]
    return figures


def _values(figures: Mapping[str, Any]) -> dict[str, float]:
    """Measures by name, with those that only the details have."""
    values = {row["measure"]: row["value"] for f in figures.values() for row in f["rows"]}
    rates = figures["decoding"]["details"]["tokens_per_second"]
    for kind, words in (("first", "first pass"), ("warm", "warm")):
        values[f"Docs to entities with confidences, {words}"] = rates[f"{kind}_confidence"]
    trained = figures["training"]["details"]
    ours = trained["cascade"]
    values["F1 after all updates"] = ours["series"][-1][-1]
    values["training in all"] = ours["initialize_seconds"] + sum(ours["update_seconds"])
    values["computed by the cascade"] = ours["computed_seconds"]
    values["computed by crfsuite"] = trained["crfsuite"]["computed_seconds"]
    return values


def _releases(figures: Mapping[str, Any], shown: Iterable[str]) -> str:
    """A line for each machine and set of releases that the figures were measured with."""
    found = by_machine(figures, shown, measured_with)
    if len(found) == 1:
        return f"\nMeasured with {next(iter(found))}.\n"
    lines = [f"{names}: {releases}" for releases, names in found.items()]
    return "\nMeasured with (figures): " + ". ".join(lines) + ".\n"
