"""The time that recognising and reading take grows with the size of a file, whatever it has."""

from __future__ import annotations

import gc
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest

from helpers import blank
from spacy_cascade.errors import CascadeError
from spacy_cascade.tools.formats.docs import to_docs
from spacy_cascade.tools.formats.exchange.base import FormatOptions, TextFormat, WordFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources, formats
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.placing import place
from spacy_cascade.tools.formats.spacing import Spacing, find_style
from spacy_cascade.tools.formats.texts import AnnotatedText

pytestmark = pytest.mark.slow

SMALL = 10_000
RATIO = 15
FLOOR = 0.01
"""Seconds: shorter times for the small file count as this."""
NLP = blank()
ROW = "1\ta\t_\t_\t_\t_\t0\t_\t_\t"
PROLOGS = ("<!-- x -->", "<!-- ", "<?x y?>", "<!DOCTYPE x>", "<", "<?xml ", "<a>", "&lt;")
SIGNS = (
    "a", "a\n", " ", "\n", "\r", "\t", "\u2028", "(", ")", "[", "{", '"', "=", "|", "#", "#\n",
    "# a = b\n", "1\n", "1\t", "a ", "-", "a-", "a.", "1.1", ":)", "“", "a/a", "a\tO\n", "a O\n",
    "a B-X\n", "a I-X\n", "-DOCSTART-\n", "1|t|a\n", "1|t|", "|t|", "T1\tX 0 1\ta\n", "[]", "{}",
    "[[", '{"', '{"a":', '{"a": [', '["a", ', "{}\n", "\\", "é", "😀", "\ufeff",
)  # fmt: skip
WHOLE = {
    # before the pieces, a piece, after them
    "brackets unopened": (f"{ROW}Entity=", "a", "(e1-X)\n"),
    "brackets opened": (f"{ROW}Entity=", "(e1-X", "\n"),
    "brackets closed": (f"{ROW}Entity=(e1-X\n2\tb" + ROW[3:] + "Entity=(e1-X", "e1)", "\n"),
    "brackets of many names": (f"{ROW}Entity=" + "(e1-X" * 3000, "e1)", "\n"),
    "parts": (f"{ROW}Entity=(e1", "[1/1", "-X)\n"),
    "pipes": (f"{ROW}NER=B-", "|x", "\n"),
    "blanks": (f"{ROW}NER=B-X", " ", "\n"),
    "keys": (ROW, "a=b ", "\n"),
    "misc": (ROW, "=", "\n"),
    "CoNLL-U sentences": ("", f"{ROW}NER=B-X\n\n", ""),
    "CoNLL-U words": ("", f"{ROW}NER=B-X\n", ""),
    "a long word": ("", "a-", " O\n"),
    "a long number": ("", "1.", " O\n"),
    "smileys": ("a O\n", ": O\n) O\n", ""),
    "quotes": ("„ O\n", "“ O\n", ""),
    "tags": ("a B-X\n", "a I-X\n", ""),
    "Prodigy spans": (
        '{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}',
        ', {"start": 0, "end": 1, "label": "X"}', "]}",
    ),
    "Prodigy texts": ("", '{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}]}\n', ""),
    "UTF-16": (
        '{"text": "😀 a b", "spans": [{"start": 3, "end": 4, "label": "X"}',
        ', {"start": 5, "end": 6, "label": "X"}', "]}",
    ),
    "offsets that do not fit": (
        '{"text": "😀 é\\n\\r\\n b", "spans": [{"start": 2, "end": 3, "label": "X"}',
        ', {"start": 0, "end": 1, "label": "X", "text": "q"}', "]}",
    ),
    "Doccano spans": ('{"text": "a b", "label": [[0, 1, "X"]', ', [0, 2, "Y"]', "]}"),
    "token lists": ('{"tokens": ["a"', ', "a"', '], "ner_tags": ["O"]}'),
    "token lists with texts": ("", '{"tokens": ["a"], "ner_tags": ["O"]}\n', ""),
    "tasks": (
        '[{"data": {"text": "a"}, "annotations": []}',
        ', {"data": {"text": "a"}, "annotations": []}', "]",
    ),
    "BioC passages": (
        '{"documents": [{"id": "1", "passages": [{"offset": 0, "text": "a"}',
        ', {"offset": 0, "text": ""}', "]}]}",
    ),
    "pairs": ("[", '["a b", {"entities": [[0, 1, "X"]]}],', '["a", {}]]'),
    "a pair a line": ("", '["a b", {"entities": [[0, 1, "X"]]}]\n', ""),
    "words of GLiNER": ('{"tokenized_text": ["a"', ', "a"', '], "ner": [[0, 0, "X"]]}'),
    "rows of words": ("word,tag\n", "a,B-X\n", ""),
    "rows of texts": ("text;entities\n", "a b;\"[(0, 1, 'X')]\"\n", ""),
    "entities of a cell": ("text;entities\na b;\"[(0, 1, 'X')", ", (0, 1, 'X')", ']"\n'),
    "WebAnno": (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=x|value\n\n\n", "#Text=a\n1-1\t0-1\ta\tX\t\n\n", "",
    ),
    "PubTator spans": ("1|t|a b\n", "1\t0\t1\ta\tX\n", ""),
    "PubTator texts": ("", "1|t|a b c d e f g h i\n\n", ""),
}  # fmt: skip


