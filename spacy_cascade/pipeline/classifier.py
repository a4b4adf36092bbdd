"""`cascade_classifier`: gives spans their types with a log-linear classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model

from ..features.sequences import Tokens, read_tokens
from ..inference.lattice import Lattice, choice_lattice
from ..models.linear import Units
from ..objectives.problem import ChainProblem, Objective
from ..parallel import Workers
from ..trainers.base import Trainer
from ..types import Floats2d, Ints1d, Pointers1d
from .annotation import (
    CONFIDENCE_ATTRIBUTE,
    GoldSpans,
    read_gold,
    write_entities,
    write_group,
)
from .base import CascadePipe

REJECTED = -1
"""Type number of a span that is no entity."""


@dataclass(frozen=True)
class TypedSpans:
    """Types of the spans of one Doc.

    spans: those of the Doc, in its order. types: int32 `[P]`, numbers of labels or
    `REJECTED`. confidences: float64 `[P]`, probability of the type, times that of the
    span where the component that found it gave one; None when switched off.
    """

    spans: list[Span]
    types: Ints1d
    confidences: Any


class CascadeClassifier(CascadePipe):
    """Types the spans that a segmenter, or any other component, put on the Doc."""

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Floats2d],
        name: str,
        *,
        spans_key: str | None,
        mention_labels: Sequence[str] | None,
        gold_key: str | None,
        reject: bool,
        confidence: bool,
        set_ents: bool,
        objective: Objective,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        settings = {
            "spans_key": spans_key,
            "mention_labels": None if mention_labels is None else list(mention_labels),
            "gold_key": gold_key,
            "reject": reject,
            "confidence": confidence,
            "set_ents": set_ents,
        }
        super().__init__(nlp, model, name, objective, trainer, scorer, settings)

    @property
    def n_classes(self) -> int:
        """Labels, and the reject class (number 0) where it is on."""
        return len(self.labels) + bool(self.cfg["reject"])

    @property
    def lattice(self) -> Lattice:
        """One free choice among the classes."""
        return choice_lattice(self.n_classes)

    def labels_changed(self) -> None:
        """Nothing depends on the labels."""

    def predict(self, docs: Iterable[Doc]) -> list[TypedSpans]:
        """Type the spans of each Doc without changing it."""
        docs = list(docs)
        spans = [self._mentions(doc) for doc in docs]
        bounds = [[(span.start, span.end) for span in doc_spans] for doc_spans in spans]
        scores = self._scores(docs, bounds)
        types = scores.argmax(axis=1) if scores.size else np.zeros(len(scores), dtype=np.int64)
        probabilities = None
        if self.cfg["confidence"] and scores.size:
            shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
            probabilities = 1.0 / shifted.sum(axis=1)
        types = types.astype(np.int32) - bool(self.cfg["reject"])
        found = []
        begin = 0
        for doc, doc_spans in zip(docs, spans, strict=True):
            part = slice(begin, begin + len(doc_spans))
            begin = part.stop
            confidences = None if probabilities is None else probabilities[part]
            if confidences is not None:
                confidences = confidences * self._span_confidences(doc, doc_spans)
            found.append(TypedSpans(doc_spans, types[part], confidences))
        return found

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[TypedSpans]) -> None:
        """Write the types to `doc.spans[spans_key]`, and to `doc.ents` with `set_ents`.

        Rejected spans keep the label that they had and do not become entities.
        """
        labels = [self.vocab.strings.add(label) for label in self.labels]
        key = self.cfg["spans_key"]
        for doc, found in zip(docs, scores, strict=True):
            retyped, entities, replaced = [], [], []
            for span, number in zip(found.spans, found.types.tolist(), strict=True):
                if number == REJECTED:
                    retyped.append(span)
                    continue
                typed = Span(
                    doc, span.start, span.end, labels[number], span_id=span.id, kb_id=span.kb_id
                )
                retyped.append(typed)
                entities.append(typed)
                replaced.append(span)
            if key is not None:
                self._write_group(doc, key, retyped, found)
                write_entities(doc, entities if self.cfg["set_ents"] else [])
            elif self.cfg["set_ents"]:
                write_entities(doc, entities, replaced)
                write_group(doc, self.name, retyped, found.confidences)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer, which may also ask for the types of gold spans."""
        if self.scorer is None:
            return {}
        return self.scorer(list(examples), classify=self.classify, **self.cfg)

    def classify(self, docs: Sequence[Doc], spans: Sequence[Sequence[Bounds]]) -> list[list[str]]:
        """Best label of given spans of Docs, never rejecting; the Docs are not changed."""
        scores = self._scores(docs, spans)[:, int(self.cfg["reject"]) :]
        best = iter(scores.argmax(axis=1).tolist() if scores.size else [])
        return [[self.labels[next(best)] for _ in doc_spans] for doc_spans in spans]

    def read_gold(self, example: Example) -> GoldSpans:
        """Gold spans of an example."""
        return read_gold(example, self.cfg["gold_key"])

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """The labels of the gold spans; an empty label is no type."""
        return (label for _, _, label in gold.spans if label)

    def all_units(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Units:
        """The typed gold spans."""
        return self._units(tokens, [[s[:2] for s in g.spans if s[2]] for g in gold])

    def make_problem(
        self, examples: Sequence[Example], gold: Sequence[GoldSpans], workers: Workers
    ) -> ChainProblem:
        """The loss over gold spans and, with the reject class, over wrong proposals."""
        number = {label: i for i, label in enumerate(self.labels, int(self.cfg["reject"]))}
        bounds: list[list[Bounds]] = []
        types: list[int] = []
        for example, g in zip(examples, gold, strict=True):
            known = [
                (start, end, number[label]) for start, end, label in g.spans if label in number
            ]
            known.extend((start, end, 0) for start, end in self._wrong_proposals(example, g))
            bounds.append([(start, end) for start, end, _ in known])
            types.extend(type_number for _, _, type_number in known)
        tokens = read_tokens([example.predicted for example in examples])
        units = self._units(tokens, bounds)
        return ChainProblem(
            self.space.design(units.positions, units.first, units.last),
            self.lattice,
            self.objective,
            np.array(types, dtype=np.int32),
            np.arange(len(types) + 1, dtype=np.int64),
            workers,
        )

    def _wrong_proposals(self, example: Example, gold: GoldSpans) -> list[Bounds]:
        if not self.cfg["reject"]:
            return []
        right = {(start, end) for start, end, _ in gold.spans}
        return [
            (span.start, span.end)
            for span in self._mentions(example.predicted)
            if (span.start, span.end) not in right and gold.observed[span.start : span.end].all()
        ]

    def _mentions(self, doc: Doc) -> list[Span]:
        key = self.cfg["spans_key"]
        spans = doc.ents if key is None else doc.spans.get(key, ())
        wanted = self.cfg["mention_labels"]
        return [span for span in spans if wanted is None or span.label_ in wanted]

    def _span_confidences(self, doc: Doc, spans: list[Span]) -> Any:
        key = self.cfg["spans_key"]
        scores = None
        if key is not None and key in doc.spans:
            scores = doc.spans[key].attrs.get(CONFIDENCE_ATTRIBUTE)
        # A group of which only some spans are mentions has scores that do not line up.
        return 1.0 if scores is None or len(scores) != len(spans) else np.asarray(scores)

    def _write_group(self, doc: Doc, key: str, retyped: list[Span], found: TypedSpans) -> None:
        group = doc.spans.get(key, ())
        if len(group) == len(retyped):
            write_group(doc, key, retyped, found.confidences)
            return
        by_bounds = {(span.start, span.end, span.label): i for i, span in enumerate(found.spans)}
        merged = []
        for span in group:
            i = by_bounds.get((span.start, span.end, span.label))
            merged.append(span if i is None else retyped[i])
        write_group(doc, key, merged, None)

    def _scores(self, docs: Sequence[Doc], spans: Sequence[Sequence[Bounds]]) -> Floats2d:
        self.forget_words()
        scores: Floats2d = self.model.predict(self._units(read_tokens(docs), spans))
        return scores

    def _units(self, tokens: Tokens, spans: Sequence[Sequence[Bounds]]) -> Units:
        """Spans of Docs, given by their bounds in each, as units."""
        offsets: Pointers1d = np.repeat(tokens.doc_starts[:-1], [len(s) for s in spans])
        bounds = np.array([b for s in spans for b in s], dtype=np.int64).reshape(-1, 2)
        positions = self.space.positions(tokens, self.vocab.strings.__getitem__)
        return Units(
            positions,
            positions.of_token[bounds[:, 0] + offsets],
            positions.of_token[bounds[:, 1] + offsets - 1],
        )


Bounds = tuple[int, int]
"""Start and end (exclusive) of a span in its Doc."""
