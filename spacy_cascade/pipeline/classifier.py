"""`cascade_classifier`: gives spans their types with a log-linear classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.lattice import Lattice, choice_lattice
from ..losses.margin import Costs
from ..losses.problem import ChainCorpus
from ..trainers.base import Trainer
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d
from ..workflows.calibrate import Outcomes, check_temperature
from .base import CascadePipe
from .spans.given import UNKNOWN, LabelledBounds, split_by_doc
from .spans.gold import GoldSpans, gold_flags, read_gold
from .spans.nbest import REJECTED, is_probabilistic
from .spans.span_units import BoundsArray, class_probabilities, gold_bounds, joined, span_units
from .spans.thresholds import check_thresholds, thresholds_of
from .spans.typed_groups import KEPT, Bounds, TypedGroups, bounds_of, read_groups, write_types
from .spans.typed_spans import TypedSpans, joint_confidences, write_typed


class CascadeClassifier(CascadePipe[GoldSpans]):
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
        temperature: float,
        threshold: float,
        label_thresholds: dict[str, float],
        set_ents: bool,
        objective: Costs,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        settings = {
            "spans_key": spans_key,
            "mention_labels": None if mention_labels is None else list(mention_labels),
            "gold_key": gold_key,
            "reject": reject,
            "confidence": confidence,
            "temperature": check_temperature(temperature, name),
            "threshold": threshold,
            "label_thresholds": label_thresholds,
            "set_ents": set_ents,
        }
        check_thresholds(settings, name)
        super().__init__(nlp, model, name, objective, trainer, scorer, settings)

    @property
    def n_classes(self) -> int:
        """Labels, and the reject class (number 0) where it is on."""
        return len(self.labels) + bool(self.cfg["reject"])

    @property
    def lattice(self) -> Lattice:
        """One free choice among the classes."""
        return choice_lattice(self.n_classes)

    def lattice_size(self, n_labels: int) -> tuple[int, int]:
        """As many edges and columns as classes."""
        return (n_labels + bool(self.cfg["reject"]),) * 2

    @property
    def edge_names(self) -> list[str]:
        """The classes."""
        return self._classes()

    def labels_changed(self) -> None:
        """Nothing depends on the labels."""

    def predict(self, docs: Iterable[Doc]) -> list[TypedSpans]:
        """Type the spans of each Doc without changing it."""
        docs = list(docs)
        if not docs:
            return []
        spans = [self._spans(doc) for doc in docs]
        masks = [[self._is_mention(span) for span in doc_spans] for doc_spans in spans]
        own = [bounds_of(compress(*pair)) for pair in zip(spans, masks, strict=True)]
        groups = [read_groups(doc, self.cfg["spans_key"]) for doc in docs]
        listed = [group.bounds for group in groups]
        both = [joined(*pair) for pair in zip(own, listed, strict=True)]
        scores = self._scores(docs, both, [joined(bounds) for bounds in own])
        types, probabilities = self._best(scores, self.cfg["temperature"])
        found = []
        begin = 0
        for i, doc in enumerate(docs):
            part = slice(begin, begin + len(own[i]))
            mask = np.array(masks[i], dtype=bool)
            typed = self._typed(doc, spans[i], mask, types[part], probabilities[part])
            begin = part.stop + len(listed[i])
            if groups[i].groups:
                part = slice(part.stop, begin)
                candidates = TypedGroups(groups[i], self._class_scores(scores[part]), types[part])
                typed = replace(typed, candidates=candidates)
            found.append(typed)
        return found

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[TypedSpans]) -> None:
        """Write the types to `doc.spans[spans_key]`, and to `doc.ents` with `set_ents`.

        A rejected span keeps the label that it had and does not become an entity; one below its
        threshold does not either, but gets its type (see `typed_spans`). Spans of an
        N-best list get their types too, and the groups the attributes of `spans.nbest`.
        """
        labels = [self.vocab.strings.add(label) for label in self.labels]
        thresholds = thresholds_of(self.cfg, self.labels, self.name)
        key, set_ents = self.cfg["spans_key"], self.cfg["set_ents"]
        for doc, found in zip(docs, scores, strict=True):
            if found.candidates is not None:
                write_types(doc, found.candidates, self._classes(), labels)
            write_typed(doc, key, self.name, found, labels, thresholds, set_ents)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer, which may also ask for the types of gold spans."""
        if self.scorer is None:
            return {}
        return self.scorer(list(examples), classify=self.classify, labels=self.labels, **self.cfg)

    def classify(self, docs: Sequence[Doc], spans: Sequence[Sequence[Bounds]]) -> list[list[str]]:
        """Best label of given spans of Docs, never rejecting; the Docs are not changed."""
        bounds = [joined(s) for s in spans]
        scores = self._scores(docs, bounds, bounds)[:, int(self.cfg["reject"]) :]
        best = iter(scores.argmax(axis=1).tolist() if scores.size else [])
        return [[self.labels[next(best)] for _ in doc_spans] for doc_spans in spans]

    def probabilities(
        self, docs: Sequence[Doc], spans: Sequence[Sequence[LabelledBounds]]
    ) -> list[Floats1d]:
        """Probability of given labels of given spans of each Doc; the Docs are not changed.

        spans: those of each Doc, as `(start, end, label)`. A label that is not known has
        probability 0.
        """
        bounds = [joined([(start, end) for start, end, _ in of_doc]) for of_doc in spans]
        scores = self._scores(docs, bounds, bounds)
        column = {label: i for i, label in enumerate(self.labels, int(self.cfg["reject"]))}
        wanted = [column.get(label, UNKNOWN) for of_doc in spans for _, _, label in of_doc]
        columns = np.array(wanted, dtype=np.int64)
        known = np.flatnonzero(columns != UNKNOWN)
        values = np.zeros(len(columns))
        of_classes = class_probabilities(scores[known], self.cfg["temperature"])
        values[known] = of_classes[np.arange(len(known)), columns[known]]
        return split_by_doc(values, spans)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The types of the spans in the predicted Docs, and whether each is right.

        Only spans with the right bounds count; with the reject class all whose tokens have
        annotation.
        """
        bounds: list[list[Bounds]] = []
        wanted: list[str | None] = []
        for example in examples:
            gold = self.read_gold(example)
            types = {(start, end): label for start, end, label in gold.spans}
            spans = bounds_of(filter(self._is_mention, self._spans(example.predicted)))
            if self.cfg["reject"]:
                judged = [(s, e) for s, e in spans if gold.observed[s:e].all()]
            else:
                judged = [span for span in spans if span in types]
            bounds.append(judged)
            wanted.extend(types.get(span, REJECTED) for span in judged)
        arrays = [joined(of_doc) for of_doc in bounds]
        scores = self._scores([example.predicted for example in examples], arrays, arrays)
        classes = np.array(self._classes())[scores.argmax(axis=1)] if scores.size else []
        right = [found == gold for found, gold in zip(classes, wanted, strict=True)]
        return Outcomes(
            np.array(right, dtype=np.bool_), lambda temperature: self._best(scores, temperature)[1]
        )

    def read_gold(self, example: Example) -> GoldSpans:
        """Gold spans of an example."""
        return read_gold(example, self.cfg["gold_key"])

    def gold_flags(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
        """Which tokens are in gold spans."""
        return gold_flags(tokens, gold)

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """The labels of the gold spans; an empty label is no type."""
        return (label for _, _, label in gold.spans if label)

    def all_units(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Units:
        """The typed gold spans."""
        typed = [joined([(s, e) for s, e, label in g.spans if label]) for g in gold]
        return self._units(tokens, typed, gold_bounds(gold), gold_flags(tokens, gold))

    def make_corpus(self, examples: Sequence[Example], gold: Sequence[GoldSpans]) -> ChainCorpus:
        """Gold spans with their types and, with the reject class, wrong proposals."""
        number = {label: i for i, label in enumerate(self.labels, int(self.cfg["reject"]))}
        bounds: list[BoundsArray] = []
        types: list[int] = []
        for example, g in zip(examples, gold, strict=True):
            known = [
                (start, end, number[label]) for start, end, label in g.spans if label in number
            ]
            known.extend((start, end, 0) for start, end in self._wrong_proposals(example, g))
            bounds.append(joined([(start, end) for start, end, _ in known]))
            types.extend(type_number for _, _, type_number in known)
        tokens = self.read_examples(examples)
        units = self._units(tokens, bounds, gold_bounds(gold), gold_flags(tokens, gold))
        return ChainCorpus(
            self.space.design(units),
            self.lattice,
            np.array(types, dtype=np.int32),
            np.arange(len(types) + 1, dtype=np.int64),
        )

    def _wrong_proposals(self, example: Example, gold: GoldSpans) -> list[Bounds]:
        if not self.cfg["reject"]:
            return []
        right = {(start, end) for start, end, _ in gold.spans}
        return [
            (span.start, span.end)
            for span in filter(self._is_mention, self._spans(example.predicted))
            if (span.start, span.end) not in right and gold.observed[span.start : span.end].all()
        ]

    def _spans(self, doc: Doc) -> list[Span]:
        key = self.cfg["spans_key"]
        return list(doc.ents if key is None else doc.spans.get(key, ()))

    def _is_mention(self, span: Span) -> bool:
        wanted = self.cfg["mention_labels"]
        return len(span) > 0 and (wanted is None or span.label_ in wanted)

    def _classes(self) -> list[str]:
        """Names of the classes in the order of their scores."""
        return [REJECTED, *self.labels] if self.cfg["reject"] else list(self.labels)

    def _class_scores(self, scores: Floats2d) -> Floats2d:
        """Log-probabilities of the classes, or their scores where there is no probability."""
        if not scores.size or not is_probabilistic(self.objective):
            return scores
        log_sums: Floats2d = np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return scores - log_sums

    def _best(self, scores: Floats2d, temperature: float) -> tuple[Ints1d, Floats1d]:
        """Number and probability of the best class of each span."""
        if not scores.size:
            return np.full(len(scores), KEPT, dtype=np.int32), np.ones(len(scores))
        best = scores.argmax(axis=1).astype(np.int32) - int(self.cfg["reject"])
        return best, class_probabilities(scores, temperature).max(axis=1)

    def _typed(
        self, doc: Doc, spans: list[Span], mask: Bools1d, types: Ints1d, probabilities: Floats1d
    ) -> TypedSpans:
        """Types and confidences of all spans of a Doc, from those of its mentions."""
        all_types = np.full(len(spans), KEPT, dtype=np.int32)
        all_types[mask] = types
        if not self.cfg["confidence"]:
            return TypedSpans(spans, all_types, None)
        confidences = joint_confidences(doc, self.cfg["spans_key"], mask, probabilities)
        return TypedSpans(spans, all_types, confidences)

    def _scores(
        self, docs: Sequence[Doc], spans: Sequence[BoundsArray], found: Sequence[BoundsArray]
    ) -> Floats2d:
        self.sync_weights()
        self.forget_words()
        scores: Floats2d = self.model.predict(self._units(self.read(docs), spans, found))
        return scores

    def _units(
        self,
        tokens: Tokens,
        spans: Sequence[BoundsArray],
        found: Sequence[BoundsArray],
        own_flags: Ints2d | None = None,
    ) -> Units:
        string_of = self.vocab.strings.__getitem__
        return span_units(self.space, string_of, tokens, spans, found, own_flags)
