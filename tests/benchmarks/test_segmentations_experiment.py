"""The experiment of Sarawagi and Cohen: its systems, and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.reports.segmentation_report import (
    BASELINE,
    BOTH,
    CRF_4,
    DICTIONARIES,
    EXTERNAL,
    INTERNAL,
    SEMI_CRF,
    SYSTEMS,
)
from benchmarks.suite.segmentations.systems import CHAINS, score_draws, segmenter
from benchmarks.suite.segmentations.words import SimilarWord
from helpers import blank, make_examples, train, write_sample
from spacy_cascade.features.registry import attribute_class


@pytest.fixture
def terms(tmp_path: Path) -> str:
    path = tmp_path / "terms.txt"
    path.write_text("IL-2 gene\np53\ninterleukin-2\n", encoding="utf8")
    return str(path)


@pytest.mark.slow(kind="experiments")
@pytest.mark.parametrize("system", SYSTEMS)
def test_all_systems_can_be_trained_with_all_dictionaries(system: str, terms: str) -> None:
    assert attribute_class("similar_word") is SimilarWord
    names = {}
    for dictionaries in DICTIONARIES:
        nlp = blank()
        settings = segmenter(system, dictionaries, terms, 1.0)
        settings["trainer"]["iterations"] = 2
        pipe: Any = nlp.add_pipe("cascade_segmenter", config=settings)
        train(nlp, make_examples(nlp), updates=1)
        names[dictionaries] = {key.partition("(")[0] for key in pipe.space.resources.made}
    spans = {"similarity"} if system == SEMI_CRF else set()
    lengths = names[BASELINE]
    assert names[INTERNAL] == {*lengths, "similar_word", *spans}
    assert names[EXTERNAL] == {*lengths, "similarity"}
    assert names[BOTH] == {*lengths, "similar_word", "similarity"}


def test_chains_of_table_2(terms: str) -> None:
    for system, (scheme, order) in CHAINS.items():
        nlp = blank()
        settings = segmenter(system, BASELINE, terms, 1.0)
        pipe: Any = nlp.add_pipe("cascade_segmenter", config=settings)
        train(nlp, make_examples(nlp), updates=1)
        n_edges, n_columns = pipe.family.size_of_spans(scheme, 1)
        assert settings["scheme"] == scheme
        assert [each.shape[-1] for each in pipe.weights] == [n_columns, n_edges]
        if scheme == "IO":  # features see as many tags as a transition has before its last one
            assert (n_columns, n_edges) == (2**order, 2 ** (order + 1))


@pytest.mark.slow(kind="experiments")
def test_draws_are_trained_and_scored(terms: str, tmp_path: Path) -> None:
    data = [str(write_sample(tmp_path / f"{part}.spacy", part)) for part in ("train", "dev")]
    settings = segmenter(CRF_4, BASELINE, terms, 1.0)
    found = score_draws(*data, settings, share=0.5, draws=[0, 1, 0], lang="en")
    assert found["f1"][0] == found["f1"][2] > 20
    assert found["features"][0] != found["features"][1]
