"""Word vectors of a pipeline: of words, of their lower case, and none of what is no number."""

from __future__ import annotations

import numpy as np
from spacy.vocab import Vocab

from spacy_cascade.pipeline.vocabulary_vectors import VocabularyVectors

ROWS = {"gene": [1.0, 2.0], "Cell": [3.0, 4.0], "cell": [5.0, 6.0], "part": [np.nan, 1.0]}


def vocabulary() -> Vocab:
    vocab = Vocab()
    vocab.reset_vectors(shape=(len(ROWS) + 1, 2))
    for word, row in ROWS.items():
        vocab.set_vector(word, np.array(row, dtype=np.float32))
    return vocab


def test_a_word_has_its_vector_or_that_of_its_lower_case() -> None:
    vectors = VocabularyVectors.of_vocabulary(vocabulary())
    assert vectors is not None
    assert vectors.width == 2
    found = vectors.of(["Gene", "gene", "Cell", "CELL", "unknown", "part", "Part"])
    assert found.dtype == np.float32
    assert found.tolist() == [[1, 2], [1, 2], [3, 4], [5, 6], [0, 0], [0, 0], [0, 0]]
    assert vectors.of([]).shape == (0, 2)
    assert vectors.first_words(2) == ["gene", "Cell"]
    assert vectors.text_of(vectors._strings["gene"]) == "gene"


def test_a_vocabulary_without_vectors_has_none() -> None:
    assert VocabularyVectors.of_vocabulary(Vocab()) is None
