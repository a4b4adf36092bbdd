"""One bad record, or one bad span in it, and what is read of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.bad_records import check_none, each, raised
from spacy_cascade.tools.formats.exchange.base import FormatOptions, TextFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.texts import AnnotatedText, LeftOut


def read(path: Path) -> tuple[list[AnnotatedText], list[str]]:
    """The texts of a file, and the errors of what is bad in it."""
    bad: list[CorpusError] = []
    reader, sources = find_sources(path)
    assert isinstance(reader, TextFormat)
    options = FormatOptions(on_bad=bad.append)
    records = [record for source in sources for record in reader.read(source, options)]
    return [one for one in records if isinstance(one, AnnotatedText)], list(map(str, bad))


def prodigy(text: str, *spans: dict[str, Any]) -> str:
    return json.dumps({"text": text, "spans": spans})


def task(text: object, *values: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"text": text}, "annotations": [{"result": [{"value": v} for v in values]}]}


def bioc(text: str, *locations: tuple[int, int]) -> dict[str, Any]:
    annotations = [
        {"infons": {"type": "X"}, "text": "", "locations": [{"offset": start, "length": length}]}
        for start, length in locations
    ]
    return {"id": text, "passages": [{"offset": 0, "text": text, "annotations": annotations}]}


SPAN = {"start": 0, "end": 1, "label": "X"}
LABELS = {"start": 0, "end": 1, "labels": ["X"]}
XML = "<document><id>{0}</id><passage><offset>0</offset><text>{0}</text>{1}</passage></document>"
XML_SPAN = '<annotation><infon key="type">X</infon><location offset="{}" length="1"/></annotation>'
CASES = {
    "Prodigy, a cut line": ("\n".join([prodigy("ab", SPAN), '{"text": "x', prodigy("cd")]), 0),
    "Prodigy, no object": ("\n".join([prodigy("ab", SPAN), '"x"', "3", prodigy("cd")]), 0),
    "Prodigy, no text": ("\n".join([prodigy("ab", SPAN), '{"spans": []}', prodigy("cd")]), 0),
    "Prodigy, an open list": (
        "\n".join([prodigy("ab", SPAN), '{"text": "x", "spans": [', prodigy("cd")]), 0,
    ),
    "Prodigy, a span too long": (
        "\n".join([prodigy("ab", SPAN, {**SPAN, "end": 3}), prodigy("cd")]), 1,
    ),
    "Prodigy, a span without a label": (
        "\n".join([prodigy("ab", {**SPAN, "label": None}, SPAN), prodigy("cd")]), 1,
    ),
    "Prodigy, a span that is none": ("\n".join([prodigy("ab", SPAN, 3), prodigy("cd")]), 1),
    "Doccano, a span that ends first": (
        '{"text": "ab", "label": [[0, 1, "X"], [2, 1, "X"]]}\n{"text": "cd", "label": []}', 1,
    ),
    "Doccano, no triple": (
        '{"text": "ab", "label": [[0, 1, "X"], [2]]}\n{"text": "cd", "label": []}', 1,
    ),
    "Label Studio, no text": (json.dumps([task("ab", LABELS), task(None), task("cd")]), 0),
    "Label Studio, a task of several lines": (
        json.dumps([task("ab", LABELS), task("x"), task("cd")], indent=2).replace('"x"', "x"), 0,
    ),
    "Label Studio, a span too long": (
        json.dumps([task("ab", {**LABELS, "end": 3}, LABELS), task("cd")]), 1,
    ),
    "PubTator, no title": ("1|t|ab\n1\t0\t1\ta\tX\n\n2|x|x\n\n3|t|cd\n", 0),
    "PubTator, a span too long": ("1|t|ab\n1\t0\t3\tab\tX\n1\t0\t1\ta\tX\n\n3|t|cd\n", 1),
    "BioC, no passages": (
        json.dumps({"documents": [bioc("ab", (0, 1)), {"id": 2}, bioc("cd")]}), 0,
    ),
    "BioC, a span too long": (
        json.dumps({"documents": [bioc("ab", (0, 1), (0, 3)), bioc("cd")]}), 1,
    ),
    "BioC XML, an offset": (
        "<collection>" + XML.format("ab", XML_SPAN.format(0))
        + XML.format("x", "").replace(">0<", ">-1<") + XML.format("cd", "") + "</collection>", 0,
    ),
    "BioC XML, a span too long": (
        "<collection>" + XML.format("ab", XML_SPAN.format(0) + XML_SPAN.format(2))
        + XML.format("cd", "") + "</collection>", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_the_rest_is_read(what: str, tmp_path: Path) -> None:
    content, n_bad_spans = CASES[what]
    path = tmp_path / "in.data"
    path.write_text(content, encoding="utf8")
    texts, bad = read(path)
    assert [text.text for text in texts] == ["ab", "cd"]
    assert [len(text.mentions) for text in texts] == [1, 0]
    assert [text.bad_spans for text in texts] == [n_bad_spans, 0]
    assert len(bad) == (2 if "no object" in what else 1)
    assert all(error.startswith(f"{path}:") for error in bad)
    reader, (source,) = find_sources(path)
    with pytest.raises(CorpusError) as caught:
        list(reader.read(source, FormatOptions()))
    assert str(caught.value) == bad[0]


def test_documents_of_brat_are_read_one_by_one(tmp_path: Path) -> None:
    files = {"a.ann": "T1\tX 0 1\ta\nT2\tX 1 9\tb\n", "a.txt": "ab", "b.ann": "", "c.ann": "",
             "c.txt": "cd"}  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    texts, bad = read(tmp_path)
    assert [(one.text, len(one.mentions), one.bad_spans) for one in texts] == [
        ("ab", 1, 1), ("cd", 0, 0),
    ]  # fmt: skip
    assert [error.split(": ")[0] for error in bad] == [
        f"{tmp_path / 'a.ann'}:2", f"{tmp_path / 'b.ann'}:1",
    ]  # fmt: skip


def test_what_is_behind_damage_on_the_same_line_is_said_to_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([task("ab"), task("x"), task("cd")]).replace('"x"', "x"))
    texts, bad = read(path)
    assert [text.text for text in texts] == ["ab"]
    assert "nothing behind it can be read either" in bad[0]


def test_the_first_record_may_be_the_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "x\n{"text": "ab", "spans": []}\n')
    texts, bad = read(path)
    assert [text.text for text in texts] == ["ab"]
    assert bad[0].startswith(f"{path}:1: the JSON that begins here is cut or damaged")


@given(st.lists(st.sampled_from(["good", '{"x', "[1", "{}}", "7", '{"a": "\\ud83d"']), min_size=1))
def test_each_line_is_read_or_named(lines: list[str]) -> None:
    """Also where bad lines follow each other; a line that says more than one thing is named."""
    good = '{"text": "ab"}'
    bad: list[CorpusError] = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.jsonl"
        path.write_text("\n".join(good if line == "good" else line for line in lines))
        rows = list(Source(path).rows(bad.append))
    named = {str(error).removeprefix(f"{path}:").split(":")[0] for error in bad}
    found = {str(row.line) for row in rows if row.value}
    assert found == {str(i) for i, line in enumerate(lines, 1) if line == "good"}
    assert named == {str(i) for i, line in enumerate(lines, 1) if line != "good"}


def test_errors_are_raised_or_handed_on() -> None:
    def read_one(item: int) -> list[int]:
        if item % 2:
            raise CorpusError(f"in:{item}: odd.")
        return [item, item]

    bad: list[CorpusError] = []
    assert list(each(range(5), read_one, bad.append)) == [0, 0, 2, 2, 4, 4]
    assert list(map(str, bad)) == ["in:1: odd.", "in:3: odd."]
    with pytest.raises(CorpusError, match="in:1"):
        list(each(range(5), read_one, raised))
    check_none([])
    with pytest.raises(CorpusError, match=r"^in:1: odd\. Or leave it out: --skip-bad\.$"):
        check_none(bad[:1])


def test_twenty_errors_and_their_number_are_told() -> None:
    with pytest.raises(CorpusError) as caught:
        check_none([CorpusError(f"in:{i}: odd.") for i in range(1, 1_234)])
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("1,233 records or spans cannot be read. Correct them, or")
    assert lines[1:] == [f"  in:{i}: odd." for i in range(1, 21)]


ROW = "{}\t{}\t_\t_\t_\t_\t0\t_\t_\t{}\n"


def conllu(*sentences: tuple[str, str]) -> str:
    return "\n".join(ROW.format(1, word, misc) for word, misc in sentences)


@pytest.mark.parametrize(
    ("content", "words", "lines"),
    [
        (conllu(("a", "NER=B-X"), ("b", "NER=Q"), ("c", "NER=B-X"), ("d", "_")), "acd", [3]),
        (conllu(("a", "Entity=(e1-X)"), ("b", "Entity=(e1-X"), ("c", "_")), "ac", [3]),
        (conllu(("a", "NER=B-X")) + "\n1\tb\n\n" + conllu(("c", "_")), "ac", [3]),
        (
            '{"tokens": ["a"], "ner_tags": ["B-X"]}\n{"tokens": ["b"], "ner_tags": []}\n'
            '{"tokens": ["c"], "ner_tags": ["Q-X"]}\n{"tokens": [""], "ner_tags": ["O"]}\n'
            '{"tokens": ["d"\n{"tokens": ["e"], "ner_tags": ["O"]}', "ae", [2, 3, 4, 5],
        ),
        ("a\tB-X\n\nb\tQ\n\nx\tO\nc\n\nd\tI-X\n\ne\tB-X\n", "ade", [3, 6]),
        ("a\tU-X\n\nb\tI-X\nb\tO\n\nc\tB-X\n\nd\tO\n", "ad", [3, 6]),
        ("a\tB-X\n\nb\tO\tO\nb\n\n\nc\tO\n", "ac", [3, 4]),
    ],
)  # fmt: skip
def test_the_rest_of_files_of_words_is_read(
    content: str, words: str, lines: list[int], tmp_path: Path
) -> None:
    path, bad = tmp_path / "in.data", list[CorpusError]()
    path.write_text(content, encoding="utf8")
    reader, (source,) = find_sources(path)
    found = list(reader.read(source, FormatOptions(on_bad=bad.append)))
    texts = [
        one.text
        if isinstance(one, AnnotatedText)
        else " ".join(sum((s.words for s in one.sentences), ()))
        for one in found
        if not isinstance(one, LeftOut)
    ]
    assert " ".join(texts).split() == list(words)
    named = sorted(int(str(error).removeprefix(f"{path}:").split(":")[0]) for error in bad)
    assert named == lines
    with pytest.raises(CorpusError):
        list(reader.read(source, FormatOptions()))
