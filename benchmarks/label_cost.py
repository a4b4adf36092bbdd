"""What types cost: seconds of an iteration by their number, in one phase and in a cascade.

A chain over all tags is quadratic in their number, of which a cascade only has its classifier's,
and that is linear (thesis: O(N_a · N_c²) against O(N_a · N_c)).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from statistics import median
from typing import Any
from zlib import crc32

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from bench import CONFIGS
from corpora import read_docs
from measure import Stopwatch
from training import build, initialize, size, update

SEGMENTER = "components.cascade_segmenter"
ITERATIONS = 2
UPDATES = 4
"""Of which the first, which encodes the corpus, does not count."""

ONE_PHASE = {"nlp.pipeline": ["cascade_segmenter"], f"{SEGMENTER}.typed": True}
MODELS: dict[str, dict[str, Any]] = {
    "one phase, features of label pairs": ONE_PHASE,
    "one phase, features of labels": {**ONE_PHASE, f"{SEGMENTER}.model.label_pairs": False},
    "cascade": {},
}
MOST_WITH_PAIRS = 8
"""Types beyond which features of label pairs would take minutes."""


def label_cost(train: str, counts: Sequence[int], docs: int) -> dict[str, Any]:
    """Median seconds of an L-BFGS iteration for each model and number of types.

    docs: how many of the corpus to train on. Their entities get types by their last words, so
    that features have something to tell apart.
    """
    gold = list(islice(read_docs(train, spacy.blank("en").vocab), docs))
    curves: dict[str, list[tuple[int, float]]] = {name: [] for name in MODELS}
    weights: dict[str, list[tuple[int, int]]] = {name: [] for name in MODELS}
    for n_types in counts:
        typed = [with_types(doc, n_types) for doc in gold]
        for name, overrides in MODELS.items():
            if "label pairs" in name and n_types > MOST_WITH_PAIRS:
                continue
            nlp, seconds = _train(typed, overrides)
            curves[name].append((n_types, seconds))
            weights[name].append((n_types, sum(size(nlp, n)["weights"] for n in nlp.pipe_names)))
    return {"curves": curves, "weights": weights, "tokens": sum(map(len, gold))}


def with_types(doc: Doc, n_types: int) -> Doc:
    """A copy whose entities have one of so many types."""
    copy = doc.copy()
    copy.set_ents(
        [
            Span(copy, e.start, e.end, f"TYPE{crc32(e[-1].lower_.encode()) % n_types}")
            for e in doc.ents
        ]
    )
    return copy


def _train(docs: Sequence[Doc], overrides: dict[str, Any]) -> tuple[Language, float]:
    iterations = {
        f"components.{name}.trainer.iterations": ITERATIONS
        for name in ("cascade_segmenter", "cascade_classifier")
    }
    config = str(CONFIGS / "memb.cfg")
    nlp, _ = build(config, threads=1, tolerance=0.0, overrides={**iterations, **overrides})
    examples = [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in docs]
    initialize(nlp, examples, Stopwatch())
    seconds = [update(nlp, examples, Stopwatch()) for _ in range(UPDATES)]
    return nlp, median(seconds[1:]) / ITERATIONS
