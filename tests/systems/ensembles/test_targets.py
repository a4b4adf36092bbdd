"""Targets of students: means of gold and ensemble, and what they say of tags and of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc

from helpers import Bounds, add_segmenter, blank, cascade, make_examples
from spacy_cascade.pipeline.learning import task_of
from spacy_cascade.systems.ensembles.loss import Targets
from spacy_cascade.systems.ensembles.members import TypedPosteriors
from spacy_cascade.systems.ensembles.targets import (
    classifier_targets,
    posteriors_of,
    segmenter_targets,
    tokens_with,
)

LABELS = ("x", "y")
Table = dict[Bounds, float]
"""The probability of each span and label."""
SENTENCES: list[tuple[str, list[Bounds]]] = [
    ("a b c", [(0, 2, "x")]),
    ("b", [(0, 1, "y")]),
    ("a c a b", [(1, 2, "y"), (2, 4, "x")]),
    ("c", []),
    ("a b", [(0, 1, "x")]),
]
SAID: dict[str, Table] = {
    "a b c": {(0, 2, "x"): 0.5, (0, 2, "y"): 0.25, (2, 3, "y"): 0.125},
    "b": {(0, 1, "x"): 0.25, (0, 1, "y"): 0.5},
    "a c a b": {(0, 1, "x"): 0.75, (1, 3, "y"): 0.25, (2, 4, "x"): 0.5},
    "c": {(0, 1, "x"): 0.5},
    "a b": {(0, 2, "x"): 1.0},
}
"""What the ensemble says of each text."""
SHARES = [0.25, 1.0, 0.0, 0.5, 0.75]


def as_arrays(table: Table) -> TypedPosteriors:
    bounds = sorted({(start, end) for start, end, _ in table})
    rows = [[table.get((*each, label), 0.0) for label in LABELS] for each in bounds]
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return TypedPosteriors(start, end, np.array(rows).reshape(-1, len(LABELS)))


def as_table(found: TypedPosteriors) -> Table:
    return {
        (int(start), int(end), label): probability
        for start, end, row in zip(*found, strict=True)
        for label, probability in zip(LABELS, row.tolist(), strict=True)
        if probability
    }


def moved(table: Table, offset: int) -> Table:
    return {(start + offset, end + offset, label): p for (start, end, label), p in table.items()}


class Ensemble:
    """Says of each Doc of a batch what `SAID` has for its text."""

    labels = LABELS

    def posteriors(self, docs: Sequence[Doc]) -> TypedPosteriors:
        found: Table = {}
        offset = 0
        for doc in docs:
            found |= moved(SAID[doc.text.strip()], offset)
            offset += len(doc)
        return as_arrays(found)


def mixed(sentences: Sequence[tuple[str, list[Bounds]]], shares: Sequence[float]) -> Table:
    """The mean of the ensemble's and the gold probability of every span, Doc by Doc."""
    found: Table = {}
    offset = 0
    for (text, gold), share in zip(sentences, shares, strict=True):
        if share < 1:
            own = {span: (1 - share) * p for span, p in SAID[text].items()}
            for span in gold:
                own[span] = own.get(span, 0.0) + share
            found |= moved({span: p for span, p in own.items() if p}, offset)
        offset += len(text.split())
    return found


@pytest.mark.parametrize("times", [1, 60])
def test_the_mean_of_what_gold_and_ensemble_say(times: int) -> None:
    """Of a few Docs, and of more than an ensemble reads at once."""
    sentences, shares = times * SENTENCES, times * SHARES
    examples = make_examples(blank(), sentences)
    found: Any = posteriors_of(Ensemble(), examples, shares)  # type: ignore[arg-type]
    assert as_table(found) == pytest.approx(mixed(sentences, shares))
    bounds = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
    assert bounds == sorted(set(bounds))
    assert found.probabilities.any(axis=1).all()
    assert found.start.dtype == found.end.dtype == np.int64
    assert found.probabilities.shape == (len(bounds), 2)
    n_tokens = [len(text.split()) for text, _ in sentences]
    assert (
        tokens_with(examples, shares).tolist() == np.repeat(np.less(shares, 1), n_tokens).tolist()
    )


def test_gold_alone_has_no_probabilities() -> None:
    found = posteriors_of(Ensemble(), make_examples(blank(), SENTENCES), [1.0] * 5)  # type: ignore[arg-type]
    assert [len(part) for part in found] == [0, 0, 0]
    assert found.probabilities.shape == (0, 2)


