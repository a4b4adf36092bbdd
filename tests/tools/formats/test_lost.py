"""`convert --lost`: the spans that are left out, each with its place and the reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from spacy.tokens import DocBin, Span

from commands import check_errors
from commands import run_command as run
from format_files import doccano, docs_in, written
from helpers import blank
from spacy_cascade.pipeline.spans.parts import part_id
from spacy_cascade.tools.formats.columns import Document, Sentence
from spacy_cascade.tools.formats.docs import write_documents
from spacy_cascade.tools.formats.tags import LabelledSpan
from spacy_cascade.tools.tokenizers.lost_spans import lost_spans

NAMES = ["document", "start", "end", "text", "label", "reason"]
BRAT = "T1\tsite 0 4;15 19\tleft lung\nT2\tsite 9 19\tright lung\n"


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    return tmp_path / "lost.jsonl"


def rows(path: Path) -> list[list[object]]:
    """Without the names of the columns, which are the same in each row."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(list(row) == NAMES for row in found)
    return [list(row.values()) for row in found]


def test_a_run_that_stops_lists_them(tmp_path: Path) -> None:
    text = "The IL-2_mutant T cells"
    spans = [(5, 8, "protein"), (9, 12, "x"), (16, 23, "cell"), (18, 24, "cell"), (3, 4, "x")]
    source = doccano(tmp_path / "in.jsonl", (f"{text} ", spans))
    lost, output = tmp_path / "lost.csv", tmp_path / "out.spacy"
    stdout, stderr = run("convert", source, output, "--lost", lost, exit_code=1)
    assert "4 of 5 spans would be lost" in stderr
    assert f"4 spans left out -> {lost}" in stdout
    assert not output.exists()
    with lost.open(encoding="utf-8-sig", newline="") as file:
        head, *found = csv.reader(file)
    assert head == NAMES
    place = f"{source}:1"
    assert found == [
        [place, "5", "8", "L-2", "protein", "that cut a token"],
        [place, "9", "12", "mut", "x", "that cut a token"],
        [place, "3", "4", " ", "x", "of nothing but white space"],
        [place, "18", "23", "cells", "cell", "overlapping another span"],
    ]


def test_what_the_group_keeps_is_not_lost(tmp_path: Path, lost: Path) -> None:
    folder, output = tmp_path / "brat", tmp_path / "out.spacy"
    folder.mkdir()
    written(folder / "a.txt", "left and right lung hurts")
    written(folder / "a.ann", f"{BRAT}T3\tsite 0 24\tleft and right lung hurt\n")
    run("convert", folder, output, "--lost", lost, "--accept-loss")
    parts = ["a", [0, 15], [4, 19], "left lung", "site", "of several parts"]
    cut = ["a", 0, 24, "left and right lung hurt", "site", "that cut a token"]
    assert rows(lost) == [parts, cut]
    assert [list(one) for one in lost_spans(docs_in(output)[0], "a")] == [parts, cut]
    keeping = ("--spans-key", "sc", "--discontinuous", "parts", "--accept-loss")
    run("convert", folder, output, "--lost", lost, *keeping)
    assert rows(lost) == [cut]


def test_words_have_places_in_the_text_that_is_made(tmp_path: Path) -> None:
    spans = (LabelledSpan(0, 2, "ORG"), LabelledSpan(1, 2, "LOC"), LabelledSpan(1, 2, "LOC"))
    documents = [Document((Sentence(("North", "Kiel", "."), spans),))] * 2
    output = tmp_path / "out.spacy"
    summary = write_documents(documents, output)
    expected = [(n, 6, 10, "Kiel", "LOC", "overlapping another span") for n in (1, 1, 2, 2)]
    assert summary.lost == expected
    docs = docs_in(output)
    assert [one for n, doc in enumerate(docs, 1) for one in lost_spans(doc, n)] == expected
    summary = write_documents(documents, output, spans_key="sc")
    assert (summary.overlapping, summary.lost) == (4, [])


def test_words_of_a_file_have_its_lines_as_places(tmp_path: Path, lost: Path) -> None:
    spans = [[0, 1, "ORG"], [1, 1, "LOC"]]
    row = json.dumps({"tokenized_text": ["North", "Kiel"], "ner": spans}) + "\n"
    source = written(tmp_path / "in.jsonl", row + "\n" + row)
    stdout, _ = run("convert", source, tmp_path / "out.spacy", "--lost", lost)
    assert "No entity for 2 spans overlapping another span; --spans-key sc keeps them" in stdout
    assert [row[:5] for row in rows(lost)] == [
        [f"{source}:{line}", 6, 10, "Kiel", "LOC"] for line in (1, 3)
    ]


def test_column_files_lose_nothing_with_a_group(tmp_path: Path, lost: Path) -> None:
    source = written(tmp_path / "in.iob2", "North B-ORG O\nKiel I-ORG B-LOC\n")
    options = ("--spans-key", "sc", "--tag-column", "1,2", "--lost", lost)
    stdout, _ = run("convert", source, tmp_path / "out.spacy", *options)
    assert "doc.spans has them" in stdout
    assert rows(lost) == []


def test_another_format_may_have_no_parts(tmp_path: Path, lost: Path) -> None:
    doc = blank().make_doc("left and right lung \n")
    doc.spans["sc"] = [
        *(Span(doc, i, i + 1, "site", span_id=part_id("a")) for i in (0, 3)),
        Span(doc, 2, 4, "site"),
        Span(doc, 4, 5, "site"),
    ]
    source, output = tmp_path / "in.spacy", tmp_path / "out"
    DocBin(docs=[doc]).to_disk(source)
    options = ("--spans-key", "sc", "--lost", lost, "--force")
    run("convert", source, output, "--to", "doccano", *options)
    place = f"{source}, document 1"
    blanks = [place, 20, 21, "\n", "site", "of nothing but white space"]
    parts = [place, [0, 15], [4, 19], "left lung", "site", "of several parts"]
    assert rows(lost) == [parts, blanks]
    assert json.loads(output.read_text())["label"] == [[9, 19, "site"]]
    run("convert", source, output, "--to", "bioc-json", *options)
    assert rows(lost) == [blanks]


def test_what_cannot_be_read_is_listed_too(tmp_path: Path, lost: Path) -> None:
    good = '{"text": "Ada left.", "label": [[0, 3, "PER"], [5, 99, "X"]]}'
    source = written(tmp_path / "in.jsonl", f'{good}\n{{"text": "cut')
    run("convert", source, tmp_path / "out.spacy", "--skip-bad", "--lost", lost, "--accept-loss")
    found = rows(lost)
    assert [row[:5] for row in found] == [["", None, None, "", ""]] * 2
    places = {str(row[5]).partition(": ")[0] for row in found}
    assert places == {f"{source}:1", f"{source}:2"}


def test_a_name_that_is_no_table_is_refused_before_the_work(tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    run_it = (tmp_path / "none.jsonl", output, "--lost", tmp_path / "lost.txt")
    check_errors(run, (("convert", *run_it), "lost.txt is no file for rows"))
