"""What measures are asked about, and what they answer."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.systems.dictionaries.similarity.spans import (
    AskedSpans,
    enter_found,
    make_found,
)


@pytest.mark.parametrize(("spans", "longest"), [([], 0), ([(3, 4), (5, 9), (2, 5)], 4)])
def test_the_longest_span(spans: list[tuple[int, int]], longest: int) -> None:
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    no_words, no_owner = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
    assert AskedSpans(no_words, start, end, start, no_owner).longest == longest


def test_a_step_has_the_similarity_that_it_begins_with() -> None:
    found, edges = make_found(2), np.array([0.5, 0.75, 1.0])
    for similarity, step in ((0.25, 0), (0.5, 1), (0.6, 1), (0.75, 2), (1.0, 3)):
        assert enter_found(found, 1, 7, similarity, edges) == step
        assert (found.term.tolist(), found.similarity.tolist()) == ([-1, 7], [0.0, similarity])
    assert enter_found(found, 1, -1, 0.0, edges) == 0
    assert found.term.tolist() == [-1, -1]
