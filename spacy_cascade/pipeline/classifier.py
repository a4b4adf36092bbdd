"""`cascade_classifier`: gives spans their types with a log-linear classifier."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.structure import Structure
from ..scorers.linear import unit_scores
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d, Texts
from .base import CascadePipe
from .calibration import Outcomes
from .encoder import learning_tokens
from .examples import Reads
from .factories import component_factory
from .reading import read, span_units, untyped
from .settings import Positive, Share, setting
from .span_gold import SpanGold
from .spans.gold import GoldSpans, PartsOfGold, gold_bounds, gold_flags
from .spans.groups import table_of_group
from .spans.nesting import ALL
from .spans.placing import (
    REJECTED,
    UNKNOWN,
    Bounds,
    BoundsArray,
    LabelledSpan,
    as_array,
    in_batch,
    split_by_doc,
)
from .spans.results import best_probabilities, check_thresholds, class_probabilities, thresholds_of
from .spans.tables import SpanTable, join_tables, table_of
from .spans.typed import (
    KEPT,
    TypedSpans,
    distinct_spans,
    joint_confidences,
    typed_lists,
    typed_spans,
    write_typed,
    write_types,
)


class CascadeClassifier(CascadePipe):
    """Types the spans that a segmenter, or any other component, put on the Doc."""

    spans_key: str | None = setting("cascade")
    mention_labels: Texts | None = setting(None)
    gold_key: str | None = setting(None)
    gold_labels: Texts | None = setting(None)
    gold_parts: PartsOfGold = setting("neither")
    reject: bool = setting(False, is_fixed=True)
    confidence: bool = setting(True)
    temperature: Positive = setting(1.0)
    threshold: Share = setting(0.0)
    label_thresholds: dict[str, Share] = setting({})
    set_ents: bool = setting(True)
    prefer: Literal["surest", "outermost"] = setting("surest")
    drop: bool = setting(False)
    _told_of_parts = ""
    _has_warned = False
    """Whether it has said that there are no spans to type."""

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for thresholds without confidences."""
        check_thresholds(values, self.name)

    typed: ClassVar[bool] = True
    gold_level: ClassVar[str] = ALL

    @property
    def gold(self) -> SpanGold:
        """What it learns of examples."""
        return SpanGold(self)

    @property
    def structure_labels(self) -> list[str]:
        """The classes, in the order of their scores: `O` for rejection first, where that is on."""
        return [REJECTED, *self.labels] if self.reject else list(self.labels)

    def _make_structure(self) -> Structure:
        """A free choice among the classes; there is one before any is known."""
        return self.family.of_classes(max(1, len(self.structure_labels)))

    def _structure_size(self, n_labels: int) -> tuple[int, int]:
        return self.family.size_of_classes(max(1, n_labels + bool(self.reject)))

    def predict(self, docs: Iterable[Doc]) -> list[TypedSpans]:
        """Type the spans of each Doc without changing it."""
        docs, key = list(docs), self.spans_key
        if not docs:
            return []
        if key is not None and not self._has_warned:
            self._has_warned = warn_missing(self.pipeline, self.name, self, key, docs)
        tables = [self._spans(doc) for doc in docs]
        listed = distinct_spans(docs, key)
        self.begin_batch()
        tokens, spans = read(self, docs), join_tables(tables)
        is_typed = self._are_mentions(spans)
        offsets = np.repeat(tokens.doc_starts[:-1], [table.n_spans for table in tables])
        own = (spans.bounds + offsets[:, None])[is_typed]
        both = np.concatenate([own, in_batch([of_doc.bounds for of_doc in listed], tokens)])
        scores = unit_scores(self.model, self._units(tokens, both, own))
        types, probabilities = self._best(scores, self.temperature)
        confidences, n = None, len(own)
        if self.confidence:
            confidences = joint_confidences(docs, key, tables, is_typed, probabilities[:n])
        candidates = typed_lists(listed, self._class_scores(scores[n:]), types[n:])
        return typed_spans(tables, is_typed, types[:n], confidences, candidates)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[TypedSpans]) -> None:
        """Write the types to `doc.spans[spans_key]`, and to `doc.ents` with `set_ents`.

        A rejected span keeps the label that it had and does not become an entity; one below its
        threshold does not either, but gets its type; with `drop` both are left out. Spans of an
        N-best list get their types too, and the groups the attributes of `spans.nbest`.
        """
        docs, known = list(docs), self.labels
        labels = [self.vocab.strings.add(label) for label in known]
        thresholds = thresholds_of(self)
        if self.drop:
            scores = [found.take(self._stay(found, thresholds)) for found in scores]
        for doc, found in zip(docs, scores, strict=True):
            if found.candidates is not None:
                write_types(doc, found.candidates, self.structure_labels, labels)
        where, are_ranked = (self.spans_key, self.name), self.prefer == "surest"
        write_typed(docs, *where, scores, labels, thresholds, self.set_ents, are_ranked)

    def _stay(self, found: TypedSpans, thresholds: Floats1d) -> Bools1d:
        """Which spans of a Doc are not to be left out, bool `[P]`: those that become entities, and
        those that are not to be typed."""
        is_typed = found.types != KEPT
        is_sure = np.ones(len(is_typed), dtype=np.bool_)
        if found.confidences is not None:
            is_sure = found.confidences >= np.append(thresholds, 0.0)[found.types]
        stay: Bools1d = np.where(is_typed, is_sure, ~self._are_mentions(found.spans))
        return stay

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer, which may also ask for the types of gold spans."""
        if self.scorer is None:
            return {}
        return self.scorer(list(examples), classify=self.classify, labels=self.labels, **self.cfg)

    def classify(self, docs: Sequence[Doc], spans: Sequence[Sequence[Bounds]]) -> list[list[str]]:
        """Best label of given spans of Docs, never rejecting; the Docs are not changed."""
        bounds = [as_array(s) for s in spans]
        scores = self.scores(docs, bounds, bounds)[:, int(self.reject) :]
        best = iter(scores.argmax(axis=1).tolist() if scores.size else [])
        return [[self.labels[next(best)] for _ in doc_spans] for doc_spans in spans]

    def probabilities(
        self, docs: Sequence[Doc], spans: Sequence[Sequence[LabelledSpan]]
    ) -> list[Floats1d]:
        """Probability of given labels of given spans of each Doc; the Docs are not changed.

        spans: those of each Doc, as `(start, end, label)`. A label that is not known has
        probability 0.
        """
        bounds = [as_array([(start, end) for start, end, _ in of_doc]) for of_doc in spans]
        scores = self.scores(docs, bounds, bounds)
        column = {label: i for i, label in enumerate(self.labels, int(self.reject))}
        wanted = [column.get(label, UNKNOWN) for of_doc in spans for _, _, label in of_doc]
        columns = np.array(wanted, dtype=np.int64)
        known = np.flatnonzero(columns != UNKNOWN)
        values = np.zeros(len(columns))
        of_classes = class_probabilities(scores[known], self.temperature)
        values[known] = of_classes[np.arange(len(known)), columns[known]]
        return split_by_doc(values, spans)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The types of the spans in the predicted Docs, and whether each is right.

        Only spans with right bounds count; with the reject class all with annotated tokens.
        """
        bounds: list[list[Bounds]] = []
        wanted: list[set[str]] = []
        for example in examples:
            gold = self.gold.read_to_judge(example)
            types = gold.labels_of_bounds()
            spans = self._mentions(example.predicted)
            if self.reject:
                judged = [(s, e) for s, e in spans if gold.observed[s:e].all()]
            else:
                judged = [span for span in spans if span in types]
            bounds.append(judged)
            wanted.extend(types.get(span, {REJECTED}) for span in judged)
        arrays = [as_array(of_doc) for of_doc in bounds]
        scores = self.scores([example.predicted for example in examples], arrays, arrays)
        classes = np.array(self.structure_labels)[scores.argmax(axis=1)] if scores.size else []
        right = [found in gold for found, gold in zip(classes, wanted, strict=True)]
        return Outcomes(
            np.array(right, dtype=np.bool_), lambda temperature: self._best(scores, temperature)[1]
        )

    def reads(self) -> Reads:
        """With `reject` also what was proposed."""
        reads = super().reads()
        return reads.with_proposals(self.spans_key) if self.reject else reads

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """The labels of the gold spans; an empty label is no type."""
        return (label for _, _, label in gold.spans if label)

    def gold_units(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Units:
        """The typed gold spans."""
        typed = [as_array([(s, e) for s, e, label in g.spans if label]) for g in gold]
        found = in_batch(gold_bounds(gold), tokens)
        return self._units(tokens, in_batch(typed, tokens), found, gold_flags(tokens, gold))

    def fitted(
        self, tokens: Tokens, gold: Sequence[GoldSpans], examples: Sequence[Example]
    ) -> tuple[Units, Ints1d, Pointers1d]:
        """Gold spans with their types and, with the reject class, wrong proposals."""
        number = {label: i for i, label in enumerate(self.labels, int(self.reject))}
        bounds: list[BoundsArray] = []
        types: list[int] = []
        for i, g in enumerate(gold):
            known = [
                (start, end, number[label]) for start, end, label in g.spans if label in number
            ]
            if self.reject:
                wrong = self._wrong_proposals(examples[i], g)
                known.extend((start, end, 0) for start, end in wrong)
            bounds.append(as_array([(start, end) for start, end, _ in known]))
            types.extend(type_number for _, _, type_number in known)
        if self.model.has_ref("tok2vec"):
            tokens = learning_tokens(self, tokens, examples)
        found = in_batch(gold_bounds(gold), tokens)
        units = self._units(tokens, in_batch(bounds, tokens), found, gold_flags(tokens, gold))
        return units, np.array(types, dtype=np.int32), np.arange(len(types) + 1, dtype=np.int64)

    def _wrong_proposals(self, example: Example, gold: GoldSpans) -> list[Bounds]:
        right = {(start, end) for start, end, _ in gold.spans}
        return [
            (start, end)
            for start, end in self._mentions(example.predicted)
            if (start, end) not in right and gold.observed[start:end].all()
        ]

    def _spans(self, doc: Doc) -> SpanTable:
        key = self.spans_key
        found = doc.ents if key is None else doc.spans.get(key, ())
        return table_of_group(found) if isinstance(found, SpanGroup) else table_of(found)

    def _are_mentions(self, spans: SpanTable) -> Bools1d:
        """Which spans are to be typed, bool `[P]`."""
        wanted = self.mention_labels
        is_any: Bools1d = spans.end > spans.start
        if wanted is None:
            return is_any
        return is_any & np.isin(spans.label, [get_string_id(label) for label in wanted])

    def _mentions(self, doc: Doc) -> list[Bounds]:
        """Start and end of the spans that are to be typed."""
        spans = self._spans(doc)
        return [(start, end) for start, end in spans.bounds[self._are_mentions(spans)].tolist()]

    def _class_scores(self, scores: Floats2d) -> Floats2d:
        """Log-probabilities of the classes, or their scores where there is no probability."""
        if not scores.size or not self.loss.is_probabilistic:
            return scores
        log_sums: Floats2d = np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return scores - log_sums

    def _best(self, scores: Floats2d, temperature: float) -> tuple[Ints1d, Floats1d]:
        """Number and probability of the best class of each span."""
        if not scores.size or not self.labels:
            return np.full(len(scores), KEPT, dtype=np.int32), np.ones(len(scores))
        best = scores.argmax(axis=1).astype(np.int32) - int(self.reject)
        return best, best_probabilities(scores, temperature)

    def scores(
        self, docs: Sequence[Doc], spans: Sequence[BoundsArray], found: Sequence[BoundsArray]
    ) -> Floats2d:
        """Scores of the classes `[P, C]` of spans of Docs; found: the spans that stand there."""
        self.begin_batch()
        tokens = read(self, docs)
        units = self._units(tokens, in_batch(spans, tokens), in_batch(found, tokens))
        return unit_scores(self.model, units)

    def _units(
        self,
        tokens: Tokens,
        spans: BoundsArray,
        found: BoundsArray,
        own_flags: Ints2d | None = None,
    ) -> Units:
        """Spans of a batch as units; found: the spans that stand there."""
        string_of = self.vocab.strings.__getitem__
        return span_units(self.space, string_of, tokens, spans, untyped(found), own_flags)


def warn_missing(
    nlp: Language | None, name: str, own: object, key: str, docs: Sequence[Doc]
) -> bool:
    """Warn where none of the Docs has `doc.spans[key]`, with the likely cause; whether it did.

    name, own: of the component that looks for them. nlp: its pipeline, None where it has none.
    """
    if any(key in doc.spans for doc in docs) or not any(len(doc) for doc in docs):
        return False
    warnings.warn(
        f"'{name}' finds no doc.spans['{key}'] in these Docs, so it gives no entities. "
        f"{_cause(nlp, own, key)}",
        stacklevel=3,
    )
    return True


def _cause(nlp: Language | None, own: object, key: str) -> str:
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
    after = False
    other = ""
    for name, pipe in components:
        after |= pipe is own
        written = _key_written_by(pipe)
        if written == key and nlp is not None and name in nlp.disabled:
            return f"'{name}' would write it, but is disabled: enable it."
        if written == key and after:
            return f"'{name}' writes it, but comes later: move it before."
        if written is not None and not other:
            other = f"'{name}' writes doc.spans['{written}']: give both the same spans_key."
    return other or f'Add a cascade_segmenter with spans_key = "{key}" before it.'


def _key_written_by(pipe: Any) -> str | None:
    """Key of the span group that a component finds spans for; None where it finds none."""
    finds_spans = hasattr(pipe, "gold_spans") or not hasattr(pipe, "gold_key")
    key = getattr(pipe, "spans_key", getattr(pipe, "key", None)) if finds_spans else None
    return key if isinstance(key, str) else None


make_classifier = component_factory(
    "cascade_classifier",
    CascadeClassifier,
    {
        "model": {
            "@architectures": "spacy_cascade.SpanClassifier.v1",
            "templates": {"@misc": "spacy_cascade.ClassificationTemplates.v1"},
            "min_count": 5,
        },
        "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2", "kappa": 6.0},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 0.6325},
        "trainer": {"@misc": "spacy_cascade.LBFGS.v1"},
        "scorer": {"@scorers": "spacy_cascade.types_scorer.v1"},
    },
    requires=["doc.spans"],
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "span._.confidence"],
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
        "types_acc": 0.0,
    },
)
