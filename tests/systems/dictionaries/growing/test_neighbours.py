"""Words near seeds, in tables of vectors that are made for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from spacy.vocab import Vocab

from made_vectors import add_floret
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.vocabulary_vectors import VocabularyVectors
from spacy_cascade.systems.dictionaries.growing.evidence import ranked_terms
from spacy_cascade.systems.dictionaries.growing.neighbours import from_vectors

SEEDS = ["Rome", "Oslo", "Bern", "New Delhi"]
CITIES = ["Rome", "Oslo", "Bern", "New", "Delhi", "Lima", "Kyiv", "oslo"]
OTHERS = [f"word{n}" for n in range(40)]


def vectors_of(words: Sequence[str], rows: np.ndarray) -> VocabularyVectors:
    vocab = Vocab()
    vocab.reset_vectors(width=rows.shape[1])
    for word, row in zip(words, rows, strict=True):
        vocab.set_vector(word, row.astype("f"))
    made = VocabularyVectors.of_vocabulary(vocab)
    assert made is not None
    return made


@pytest.fixture
def vectors() -> VocabularyVectors:
    """Cities lie in one direction of eight; a word has numbers of its own besides."""
    random = np.random.default_rng(1)
    rows = 0.3 * random.normal(size=(len(CITIES) + len(OTHERS), 8)) + 1.0
    rows[: len(CITIES), 0] += 3.0
    rows[len(CITIES) :, 1:] += 0.6 * random.normal(size=(len(OTHERS), 7))
    return vectors_of(CITIES + OTHERS, rows)


def test_words_of_the_kind_are_found_and_no_others(vectors: VocabularyVectors) -> None:
    found = from_vectors(SEEDS, "made", vectors, str.split)
    assert found.found_seeds == 4
    terms = ranked_terms(found.evidence)
    assert {term.text for term in terms if term.score >= 0.5} <= set(CITIES)
    assert {"Lima", "Kyiv"} <= {term.text for term in terms}
    assert not {"Rome", "oslo", "Bern"} & {term.text for term in terms}


def test_scores_are_those_of_plain_sums(vectors: VocabularyVectors) -> None:
    """The same by loops over the definition."""
    words = CITIES + OTHERS
    rows = {word: vectors.of([word])[0].astype(float) for word in words}
    unit = {word: row / np.linalg.norm(row) for word, row in rows.items()}
    mean = np.mean(list(unit.values()), axis=0)
    of_seeds = [rows["Rome"], rows["Oslo"], rows["Bern"], rows["New"] + rows["Delhi"]]

    def seen(row: np.ndarray) -> np.ndarray:
        moved = row / np.linalg.norm(row) - mean
        return moved / np.linalg.norm(moved)

    seeds = [seen(row) for row in of_seeds]
    others = [
        np.mean([seed @ other for n, other in enumerate(seeds) if n != m])
        for m, seed in enumerate(seeds)
    ]
    expected = {}
    for word in words:
        likeness = np.mean([seen(rows[word]) @ seed for seed in seeds])
        s = sum(likeness >= other for other in others)
        if s and word.casefold() not in {seed.casefold() for seed in SEEDS}:
            expected[word] = (s, pytest.approx((s - 0.5) / 5))
    found = from_vectors(SEEDS, "made", vectors, str.split).evidence
    assert {text: (each.seeds, each.probability) for text, each in found} == expected


def test_a_word_without_a_vector_is_no_term() -> None:
    rows = np.array([[1, 0.1, 0], [1, 0.2, 0], [1, 0, 0.1], [0, 0, 0], [0, 1, 0.0], [1, 0.1, 0]])
    vectors = vectors_of(["Rome", "Oslo", "Bern", "Nothing", "other", "Lima"], rows)
    ((text, _),) = from_vectors(SEEDS[:3], "made", vectors, str.split).evidence
    assert text == "Lima"


def test_a_word_may_be_just_as_near_as_the_seeds_are_to_each_other() -> None:
    """All that is of the kind has one vector, whose opposite the other words have."""
    words = [*SEEDS[:3], "Lima", *OTHERS[:4]]
    vectors = vectors_of(words, np.repeat([[1.0, 0.0], [-1.0, 0.0]], 4, axis=0))
    ((text, evidence),) = from_vectors(SEEDS[:3], "made", vectors, str.split).evidence
    assert (text, evidence.seeds, evidence.size) == ("Lima", 3, 4)
    assert (evidence.probability, evidence.group) == (2.5 / 4, "vectors: 1.00")


def test_what_cannot_be_used_is_said(vectors: VocabularyVectors) -> None:
    with pytest.raises(ConfigError, match=r"2 of 3 seeds have vectors in made; 3 are needed"):
        from_vectors(["Rome", "Oslo", "Atlantis"], "made", vectors, str.split)
    with pytest.raises(ConfigError, match="There are no seeds"):
        from_vectors([], "made", vectors, str.split)

    vocab = Vocab()
    add_floret(vocab)
    floret = VocabularyVectors.of_vocabulary(vocab)
    with pytest.raises(ConfigError, match="made has no table of words"):
        from_vectors(SEEDS, "made", floret, str.split)
