"""Probabilities of classes, and what was found in parts of a batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from spacy_cascade.inference.schemes import Spans
from spacy_cascade.pipeline.spans import results
from spacy_cascade.pipeline.spans.nbest import Ranked
from spacy_cascade.pipeline.spans.results import (
    Decoded,
    best_probabilities,
    class_probabilities,
    joined,
    no_segments,
)


@pytest.mark.parametrize("shape", [(5, 3), (3, 7), (4, 1), (1, 2), (0, 3)])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_probabilities_are_those_of_a_softmax(
    shape: tuple[int, int], temperature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where few spans are looked at together, and where scores are large."""
    monkeypatch.setattr(results, "_BLOCK", 6)
    scores = np.random.default_rng(0).normal(0, 3, shape)
    scores += 2000.0 * (np.arange(shape[0])[:, None] - 1)
    scores[:1, :1] -= 5000.0
    before = scores.copy()
    expected = softmax(scores / temperature, axis=1)
    np.testing.assert_allclose(class_probabilities(scores, temperature), expected, rtol=1e-9)
    np.testing.assert_allclose(
        best_probabilities(scores, temperature), expected.max(axis=1, initial=0.0), rtol=1e-9
    )
    np.testing.assert_array_equal(scores, before)


def spans(*rows: tuple[int, int, int]) -> Spans:
    start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Spans(start, end, label.astype(np.int32))


def rows(found: Spans) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in found), strict=True))


@pytest.mark.parametrize("is_probabilistic", [True, False])
def test_parts_are_joined_with_tokens_counted_through(is_probabilistic: bool) -> None:
    one, other = spans((0, 1, 0), (2, 3, 1)), spans((0, 2, 1))
    logs = [np.log([[0.5]]), np.log([[0.25]])]
    parts = [
        (begin, Decoded(part, np.full(len(part.start), 0.5), Ranked([part], np.ones((1, 1)), log)))
        for begin, part, log in zip((0, 4), (one, other), logs, strict=True)
    ]
    if not is_probabilistic:
        parts = [
            (begin, Decoded(part.spans, None, Ranked([part.spans], np.ones((1, 1)), None)))
            for begin, part in parts
        ]
    found = joined(parts)
    expected = [(0, 1, 0), (2, 3, 1), (4, 6, 1)]
    assert rows(found.spans) == rows(found.ranked.spans[0]) == expected
    assert found.ranked.scores.tolist() == [[1.0, 1.0]]
    if is_probabilistic:
        assert found.confidences.tolist() == [0.5] * 3
        np.testing.assert_array_equal(found.ranked.log_probabilities, np.concatenate(logs, axis=1))
    else:
        assert found.confidences is found.ranked.log_probabilities is None
    assert joined([(0, Decoded(one, None))]).ranked is None


def test_nothing_is_found_in_docs_without_tokens() -> None:
    assert no_segments(False, 1, True).confidences is None
    found = no_segments(True, 3, True)
    assert found.confidences.tolist() == rows(found.spans) == []
    listed = found.candidates
    assert (listed.starts, listed.n_spans, listed.scores.shape) == ([], [0, 0, 0], (3, 0))
    assert listed.log_probabilities.shape == (3, 0)
    assert no_segments(True, 1, True).candidates is None
    assert no_segments(True, 2, False).candidates.log_probabilities is None
