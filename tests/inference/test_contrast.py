"""Best paths with and without a span, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from reference import Chain, spans_of
from spacy_cascade.inference.contrast import contrast
from spacy_cascade.inference.lattice import free_lattice
from spacy_cascade.inference.schemes import TagSet
from strategies import chains, random_chain


def contrast_of(
    chain: Chain, labels: list[int], start: int
) -> tuple[np.ndarray, np.ndarray] | None:
    return contrast(
        chain.lattice, chain.scores, chain.transitions, np.array(labels, dtype=np.int32), start
    )


def labels_of(tag_set: TagSet, length: int, label: str) -> list[int]:
    tags = np.zeros(length, dtype=np.int32)
    number = tag_set.labels.index(label)
    tag_set.write(tags, *(np.array([value]) for value in (0, length, number)))
    return tags.tolist()


@settings(max_examples=60)
@given(chains())
def test_every_span_of_any_chain(example):
    tag_set, chain = example
    tags, score = tag_set.tags, {tuple(chain.labels(p)): chain.score(p) for p in chain.paths()}
    spans = {path: spans_of([tags[label] for label in path]) for path in score}
    for start in range(len(chain)):
        for end in range(start + 1, len(chain) + 1):
            for label in tag_set.labels:
                found = contrast_of(chain, labels_of(tag_set, end - start, label), start)
                assert found is not None
                for path, is_there in zip(found, (True, False), strict=True):
                    assert ((start, end, label) in spans[tuple(path.tolist())]) == is_there
                    best = max(
                        value
                        for other, value in score.items()
                        if ((start, end, label) in spans[other]) == is_there
                    )
                    assert score[tuple(path.tolist())] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_one_label_of_a_free_chain(label_pairs, generator):
    chain = random_chain(generator, free_lattice(3, label_pairs), 4)
    score = {tuple(chain.labels(p)): chain.score(p) for p in chain.paths()}
    for position in range(4):
        for label in (1, 2, 3):
            having, lacking = contrast_of(chain, [label], position)
            best = max((p for p in score if p[position] == label), key=score.__getitem__)
            other = max((p for p in score if p[position] != label), key=score.__getitem__)
            assert (tuple(having), tuple(lacking)) == (best, other)


def test_what_cannot_be_otherwise(generator):
    chain = random_chain(generator, free_lattice(1, True), 3)
    assert contrast_of(chain, [1], 1) is None
    # Label 0 stands before the first position and nowhere else.
    assert contrast_of(chain, [0], 1) is None
