"""Ensembles by members, classes and penalty: the counts of the task, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from benchmarks.suite import forest
from helpers import SENTENCES, blank, gold_doc, make_examples, trained_cascade

AWAY = [("STAT5 binds Jurkat cells .", [(0, 1, "gene"), (2, 4, "cell")])]
LABELS = {"DNA": "gene", "protein": "gene", "gene": "gene"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two members, and two corpora."""
    path = tmp_path_factory.mktemp("forest")
    (path / "members").mkdir()
    for name, temperature in (("000", 1.0), ("001", 8.0)):
        nlp = trained_cascade({"temperature": temperature}, {"temperature": temperature})
        nlp.to_disk(path / "members" / name)
    vocab = blank().vocab
    for name, sentences in (("home", SENTENCES), ("away", AWAY)):
        docs = [gold_doc(vocab, *sentence) for sentence in sentences]
        DocBin(docs=docs).to_disk(path / f"{name}.spacy")
    return path


@pytest.fixture(scope="module")
def scores(folder: Path) -> dict[str, Any]:
    targets = {"away": {"data": str(folder / "away.spacy"), "labels": LABELS}}
    dev = str(folder / "home.spacy")
    return forest.score_ensembles(str(folder / "members"), dev, targets, [1, 2], [0.0, 0.9])


def test_members_are_counted_as_they_were_trained(folder: Path, scores: dict[str, Any]) -> None:
    for number, counts in enumerate(scores[""]["members"]):
        nlp = spacy.load(folder / "members" / f"{number:03d}")
        f1 = 100 * nlp.evaluate(make_examples(nlp))["ents_f"]
        assert forest.f1(counts) == pytest.approx(f1)


def test_ensembles_by_size_and_penalty(scores: dict[str, Any]) -> None:
    n_gold = sum(len(spans) for _, spans in SENTENCES)
    by_size = scores[""]["ensembles"]
    assert list(by_size) == ["1", "2"]
    assert by_size["1"]["0"] == [n_gold, n_gold, n_gold]
    assert all(counts[2] == n_gold for found in by_size.values() for counts in found.values())
    assert by_size["2"]["0"][1] < by_size["2"]["0.9"][1]


def test_labels_away_from_home_count_as_those_of_the_target(scores: dict[str, Any]) -> None:
    """The cell does not count, since only one of the corpora has such a label."""
    assert scores["away"]["ensembles"]["1"]["0"] == [1, 1, 1]
    assert scores["away"]["members"][0] == [1, 1, 1]


def test_the_report_takes_the_penalty_that_is_best_at_home() -> None:
    home = {"2": {"0": [5, 10, 10], "0.2": [8, 10, 10], "0.4": [6, 10, 10]}}
    away = {"2": {"0": [9, 10, 10], "0.2": [4, 10, 10], "0.4": [9, 10, 10]}}
    row = {
        "source": "wikigold",
        "share": 0.67,
        "scores": {
            "": {"ensembles": home, "members": [[7, 10, 10], [6, 10, 10]]},
            "btc": {"ensembles": away, "members": [[2, 10, 10], [3, 10, 10]]},
        },
    }
    assert forest.at_tuned_penalty(row, "2") == {"penalty": 0.2, "": 80.0, "btc": 40.0}
    assert forest.best_member(row, "2") == {"": 70.0, "btc": 30.0}
