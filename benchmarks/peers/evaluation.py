"""Evaluation of trained models on one corpus: scores, speed and calibration."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_cascade.tools.reports.diagrams import measure_reliability

from ..lib.corpora import read_docs, without_entities
from ..lib.package import calibrate, read_examples
from ..lib.timing import Stopwatch

Bounds = tuple[int, int, str]
"""Start, end (exclusive) and label of an entity."""


@dataclass(frozen=True)
class Annotator:
    """A trained model that annotates the Docs of a corpus several times.

    gold: Docs with gold entities. make: makes Docs to annotate, which is not timed. annotate:
    annotates them.
    """

    gold: Sequence[Doc]
    make: Callable[[], list[Doc]]
    annotate: Callable[[list[Doc]], Iterable[Doc]]

    def once(self) -> tuple[list[Doc], float]:
        """The annotated Docs, and the seconds of annotating them."""
        docs = self.make()
        gc.collect()
        with Stopwatch() as watch:
            docs = list(self.annotate(docs))
        return docs, watch.passed


def read_annotator(model: str, reader: str, data: str) -> Annotator:
    """A trained model and the corpus for it. reader: `spacy`, or of python-crfsuite's features."""
    if reader != "spacy":
        # Our models do not need python-crfsuite.
        from .crfsuite import open_annotator

        vocab = spacy.blank("en").vocab
        gold = read_docs(data, vocab)
        annotate = partial(map, open_annotator(model, reader))
        return Annotator(gold, partial(without_entities, gold, vocab), annotate)
    trained = spacy.load(model)
    examples = read_examples(data, trained)
    return Annotator(
        [example.reference for example in examples],
        lambda: [example.predicted.copy() for example in examples],
        trained.pipe,
    )


def evaluate(models: Mapping[str, tuple[str, str]], data: str, rounds: int) -> dict[str, Any]:
    """Counts of entities and seconds of each model; models take turns in one process.

    models: path and reader of each model by its name. rounds: timed passes, after one that is
    reported as `first_seconds`. Counts are numbers of right, found and gold entities, for each Doc
    and for each label.
    """
    annotators = {name: read_annotator(*model, data) for name, model in models.items()}
    found: dict[str, Any] = {name: {"seconds": []} for name in models}
    for name, annotator in annotators.items():
        docs, first = annotator.once()
        found[name] |= count(annotator.gold, docs)
        found[name]["first_seconds"] = first
    for _ in range(rounds):
        for name, annotator in annotators.items():
            found[name]["seconds"].append(annotator.once()[1])
    n_tokens = sum(len(doc) for doc in next(iter(annotators.values())).gold)
    return {"tokens": n_tokens, "models": found}


def token_spans(doc: Doc, labels: Mapping[str, str] | None = None) -> set[Bounds]:
    """The entities of a Doc by their tokens.

    labels: what each label counts as; entities with other labels are left out. None: all count.
    """
    if labels is None:
        return {(e.start, e.end, e.label_) for e in doc.ents}
    return {(e.start, e.end, labels[e.label_]) for e in doc.ents if e.label_ in labels}


def character_spans(doc: Doc) -> set[Bounds]:
    """The entities of a Doc by their characters, whatever its tokens."""
    return {(e.start_char, e.end_char, e.label_) for e in doc.ents}


def count(
    gold: Sequence[Doc], docs: Sequence[Doc], spans_of: Callable[[Doc], set[Bounds]] = token_spans
) -> dict[str, Any]:
    """Numbers of right, found and gold entities: by label, and for each Doc over all labels."""
    by_label: dict[str, Counter[str]] = {}
    by_doc = []
    for wanted, found in zip(gold, docs, strict=True):
        sets = [spans_of(doc) for doc in (wanted, found)]
        kinds = {"right": sets[0] & sets[1], "found": sets[1], "gold": sets[0]}
        by_doc.append([len(spans) for spans in kinds.values()])
        for kind, spans in kinds.items():
            for *_, label in spans:
                by_label.setdefault(label, Counter())[kind] += 1
    return {
        "by_doc": by_doc,
        "by_label": {
            label: [counts[kind] for kind in ("right", "found", "gold")]
            for label, counts in sorted(by_label.items())
        },
    }


def calibration(model: str, dev: str, test: str | None) -> dict[str, Any]:
    """Expected calibration error of entity confidences, before and after temperature scaling.

    The temperature is fitted on dev and evaluated on test. Without test it is fitted on each half
    of the Docs of dev in turn and evaluated on the other half.
    """
    nlp = spacy.load(model)
    examples = read_examples(dev, nlp)
    if test is not None:
        pairs = [(examples, read_examples(test, nlp))]
    else:
        halves = examples[::2], examples[1::2]
        pairs = [halves, halves[::-1]]
    before: list[tuple[float, bool]] = []
    after: list[tuple[float, bool]] = []
    temperatures: list[dict[str, float]] = []
    for fit, judged in pairs:
        calibrated, found = calibrate(nlp, fit)
        temperatures.append(found)
        before += judged_entities(nlp, judged)
        after += judged_entities(calibrated, judged)
    return {
        "before": _error(before),
        "after": _error(after),
        "temperatures": temperatures,
    }


def _error(judged: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error of confidences, each with whether it was right."""
    confidences, right = zip(*judged, strict=True)
    return float(measure_reliability(confidences, right).error)


def judged_entities(nlp: Language, examples: Sequence[Example]) -> list[tuple[float, bool]]:
    """The confidence of each entity that is found, and whether the entity is right."""
    docs = nlp.pipe([example.predicted.copy() for example in examples])
    return judged([example.reference for example in examples], docs)


def judged(
    gold: Iterable[Doc], docs: Iterable[Doc], labels: Mapping[str, str] | None = None
) -> list[tuple[float, bool]]:
    """As `judged_entities`, of annotated Docs; without entities that have no confidence.

    labels: as for `token_spans`.
    """
    pairs = []
    for wanted, doc in zip(gold, docs, strict=True):
        right = token_spans(wanted, labels)
        for entity in doc.ents if Span.has_extension("confidence") else ():
            label = entity.label_ if labels is None else labels.get(entity.label_)
            if label is not None and entity._.confidence is not None:
                is_right = (entity.start, entity.end, label) in right
                pairs.append((entity._.confidence, is_right))
    return pairs


def reliability(
    gold: Iterable[Doc], docs: Iterable[Doc], labels: Mapping[str, str] | None = None
) -> dict[str, float] | None:
    """How far confidences are right; None where no entity has one.

    error: their expected calibration error. excess: their mean minus precision. labels: as for
    `token_spans`.
    """
    pairs = judged(gold, docs, labels)
    if not pairs:
        return None
    excess = fmean(confidence - right for confidence, right in pairs)
    return {"error": _error(pairs), "excess": excess}
