"""Corpora of nested entities, their scores, and spaCy's `spancat` as a peer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, Span

from benchmarks.lib.nested import (
    DOCUMENT,
    ENTITIES,
    Counts,
    count,
    covered,
    innermost,
    outermost,
    read_nested,
    rows_of,
)
from benchmarks.peers import spacy_spancat
from benchmarks.suite.nested import train_and_score
from helpers import LANGUAGE, blank, bounds

UNIVERSITY = {
    "tokens": ["The", "University", "of", "York", "grows"],
    "spans": [[0, 4, "organization"], [3, 4, "place"]],
}
STAFF = {
    "tokens": ["York", "staff", "left"],
    "spans": [[0, 2, "person"], [0, 1, "place"]],
}


def write_nested(path: Path, n_documents: int = 1) -> str:
    documents = [
        {"id": f"doc{number}", "sentences": [UNIVERSITY, STAFF]} for number in range(n_documents)
    ]
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return str(path)


def made_doc(words: str, *spans: tuple[int, int, str]) -> Doc:
    doc = Doc(blank().vocab, words=words.split())
    doc.spans[ENTITIES] = [Span(doc, *span) for span in spans]
    return doc


def test_documents_have_all_spans_and_outermost_entities(tmp_path: Path) -> None:
    (doc,) = read_nested(write_nested(tmp_path / "train.jsonl"), blank().vocab)
    assert bounds(doc.spans[ENTITIES]) == [
        (0, 4, "organization"), (3, 4, "place"), (5, 6, "place"), (5, 7, "person"),
    ]  # fmt: skip
    assert bounds(doc.ents) == [(0, 4, "organization"), (5, 7, "person")]
    assert [token.i for token in doc if token.is_sent_start] == [0, 5]
    assert doc.user_data[DOCUMENT] == "doc0"


def test_sentences_can_be_documents(tmp_path: Path) -> None:
    docs = read_nested(write_nested(tmp_path / "train.jsonl"), blank().vocab, by_sentence=True)
    assert [doc.text.split() for doc in docs] == [UNIVERSITY["tokens"], STAFF["tokens"]]
    assert bounds(docs[1].spans[ENTITIES]) == [(0, 1, "place"), (0, 2, "person")]


def test_innermost_and_outermost_spans() -> None:
    doc = made_doc("a b c d e f", (0, 4, "x"), (0, 3, "y"), (1, 2, "x"), (4, 5, "y"), (4, 5, "x"))
    spans = doc.spans[ENTITIES]
    assert bounds(outermost(spans)) == [(0, 4, "x"), (4, 5, "y")]
    assert bounds(innermost(spans)) == [(1, 2, "x"), (4, 5, "y")]


def test_a_span_is_right_with_its_bounds_and_label() -> None:
    gold = [made_doc("a b c", (0, 2, "x"), (0, 1, "y")), made_doc("d")]
    counts = count([{(0, 2, "x"), (0, 1, "x"), (1, 2, "y")}, set()], gold)
    assert counts == Counts(right=1, found=3, gold=2)
    assert counts.scores() == {
        "f1": pytest.approx(40), "precision": pytest.approx(100 / 3), "recall": 50,
    }  # fmt: skip
    assert Counts(0, 0, 0).scores() == {"f1": 0, "precision": 0, "recall": 0}
    assert count([rows_of(doc.spans[ENTITIES]) for doc in gold], gold).scores()["f1"] == 100
    assert covered([{(0, 2), (1, 2)}, set()], gold) == 50


def test_candidates_are_the_union_of_groups() -> None:
    one = made_doc("a b c")
    one.spans["innermost"] = [one[0:1], one[1:2]]
    one.spans["outermost"] = [one[0:3], one[1:2]]
    suggest = spacy_spancat.make_union_suggester(["innermost", "outermost", "taught"])
    found = suggest([made_doc("d"), one])
    assert found.lengths.tolist() == [0, 3]
    assert found.dataXd.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert suggest([made_doc("d")]).dataXd.shape == (0, 2)


def check(result: dict[str, Any]) -> None:
    assert len(result["series"]) == len(result["by_threshold"]) == 1
    assert result["series"][0][2] == pytest.approx(result["by_threshold"][0]["0.5"]["f1"])
    assert result["updates"] > 0
    assert result["tokens_per_second"] > 0


@pytest.mark.slow(kind="experiments")
def test_spancat_is_trained_on_ngrams(tmp_path: Path) -> None:
    data = write_nested(tmp_path / "train.jsonl")
    result = spacy_spancat.train_spancat_for(data, data, 0.1, 1, [1, 2, 3], LANGUAGE)
    check(result)
    assert result["candidates"] == {
        "per_token": pytest.approx(18 / 8), "covered": pytest.approx(75),
    }  # fmt: skip


@pytest.mark.slow(kind="experiments")
def test_spancat_is_trained_on_likely_spans(tmp_path: Path) -> None:
    data = write_nested(tmp_path / "train.jsonl", n_documents=2)
    model = tmp_path / "model"
    result = spacy_spancat.train_spancat_on_candidates_for(data, data, 0.1, 1, LANGUAGE, str(model))
    check(result)
    assert result["before_spancat_seconds"] > 0
    assert result["candidates"]["covered"] == 100
    assert model.exists()


@pytest.mark.slow
def test_levels_against_a_flat_pipeline(tmp_path: Path) -> None:
    corpus = write_nested(tmp_path / "corpus.jsonl", 12)
    rest = [f"doc{number}" for number in range(8)]
    found = {
        kind: train_and_score([corpus, *rest], [corpus, "doc8", "doc9"], str(tmp_path), "en", kind)
        for kind in ("flat", "nested")
    }
    assert found["flat"]["pipeline"] == ["cascade_segmenter", "cascade_classifier"]
    assert "cascade_levels" in found["nested"]["pipeline"]
    for kind in found:
        assert found[kind]["documents"] == ["doc8", "doc9"]
        assert {counts["all"][2] for counts in found[kind]["counts"]} == {4}
        assert {counts["outermost"][2] for counts in found[kind]["counts"]} == {2}
    assert {counts["inner"][0] for counts in found["nested"]["counts"]} == {2}
    assert {counts["inner"][1] for counts in found["flat"]["counts"]} == {0}
