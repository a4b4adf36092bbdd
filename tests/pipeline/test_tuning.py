"""Tuning: the best of a grid, kept in the pipeline that is handed back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import TEXTS, annotations, blank, make_examples, write_sample
from spacy.language import Language

from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.pipeline.hypotheses import FEATURES
from spacy_cascade.pipeline.tuning import Lists, make_reranker_tuning, tune, tune_reranker


def some_lists(generator: np.random.Generator, n: int = 4, n_sentences: int = 60) -> Lists:
    """Lists in which `reciprocal_rank` and type scores tell what is right."""
    right = generator.integers(0, 3, (n, n_sentences)).astype(float)
    features = generator.normal(size=(n, n_sentences, len(FEATURES)))
    features[:, :, list(FEATURES).index("reciprocal_rank")] = right
    return Lists(
        sequence_scores=-np.sort(generator.exponential(size=(n, n_sentences)), axis=0),
        type_scores=0.3 * right,
        right=right,
        found=np.full((n, n_sentences), 2.0),
        features=features,
        docs=np.repeat(np.arange(20, dtype=np.int32), n_sentences // 20),
        n_gold=2 * n_sentences,
    )


def test_the_best_of_the_grid_is_taken(generator: np.random.Generator) -> None:
    lists = some_lists(generator)
    found = tune(lists, (0.0, 1.0, 10.0), (1, 2, 4, 8), folds=0)
    assert set(found.grid) == {(n, w) for n in (1, 2, 4) for w in (0.0, 1.0, 10.0)}
    assert (found.n_best, found.weight) == (4, 10.0)
    assert found.f1 == max(found.grid.values()) > found.baseline == found.grid[1, 0.0]
    assert found.cross_validated is None
    assert not found.theta.any()


def test_of_equals_the_smaller(generator: np.random.Generator) -> None:
    lists = some_lists(generator)
    lists = replace(lists, right=np.ones_like(lists.right))
    found = tune(lists, (0.5, 1.0), (1, 2, 4), folds=2)
    assert (found.n_best, found.weight) == (1, 0.5)
    assert not found.theta.any()


def test_features_are_kept_where_they_help(generator: np.random.Generator) -> None:
    lists = some_lists(generator)
    helped = tune(lists, (0.0,), (1, 4), folds=3)
    assert helped.cross_validated > helped.f1
    assert helped.n_best == 4
    assert helped.theta[list(FEATURES).index("reciprocal_rank")] > 0.0
    useless = generator.normal(size=lists.features.shape)
    unhelped = tune(replace(lists, features=useless), (10.0,), (1, 4), folds=3)
    assert unhelped.cross_validated <= unhelped.f1
    assert not unhelped.theta.any()


def test_the_pipeline_handed_back_has_what_was_found(trained: Language) -> None:
    before = trained.to_bytes(exclude=["vocab", "tokenizer"]), annotations(trained)
    nlp, found = tune_reranker(trained, make_examples(trained), (0.0, 1.0), (1, 3))
    assert trained.to_bytes(exclude=["vocab", "tokenizer"]) == before[0]
    assert nlp.pipe_names == [*trained.pipe_names, "cascade_reranker"]
    assert nlp.config["components"]["cascade_reranker"]["weight"] == found.weight
    assert nlp.config["components"]["cascade_segmenter"]["n_best"] == max(2, found.n_best)
    assert found.baseline == found.f1 == 1.0
    assert annotations(nlp) == annotations(trained) == before[1]


def test_a_reranker_keeps_its_place_and_settings(trained: Language) -> None:
    nlp = blank().from_config(trained.config).from_bytes(trained.to_bytes())
    nlp.add_pipe("cascade_reranker", name="again", config={"keep_candidates": True})
    nlp.add_pipe("merge_entities")
    tuned, _ = tune_reranker(nlp, make_examples(nlp), (0.5,), (2,))
    assert tuned.pipe_names == nlp.pipe_names
    assert tuned.config["components"]["again"]["keep_candidates"]
    assert tuned.get_pipe("again").cfg["weight"] == 0.5
    assert "cascade/2" in tuned(TEXTS[0]).spans


def test_what_cannot_be_tuned(trained: Language) -> None:
    with pytest.raises(ConfigError, match="needs a cascade_segmenter"):
        tune_reranker(blank(), [])
    with pytest.raises(ConfigError, match="from 1 to 100"):
        tune_reranker(trained, make_examples(trained), sizes=(1, 101))
    for examples in ([], make_examples(trained, [("Nothing here .", [])])):
        with pytest.raises(TrainingError, match="no entities"):
            tune_reranker(trained, examples)


def test_it_runs_whenever_training_saves(trained: Language, tmp_path: Path) -> None:
    data = write_sample(tmp_path / "dev.spacy", "dev", 2)
    before_to_disk = make_reranker_tuning(str(data), weights=[0.0, 1.0], sizes=[1, 2])
    tuned = before_to_disk(trained)
    assert "cascade_reranker" in tuned.pipe_names
    assert "cascade_reranker" not in trained.pipe_names
    assert tuned.config["components"]["cascade_segmenter"]["n_best"] == 2
