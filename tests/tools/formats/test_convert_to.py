"""`spacy cascade convert --to`: entities and their scores for annotation tools."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from commands import run_command as run
from format_files import FILES, entities_in
from helpers import SENTENCES, trained_cascade
from spacy_cascade import save_pipeline
from spacy_cascade.pipeline.spans.confidences import confidence_of
from spacy_cascade.pipeline.spans.parts import part_id
from spacy_cascade.tools.formats.exchange.registry import format_named
from spacy_cascade.tools.formats.placing import text_of

TEXT = SENTENCES[0][0]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained_cascade()


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    save_pipeline(nlp, path)
    return path


@pytest.fixture(scope="module")
def expected(nlp: Language) -> list[tuple[int, int, str, float]]:
    found = [
        (span.start_char, span.end_char, span.label_, span._.confidence) for span in nlp(TEXT).ents
    ]
    assert found
    return found


def exported(to: str, source: Path, folder: Path, *rest: object) -> Path:
    output = folder / f"out-{to}"
    run("convert", source, output, "--to", to, *rest)
    return output


def test_scores_are_where_the_tool_has_them(
    nlp: Language, expected: list[tuple[int, int, str, float]], tmp_path: Path
) -> None:
    text = text_of(nlp(TEXT), confidence_of)

    def write(to: str) -> str:
        path = tmp_path / to
        format_named(to).write([text], path)
        return (path / "1.ann" if path.is_dir() else path).read_text(encoding="utf8")

    def spans(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(one["start"], one["end"], one["label"], one["score"]) for one in found]

    assert spans(json.loads(write("prodigy"))["spans"]) == expected
    (task,) = json.loads(write("label-studio"))
    (prediction,) = task["predictions"]
    assert spans(
        [{**one["value"], "label": one["value"]["labels"][0], "score": one["score"]}
         for one in prediction["result"]]
    ) == expected  # fmt: skip
    assert prediction["score"] == min(score for *_, score in expected)
    record = json.loads(write("doccano"))
    labels = zip(record["label"], record["scores"], strict=True)
    assert [(*label, score) for label, score in labels] == expected
    rounded = [float(f"{score:.6g}") for *_, score in expected]
    scores = {
        "bioc-json": r'"score": "(.*)"', "bioc-xml": r'<infon key="score">(.*?)</infon>',
        "brat": r"#\d+\tAnnotatorNotes T\d+\tscore (.*)", "huggingface": r'"scores": \[(.*?)\]',
    }  # fmt: skip
    for to, pattern in scores.items():
        found = [float(one) for part in re.findall(pattern, write(to)) for one in part.split(", ")]
        assert found == pytest.approx(rounded, abs=1e-5), to


def test_a_pipeline_annotates_texts_first(
    nlp: Language, model: Path, expected: list[tuple[int, int, str, float]], tmp_path: Path
) -> None:
    source = tmp_path / "texts.txt"
    source.write_text(f"Nothing .\n\n{TEXT}\n")
    output = exported("prodigy", source, tmp_path, "--model", model)
    *_, task = map(json.loads, output.read_text(encoding="utf8").splitlines())
    assert [(one["start"], one["label"], one["score"]) for one in task["spans"]] == [
        (start, label, score) for start, _, label, score in expected
    ]
    assert [token["text"] for token in task["tokens"]] == [token.text for token in nlp(TEXT)]


def test_the_names_of_documents_stay(model: Path, tmp_path: Path) -> None:
    """Predictions go back to the files that the texts are from."""
    output = exported("brat", FILES / "brat", tmp_path, "--model", model)
    assert (output / "one.txt").read_bytes() == (FILES / "brat" / "one.txt").read_bytes()
    output = exported("pubtator", FILES / "articles.pubtator", tmp_path, "--model", model)
    assert output.read_text(encoding="utf8").startswith("101|t|IL-2 activates STAT5.\n101|a|In")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.jsonl", '{"id": "a7", "text": "IL-2 acts.", "n": 1}'),
        ("in.csv", "id;text\na7;IL-2 acts."),
    ],
)
def test_texts_with_names_are_annotated(
    name: str, content: str, model: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    output = exported("doccano", tmp_path / name, tmp_path, "--model", model)
    task = json.loads(output.read_text(encoding="utf8"))
    assert (task["id"], task["text"]) == ("a7", "IL-2 acts.")


def test_docs_go_to_a_format_and_back(
    nlp: Language, expected: list[tuple[int, int, str, float]], tmp_path: Path
) -> None:
    source, again = tmp_path / "docs.spacy", tmp_path / "again.spacy"
    DocBin(docs=[nlp(TEXT)]).to_disk(source)
    n = len(expected)
    for to in ("conllu", "pubtator"):
        stdout = run("convert", source, tmp_path / to, "--to", to)[0]
        assert f"1 document, {n} entities, {n} of them with a score" in stdout
        assert "discontinuous" not in stdout
        run("convert", tmp_path / to, again)
        assert entities_in(again) == [(TEXT[start:end], label) for start, end, label, _ in expected]


def test_predictions_are_written_to_another_format(tmp_path: Path) -> None:
    run("convert", FILES / "label_studio.json", tmp_path / "out", "--to", "doccano")
    rows = list(map(json.loads, (tmp_path / "out").read_text(encoding="utf8").splitlines()))
    assert [len(row["label"]) for row in rows] == [5, 1]


def test_spans_of_several_parts_do_not_become_one(tmp_path: Path) -> None:
    stdout, _ = run("convert", FILES / "brat", tmp_path / "out", "--to", "doccano")
    assert "Left out, spans of several parts: 1" in stdout
    record = json.loads((tmp_path / "out").read_text(encoding="utf8"))
    assert [41, 61, "cell"] not in record["label"]
    assert len(record["label"]) == 5


def test_bad_input_is_one_line(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "docs.iob"
    source.write_text("a O\n")
    output = tmp_path / "out"
    for arguments, message in (
        ((source, output, "--to", "prodigy"), "has words, but no text"),
        ((source, output, "--to", "excel"), "no format 'excel'. Choose one of: argilla, bioc-json"),
        ((FILES / "doccano.jsonl", output, "--to", "conllu"), "has no tokens that fit it"),
        ((FILES / "doccano.jsonl", output, "--to", "columns"), "has no tokens that fit it"),
        ((FILES / "doccano.jsonl", source, "--to", "prodigy"), "already exists. Replace it with"),
        ((tmp_path / "no.jsonl", output, "--to", "prodigy"), "does not exist"),
    ):
        error = run("convert", *arguments, exit_code=1)[1]
        assert message in error
        assert error.count("\n") == 1
    assert not output.exists()
    error = run("convert", source, tmp_path / "a.spacy", "--model", model, exit_code=1)[1]
    assert "--model annotates texts for --to" in error
    error = run("convert", source, source, "--to", "brat", "--force", "--model", model, exit_code=1)
    assert "is a file. Give a folder" in error[1]


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("brat", ["The format brat: 'T\\tcell' and 'T cell' are written as 'T_cell'"]),
        ("pubtator", ["The format pubtator: 'T\\tcell' and 'T cell' are written as 'T cell'"]),
        ("prodigy", []),
    ],
)
def test_labels_that_are_renamed_are_told(to: str, said: list[str], tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    labels = ((0, 1, "T cell"), (2, 3, "T\tcell"), (4, 5, "B-cell"))
    source.write_text(json.dumps({"text": "a b c", "label": labels}))
    stdout, _ = run("convert", source, tmp_path / "out", "--to", to)
    assert [line[2:] for line in stdout.splitlines() if "The format" in line] == said
    written = run("convert", tmp_path / "out", tmp_path / "again", "--to", "prodigy")[0]
    assert "3 entities" in written


def test_records_that_cannot_be_read_are_skipped_when_asked(tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "a b", "label": [[0, 1, "X"], [2, 99, "X"]]}\n{"\n')
    error = run("convert", source, output, "--to", "prodigy", exit_code=1)[1]
    assert "2 records or spans cannot be read" in error
    assert not output.exists()
    stdout, _ = run("convert", source, output, "--to", "prodigy", "--skip-bad")
    assert "Left out, because it cannot be read: 1 record and 1 span" in stdout
    assert "1 document, 1 entity" in stdout


def test_parts_that_a_pipeline_finds_are_written_as_one(tmp_path: Path) -> None:
    """Nobody has to ask for them, as a group has parts because somebody wanted them."""

    @Language.component("finds_left_lung")
    def finds_left_lung(doc: Doc) -> Doc:
        places = [(0, 1), (3, 4)] if len(doc) else []
        doc.spans["sc"] = [Span(doc, *one, "site", span_id=part_id("a")) for one in places]
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("finds_left_lung")
    nlp.to_disk(tmp_path / "model")
    source, output = tmp_path / "in.jsonl", tmp_path / "out.json"
    source.write_text('{"text": " ", "id": 1}\n{"text": "left and right lung", "id": 2}\n')
    options = ("--to", "bioc-json", "--model", tmp_path / "model", "--spans-key", "sc")
    stdout, _ = run("convert", source, output, *options)
    assert "1 discontinuous span: each as one annotation of several parts" in stdout
    assert "Left out, empty texts: 1" in stdout
    (document,) = json.loads(output.read_text())["documents"]
    (found,) = document["passages"][0]["annotations"]
    assert (document["id"], found["text"], len(found["locations"])) == ("2", "left lung", 2)
    source.write_text('{"text": " "}\n')
    error = run("convert", source, output, "--force", *options[:-2], exit_code=1)[1]
    assert f"{source} has no texts. Check the path." in error


def test_a_pipeline_may_give_a_group_of_spans(nlp: Language, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "texts.txt"
    source.write_text(f"{TEXT}\n")
    doc = nlp(TEXT)
    (key,) = doc.spans
    output = exported("prodigy", source, tmp_path, "--model", model, "--spans-key", key)
    (task,) = map(json.loads, output.read_text(encoding="utf8").splitlines())
    found = [(one["start"], one["end"], one["label"], one["score"]) for one in task["spans"]]
    group = doc.spans[key]
    scores = [float(score) for score in group.attrs["scores"]]
    assert found == [
        (span.start_char, span.end_char, span.label_, score)
        for span, score in zip(group, scores, strict=True)
    ]
    options = ("--to", "brat", "--model", model, "--spans-key", "no")
    error = run("convert", source, tmp_path / "new", *options, exit_code=1)[1]
    assert f"doc.spans['no']. The keys are: {key}." in error
