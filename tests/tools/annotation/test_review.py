"""`spacy cascade review`: files of several annotators, matched, compared and merged."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin, Span

from commands import check_errors, run_command
from helpers import blank
from spacy_cascade.tools.annotation.review import matched
from spacy_cascade.tools.formats.texts import AnnotatedText

run = partial(run_command, "review")
STAT5, JURKAT = "STAT5 binds the AP-1 site .", "Jurkat cells express AP-1 ."
ANNA = {STAT5: [(0, 5, "protein"), (16, 25, "DNA")], JURKAT: [(0, 12, "cell")]}
BEN = {STAT5: [(0, 5, "protein")], JURKAT: [(0, 12, "cell"), (21, 25, "protein")]}


def prodigy(path: Path, annotated: dict, **more: str) -> Path:
    rows = [
        {
            "text": text, **more,
            "spans": [{"start": s, "end": e, "label": label} for s, e, label in spans],
        }
        for text, spans in annotated.items()
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def doccano(path: Path, annotated: dict) -> Path:
    rows = [{"text": text, "label": spans} for text, spans in annotated.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def docs_of(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(blank().vocab))


def characters(doc: Doc) -> list[tuple[int, int, str]]:
    return [(e.start_char, e.end_char, e.label_) for e in doc.ents]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return (
        prodigy(tmp_path / "anna.jsonl", {**ANNA, "Anna alone .": [(0, 4, "cell")]}),
        doccano(tmp_path / "ben.jsonl", BEN),
    )


def test_two_files_are_compared_and_merged(files: tuple[Path, Path], tmp_path: Path) -> None:
    listed, output, results = (tmp_path / name for name in ("l.csv", "m.spacy", "r.json"))
    stdout, _ = run(
        *files, "--lang", "xx", "--disagreements", listed, "--output", output, "--json", results
    )  # fmt: skip
    assert "3 documents: anna 3, ben 2" in stdout
    assert "Only anna has 1 document" in stdout
    with listed.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    shown = [(r["document"], r["start"], r["end"], r["kind"], r["anna"], r["ben"]) for r in rows]
    assert shown == [
        ("1", "16", "25", "missing", "DNA", ""),
        ("2", "21", "25", "missing", "", "protein"),
    ]
    docs = docs_of(output)
    assert [doc.text for doc in docs] == [STAT5, JURKAT, "Anna alone ."]
    assert list(map(characters, docs)) == [[(0, 5, "protein")], [(0, 12, "cell")], [(0, 4, "cell")]]
    missing = [[token.text for token in doc if not token.ent_iob] for doc in docs]
    assert missing == [["AP-1", "site"], ["AP-1"], []]
    found = json.loads(results.read_text(encoding="utf8"))
    assert found["documents"]["only_of"] == {"anna": 1}
    assert found["agreement"]["f1"] == found["pairs"][0]["f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert found["labels"]["cell"] == {"f1": 1.0, "kappa": 1.0}
    assert found["disagreements"] == {"label": 0, "bounds": 0, "missing": 2}
    assert found["merged"]["disputed"] == 2
    assert found["merged"]["agreed"] == 3


def test_where_all_agree_there_is_no_table_of_disagreements(tmp_path: Path) -> None:
    results = tmp_path / "r.json"
    both = (doccano(tmp_path / f"{name}.jsonl", ANNA) for name in ("anna", "ben"))
    stdout, _ = run(*both, "--lang", "xx", "--json", results)
    assert "Disagreements: 0\n" in stdout
    assert "kind" not in stdout
    found = json.loads(results.read_text(encoding="utf8"))
    assert found["disagreements"] == {"label": 0, "bounds": 0, "missing": 0}
    assert found["merged"] is None, "nothing was to be written"


def test_every_format_can_be_reviewed_and_has_the_same_tokens(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A .spacy file with other tokens, of which one is not annotated; and a column file."""
    vocab = blank().vocab
    doc = Doc(vocab, words=["STAT5", "binds", "the", "AP", "-1", "site", "."],
              spaces=[True, True, True, False, True, True, False])  # fmt: skip
    doc.set_ents([Span(doc, 0, 1, "protein")], missing=[doc[4:5]], default="outside")
    DocBin(docs=[doc]).to_disk(tmp_path / "carla.spacy")
    columns = "Jurkat B-cell\ncells I-cell\nexpress O\nAP-1 B-DNA\n. O\n"
    (tmp_path / "dan.iob2").write_text(columns, encoding="utf8")
    natural = {JURKAT.replace(" .", "."): BEN[JURKAT], STAT5: BEN[STAT5]}
    others = doccano(tmp_path / "ben.jsonl", natural)
    listed = tmp_path / "l.jsonl"
    stdout, _ = run(
        files[0], others, tmp_path / "carla.spacy", tmp_path / "dan.iob2", "--lang", "xx",
        "--names", "A, B, C, D", "--disagreements", listed,
    )  # fmt: skip
    pairs = [line.split() for line in stdout.splitlines() if " and " in line]
    assert ["A", "and", "B", "1", "66.67", "0.40"] in pairs
    assert [pair[2] for pair in pairs] == ["B", "C", "C", "D"], "A and D have no text in common"
    rows = [json.loads(line) for line in listed.read_text(encoding="utf8").splitlines()]
    found = {(r["text"], r["kind"], r["A"], r["B"], r["C"], r["D"]) for r in rows}
    assert found == {
        ("AP-1 site", "missing", "DNA", "", "?", "?"),
        ("AP-1", "label", "?", "protein", "?", "DNA"),
    }


