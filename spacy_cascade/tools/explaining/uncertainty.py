"""How unsure a pipeline is of sentences and of spans: measures of uncertainty sampling.

B. Settles and M. Craven, "An analysis of active learning strategies for sequence labeling tasks"
(2008), sections 3.1 and 3.2. A span is a variable with the values of its labels and "no entity":

    P(span is an entity of label y) = P(span) · P(y | span)

These are the confidences that the pipeline would give, also of spans that it does not choose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...caching import cached_property
from ...errors import ConfigError
from ...features.tokens import Tokens, read_tokens
from ...inference.schemes import Spans
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.decoding import ScoredBatch
from ...pipeline.recognisers import annotated
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.placing import BoundsArray
from ...pipeline.spans.results import class_probabilities
from ...types import Bools1d, Floats1d, Floats2d, Pointers1d
from ..reports.reading import Stages, stages_of


@dataclass(frozen=True)
class LikelyEntities:
    """The spans of a batch that are entities with a probability of 0.01 or more.

    bounds: int64 `[P, 2]`, tokens of the batch, in ascending order. probabilities: float64
    `[P, C]`, that the span is an entity of each of the labels. labels: names of the columns.
    batch, temperature: the sequences of the batch as the segmenter scores them. starts: int64
    `[N + 1]`, first tokens of the sentences that the Docs have, also where a sequence is a whole
    Doc; no span goes beyond one.
    """

    bounds: BoundsArray
    probabilities: Floats2d
    labels: tuple[str, ...]
    batch: ScoredBatch
    temperature: float
    starts: Pointers1d

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.starts) - 1

    @property
    def are_sequences(self) -> Bools1d:
        """Which sentences the segmenter takes as sequences, bool `[N]`."""
        is_bound = np.isin(self.starts, self.batch.tokens.sequence_starts)
        found: Bools1d = is_bound[:-1] & is_bound[1:]
        return found

    @cached_property
    def sentences(self) -> Pointers1d:
        """Number of the sentence of each span, int64 `[P]`."""
        return _numbers(self.starts, self.bounds[:, 0])

    @cached_property
    def segmentations(self) -> Floats2d:
        """Probabilities of the two best segmentations of each sequence, float64 `[2, N]`."""
        if not len(self.batch):
            return np.zeros((2, 0))
        _, ranked = self.batch.best_paths(2)
        found: Floats2d = np.exp(self.batch.log_probabilities(ranked, self.temperature))
        return found

    def of_labels(self, labels: Sequence[str]) -> Floats2d:
        """Columns of the probabilities. Raises `ConfigError` for a label that there is not."""
        unknown = sorted(set(labels) - set(self.labels))
        if unknown:
            raise ConfigError(
                f"The pipeline has no label '{unknown[0]}'. Its labels: {', '.join(self.labels)}."
            )
        columns = [self.labels.index(label) for label in labels]
        found: Floats2d = self.probabilities[:, columns]
        return found


def _numbers(starts: Pointers1d, tokens: Pointers1d) -> Pointers1d:
    """Number of the sentence that each token stands in."""
    found: Pointers1d = np.searchsorted(starts, tokens, side="right") - 1
    return found


def require_stages(nlp: Language, what: str) -> Stages:
    """The components with the confidences of the entities.

    what: needs them, for the message. Raises `ConfigError` where there are none.
    """
    stages = stages_of(nlp)
    if stages is None:
        raise ConfigError(
            f"{what} needs a cascade_segmenter that finds the entities, with confidence = true; "
            f"the pipeline has {nlp.pipe_names}. Add one, or set its set_ents = true if it has no "
            "classifier."
        )
    return stages


def before_segmenter(nlp: Language, stages: Stages, docs: Sequence[Doc]) -> list[Doc]:
    """The Docs as the components before the segmenter leave them."""
    found = list(docs)
    for _, pipe in nlp.pipeline:
        if pipe is stages[0]:
            break
        found = annotated(pipe, found)
    return found


def likely_entities(stages: Stages, docs: Sequence[Doc]) -> LikelyEntities:
    """Those of Docs that the components before the segmenter have annotated.

    The Docs are not changed. A reranker's choice is not looked at, nor is a span that goes beyond
    the end of a sentence, as one can where a sequence is a whole Doc.
    """
    segmenter, classifier = stages
    finders = segmenter.finders
    batches = [finder.scored(docs) for finder in finders]
    batch, temperature = batches[0], finders[0].temperature
    spans, of_span = _joined(list(map(_likely, batches, finders)))
    starts = read_tokens(docs, ()).sequence_starts
    within = _numbers(starts, spans.start) == _numbers(starts, spans.end - 1)
    spans, of_span = spans.take(within), of_span[within]
    both = np.stack([spans.start, spans.end], axis=1)
    bounds, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)
    if classifier is None:
        found = np.zeros((len(bounds), len(segmenter.labels)))
        found[number, spans.label] = of_span
        return LikelyEntities(bounds, found, segmenter.labels, batch, temperature, starts)
    of_bounds = np.bincount(number, weights=of_span, minlength=len(bounds))
    types = _types(segmenter, classifier, docs, batch, bounds)
    found = np.minimum(1.0, of_bounds)[:, None] * types
    return LikelyEntities(bounds, found, classifier.labels, batch, temperature, starts)


def _likely(batch: ScoredBatch, finder: CascadeSegmenter) -> tuple[Spans, Floats1d]:
    if len(batch):
        return batch.likely_spans(np.zeros(len(finder.labels)), finder.temperature)
    none = np.zeros(0, dtype=np.int64)
    return Spans(none, none, none.astype(np.int32)), np.zeros(0)


def _joined(parts: Sequence[tuple[Spans, Floats1d]]) -> tuple[Spans, Floats1d]:
    spans, probabilities = zip(*parts, strict=True)
    start, end, label = (np.concatenate(columns) for columns in zip(*spans, strict=True))
    return Spans(start, end, label), np.concatenate(probabilities)


def _types(
    segmenter: CascadeSegmenter,
    classifier: CascadeClassifier,
    docs: Sequence[Doc],
    batch: ScoredBatch,
    bounds: BoundsArray,
) -> Floats2d:
    """Probabilities of the labels `[P, C]` of spans, each seen beside those of the best path."""
    if not len(bounds):
        return np.zeros((0, len(classifier.labels)))
    best = batch.spans(batch.best_path())
    around = np.stack([best.start, best.end], axis=1)
    scores = classifier.scores(docs, _by_doc(bounds, batch.tokens), _by_doc(around, batch.tokens))
    found = class_probabilities(scores, classifier.temperature)
    return found[:, int(classifier.reject) :]


def _by_doc(bounds: BoundsArray, tokens: Tokens) -> list[BoundsArray]:
    """Bounds in the batch, ascending, as bounds in each Doc."""
    starts = tokens.doc_starts
    cuts: Pointers1d = np.searchsorted(bounds[:, 0], starts)
    return [
        bounds[begin:end] - offset
        for (begin, end), offset in zip(pairwise(cuts.tolist()), starts.tolist(), strict=False)
    ]


@dataclass(frozen=True)
class Measure:
    """A number that is larger, the less sure the pipeline is; 0 where it has no doubt.

    of_spans: of spans `[P]`, by their distributions over the labels and, last, no entity,
    `[P, C + 1]`. of_segmentations: of sentences `[N]`, by the probabilities of their two best
    segmentations `[2, N]`; None where the spans of a sentence add up.
    """

    of_spans: Callable[[Floats2d], Floats1d]
    of_segmentations: Callable[[Floats2d], Floats1d] | None = None


def _entropy(distributions: Floats2d) -> Floats1d:
    """`-Σ p log2 p` in bits."""
    logarithms = np.log2(distributions, out=np.zeros_like(distributions), where=distributions > 0)
    found: Floats1d = -(distributions * logarithms).sum(axis=1)
    return np.maximum(0.0, found)


def _margin(distributions: Floats2d) -> Floats1d:
    ascending = np.sort(distributions, axis=1)
    return 1.0 - (ascending[:, -1] - ascending[:, -2])


MEASURES: Mapping[str, Measure] = {
    "entropy": Measure(_entropy),
    # 1 less the difference of the two largest probabilities, or less the largest one.
    "margin": Measure(_margin, lambda best: 1.0 - (best[0] - best[1])),
    "least_confident": Measure(lambda of: 1.0 - of.max(axis=1), lambda best: 1.0 - best[0]),
}
DEFAULT = "entropy"


@dataclass(frozen=True)
class UncertainSpan:
    """A span that is likely an entity: its tokens in the Doc, and its most probable label.

    probability: of an entity with these bounds and this label. value: of the measure.
    """

    start: int
    end: int
    label: str
    probability: float
    value: float


@dataclass(frozen=True)
class UncertainSentence:
    """A sentence with its likely spans, the least sure first; start, end: tokens of the Doc."""

    start: int
    end: int
    value: float
    spans: tuple[UncertainSpan, ...]


@dataclass(frozen=True)
class Uncertainties:
    """What a measure says of a batch: of its likely spans `[P]`, and of its sentences `[N]`.

    names: of the labels that count. of_labels: float64 `[P, K]`, the probabilities of these.
    """

    likely: LikelyEntities
    names: tuple[str, ...]
    of_labels: Floats2d
    of_spans: Floats1d
    of_sentences: Floats1d


def measure_named(name: str) -> Measure:
    """Raises `ConfigError` for a name that no measure has."""
    if name not in MEASURES:
        raise ConfigError(f"There is no measure '{name}'. Choose one of {', '.join(MEASURES)}.")
    return MEASURES[name]


def measured(
    likely: LikelyEntities, measure: Measure, labels: Sequence[str] | None = None
) -> Uncertainties:
    """The uncertainty of the spans and the sentences of a batch.

    labels: only these count, None for all. Where a measure looks at whole segmentations, and labels
    are given or a sequence is a Doc of several sentences, a sentence is as unsure as the least sure
    of its spans.
    """
    names = likely.labels if labels is None else tuple(labels)
    of_labels = likely.of_labels(names)
    rest = np.maximum(0.0, 1.0 - of_labels.sum(axis=1, keepdims=True))
    of_spans = measure.of_spans(np.concatenate([of_labels, rest], axis=1))
    of_sentences = np.zeros(likely.n_sentences)
    if measure.of_segmentations is None:
        np.add.at(of_sentences, likely.sentences, of_spans)
    else:
        np.maximum.at(of_sentences, likely.sentences, of_spans)
        if labels is None:
            whole = likely.are_sequences
            number = _numbers(likely.batch.tokens.sequence_starts, likely.starts[:-1][whole])
            of_sentences[whole] = measure.of_segmentations(likely.segmentations[:, number])
    return Uncertainties(likely, names, of_labels, of_spans, of_sentences)


def uncertainty(
    nlp: Language, doc: Doc, measure: str = DEFAULT, labels: Sequence[str] | None = None
) -> list[UncertainSentence]:
    """How unsure a pipeline is of each sentence of a Doc, and of the spans in it.

    doc: as the pipeline left it; it is not changed. measure: `"entropy"` of the likely spans, in
    bits; `"margin"`, 1 less the difference of the probabilities of the two best segmentations; or
    `"least_confident"`, 1 less the probability of the best one. The last two look at types in the
    values of spans only. labels: only entities with these count; None for all. A reranker's choice
    is not looked at. Raises `ConfigError` for an unknown measure or label, and where no segmenter
    with confidences finds the entities.
    """
    chosen = measure_named(measure)
    found = measured(likely_entities(require_stages(nlp, "uncertainty"), [doc]), chosen, labels)
    return sentences_by_doc(found)[0]


def sentences_by_doc(found: Uncertainties) -> list[list[UncertainSentence]]:
    """The sentences of each Doc of a batch, with their spans; tokens count from the Doc's first."""
    likely, tokens = found.likely, found.likely.batch.tokens
    starts = likely.starts.tolist()
    doc_of = np.searchsorted(tokens.doc_starts, starts[:-1], side="right") - 1
    offsets = tokens.doc_starts[doc_of].tolist()
    spans: list[list[UncertainSpan]] = [[] for _ in offsets]
    for i in np.argsort(-found.of_spans, kind="stable"):
        sentence, label = int(likely.sentences[i]), int(found.of_labels[i].argmax())
        start, end = (likely.bounds[i] - offsets[sentence]).tolist()
        p, value = float(found.of_labels[i, label]), float(found.of_spans[i])
        spans[sentence].append(UncertainSpan(start, end, found.names[label], p, value))
    sentences: list[list[UncertainSentence]] = [[] for _ in tokens.doc_starts[:-1]]
    for i, (doc, offset) in enumerate(zip(doc_of.tolist(), offsets, strict=True)):
        start, end, value = starts[i] - offset, starts[i + 1] - offset, float(found.of_sentences[i])
        sentences[doc].append(UncertainSentence(start, end, value, tuple(spans[i])))
    return sentences
