"""`spacy cascade convert` of formats with text: what it says, and what is in the Docs."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_command as run
from format_files import FILES, doccano, docs_in


def test_the_format_and_what_was_left_out_are_told(tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    stdout, stderr = run("convert", FILES / "prodigy.jsonl", output)
    assert stderr == ""
    assert "Read as prodigy" in stdout
    assert "Left out, texts answered reject: 1" in stdout
    assert "Left out, texts answered ignore: 1" in stdout
    assert "2 documents, 12 words, 3 entities (protein 2, cell 1), 6 words not ann" in stdout
    assert [doc[0].text for doc in docs_in(output)] == ["IL-2", "In"]


def test_spans_that_no_token_can_express_are_counted_and_shown(tmp_path: Path) -> None:
    text = "The IL-2_mutant T cells"
    spans = [(5, 8, "protein"), (4, 8, "protein"), (16, 23, "cell"), (18, 23, "cell")]
    source = doccano(tmp_path / "in.jsonl", (text, spans))
    stdout, _ = run("convert", source, tmp_path / "out.spacy", "--accept-loss")
    assert "No entity for 2 spans that cut a token:" in stdout
    place = f"{source}:1, characters 5-8: protein in 'The I[L-2]_mutant T cells'"
    assert place in stdout
    assert "No entity for 1 span overlapping another span:" in stdout
    assert "--spans-key sc" in stdout
    assert "--tokenizer spacy_cascade.PunctuationTokenizer.v1 has token boundaries at 1" in stdout
    option = ("--tokenizer", "spacy_cascade.PunctuationTokenizer.v1", "--spans-key", "sc")
    stdout, _ = run("convert", source, tmp_path / "out.spacy", *option)
    assert "No entity for 1 span that cut a token:" in stdout
    (doc,) = docs_in(tmp_path / "out.spacy")
    assert [span.text for span in doc.ents] == ["IL-2", "T cells"]
    assert [span.text for span in doc.spans["sc"]] == ["IL-2", "T cells", "cells"]


def test_a_tokenizer_goes_before_the_words_of_the_file(tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    option = ("--tokenizer", "spacy_cascade.PunctuationTokenizer.v1")
    run("convert", FILES / "prodigy.jsonl", output, *option)
    assert [token.text for token in docs_in(output)[0]][:3] == ["IL", "-", "2"]
    error = run("convert", FILES / "prodigy.jsonl", output, "--tokenizer", "no", exit_code=1)[1]
    assert "There is no tokenizer with --tokenizer no" in error


def test_nothing_annotated_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "a", "meta": {}}\n{"text": " ", "spans": []}\n')
    error = run("convert", source, tmp_path / "out.spacy", exit_code=1)[1]
    assert "texts that nobody annotated 1, empty texts 1" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out.spacy").exists()


@pytest.mark.parametrize("names", ["O,B-PER,I-PER,B-LOC", FILES / "tag_names.txt"])
def test_numbers_of_tags_have_names(names: object, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    stdout, _ = run("convert", FILES / "tag_numbers.jsonl", output, "--tag-names", names)
    assert "2 entities (PER 1, LOC 1)" in stdout
    assert [span.text for span in docs_in(output)[0].ents] == ["Ada Byron", "Paris"]
    error = run("convert", FILES / "tag_numbers.jsonl", output, exit_code=1)[1]
    assert "--tag-names O,B-PER,I-PER" in error


def test_predictions_are_asked_for(tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    assert "1 document," in run("convert", FILES / "label_studio.json", output)[0]
    stdout, _ = run("convert", FILES / "label_studio.json", output, "--predictions")
    assert "2 documents," in stdout


def test_another_field_and_a_folder_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    task = {"data": {"body": "IL-2"}, "annotations": [{"result": []}]}
    for name in ("a.json", "b.json"):
        (folder / name).write_text(json.dumps([task]))
    output = tmp_path / "out.spacy"
    assert "2 documents, 2 words" in run("convert", folder, output, "--field", "body")[0]
    assert "Set --field to one of: body" in run("convert", folder, output, exit_code=1)[1]


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def absent(module: str, *rest: Any) -> Any:
        if module.startswith("lxml"):
            raise ImportError
        return real(module, *rest)

    monkeypatch.setattr("spacy_cascade.extras.import_module", absent)
    error = run("convert", FILES / "bioc.xml", tmp_path / "out.spacy", exit_code=1)[1]
    assert "needs lxml, which is not installed" in error
    assert 'pip install "spacy-cascade[formats]"' in error


@pytest.mark.parametrize(
    ("name", "text"),
    [("BIO", "a B-X\n"), ("bioes", "a S-X\n"), ("BILUO", "a U-X\n"), ("IOB1", "a I-X\n")],
)
def test_a_scheme_has_many_names(name: str, text: str, tmp_path: Path) -> None:
    source = tmp_path / "in.iob"
    source.write_text(text)
    stdout, _ = run("convert", source, tmp_path / "out.spacy", "--scheme", name)
    assert "1 entity (X 1)" in stdout


def test_an_unknown_scheme_is_an_error_with_all_names(tmp_path: Path) -> None:
    source = tmp_path / "in.iob"
    source.write_text("a O\n")
    error = run("convert", source, tmp_path / "o.spacy", "--scheme", "x", exit_code=2)[1]
    shown = " ".join(error.replace("│", " ").split())
    assert "There is no scheme 'x'. Choose one of: auto, iob1, iob2, bilou, io, bio" in shown