def seconds(path: Path) -> float:
    """The time of recognising a file by each format, and of reading it by the one that does.

    Without collections of garbage, which look at all objects that other tests have left.
    """
    gc.collect()
    gc.disable()
    try:
        return _seconds(path)
    finally:
        gc.enable()


def _seconds(path: Path) -> float:
    began = process_time()
    for one in formats().values():
        one.recognises(Source(path))
    with suppress(CascadeError):
        reader, (source,) = find_sources(path)
        read(reader, source)
    return process_time() - began


def assert_linear(small: Path, large: Path) -> None:
    """Other processes may slow down some runs, but not all; so runs take turns."""
    least = [float("inf"), float("inf")]
    for _ in range(5):
        least = [min(*each) for each in zip(least, map(seconds, (small, large)), strict=True)]
        if least[1] < RATIO * max(FLOOR, least[0]):
            return
    raise AssertionError(f"{least[1]:.3f} s after {least[0]:.3f} s")


def read(reader: TextFormat | WordFormat, source: Source) -> None:
    if isinstance(reader, TextFormat):
        for record in reader.read(source, FormatOptions(predictions=True)):
            assert isinstance(record, AnnotatedText)
            place(record, NLP.make_doc, NLP.vocab, spans_key="sc")
        return
    documents = reader.read(source, FormatOptions())
    style = find_style(sentence.words for one in documents for sentence in one.sentences)
    list(to_docs(documents, NLP.vocab, spacing=Spacing.NATURAL, style=style))


@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [
        *[pytest.param(*case, id=name) for name, case in WHOLE.items()],
        *[("", piece, end) for piece in (*PROLOGS, *SIGNS) for end in ("", " hi\n")],
    ],
)
def test_ten_times_the_size_takes_at_most_fifteen_times_as_long(
    head: str, piece: str, tail: str, tmp_path: Path
) -> None:
    small, large = tmp_path / "small.data", tmp_path / "large.data"
    for path, size in ((small, SMALL), (large, 10 * SMALL)):
        text = head + piece * (size // len(piece)) + tail
        path.write_text(text, encoding="utf8", newline="")
    assert_linear(small, large)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a b\n", "T1\tX 0 1\ta\n"), ("😀 a\r\nb ", "T1\tX 3 4;5 6\ta b\n"),
        ("\n", "T1\tX 0 1;9 10\t\n"), ("a", "T1\n"), ("a", "T1\tX 0 1;"),
    ],
)  # fmt: skip
def test_brat_takes_at_most_fifteen_times_as_long(text: str, line: str, tmp_path: Path) -> None:
    files = []
    for name, size in (("small", SMALL // 2), ("large", 5 * SMALL)):
        (tmp_path / f"{name}.txt").write_bytes((text * (size // len(text))).encode())
        files.append(tmp_path / f"{name}.ann")
        files[-1].write_text(line * (size // len(line)), encoding="utf8")
    small, large = files
    assert_linear(small, large)
