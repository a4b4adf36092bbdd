"""Spans of paths, and likely spans in their order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers import add_segmenter, blank, make_doc, make_examples
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.inference.schemes import Spans, TagSet
from spacy_cascade.pipeline import decoding
from spacy_cascade.pipeline.decoding import (
    ScoredBatch,
    decode,
    potentials_in_parts,
    potentials_of,
    spans_of_paths,
)
from spacy_cascade.pipeline.spans.placing import rows_of

TAGS = TagSet("IOB2", ("X",))
STRUCTURE = ChainFamily(label_pairs=False).of_spans(TAGS)
O, B, I = (TAGS.tags.index(tag) for tag in ("O", "B-X", "I-X"))  # noqa: E741


def test_spans_of_paths_end_with_their_sequences() -> None:
    """The second sequence begins at the third token, in all paths."""
    inside = ChainFamily(label_pairs=False).of_spans(TagSet("IO", ("X",)))
    paths = np.array([[0, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]], dtype=np.int32)
    found = spans_of_paths(inside, paths, np.array([0, 2, 4]))
    assert [[row[:2] for row in rows_of(spans)] for spans in found] == [
        [(1, 2), (2, 4)], [(0, 2), (3, 4)], [(0, 2), (2, 4)],
    ]  # fmt: skip
    paths = np.array([[O, B, B, I], [B, I, B, I], [O, O, O, O], [B, B, O, B]], dtype=np.int32)
    found = spans_of_paths(STRUCTURE, paths, np.array([0, 2, 4]))
    assert [[row[:2] for row in rows_of(spans)] for spans in found] == [
        [(1, 2), (2, 4)], [(0, 2), (2, 4)], [], [(0, 1), (1, 2), (3, 4)],
    ]  # fmt: skip


class Found:
    """In place of a structure: what is likely, in any order."""

    def likely_spans(self, potentials: Any, least: float) -> tuple[Spans, np.ndarray]:
        self.least = least
        spans = Spans(np.array([2, 0, 0, 3]), np.array([3, 2, 1, 4]), np.array([0, 0, 1, 0]))
        return spans, np.array([0.5, 0.25, 0.75, 0.9])


@pytest.mark.parametrize(
    ("thresholds", "least", "expected"),
    [
        ([0.0, 0.0], 0.01, [(0, 1, 1), (0, 2, 0), (2, 3, 0)]),
        ([0.5, 0.75], 0.5, [(0, 1, 1), (2, 3, 0)]),
        ([0.25, 0.8], 0.25, [(0, 2, 0), (2, 3, 0)]),
    ],
)
def test_likely_spans_by_start_and_end(
    thresholds: list[float], least: float, expected: list[tuple[int, int, int]]
) -> None:
    """The last one lies on a preset token."""
    structure: Any = Found()
    potentials: Any = SimpleNamespace(at_temperature=lambda temperature: None)
    preset = np.array([False, False, False, True])
    batch = ScoredBatch(None, structure, potentials, preset)  # type: ignore[arg-type]
    settings: Any = SimpleNamespace(overlapping=True, temperature=2.0)
    found = decode(batch, settings, np.array(thresholds), True)
    assert rows_of(found.spans) == expected
    sure = {(2, 3): 0.5, (0, 2): 0.25, (0, 1): 0.75}
    assert found.confidences.tolist() == [sure[row[:2]] for row in expected]
    assert structure.least == least


@pytest.fixture
def segmenter() -> Any:
    nlp = blank()
    found = add_segmenter(nlp)
    nlp.initialize(lambda: make_examples(nlp)[:2])
    return found


@pytest.mark.parametrize(("part", "n_scores"), [(1, 1 << 20), (1000, 10), (1000, 1 << 20)])
def test_parts_have_the_potentials_of_the_whole(
    part: int, n_scores: int, segmenter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr(decoding, "PART", part)
    monkeypatch.setattr(decoding, "_SCORES", n_scores)
    is_whole = part == 1000 < n_scores
    monkeypatch.setattr(segmenter, "begin_batch", lambda: begun.append(1))
    vocab = segmenter.vocab
    docs = [make_doc(vocab, text) for text in ("a b c d", "", "STAT5 binds", "e")]
    generator = np.random.default_rng(0)
    weights = segmenter.model.get_param("W")
    segmenter.model.set_param("W", generator.normal(size=weights.shape).astype(weights.dtype))
    _, whole = potentials_of(segmenter, docs)
    tokens, parts = potentials_in_parts(segmenter, docs)
    assert len(begun) == 2
    found = list(parts)
    assert [begin for begin, _ in found] == ([0] if is_whole else [0, 4, 6])
    np.testing.assert_allclose(np.concatenate([each.scores for _, each in found]), whole.scores)
    assert [each.starts.tolist() for _, each in found] == (
        [[0, 4, 6, 7]] if is_whole else [[0, 4], [0, 2], [0, 1]]
    )
    assert tokens.doc_starts.tolist() == [0, 4, 4, 6, 7]
    empty, none = potentials_in_parts(segmenter, [docs[1]])
    assert (len(empty.words), list(none)) == (0, [])
    assert len(potentials_of(segmenter, [docs[1]])[1].scores) == 0
