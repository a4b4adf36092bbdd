"""Random words, units and weights of the network of words, and what a layer gives, by loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.systems.word_window.layer import NetworkWeights, Window
from spacy_cascade.systems.word_window.training import Words, first_weights

N_WORDS, N_FEATURES, WIDTH, HIDDEN, N_LABELS, N_NUMBERS = 6, 9, 5, 4, 3, 2


def words(generator: np.random.Generator) -> Words:
    counts = generator.integers(0, 4, N_WORDS)
    indptr = np.append(0, np.cumsum(counts))
    indices = generator.integers(0, N_FEATURES, indptr[-1]).astype(np.int32)
    vectors = generator.standard_normal((N_WORDS, N_NUMBERS)).astype(np.float32)
    return Words(BinaryCSR(indptr, indices, N_FEATURES), vectors)


def window(generator: np.random.Generator, are_spans: bool, n_units: int = 7) -> Window:
    around = generator.integers(0, N_WORDS, (n_units, 3)).astype(np.int32)
    if not are_spans:
        return Window(around, np.zeros(0, np.int32), np.zeros(0, np.int64))
    first = np.append(0, np.cumsum(generator.integers(1, 4, n_units)))
    return Window(around, generator.integers(0, N_WORDS, first[-1]).astype(np.int32), first)


def n_places(are_spans: bool) -> int:
    return 4 if are_spans else 3


def made(seed: int, are_spans: bool) -> tuple[Words, Window, NetworkWeights, Any]:
    generator = np.random.default_rng(seed)
    known = words(generator)
    weights = first_weights(known, n_places(are_spans), N_LABELS, (WIDTH, HIDDEN), seed)
    weights.bias[:] = generator.standard_normal(HIDDEN)
    labels = generator.integers(0, N_LABELS, 7).astype(np.int32)
    return known, window(generator, are_spans), weights, labels


def naive_hidden(known: Words, units: Window, weights: NetworkWeights) -> Any:
    """`h` before the non-linearity, word by word."""
    sums = []
    for word in range(N_WORDS):
        begin, end = known.features.indptr[word : word + 2]
        own = sum((weights.of_features[j] for j in known.features.indices[begin:end]),
                  start=np.zeros(WIDTH))  # fmt: skip
        sums.append(own + known.vectors[word] @ weights.of_vectors)
    found = []
    for unit, around in enumerate(units.around):
        value = weights.bias.astype(np.float64)
        for place, word in enumerate(around):
            value = value + sums[word] @ weights.of_window[:, place * HIDDEN : (place + 1) * HIDDEN]
        if len(units.first):
            inside = units.inside[units.first[unit] : units.first[unit + 1]]
            mean = np.mean([sums[word] for word in inside], axis=0)
            value = value + mean @ weights.of_window[:, -HIDDEN:]
        found.append(value)
    return np.array(found)
