"""Spreadsheets: what a row has, how cells are told apart, which encoding, and workbooks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run_command as run
from format_files import docs_in, entities_in, entities_of, texts_in, written
from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.exchange.base import FormatOptions, WordFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources, format_named
from spacy_cascade.tools.formats.exchange.sheets import head_of
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.spreadsheets import read_workbook, rows_of
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention

Words = list[list[tuple[str, str]]]
"""Sentences of words with their tags."""
WORDS = [
    ["Sentence #", "Word", "POS", "Tag"],
    ["Sentence: 1", "Zoë", "NNP", "B-per"],
    ["", "Öz", "NNP", "I-per"],
    ["", "saw", "VBD", "O"],
    ["", "Graz, Austria", "NNP", "B-geo"],
    ["", '"', "''", "O"],
    ["Sentence: 2", "Lund", "NNP", "B-geo"],
    ["", "#2", "CD", "O"],
]
FOUND = [
    (("Zoë", "Öz", "saw", "Graz, Austria", '"'), [(0, 2, "per"), (3, 4, "geo")]),
    (("Lund", "#2"), [(0, 1, "geo")]),
]


def as_csv(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    made = io.StringIO()
    csv.writer(made, delimiter=separator).writerows(rows)
    return made.getvalue()


def sentences(path: Path, form: str = "auto", **options: Any) -> list[tuple[Any, Any]]:
    """The words and spans of each sentence of a sheet of words."""
    reader, sources = find_sources(path, form)
    assert isinstance(reader, WordFormat)
    documents = reader.read(sources[0], FormatOptions(**options))
    return [
        (one.words, [(span.start, span.end, span.label) for span in one.spans])
        for document in documents for one in document.sentences
    ]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_word_a_row(
    separator: str, encoding: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    path = written(tmp_path / "in.csv", as_csv(WORDS, separator).encode(encoding))
    assert sentences(path) == FOUND
    assert find_sources(path)[0].name == "csv-words"
    assert not list(recwarn)


def test_an_encoding_that_is_no_unicode_is_seen_and_said(tmp_path: Path) -> None:
    words = written(tmp_path / "words.csv", as_csv(WORDS).encode("latin-1"))
    with pytest.warns(UserWarning, match="read with the encoding cp1252, as it is not") as told:
        assert sentences(words) == FOUND
    assert told[0].filename == __file__  # whoever reads is warned
    table = as_csv([["text", "entities"], ["Zoë left.", "[(0, 3, 'PER')]"]])
    texts = written(tmp_path / "texts.csv", table.encode("latin-1"))
    stdout, _ = run("convert", texts, tmp_path / "out.spacy")
    assert "Read with the encoding cp1252" in stdout
    assert entities_in(tmp_path / "out.spacy") == [("Zoë", "PER")]


@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.txt"])
@pytest.mark.parametrize(
    "names", [["sentence_id", "token", "ner_tag"], ["sent_id", "Words", "LABEL"]]
)
def test_a_sentence_may_be_named_in_each_row(name: str, names: list[str], tmp_path: Path) -> None:
    rows = [names, ["7", "Kim", "B-PER"], ["7", "left", "O"], ["8", "Oslo", "B-LOC"]]
    path = written(tmp_path / name, as_csv(rows, "\t"))
    assert sentences(path) == [(("Kim", "left"), [(0, 1, "PER")]), (("Oslo",), [(0, 1, "LOC")])]


def test_a_first_row_may_name_a_sentence_as_another_one_is(tmp_path: Path) -> None:
    rows = [["Sentence #", "Word", "Tag"], ["1", "Kim", "B-PER"], ["", "left", "O"],
            ["1", "Oslo", "B-LOC"]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    assert sentences(path) == [(("Kim", "left"), [(0, 1, "PER")]), (("Oslo",), [(0, 1, "LOC")])]


def test_blank_rows_end_sentences_and_another_file_begins_a_document(tmp_path: Path) -> None:
    rows = [["file", "word", "tag"], ["a", "Kim", "B-PER"], ["", "", ""], ["a", "left", "O"],
            ["b", "Oslo", "B-LOC"]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    (reader, (source,)) = find_sources(path)
    assert isinstance(reader, WordFormat)
    documents = reader.read(source, FormatOptions())
    assert [[s.words for s in d.sentences] for d in documents] == [
        [("Kim",), ("left",)], [("Oslo",)],
    ]  # fmt: skip


def test_a_frame_with_an_index_and_tags_of_several_kinds(tmp_path: Path) -> None:
    """As `DataFrame.to_csv` writes it; the column with the tags of entities is found."""
    rows = [["", "Sentence #", "Word", "Tag", "NER"], ["0", "1", "Kim", "NNP", "B-PER"],
            ["1", "1", "left", "VBD", "O"]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    assert sentences(path) == [(("Kim", "left"), [(0, 1, "PER")])]


@pytest.mark.parametrize("words", ["['Kim', 'left']", "Kim left"])
def test_lists_of_words_and_tags_in_a_row(words: str, tmp_path: Path) -> None:
    rows = [["Sentence #", "Sentence", "POS", "Tag"],
            ["1", words, "['NNP', 'VBD']", "['B-PER', 'O']"],
            ["", "", "", ""],
            ["2", "Oslo burns", "['NNP', 'VBZ']", "['B-LOC', 'O']"]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    assert sentences(path) == [
        (("Kim", "left"), [(0, 1, "PER")]), (("Oslo", "burns"), [(0, 1, "LOC")]),
    ]  # fmt: skip
    for bad in (["3", "one two", "['CD']", "['O']"], ["3", "a", "", "'O'"], ["3", "a", "", "7"]):
        with pytest.raises(CorpusError, match=r"in\.csv:5: there is not one tag for each word"):
            sentences(written(path, as_csv([*rows, bad])))


def test_rows_may_be_shorter_than_others(tmp_path: Path) -> None:
    found = [(("Kim", "left"), [(0, 1, "PER")])]
    for names in ([["word", "tag", "note"]], []):
        for notes in (["x", ""], ["", "x"]):
            words = zip(["Kim", "left"], ["B-PER", "O"], notes, strict=True)
            rows = [*names, *([word, tag, *[note] * bool(note)] for word, tag, note in words)]
            columns = ReadOptions(word_column=0, tag_column=1)
            path = written(tmp_path / "in.csv", as_csv(rows))
            assert sentences(path, columns=columns) == found


@pytest.mark.parametrize(("tags", "missing", "said"), [
    (("B-PER", "", "O"), (1,), "1 words without a tag are not annotated"),
    (("B-PER", "", ""), (), "2 words without a tag are outside of entities"),
])  # fmt: skip
def test_empty_tags(
    tags: Sequence[str], missing: tuple[int, ...], said: str, tmp_path: Path
) -> None:
    rows = [["word", "tag"], *zip(("Kim", "left", "Oslo"), tags, strict=True)]
    path = written(tmp_path / "in.csv", as_csv(rows))
    reader, sources = find_sources(path)
    assert isinstance(reader, WordFormat)
    with pytest.warns(UserWarning, match=said) as told:
        (document,) = reader.read(sources[0], FormatOptions())
    assert (document.sentences[0].missing, len(told)) == (missing, 1)


def test_a_row_may_end_before_its_tag_and_with_another_line_end(tmp_path: Path) -> None:
    path = written(tmp_path / "in.csv", "word,tag\rKim,B-PER\rleft\rOslo,O\r")
    reader, sources = find_sources(path)
    assert isinstance(reader, WordFormat)
    with pytest.warns(UserWarning, match="1 words without a tag are not annotated"):
        (document,) = reader.read(sources[0], FormatOptions())
    (sentence,) = document.sentences
    assert (sentence.words, sentence.missing) == (("Kim", "left", "Oslo"), (1,))


def test_columns_by_number_and_rows_without_names(tmp_path: Path) -> None:
    body = [["Kim", "x", "B-PER"], ["left", "x", "O"]]
    assert sentences(written(tmp_path / "a.csv", as_csv(body))) == [
        (("Kim", "left"), [(0, 1, "PER")])
    ]
    outside_first = written(tmp_path / "d.csv", as_csv(body[::-1]))
    assert sentences(outside_first) == [(("left", "Kim"), [(1, 2, "PER")])]
    named = written(tmp_path / "b.csv", as_csv([["B", "x-y", "Marke"], *body]))
    assert sentences(named) == [(("Kim", "left"), [(0, 1, "PER")])]
    options = ReadOptions(word_column=1, tag_column=2)
    assert sentences(named, columns=options) == [(("x", "x"), [(0, 1, "PER")])]
    two = written(tmp_path / "e.csv", as_csv([["word", "tag", "mine"], *body]))
    assert sentences(two, columns=ReadOptions(tag_column=2)) == [(("Kim", "left"), [(0, 1, "PER")])]
    with pytest.raises(CorpusError, match=r"empty\.csv has no words"):
        sentences(written(tmp_path / "empty.csv", ""), "csv-words", columns=options)
    with pytest.raises(CorpusError, match=r"the columns are not known: Wort, Satz\. Name them"):
        sentences(written(tmp_path / "c.csv", "Wort;Satz\nKim;eins\nging;eins\n"))


def test_quotes_that_no_spreadsheet_wrote(tmp_path: Path) -> None:
    """A lone quotation mark between commas would swallow the rows below it."""
    path = written(tmp_path / "in.csv", 'word,tag\nKim,B-PER\n",O\nleft,O\n",O\n')
    with pytest.raises(CorpusError, match=r"in\.csv:3: a cell goes over 3 lines"):
        sentences(path)
    with pytest.raises(CorpusError, match="the cells cannot be told apart"):
        sentences(written(path, 'word,tag\nKim,B-PER\n"old"er,O\n'))
    tabs = written(tmp_path / "in.tsv", 'word\ttag\nKim\tB-PER\n"\tO\nleft\tO\n"\tO\n')
    assert sentences(tabs) == [(("Kim", '"', "left", '"'), [(0, 1, "PER")])]


@pytest.mark.parametrize(
    ("cell", "word"),
    [('"a"', "a"), ('"a""b"', 'a"b'), ('"a', '"a'), ('a"', 'a"'), ('"a"b"', '"a"b"'), ('""', "")],
)
def test_quotes_between_tabs_are_those_of_a_spreadsheet_or_words(
    cell: str, word: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "in.tsv", f"word\ttag\nKim\tB-PER\n{cell}\tO\n")
    options = ReadOptions(on_bad_word="replace")
    ((words, _),) = sentences(path, columns=options)
    assert words == ("Kim", word or "\ufffd")


def test_errors_name_the_row(tmp_path: Path) -> None:
    path = written(tmp_path / "in.csv", b"word,tag\nKim,O\n\x81,O\n")
    with pytest.raises(CorpusError, match=r"in\.csv:3: the file is not UTF-8\. Save it as UTF-8"):
        sentences(path)
    path = written(tmp_path / "in.csv", "word,tag\nKim,B-PER\nleft,Q-\n")
    with pytest.raises(CorpusError, match=r"in\.csv:3: 'Q-' is not a tag, in 'left,Q-'"):
        sentences(path)


TEXTS = {
    "tuples": "[(0, 3, 'PER'), (13, 17, 'LOC')]",
    "lists": '[[0, 3, "PER"], [13, 17, "LOC"]]',
    "objects": '[{"start": 0, "end": 3, "label": "PER"}, {"start": 13, "end": 17, "type": "LOC"}]',
    "Label Studio": '[{"start": 0, "end": 3, "text": "Kim", "labels": ["PER"]}, '
    '{"start": 13, "end": 17, "text": "Graz", "labels": ["LOC"]}]',
    "JSON": '[{"start": 0, "end": 3, "label": "PER", "by": null}, [13, 17, "LOC"]]',
    "spaCy 2": "{'entities': [(0, 3, 'PER'), (13, 17, 'LOC')]}",
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_text_a_row(kind: str, separator: str, tmp_path: Path) -> None:
    rows = [["id", "text", "label"], ["a1", "Kim lives in Graz.", TEXTS[kind]],
            ["a2", 'He said:\n"no", twice;', "[]"], ["", " ", ""],
            ["a3", "Not yet.", ""]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows, separator))
    assert find_sources(path)[0].name == "csv-texts"
    found = texts_in(path, field="other")
    assert [(one.name, one.text, one.is_annotated) for one in found] == [
        ("a1", "Kim lives in Graz.", True), ("a2", 'He said:\n"no", twice;', True),
        ("a3", "Not yet.", False),
    ]  # fmt: skip
    assert entities_of(*found) == [("Kim", "PER"), ("Graz", "LOC")]


@pytest.mark.parametrize("nothing", ["", "nan", "NaN", "None", "null", " "])
def test_another_field_and_cells_that_say_nothing(nothing: str, tmp_path: Path) -> None:
    rows = [["text", "Body", "entities"], ["x", "Kim left.", "[(0, 3, 'PER')]"],
            ["x", "Not\r\nyet.", nothing]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    found = texts_in(path, field="BODY")
    assert [(one.text, one.is_annotated) for one in found] == [
        ("Kim left.", True), ("Not\r\nyet.", False),
    ]  # fmt: skip
    assert entities_of(*found) == [("Kim", "PER")]


def test_a_table_of_texts_is_told_by_its_names(tmp_path: Path) -> None:
    for name, header, expected in (
        ("in.csv", "id,text", ["id", "text"]), ("in.csv", "text,word", []),
        ("in.csv", "word,x", []), ("in.txt", "id,text", []), ("in.csv", "x,tag", []),
        ("in.csv", "word,tag", ["word", "tag"]), ("in.txt", "Text,LABEL", ["text", "label"]),
    ):  # fmt: skip
        source = Source(written(tmp_path / name, f"{header}\na,b\n"))
        assert head_of(source).header == expected


def test_bad_cells_name_their_row_and_can_be_skipped(tmp_path: Path) -> None:
    rows = [["text", "entities"], ["Kim left.", "[(0, 3, 'PER')]"], ["Oslo.", "[(0, 4, 'LOC'"],
            ["Rome.", "[(0, 'LOC')]"]]  # fmt: skip
    path = written(tmp_path / "in.csv", as_csv(rows))
    with pytest.raises(CorpusError, match=r"in\.csv:3: the cell .* is no list of entities"):
        texts_in(path)
    stdout, _ = run("convert", path, tmp_path / "out.spacy", "--skip-bad")
    assert "1 record and 1 span" in stdout
    assert entities_in(tmp_path / "out.spacy") == [("Kim", "PER")]


@pytest.mark.parametrize("cell", ["{'PER'}", "[{(0, 3, 'PER')}]", "[{(0, 3): 'PER'}]", "[b'PER']"])
def test_values_of_python_that_json_has_not(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path / "in.csv", as_csv([["text", "entities"], ["Kim left.", cell]]))
    with pytest.raises(CorpusError, match=r"in\.csv:2: the cell .* is no list of entities"):
        texts_in(path)


def test_rows_of_entities_lack_their_texts(tmp_path: Path) -> None:
    rows = [["document", "start", "end", "text", "label"], ["0", "0", "3", "Kim", "PER"]]
    for n_first in (0, 1):
        table = as_csv([row[n_first:] for row in rows])
        with pytest.raises(CorpusError, match="each row is an entity, and the texts"):
            sentences(written(tmp_path / "in.csv", table))


def test_a_separator_that_is_named_in_the_first_line(tmp_path: Path) -> None:
    content = "sep=;\n" + as_csv([["text", "entities"], ["Kim left.", "[(0, 3, 'PER')]"]], ";")
    (text,) = texts_in(written(tmp_path / "in.csv", content))
    assert (entities_of(text), text.where.endswith(":3")) == ([("Kim", "PER")], True)
    rows = rows_of(tmp_path, "sep=ab,c\nd,e\n")  # this one is a name
    assert [line.cells for line in rows] == [["sep=ab", "c"], ["d", "e"]]


def test_a_cell_may_hold_a_long_document(tmp_path: Path) -> None:
    long = "Kim " + "left " * 100_000
    path = written(tmp_path / "in.csv", as_csv([["text", "spans"], [long, "[(0, 3, 'PER')]"]]))
    assert entities_of(*texts_in(path)) == [("Kim", "PER")]
    assert csv.field_size_limit() == 131_072


def workbook(path: Path, *sheets: Sequence[Sequence[object]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Part {number}")
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def test_workbooks(tmp_path: Path) -> None:
    more = [["", cell, "CD", "O"] for cell in (2.0, 7, 2.5, datetime(2020, 1, 31))]
    path = workbook(tmp_path / "words.xlsx", [], [*WORDS, *more], [["note"]])
    with pytest.warns(UserWarning, match="read with its sheet 'Part 2' alone, not Part 3"):
        first, (last, spans) = sentences(path)
    assert (first, last, spans) == (
        FOUND[0], ("Lund", "#2", "2", "7", "2.5", "2020-01-31"), [(0, 1, "geo")],
    )  # fmt: skip
    assert [line.number for line in read_workbook(path, 3).lines] == [1, 2, 3]
    with pytest.raises(CorpusError, match="the columns are not known: none"):
        sentences(workbook(tmp_path / "empty.xlsx", []), "csv-words")
    rows = [["text", "entities"], ["Kim left.", "[(0, 3, 'PER')]"]]
    run("convert", workbook(tmp_path / "texts.xlsx", rows), tmp_path / "out.spacy")
    assert entities_in(tmp_path / "out.spacy") == [("Kim", "PER")]


def test_workbooks_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "in.xlsx", b"PK\x03\x04 cut")
    with pytest.raises(CorpusError, match="is no workbook that can be read"):
        sentences(path)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r'pip install "spacy-cascade\[formats\]"'):
        sentences(path, "csv-words")
    with pytest.raises(CorpusError, match=r"old Excel .* Save it as \.xlsx"):
        find_sources(written(tmp_path / "in.xls", b"\xd0\xcf\x11\xe0"))


PIECE = st.tuples(
    st.sampled_from(["Kim", "Zoë", "42", "托兰", "'a'", '"b"']),
    st.sampled_from(["", "PER", "a, b", "'", '"']),
    st.sampled_from([" ", ", ", ";", "\t", "\n", ' "" ', " - "]),
)
"""A word, its label or none, and what follows."""


@given(st.lists(st.lists(PIECE, min_size=1, max_size=5), max_size=4))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[tuple[str, str, str]]]
) -> None:
    made = []
    for number, pieces in enumerate(texts):
        text, mentions = "", []
        for word, label, after in pieces:
            start = len(text)
            text += word + after
            if label:
                mentions.append(Mention(((start, start + len(word)),), label))
        made.append(AnnotatedText(text, tuple(mentions), f"n{number}"))
    path = tmp_path_factory.mktemp("sheets") / "out.csv"
    format_named("csv-texts").write(made, path)
    found = texts_in(path, "csv-texts")
    assert [(one.name, one.text, one.mentions) for one in found] == [
        (one.name, one.text, one.mentions) for one in made
    ]


def test_entities_and_confidences_are_written(tmp_path: Path) -> None:
    texts = [
        AnnotatedText("Kim left.", (Mention(((0, 3),), "PER", score=0.5),), "a"),
        AnnotatedText("Él", (Mention(((0, 2),), "É"),)),
    ]
    format_named("csv-texts").write(texts, tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_bytes().decode("utf-8-sig").splitlines() == [
        "id,text,entities,scores", 'a,Kim left.,"[[0, 3, ""PER""]]",[0.5]',
        ',Él,"[[0, 2, ""É""]]",',
    ]  # fmt: skip
    rows = {"text": "Kim left.", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.5}]}
    source = written(tmp_path / "in.jsonl", json.dumps(rows))
    run("convert", source, tmp_path / "docs.spacy")
    run("convert", tmp_path / "docs.spacy", tmp_path / "out.csv", "--to", "csv-texts")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["text"], row["entities"]) == ("Kim left.", '[[0, 3, "PER"]]')
    run("convert", tmp_path / "out.csv", tmp_path / "again.spacy")
    assert [doc.text for doc in docs_in(tmp_path / "again.spacy")] == ["Kim left."]
