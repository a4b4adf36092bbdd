"""Tuning: the best of a grid, kept in the pipeline that is handed back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ranked_lists import reranking
from spacy.language import Language

from helpers import TEXTS, annotations, blank, make_examples
from reference import encoded_of, rows_from_dense
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.systems.reranking import tuning
from spacy_cascade.systems.reranking.component import CascadeReranker, RerankerData
from spacy_cascade.systems.reranking.minimum_risk import Lists
from spacy_cascade.systems.reranking.tuning import SIZES, WEIGHTS, tune, tune_reranker
from spacy_cascade.systems.reranking.typed_lists import TypedLists
from spacy_cascade.workflows.reconfigure import with_settings

WITH_RERANKER = ["sentencizer", "cascade_segmenter", "cascade_classifier", "cascade_reranker"]


def one_span_each(
    generator: np.random.Generator, n: int = 4, n_sentences: int = 60
) -> RerankerData:
    """Every segmentation is one span of its own; type scores tell which is right."""
    n_spans = n * n_sentences
    right = generator.random(n_spans) < 0.5
    lists = Lists(
        span_starts=np.arange(0, n_spans + 1, n),
        starts=np.arange(0, n_spans + 1, n),
        member_starts=np.arange(n_spans + 1),
        members=np.arange(n_spans, dtype=np.int32),
        sequence_scores=-np.sort(generator.exponential(size=(n_sentences, n)), axis=1).reshape(-1),
        class_scores=0.3 * right[:, None],
    )
    bounds = np.arange(n_spans)
    cuts = np.array([0, n_spans])
    typed = TypedLists(lists, bounds, bounds + 1, cuts, cuts, ("X",))
    return RerankerData(None, typed, np.where(right, -1.0, 1.0)[:, None], n_sentences)


@pytest.fixture
def reranker() -> CascadeReranker:
    return blank().add_pipe("cascade_reranker")


def test_the_best_of_the_grid_is_taken(
    generator: np.random.Generator, reranker: CascadeReranker
) -> None:
    found = tune(reranker, one_span_each(generator), (0.0, 1.0, 10.0), (1, 2, 4))
    assert set(found.grid) == {(n, w) for n in (1, 2, 4) for w in (0.0, 1.0, 10.0)}
    assert (found.n_best, found.weight) == (4, 10.0)
    assert found.f1 == max(found.grid.values()) > found.baseline == found.grid[1, 0.0]
    data = one_span_each(generator)
    first = data.errors.reshape(-1, 4)[:, 0]
    expected = 2 * np.count_nonzero(first < 0) / (len(first) + data.n_gold)
    assert tune(reranker, data, (0.0,), (1,)).f1 == pytest.approx(expected)
    data.errors[:] = -1.0  # of equals the smaller
    found = tune(reranker, data, (1.0, 0.5), (4, 1, 2))
    assert (found.n_best, found.weight, found.f1) == (1, 0.5, 1.0)
    data.errors[:] = 0.0  # nothing is annotated
    assert tune(reranker, data, (0.0,), (1,)).f1 == 0.0
    assert tune(reranker, replace(data, n_gold=0), (0.0,), (1,)).f1 == 0.0


def test_learnt_weights_count_as_scores_of_types_do(generator: np.random.Generator) -> None:
    """An untrained reranker has no features for them."""
    data = one_span_each(generator)
    features = generator.integers(0, 2, (len(data.errors), 3))
    weights = generator.normal(size=(3, 1))
    lists = data.typed.lists
    added = lists._replace(class_scores=lists.class_scores + features @ weights)
    (design,) = encoded_of(rows_from_dense(features))
    expected = data.f1(added)
    assert replace(data, design=design).f1(lists, weights) == expected != data.f1(lists)
    assert replace(data, design=design).f1(lists) == data.f1(lists, weights) == data.f1(lists)


@pytest.mark.parametrize("cuts", [True, False], ids=["sentences", "documents"])
def test_the_pipeline_handed_back_has_what_was_found(trained: Language, cuts: bool) -> None:
    """A reranker of sentences needs a component that sets them."""
    trained = with_settings(trained)
    trained.get_pipe("cascade_segmenter").model.attrs["sentences"] = cuts
    before = trained.to_bytes(exclude=["vocab", "tokenizer"]), annotations(trained)
    nlp, found = tune_reranker(trained, make_examples(trained), (0.0, 1.0), (1, 3))
    assert trained.to_bytes(exclude=["vocab", "tokenizer"]) == before[0]
    assert nlp.pipe_names == WITH_RERANKER[0 if cuts else 1 :]
    assert nlp.config["components"]["cascade_reranker"]["weight"] == found.weight
    assert nlp.config["components"]["cascade_segmenter"]["n_best"] == max(2, found.n_best)
    assert found.baseline == found.f1 == 1.0
    assert annotations(nlp) == annotations(trained) == before[1]


def test_a_reranker_keeps_its_place_and_settings(trained: Language) -> None:
    nlp = blank().from_config(trained.config).from_bytes(trained.to_bytes())
    nlp.add_pipe("sentencizer", name="sentences", first=True)
    nlp.add_pipe("cascade_reranker", name="again", config={"keep_candidates": True})
    nlp.add_pipe("merge_entities")
    tuned, _ = tune_reranker(nlp, make_examples(nlp), (0.5,), (2,))
    assert tuned.pipe_names == nlp.pipe_names
    assert tuned.config["components"]["again"]["keep_candidates"]
    assert tuned.get_pipe("again").weight == 0.5
    assert "cascade/2" in tuned(TEXTS[0]).spans


def test_the_list_length_that_it_has_is_tried_beside_the_others(trained: Language) -> None:
    """On lists that are as long, where types that cost much make a short one look better."""
    nlp = reranking(trained, n_best=8, weight=1e7)
    (_, found), (_, both) = (
        tune_reranker(nlp, make_examples(nlp), (1.0,), sizes) for sizes in ((2,), (2, 8))
    )
    assert found.grid == both.grid
    assert found.grid[8, 1e7] < found.grid[2, 1e7] < found.grid[2, 1.0]


def test_what_cannot_be_tuned(trained: Language) -> None:
    with pytest.raises(ConfigError, match="needs a cascade_segmenter"):
        tune_reranker(blank(), [])
    with pytest.raises(ConfigError, match="from 1 to 100"):
        tune_reranker(trained, make_examples(trained), sizes=(1, 101))
    for examples in ([], make_examples(trained, [("Nothing here .", [])])):
        with pytest.raises(TrainingError, match="no entities"):
            tune_reranker(trained, examples)


@pytest.mark.parametrize(
    ("weights", "sizes", "expected"),
    [(None, None, (WEIGHTS, SIZES)), ([0.5], [2, 3], ([0.5], [2, 3]))],
)
def test_a_pipeline_is_tuned_whenever_training_saves_it(
    weights: Any, sizes: Any, expected: Any, trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The meta data of what is saved have the scores after tuning."""
    asked: list[tuple[Any, ...]] = []
    tuned = blank().from_config(trained.config).from_bytes(trained.to_bytes())
    tuned.meta["performance"] = {"ents_f": 0.25, "cascade_segmenter_loss": 7.0}
    examples = make_examples(tuned)
    monkeypatch.setattr(tuning, "tune_reranker", lambda *each: (asked.append(each) or tuned, None))
    monkeypatch.setattr(tuning, "examples_for", lambda nlp, path: examples)
    before_to_disk = tuning.make_reranker_tuning("dev.spacy", weights, sizes)
    nlp = blank()
    for n in (1, 2):
        assert before_to_disk(nlp) is tuned
        assert asked == [(nlp, examples, *expected)] * n
    assert tuned.meta["performance"] == {"ents_f": 1.0, "cascade_segmenter_loss": 7.0}


def test_an_interrupted_training_saves_it_as_it_is() -> None:
    nlp = blank()
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert tuning.make_reranker_tuning("nowhere.spacy")(nlp) is nlp
