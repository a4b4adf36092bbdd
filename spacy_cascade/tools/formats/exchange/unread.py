"""Formats that are known but not read: an error names each, and a way to convert it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ....errors import CorpusError
from .source import Source

_LINE = 'write {"text": …, "entities": [[start, end, label]]} in a line for each document'


class _Unread(NamedTuple):
    """A format: its name, whether a file is one, and what to do with it."""

    name: str
    recognises: Callable[[Source], bool]
    advice: str


def _starts(pattern: str) -> Callable[[Source], bool]:
    """Whether the beginning of a file has the pattern."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda source: compiled.search(source.start[:_LOOKED_AT]) is not None


def _has(*names: str) -> Callable[[Source], bool]:
    """Whether the first object of a file has these names."""
    return lambda source: source.first.keys() >= {*names}


_LOOKED_AT = 5000
"""Characters at the beginning of a file."""
_UNREAD = (
    _Unread(
        "GATE XML",
        _starts(r"<GateDocument\b"),
        f"Read it with the Python package gatenlp (Document.load), and {_LINE}",
    ),
    _Unread(
        "UIMA XMI",
        _starts(r"<xmi:XMI\b|<CAS\b"),
        "In INCEpTION or WebAnno, export WebAnno TSV 3. From elsewhere, read it with the Python "
        f"package dkpro-cassis, and {_LINE}",
    ),
    _Unread(
        "JSON of UIMA",
        _has("%TYPES"),
        "In INCEpTION, export WebAnno TSV 3 in its place",
    ),
    _Unread(
        "training data of Rasa NLU in JSON",
        _has("rasa_nlu_data"),
        "Take out its list common_examples, as with jq .rasa_nlu_data.common_examples FILE: "
        "that is read as it is",
    ),
    _Unread(
        "training data of Rasa NLU",
        _starts(r"^nlu:\s*$|^\s*- intent:|^## intent:"),
        "Rasa makes JSON of it: rasa data convert nlu -f json. Its list common_examples is read as "
        "it is",
    ),
    _Unread(
        "concepts of i2b2",
        _starts(r'^c=".*" \d+:\d+ \d+:\d+\|\|t="'),
        "Its places are lines and words of the text file beside it, lines from 1 and words from "
        f"0: find them there, and {_LINE}",
    ),
    _Unread(
        "XML of i2b2",
        _starts(r"<(deIdi2b2|ClinicalNarrativeTemporalAnnotation|root)>\s*<TEXT>"),
        f"Take its TEXT, and of its TAGS start, end and TYPE: {_LINE}",
    ),
    _Unread(
        "training data of spaCy 2 with paragraphs",
        _has("paragraphs"),
        "spaCy converts it: python -m spacy convert FILE FOLDER",
    ),
    _Unread(
        "Parquet",
        _starts(r"\APAR1"),
        "Write JSON Lines of it: datasets.Dataset.from_parquet(FILE).to_json('corpus.jsonl')",
    ),
    _Unread(
        "a workbook of an old Excel or of OpenOffice",
        lambda source: source.path.suffix.lower() in (".xls", ".ods"),
        "Save it as .xlsx or .csv",
    ),
)


def refuse_unread(source: Source) -> None:
    """Raise `CorpusError` for a file of a format that is known, but not read."""
    found = next((one for one in _UNREAD if one.recognises(source)), None)
    if found is not None:
        raise CorpusError(f"{source.path} is {found.name}, which is not read. {found.advice}.")
