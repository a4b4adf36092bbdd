"""Clusters of word vectors, at several grains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from spacy.vocab import Vocab

from helpers import make_doc
from made_vectors import add_floret, add_table
from spacy_cascade import ConfigError, TemplateError
from spacy_cascade.features.template_sets import make_classification, make_segmentation
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.pipeline.reading import VocabularyVectors
from spacy_cascade.systems.words.codes import VectorClusters, VectorCodes

WORDS = [f"word{i}" for i in range(60)]
NO_FLAGS = np.zeros((0, 5), dtype=np.int32)


def tokens_of(vocab: Vocab, words: Sequence[str]) -> Tokens:
    vectors = VocabularyVectors.of_vocabulary(vocab)
    return read_tokens([make_doc(vocab, " ".join(words))], vectors=vectors)


def codes_of(vocab: Vocab, corpus: Sequence[str], **settings: Any) -> VectorCodes:
    read = VectorCodes.read("v", VectorClusters(**settings), str.split)
    return read.learn(tokens_of(vocab, corpus), NO_FLAGS)


def centred(vectors: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) - mean


def test_a_word_has_the_nearest_centroid() -> None:
    """Also a word that training has not seen; cosine distance by SciPy."""
    vocab = Vocab()
    data = add_table(vocab, WORDS)
    codes = codes_of(vocab, WORDS[:40], bits=3, words=40)
    arrays = codes.arrays()
    assert arrays["centroids"].shape == (8, 8)
    assert arrays["keys"].size == 40
    points = centred(data, arrays["mean"])
    wanted = cdist(points, arrays["centroids"], "cosine").argmin(axis=1)
    vectors = VocabularyVectors.of_vocabulary(vocab)
    assert codes.clusters_of(WORDS, vectors).tolist() == wanted.tolist()
    assert arrays["mean"] == pytest.approx(centred(data[:40], 0 * data[0]).mean(axis=0), abs=1e-6)


def test_grains_nest() -> None:
    vocab = Vocab()
    add_table(vocab, WORDS)
    groups = codes_of(vocab, WORDS, bits=5).groups
    assert groups.shape == (5, 32)
    for bits, (coarse, fine) in enumerate(pairwise(groups), start=1):
        assert len(set(coarse.tolist())) == 1 << bits
        assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == 2 << bits


def test_first_words_of_the_table_are_clustered_and_kept() -> None:
    """Those beyond a number are not, and have codes where there are vectors."""
    vocab = Vocab()
    add_table(vocab, WORDS)
    codes = codes_of(vocab, WORDS[50:], bits=2, words=30)
    with pytest.warns(UserWarning, match="has no vectors"):
        kept = codes.clusters_of(WORDS, None) >= 0
    # The first 30 of the table begin with 20 that training has not seen.
    assert kept.tolist() == [i < 20 or i >= 50 for i in range(60)]
    assert (codes.clusters_of(WORDS, VocabularyVectors.of_vocabulary(vocab)) >= 0).all()


def test_case_and_words_without_vectors() -> None:
    vocab = Vocab()
    data = add_table(vocab, ["gene", "Gene", "cells", "zero", "nan"])
    data[3], data[4] = 0.0, np.nan
    vectors = VocabularyVectors.of_vocabulary(vocab)
    found = vectors.of(["Gene", "GENE", "CELLS", "zero", "nan", "unknown", ""])
    assert np.array_equal(found[:3], data[[1, 0, 2]])
    assert not found[3:].any()
    codes = codes_of(vocab, ["gene", "Gene", "cells", "zero"], bits=1)
    clusters = codes.clusters_of(["GENE", "gene", "zero", "unknown"], vectors)
    assert clusters[0] == clusters[1] >= 0
    assert clusters[2:].tolist() == [-1, -1]


def test_a_table_of_words_in_lower_case() -> None:
    vocab = Vocab()
    data = add_table(vocab, ["gene", "Gene"], attr="LOWER")
    assert np.array_equal(VocabularyVectors.of_vocabulary(vocab).of(["Gene"]), data[:1])


def test_floret_has_vectors_of_words_never_seen() -> None:
    vocab = Vocab()
    add_floret(vocab)
    codes = codes_of(vocab, WORDS, bits=3)
    vectors = VocabularyVectors.of_vocabulary(vocab)
    assert vectors.first_words(10) == []
    unseen = ["unseen", "words", "UNSEEN"]
    expected = np.stack([vocab.get_vector(word) for word in unseen])
    assert vectors.of(unseen) == pytest.approx(expected, abs=1e-6)
    points = centred(expected, codes.arrays()["mean"])
    wanted = cdist(points, codes.arrays()["centroids"], "cosine").argmin(axis=1)
    assert codes.clusters_of(unseen, vectors).tolist() == wanted.tolist()


def test_words_of_an_adaptation_are_kept_too() -> None:
    vocab = Vocab()
    add_floret(vocab)
    codes = codes_of(vocab, WORDS[:40], bits=3)
    more = codes.add(tokens_of(vocab, WORDS), NO_FLAGS)
    vectors = VocabularyVectors.of_vocabulary(vocab)
    assert more.arrays()["keys"].size == 60
    assert more.clusters_of(WORDS, None).tolist() == codes.clusters_of(WORDS, vectors).tolist()
    without = replace(tokens_of(vocab, WORDS), vectors=None)
    assert codes.add(without, NO_FLAGS) is codes


def test_frequent_words_of_groups() -> None:
    vocab = Vocab()
    add_table(vocab, WORDS[:20])
    text = [word for i, word in enumerate(WORDS[:20]) for _ in range(20 - i)]
    codes = codes_of(vocab, text, bits=3)
    clusters = codes.clusters_of(WORDS[:20], None)
    for bits in (1, 2, 3):
        of_words = codes.groups[bits - 1, clusters]
        for group in range((1 << bits) + 1):
            inside = [word for word, g in zip(WORDS, of_words, strict=False) if g == group]
            shown = f"{group + 1} ({', '.join(inside[:3])})"
            assert codes.describe(group + 1, bits) == (shown if inside else None)


@pytest.mark.parametrize(("corpus", "n"), [(["unknown", "words"], 1), (["word1"], 1)])
def test_too_few_words_have_vectors(corpus: list[str], n: int) -> None:
    vocab = Vocab()
    add_table(vocab, ["word1"])
    with pytest.raises(ConfigError, match=rf"vectors of {n} of the words.*\[initialize\]"):
        codes_of(vocab, corpus)


def test_vectors_of_another_width() -> None:
    vocab, other = Vocab(), Vocab()
    add_table(vocab, WORDS)
    add_table(other, WORDS, width=5)
    codes = codes_of(vocab, WORDS, bits=2)
    with pytest.raises(ConfigError, match=r"have 5 numbers each, .* have 8"):
        codes.clusters_of(["word1"], VocabularyVectors.of_vocabulary(other))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"bits": 0}, "from 1 to 12"), ({"bits": 13}, "from 1 to 12"), ({"words": 1}, "2 or more")],
)
def test_settings_that_make_no_sense(settings: dict[str, int], complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        VectorClusters(**settings)


TABLES = {"clusters": {"v": "a.txt"}, "vectors": {"v": 4}}


@pytest.mark.parametrize("name", ["cluster", "vector"])
def test_templates(name: str) -> None:
    lines = (f"{name}(v)@-1", f"{name}(v, 2..3)", f"{name}(*, 1)@last")
    found = Templates(lines, {}, {}, **TABLES).expanded()
    assert [template.text.removeprefix(name) for template in found] == [
        "(v)@first-1", "(v, 2)@first+0", "(v, 3)@first+0", "(v, 1)@last+0",
    ]  # fmt: skip
    assert all(template.is_lexeme_level for template in found)


@pytest.mark.parametrize("make", [make_segmentation, make_classification])
def test_a_set_looks_at_the_grains_that_there_are(make: Callable[..., Templates]) -> None:
    for bits in (10, 6, 1):
        expanded = make(vectors={"v": bits}).expanded()
        names = {part.attribute.name for template in expanded for part in template.parts}
        assert "vector(v)" in names
        assert ("vector(v, 6)" in names) == (bits > 6)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("vector(other)", "there is no vector 'other'. Known: v; add it under 'vectors'"),
        ("cluster(other)", "there is no cluster 'other'. Known: v; add it under 'clusters'"),
        ("vector", "there is no vector"),
        ("vector(v, 5)", "grains of 1 to 4 bits, not 5"),
        ("vector(v, 0)", "1 bit or more"),
        ("cluster(v, x)", "expected a number"),
    ],
)
def test_templates_that_make_no_sense(line: str, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        Templates((line,), {}, {}, **TABLES)