def test_words_that_all_files_have_are_kept(tmp_path: Path) -> None:
    vocab = blank().vocab
    for name, label in (("anna", "protein"), ("ben", "DNA")):
        doc = Doc(vocab, words=["AP", "-1"], spaces=[False, False])
        doc.set_ents([Span(doc, 1, 2, label)])
        DocBin(docs=[doc]).to_disk(tmp_path / f"{name}.spacy")
    inputs = [tmp_path / "anna.spacy", tmp_path / "ben.spacy"]
    usual = ("--tokenizer", "spacy.Tokenizer.v1")
    for more, words, n_lost in (((), ["AP", "-1"], 0), (usual, ["AP-1"], 2)):
        stdout, _ = run(*inputs, "--output", tmp_path / "m.spacy", "--force", "--lang", "xx", *more)
        (doc,) = docs_of(tmp_path / "m.spacy")
        assert [token.text for token in doc] == words
        assert (f"No entity for {n_lost} spans that cut a token" in stdout) == bool(n_lost)
        assert not doc.ents
        assert not doc[-1].ent_iob


def test_one_file_of_label_studio_has_several_annotators(tmp_path: Path) -> None:
    def work(who: object, spans: list) -> dict:
        result = [
            {"type": "labels", "value": {"start": s, "end": e, "labels": [label]}}
            for s, e, label in spans
        ]
        return {"completed_by": who, "result": result}

    tasks = [
        {
            "id": 7, "data": {"text": STAT5},
            "annotations": [work(1, ANNA[STAT5]), work({"id": 2, "email": "b@x.org"}, BEN[STAT5])],
        },
        {"id": 8, "data": {"text": JURKAT}, "annotations": [work(1, ANNA[JURKAT])]},
    ]  # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf8")
    stdout, _ = run(path, "--lang", "xx", "--disagreements", tmp_path / "l.jsonl")
    assert "2 documents: 1 2, b@x.org 1" in stdout
    (row,) = map(json.loads, (tmp_path / "l.jsonl").read_text(encoding="utf8").splitlines())
    assert (row["document"], row["1"], row["b@x.org"]) == ("7", "DNA", "")
    assert "no annotator 'carla'" in run(path, "--names", "1,carla", exit_code=1)[1]


