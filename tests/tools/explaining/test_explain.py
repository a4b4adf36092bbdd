"""`spacy cascade explain`: tables, JSON and pages, of features and of alternatives."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from commands import run_command
from helpers import SENTENCES, blank, gold_doc, of_sentences

TEXT = "STAT5 binds the AP-1 site of Jurkat cells ."
ALTERNATIVES = ("--alternatives", 2)


def write_corpus(path: Path, sentences: list) -> Path:
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, text, spans) for text, spans in sentences]).to_disk(path)
    return path


def test_sums_of_what_is_printed(model: Path) -> None:
    stdout, stderr = run_command("explain", model, TEXT, "--features", 1000)
    assert stderr == ""
    assert "AP-1 site  DNA, tokens 3 to 4" in stdout
    assert re.search(r"confidence [01]\.\d{3} = [01]\.\d{3} x [01]\.\d{3}", stdout)
    rather = "cascade_classifier: STAT5 [protein], rather than STAT5 ["
    assert rather in stdout
    tables = re.findall(r"^feature.*?^sum.*?$", stdout, re.MULTILINE | re.DOTALL)
    assert len(tables) == 6
    for table in tables:
        *rows, sums = [re.findall(r" ([+-]\d+\.\d\d)(?= |$)", r) for r in table.splitlines()[2:]]
        for column in range(3):
            total = sum(float(row[column]) for row in rows)
            # Each number is rounded to a hundredth.
            assert float(sums[column]) == pytest.approx(total, abs=0.005 * (len(rows) + 1))


def test_features_that_are_shown(model: Path) -> None:
    stdout, _ = run_command("explain", model, TEXT, "--features", 2)
    assert len(re.findall(r"^\d+ others", stdout, re.MULTILINE)) == 6
    stdout, _ = run_command("explain", model, "Nothing else is known here .")
    assert "found no entities" in stdout


def test_files(model: Path, tmp_path: Path) -> None:
    json, html = tmp_path / "new" / "found.json", tmp_path / "new" / "found.html"
    stdout, _ = run_command("explain", model, TEXT, "--json", json, "--html", html)
    assert str(json) in stdout
    found = srsly.read_json(json)
    assert [entity["text"] for entity in found["entities"]] == [
        "STAT5",
        "AP-1 site",
        "Jurkat cells",
    ]
    for entity in found["entities"]:
        for stage in entity["stages"]:
            total = sum(c["weight"] - c["runner_up"] for c in stage["contributions"])
            assert total == pytest.approx(stage["evidence"], abs=1e-9)
    assert found["top_features"] == []
    assert "AP-1 site" in html.read_text(encoding="utf8")


def test_top_features(model: Path, tmp_path: Path) -> None:
    """Of trained components only; without a text, nothing is said of its entities."""
    corpus = write_corpus(tmp_path / "train.spacy", SENTENCES)
    json = tmp_path / "found.json"
    nlp = spacy.load(model)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(model := tmp_path / "model")
    stdout, _ = run_command("explain", model, "--top", 3, "--data", corpus, "--json", json)
    assert "found no entities" not in stdout
    assert "Top features of cascade_segmenter for B-ENT" in stdout
    assert "Top features of cascade_classifier for protein" in stdout
    assert " after O" in stdout
    assert "not in the data" not in stdout
    found = srsly.read_json(json)
    assert [component["component"] for component in found["top_features"]] == [
        "cascade_segmenter",
        "cascade_classifier",
    ]
    few = write_corpus(tmp_path / "few.spacy", SENTENCES[:1])
    stdout, _ = run_command("explain", model, "--data", few)
    assert "(not in the data)" in stdout
    assert re.search(r"\d+ of these features of cascade_classifier do not occur in", stdout)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "Give a TEXT to explain, or --data"),
        (ALTERNATIVES, "--alternatives are those of a TEXT"),
        ((TEXT, "--data", "dev.spacy", *ALTERNATIVES), "--alternatives are those of a TEXT"),
    ],
)
def test_nothing_to_explain(more: tuple[object, ...], message: str, model: Path) -> None:
    assert message in run_command("explain", model, *more, exit_code=1)[1]


def test_hypotheses(model: Path, tmp_path: Path) -> None:
    json, html = tmp_path / "found.json", tmp_path / "found.html"
    stdout, _ = run_command(
        "explain", model, TEXT, "--alternatives", 3, "--json", json, "--html", html
    )
    lines = stdout.splitlines()
    assert TEXT in lines
    first = "STAT5 [protein], AP-1 site [DNA], Jurkat cells [cell]"
    assert re.search(rf"^1 +0\.\d{{4}} +{re.escape(first)}$", stdout, re.MULTILINE)
    (sentence,) = srsly.read_json(json)
    values = [each["probability"] for each in sentence["hypotheses"]]
    assert values == sorted(values, reverse=True)
    best, *others = [
        [f"{entity['text']} [{entity['label']}]" for entity in each["entities"]]
        for each in sentence["hypotheses"]
    ]
    assert len(others) == 2
    for rank, other in enumerate(others, 2):
        added = [f"+ {text}" for text in other if text not in best]
        lacking = [f"- {text}" for text in best if text not in other]
        row = rf"^{rank} +{values[rank - 1]:.4f} +{re.escape(', '.join(added + lacking))}$"
        assert re.search(row, stdout, re.MULTILINE)
    assert html.read_text(encoding="utf8").count("<article ") == 3


def test_hypotheses_of_each_sentence(model: Path, tmp_path: Path) -> None:
    """Of the whole text, where the model was trained on documents."""
    html, both = tmp_path / "found.html", f"{TEXT} p53 binds ."
    stdout, _ = run_command("explain", model, both, "--alternatives", 2)
    assert both in stdout.splitlines()
    of_sentences(spacy.load(model)).to_disk(tmp_path / "model")
    stdout, _ = run_command(
        "explain", tmp_path / "model", both, "--alternatives", 2, "--html", html
    )
    assert {TEXT, "p53 binds ."} <= set(stdout.splitlines())
    page = html.read_text(encoding="utf8")
    assert re.findall(r"<h2>(.*)</h2>", page) == ["Sentence 1", "Sentence 2"]
    assert page.count("<article ") == 4


def test_hypotheses_need_a_segmenter(tmp_path: Path) -> None:
    blank().to_disk(tmp_path / "model")
    _, stderr = run_command("explain", tmp_path / "model", TEXT, *ALTERNATIVES, exit_code=1)
    assert "Hypotheses need a cascade_segmenter" in stderr


@pytest.mark.parametrize("more", [(), ALTERNATIVES])
def test_a_text_that_is_no_unicode_is_refused(more: tuple[object, ...], model: Path) -> None:
    _, stderr = run_command("explain", model, "STAT5 \udcff binds", *more, exit_code=2)
    assert "It is not valid UTF-8" in stderr


def test_files_may_have_names_that_are_no_unicode(model: Path, tmp_path: Path) -> None:
    strange = tmp_path / os.fsdecode(b"mod\xffel")
    shutil.copytree(model, strange)
    page, found = tmp_path / "page.html", tmp_path / os.fsdecode(b"\xff.json")
    run_command("explain", strange, "STAT5 \x00 binds", "--html", page, "--json", found)
    assert "mod\\udcffel" in page.read_text(encoding="utf8")
    assert srsly.read_json(found)
