"""Seconds of a training iteration by the number of entity types, in one phase and in a cascade.

The cost of a chain over typed tags grows with the square of the number of types. In a cascade only
the cost of the classifier grows, linearly (thesis: O(N_a · N_c²) against O(N_a · N_c)).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any
from zlib import crc32

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from .corpora import read_docs
from .package import SEGMENTER, component, for_stages, size, weights
from .paths import CONFIGS
from .timing import Stopwatch
from .training import build, initialize, update

ITERATIONS = 2
UPDATES = 4
"""The first one encodes the corpus and does not count."""

_SEGMENTER = f"components.{SEGMENTER}"
ONE_PHASE = {"nlp.pipeline": [SEGMENTER], f"{_SEGMENTER}.typed": True}
MODELS: dict[str, dict[str, Any]] = {
    "one phase, features of label pairs": ONE_PHASE,
    "one phase, features of labels": {**ONE_PHASE, f"{_SEGMENTER}.model.label_pairs": False},
    "cascade": {},
}
MOST_WITH_PAIRS = 8
"""With more types features of label pairs would take minutes."""


def label_cost(train: str, counts: Sequence[int], docs: int) -> dict[str, Any]:
    """Median seconds of an L-BFGS iteration for each model and number of types.

    docs: number of Docs to train on. Entities get made-up types by their last words, so that
    features can tell the types apart.
    """
    gold = read_docs(train)[:docs]
    curves: dict[str, list[tuple[int, float]]] = {name: [] for name in MODELS}
    sizes: dict[str, list[tuple[int, int]]] = {name: [] for name in MODELS}
    for n_types in counts:
        typed = [with_types(doc, n_types) for doc in gold]
        for name, overrides in MODELS.items():
            if "label pairs" in name and n_types > MOST_WITH_PAIRS:
                continue
            nlp, seconds = _train(typed, overrides)
            curves[name].append((n_types, seconds))
            sizes[name].append((n_types, sum(size(nlp, n)["weights"] for n in nlp.pipe_names)))
    return {"curves": curves, "weights": sizes, "tokens": sum(map(len, gold))}


def train_types(
    train: str, dev: str, n_types: int, rounds: int, overrides: Any, docs: int | None = None
) -> dict[str, Any]:
    """Cost and accuracy of a pipeline with so many types, made up as `with_types` does.

    0 types: those of the corpus. overrides: of the config. docs: of the training corpus; all, if
    nothing is said. Seconds are of the processor.
    """
    nlp, steps = build(str(CONFIGS / "memb.cfg"), threads=1, overrides=overrides)
    typed_by = nlp.pipe_names[-1]
    parts = read_docs(train, nlp.vocab)[:docs], read_docs(dev, nlp.vocab)
    gold = [[_typed(doc, n_types) for doc in part] for part in parts]
    examples, dev_examples = ([Example(_unlabelled(doc), doc) for doc in docs] for docs in gold)
    watch = Stopwatch()
    initialize(nlp, examples, watch)
    for _ in range(steps):
        update(nlp, examples, watch)
    scores, annotating = nlp.evaluate(dev_examples), []
    for _ in range(rounds):
        docs, own = [_unlabelled(example.reference) for example in dev_examples], Stopwatch()
        with own:
            for _ in nlp.pipe(docs, batch_size=256):
                pass
        annotating.append(own.computed)
    return {
        "types": len(component(nlp, typed_by).labels),
        "tokens": sum(map(len, gold[0])),
        "training_seconds": watch.computed,
        "annotated_tokens_per_second": sum(map(len, gold[1])) / min(annotating),
        "scores": {name: scores.get(name) for name in ("ents_f", "types_acc")},
        "weights": size(nlp, typed_by)["weights"],
        "weights_not_zero": int(weights(nlp, typed_by).astype(bool).sum()),
        "megabytes_on_disk": len(component(nlp, typed_by).to_bytes()) / 1e6,
    }


def _typed(doc: Doc, n_types: int) -> Doc:
    return with_types(doc, n_types) if n_types else doc


def _unlabelled(doc: Doc) -> Doc:
    """The words and spaces of a Doc."""
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=spaces)


def with_types(doc: Doc, n_types: int) -> Doc:
    """A copy whose entities have one of `n_types` types."""
    copy = doc.copy()
    copy.set_ents(
        [
            Span(copy, e.start, e.end, f"TYPE{crc32(e[-1].lower_.encode()) % n_types}")
            for e in doc.ents
        ]
    )
    return copy


def _train(docs: Sequence[Doc], overrides: dict[str, Any]) -> tuple[Language, float]:
    iterations = for_stages("trainer.iterations", ITERATIONS)
    config = str(CONFIGS / "memb.cfg")
    nlp, _ = build(config, threads=1, tolerance=0.0, overrides={**iterations, **overrides})
    examples = [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in docs]
    initialize(nlp, examples, Stopwatch())
    seconds = [update(nlp, examples, Stopwatch()) for _ in range(UPDATES)]
    return nlp, median(seconds[1:]) / ITERATIONS