def test_a_short_export_of_label_studio_has_several_annotators(tmp_path: Path) -> None:
    rows = [
        {
            "id": 7, "text": STAT5, "annotator": who, "annotation_id": who, "lead_time": 1.0,
            "label": [{"start": s, "end": e, "labels": [label]} for s, e, label in spans],
        }
        for who, spans in ((1, ANNA[STAT5]), (2, BEN[STAT5]))
    ]  # fmt: skip
    path = tmp_path / "min.json"
    path.write_text(json.dumps(rows), encoding="utf8")
    stdout, _ = run(path, "--lang", "xx")
    assert "1 document: 1 1, 2 1" in stdout
    assert "Disagreements: 1 (missing 1)" in stdout


def test_one_file_of_prodigy_has_several_annotators(tmp_path: Path) -> None:
    path = prodigy(tmp_path / "both.jsonl", ANNA, _annotator_id="ner-anna")
    text = path.read_text(encoding="utf8")
    prodigy(path, BEN, _session_id="ner-ben")
    path.write_text(text + path.read_text(encoding="utf8"), encoding="utf8")
    assert "2 documents: ner-anna 2, ner-ben 2" in run(path, "--lang", "xx")[0]


def test_a_pipeline_sorts_the_list_and_breaks_ties(
    files: tuple[Path, Path], model: Path, tmp_path: Path
) -> None:
    listed, output = tmp_path / "l.jsonl", tmp_path / "m.spacy"
    run(*files, "--model", model, "--disagreements", listed, "--output", output)
    rows = [json.loads(line) for line in listed.read_text(encoding="utf8").splitlines()]
    against = [row["against"] for row in rows]
    assert len(rows) == 2
    assert against == sorted(against, reverse=True)
    assert {row["model"] for row in rows} == {"DNA", "protein"}
    docs = docs_of(output)
    assert characters(docs[0]) == ANNA[STAT5]
    assert characters(docs[1]) == BEN[JURKAT]
    stdout, _ = run(
        *files, "--model", model, "--output", output, "--merge", "confidence", "--force"
    )
    assert "Spans that the pipeline chose: 2" in stdout


def test_texts_that_occur_often_are_matched_by_name_or_order() -> None:
    def texts(*names: str) -> list[AnnotatedText]:
        return [AnnotatedText("Yes .", name=name, where=f"{n}") for n, name in enumerate(names)]

    def places(**by: list[AnnotatedText]) -> list[dict[str, str]]:
        return [{who: text.where for who, text in one.items()} for one in matched(by)]

    assert places(a=texts("1", "2"), b=texts("2")) == [{"a": "0"}, {"a": "1", "b": "0"}]
    assert places(a=texts("1", "2"), b=texts("x", "y", "z")) == [
        {"a": "0", "b": "0"}, {"a": "1", "b": "1"}, {"b": "2"},
    ]  # fmt: skip


def test_what_cannot_be_reviewed_is_an_error_of_one_line(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    other = doccano(tmp_path / "other.jsonl", {"Another text .": []})
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "a", "label": [[0, 9, "X"]]}\n', encoding="utf8")
    check_errors(
        run,
        ((files[0],), "anna.jsonl:1: the file does not say who has annotated this"),
        ((files[0], other), "No document is annotated twice (anna 3, other 1)"),
        ((files[0], files[0]), "Several annotators have the same name: anna, anna"),
        ((*files, "--names", "anna"), "2 files and 1 names"),
        ((*files, "--names", "anna,text"), "called as a column"),
        ((*files, "--merge", "confidence"), "needs a pipeline"),
        ((*files, "--disagreements", "list.txt"), "no file for rows"),
        ((*files, "--output", "merged.json"), "does not end in .spacy"),
        ((files[0], bad), "bad.jsonl:1"),
    )
    stdout, _ = run(*files, "--lang", "xx")
    assert "Disagreements: 2 (missing 2)" in stdout