def of_segmenter(typed: bool, said: Table, has: np.ndarray) -> tuple[Any, Targets, np.ndarray]:
    """The data of a segmenter, its targets, and how often each tag is expected at each token."""
    nlp = blank()
    pipe = add_segmenter(nlp, typed=typed)
    examples = make_examples(nlp, SENTENCES)
    nlp.initialize(lambda: examples)
    data: Any = task_of(pipe, examples).data
    targets = segmenter_targets(pipe, data, as_arrays(said), has)
    lattice = data.structure.lattice
    by_tag = np.zeros((len(data.observed), lattice.n_labels))
    np.add.at(by_tag, (slice(None), lattice.target), targets.scores)
    return data, targets, by_tag


GOLD: Table = {(0, 2, "x"): 1, (3, 4, "y"): 1, (5, 6, "y"): 1, (6, 8, "x"): 1, (9, 10, "x"): 1}
"""The entities of `SENTENCES` in one batch."""
HAS = np.repeat(np.less(SHARES, 1), [3, 1, 4, 1, 2])


@pytest.mark.parametrize("typed", [False, True])
def test_an_ensemble_that_is_sure_teaches_the_gold_tags(typed: bool) -> None:
    """Each token and each sequence uses the edges of its tags once."""
    data, targets, by_tag = of_segmenter(typed, GOLD, HAS)
    np.testing.assert_allclose(by_tag, np.eye(by_tag.shape[1])[data.observed])
    lattice = data.structure.lattice
    pairs = list(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True))
    for i, (begin, end) in enumerate(pairwise(data.starts)):
        tags = [lattice.start, *data.observed[begin:end].tolist()]
        used = Counter(pairwise(tags))
        assert targets.transitions[i].tolist() == pytest.approx([used[pair] for pair in pairs])
    assert targets.given.tolist() == np.less(SHARES, 1).tolist()
    assert targets.of_units.tolist() == HAS.tolist()


def test_a_segmenter_with_labels_learns_how_likely_each_is() -> None:
    """One without them learns how likely a span is at all."""
    doubtful = {(0, 2, "x"): 0.25, (0, 2, "y"): 0.5, (3, 4, "y"): 0.5}
    data, _, by_tag = of_segmenter(True, doubtful, HAS)
    wanted = np.zeros_like(by_tag)
    wanted[:, 0] = 1.0
    for label, p in (("x", 0.25), ("y", 0.5)):
        first, last = (data.structure.tag_set.tags.index(f"{prefix}-{label}") for prefix in "BL")
        wanted[0, first] = wanted[1, last] = p
    wanted[3, data.structure.tag_set.tags.index("U-y")] = 0.5
    wanted[[0, 1, 3], 0] = 0.25, 0.25, 0.5
    np.testing.assert_allclose(by_tag, wanted)
    _, _, by_tag = of_segmenter(False, doubtful, HAS)
    assert by_tag[[0, 1, 2, 3], 0] == pytest.approx([0.25, 0.25, 1.0, 0.5])


def test_a_classifier_learns_what_is_known_of_the_labels_of_gold_spans() -> None:
    """The gold label where the ensemble has no such span; spans with other labels are left out."""
    nlp = cascade()
    nlp.initialize(lambda: make_examples(nlp, SENTENCES))
    other = [("c c", [(0, 1, "z"), (1, 2, "x")])]
    examples = make_examples(nlp, [*other, *SENTENCES])
    pipe: Any = nlp.get_pipe("cascade_classifier")
    data = task_of(pipe, examples).data
    said = {(0, 1, "x"): 0.5, (2, 4, "x"): 0.125, (2, 4, "y"): 0.375, (5, 6, "x"): 0.5,
            (7, 8, "x"): 0.25, (11, 12, "y"): 0.5}  # fmt: skip
    has = np.append([True, True], HAS)
    targets = classifier_targets(pipe, data, as_arrays(said), examples, has)
    wanted = [[1, 0], [0.25, 0.75], [0, 1], [1, 0], [1, 0], [0, 1]]
    np.testing.assert_allclose(targets.scores, wanted)
    given = [False, True, False, True, False, True]
    assert targets.given.tolist() == targets.of_units.tolist() == given
    assert targets.given.dtype == np.bool_
    assert targets.transitions.shape == (6, data.structure.n_transitions)
    assert not targets.transitions.any()
