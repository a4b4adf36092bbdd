"""How far the scores of two pipelines on the same text differ by chance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
from spacy.tokens import Doc

from ...types import Floats1d

RIGHT, GOLD, FOUND = range(3)


def count_outcomes(references: Iterable[Doc], predicted: Iterable[Doc]) -> list[list[int]]:
    """For each sentence of the references the entities that are right, gold, and found.

    A Doc without sentence starts counts as one sentence. Entities are compared by their places in
    the text, for the pipeline may cut it into other tokens.
    """
    outcomes = []
    for reference, doc in zip(references, predicted, strict=True):
        starts = _sentence_starts(reference)
        gold, found = _entities(reference), _entities(doc)
        counts = [[0, 0, 0] for _ in starts]
        for kind, entities in ((RIGHT, gold & found), (GOLD, gold), (FOUND, found)):
            for start, _, _ in entities:
                counts[max(0, bisect_right(starts, start) - 1)][kind] += 1
        outcomes += counts
    return outcomes


def standard_error(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> float:
    """Standard error of the difference of two F1 scores on the same sentences.

    one, other: as `count_outcomes` gives them. F1 is the ratio of sums `2 RIGHT / (GOLD + FOUND)`;
    its linearization gives each sentence a share in it (the delta method), and the shares of the
    same sentence are subtracted from each other, so what is hard for both is no noise.
    """
    differences = _shares(other) - _shares(one)
    n = len(differences)
    return float(np.sqrt(n) * differences.std(ddof=1)) if n > 1 else 0.0


def _shares(outcomes: Sequence[Sequence[int]]) -> Floats1d:
    """What each sentence adds to the deviation of F1 from its expected value."""
    counts = np.array(outcomes, dtype=np.float64).reshape(-1, 3)
    right, of = counts[:, RIGHT], counts[:, GOLD] + counts[:, FOUND]
    total = max(1.0, float(of.sum()))
    f1 = 2 * float(right.sum()) / total
    shares: Floats1d = (2 * right - f1 * of) / total
    return shares


def _sentence_starts(doc: Doc) -> list[int]:
    if not len(doc):
        return []
    if not doc.has_annotation("SENT_START"):
        return [0]
    return [sentence.start_char for sentence in doc.sents]


def _entities(doc: Doc) -> set[tuple[int, int, str]]:
    return {(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents}
