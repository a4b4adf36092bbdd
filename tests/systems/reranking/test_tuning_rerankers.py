"""What the callback gives to `tune_reranker`, whose own tests are those of the workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from helpers import blank, make_examples, trained_cascade
from spacy_cascade.systems.reranking import callback
from spacy_cascade.systems.reranking.tuning import SIZES, WEIGHTS

TUNED = blank()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Arguments of its calls."""
    found: list[tuple[Any, ...]] = []

    def tune(*arguments: Any) -> tuple[Language, None]:
        found.append(arguments)
        return TUNED, None

    monkeypatch.setattr(callback, "tune_reranker", tune)
    monkeypatch.setattr(callback, "examples_for", lambda nlp, path: [nlp, path])
    return found


@pytest.mark.parametrize(
    ("weights", "sizes", "expected"),
    [(None, None, (WEIGHTS, SIZES)), ([0.5], [2, 3], ([0.5], [2, 3]))],
)
def test_a_pipeline_is_tuned_whenever_it_is_saved(
    weights: Any, sizes: Any, expected: Any, asked: list[tuple[Any, ...]]
) -> None:
    nlp = blank()
    before_to_disk = callback.make_reranker_tuning("dev.spacy", weights, sizes)
    for n in (1, 2):
        assert before_to_disk(nlp) is TUNED
        assert asked == [(nlp, [nlp, Path("dev.spacy")], *expected)] * n


def test_its_meta_data_have_the_scores_after_tuning(asked: list[tuple[Any, ...]]) -> None:
    tuned = trained_cascade()
    tuned.meta["performance"] = {"ents_f": 0.25, "cascade_segmenter_loss": 7.0}
    examples = make_examples(tuned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(callback, "tune_reranker", lambda *_: (tuned, None))
        patch.setattr(callback, "examples_for", lambda *_: iter(examples))
        assert callback.make_reranker_tuning("dev.spacy")(blank()) is tuned
    assert tuned.meta["performance"] == {"ents_f": 1.0, "cascade_segmenter_loss": 7.0}


def test_an_interrupted_one_is_saved_as_it_is(asked: list[tuple[Any, ...]]) -> None:
    nlp = blank()
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert callback.make_reranker_tuning("dev.spacy")(nlp) is nlp
    assert asked == []
