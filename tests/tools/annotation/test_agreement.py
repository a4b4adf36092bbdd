"""Agreement of annotators: F1 of spans and kappa of tokens."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from helpers import blank, make_doc
from spacy_cascade.tools.annotation.agreement import (
    Reading,
    Reviewed,
    clusters,
    compare_pairs,
    kappa,
    mean,
)

TEXTS = ["STAT5 binds the AP-1 site .", "Jurkat cells express AP-1 ."]
ANNA = [[(0, 1, "protein"), (3, 5, "DNA")], [(0, 2, "cell"), (3, 4, "protein")]]
BEN = [[(0, 1, "protein"), (3, 4, "DNA")], [(0, 2, "cell"), (3, 4, "DNA")]]


def reviewed(*annotators, texts=TEXTS, unknown=()):
    vocab = blank().vocab
    names = ["anna", "ben", "carla"][: len(annotators)]
    return names, [
        Reviewed(
            str(number),
            make_doc(vocab, text),
            {
                name: Reading(tuple(spans[number]), frozenset(unknown if name == "ben" else ()))
                for name, spans in zip(names, annotators, strict=True)
                if spans[number] is not None
            },
        )
        for number, text in enumerate(texts)
    ]


def test_scores_are_those_counted_by_hand() -> None:
    """Of eleven words nine have the same label; by chance that would be 40 of 121 pairs."""
    names, documents = reviewed(ANNA, BEN)
    (pair,) = compare_pairs(documents, names)
    assert pair.documents == 2
    assert pair.f1() == pytest.approx(2 * 2 / (4 + 4))
    assert pair.f1("protein") == pytest.approx(2 * 1 / (2 + 1))
    assert [pair.f1("DNA"), pair.f1("cell"), pair.f1("virus")] == [0.0, 1.0, None]
    assert pair.kappa() == pytest.approx((9 / 11 - 40 / 121) / (1 - 40 / 121))
    # In a protein or not: one word of two and one; 10 of 11 the same, by chance 92 of 121 pairs.
    assert pair.kappa("protein") == pytest.approx((110 - 92) / (121 - 92))


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours = rng.choice(["", "a", "b", "c"], 60, p=[0.7, 0.1, 0.1, 0.1])
    theirs = np.where(rng.random(60) < 0.6, ours, rng.choice(["", "a", "b"], 60))
    counts = Counter(zip(ours.tolist(), theirs.tolist(), strict=True))
    assert kappa(counts) == pytest.approx(cohen_kappa_score(ours, theirs))


def test_where_nothing_can_differ_there_is_no_kappa() -> None:
    assert kappa({}) is None
    assert kappa({("", ""): 7}) is None
    assert kappa({("", "a"): 7}) == 0.0


def test_pairs_have_what_both_have_annotated() -> None:
    """Carla has the second text alone, and Ben has left two words of it open."""
    names, documents = reviewed(ANNA, BEN, [None, ANNA[1]])
    pairs = {pair.names: pair for pair in compare_pairs(documents, names)}
    assert pairs["anna", "carla"].documents == 1
    assert pairs["anna", "carla"].f1() == pairs["anna", "carla"].kappa() == 1.0
    assert pairs["ben", "carla"].f1() == 0.5
    names, documents = reviewed(ANNA[1:], BEN[1:], texts=TEXTS[1:], unknown=(3, 4))
    (pair,) = compare_pairs(documents, names)
    assert pair.f1() == 1.0
    assert pair.tokens.total() == 3
    assert compare_pairs(documents[:0], names) == []


def test_means_are_of_what_there_is() -> None:
    assert mean([None, 1.0, 0.5]) == 0.75
    assert mean([None]) is None


def test_clusters_are_what_overlap_links() -> None:
    """As found by joining sets until none share a token."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        starts = rng.integers(0, 20, 7)
        spans = [
            (int(s), int(s + n), "a") for s, n in zip(starts, rng.integers(1, 5, 7), strict=True)
        ]
        groups = [{span} for span in set(spans)]
        tokens = [set(range(*span[:2])) for (span,) in groups]
        while pairs := [
            (i, j) for i in range(len(groups)) for j in range(i) if tokens[i] & tokens[j]
        ]:
            i, j = pairs[0]
            groups[j] |= groups.pop(i)
            tokens[j] |= tokens.pop(i)
        assert list(map(set, clusters(spans))) == sorted(groups, key=min)
