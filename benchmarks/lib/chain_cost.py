"""Microseconds of a linear chain without label pairs for a token, by the number of entity types.

Sequences, their lengths and their tags are those of a corpus with made-up types; scores are random.
Each answer is timed with the kernels that the structure chooses and with those for few labels, in
turns, by processor time.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from spacy_cascade.inference.chain_kernels import ChainKernels
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.parallel import split

from .corpora import read_docs
from .label_cost import with_types

ROUNDS = 3


def chain_cost(train: str, scheme: str, n_types: int, n_tokens: int) -> dict[str, Any]:
    """Smallest time of some rounds for each answer; n_tokens: about as many are timed."""
    tag_set = TagSet(scheme, tuple(f"TYPE{i}" for i in range(n_types)))
    starts, tags = _tags(train, tag_set, n_tokens)
    chosen, other = LinearChain(tag_set.lattice(False)), LinearChain(tag_set.lattice(False))
    other._kernels, other.transitions_at_once = ChainKernels(other.lattice), 1
    timed: dict[str, dict[str, float]] = {"chosen": {}, "of few labels": {}}
    for name, answer in ANSWERS.items():
        for kernels, structure in zip(timed, (chosen, other), strict=True):
            answer(structure, tag_set, starts[:3], tags[: starts[2]])
            timed[kernels][name] = np.inf
        for _ in range(ROUNDS):
            for kernels, structure in zip(timed, (chosen, other), strict=True):
                microseconds = 1e6 * answer(structure, tag_set, starts, tags) / int(starts[-1])
                timed[kernels][name] = min(timed[kernels][name], microseconds)
    sizes = {"tags": chosen.n_labels, "transitions": chosen.n_transitions}
    return {"scheme": scheme, "types": n_types, "tokens": int(starts[-1]), **sizes, **timed}


def _tags(train: str, tag_set: TagSet, n_tokens: int) -> tuple[Any, Any]:
    """Starts of sentences, and the tags of their tokens."""
    starts, tags = [0], np.zeros(0, dtype=np.int32)
    for doc in read_docs(train):
        typed, offset = with_types(doc, len(tag_set.labels)), len(tags)
        spans = [(e.start, e.end, tag_set.labels.index(e.label_)) for e in typed.ents]
        of_doc = np.zeros(len(doc), dtype=np.int32)
        bounds = np.array(spans, dtype=np.int64).reshape(-1, 3).T
        tag_set.write(of_doc, *bounds)
        starts += [offset + sentence.end for sentence in doc.sents]
        tags = np.append(tags, of_doc)
        if len(tags) >= n_tokens:
            break
    return np.array(starts, dtype=np.int64), tags


def _losses(structure: LinearChain, tag_set: TagSet, starts: Any, tags: Any) -> float:
    """Loss and gradient, piece by piece as training has them."""
    potentials = _potentials(structure, starts)
    n_labels, n = structure.n_labels, len(starts) - 1
    costs = structure.costs(4.5 * (1.0 - np.eye(n_labels)))
    steps = max(1, structure.n_transitions // structure.transitions_at_once)
    losses = np.empty(n)

    def all_losses() -> None:
        for first, last in split(starts, steps):
            structure.losses(Part(potentials, tags, first, last, losses), costs)

    return _seconds(all_losses)


def _best(structure: LinearChain, tag_set: TagSet, starts: Any, tags: Any) -> float:
    potentials = _potentials(structure, starts)
    return _seconds(lambda: structure.best(potentials))


def _posteriors(structure: LinearChain, tag_set: TagSet, starts: Any, tags: Any) -> float:
    """Of the spans that the tags have."""
    potentials, spans = _potentials(structure, starts), tag_set.spans(tags, starts)
    return _seconds(lambda: structure.span_posteriors(potentials, tags, spans))


ANSWERS: dict[str, Callable[[LinearChain, TagSet, Any, Any], float]] = {
    "loss and gradient": _losses,
    "decoding": _best,
    "posteriors": _posteriors,
}


def _potentials(structure: LinearChain, starts: Any) -> Potentials:
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(int(starts[-1]), structure.n_columns))
    return Potentials(scores, generator.normal(size=structure.n_transitions), starts)


def _seconds(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin
