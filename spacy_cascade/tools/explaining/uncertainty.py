"""How unsure a pipeline is of sentences and of spans: measures of uncertainty sampling.

B. Settles and M. Craven, "An analysis of active learning strategies for sequence labeling tasks"
(2008), sections 3.1 and 3.2. A span is a variable with the values of its labels and "no entity".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...errors import ConfigError
from ...types import Floats1d, Floats2d
from .likely import LikelyEntities, likely_entities, require_stages


class Measure(Protocol):
    """A number that is larger, the less sure the pipeline is; 0 where it has no doubt."""

    def of_spans(self, distributions: Floats2d) -> Floats1d:
        """Of spans `[P]`; distributions: over the labels and, last, no entity, `[P, C + 1]`."""

    def of_segmentations(self, probabilities: Floats2d) -> Floats1d | None:
        """Of sentences `[N]` by their two best segmentations `[2, N]`.

        None where the spans of a sentence add up.
        """


class Entropy:
    """`-Σ p log2 p` in bits; that of a sentence is the sum over its likely spans."""

    def of_spans(self, distributions: Floats2d) -> Floats1d:
        logarithms = np.log2(
            distributions, out=np.zeros_like(distributions), where=distributions > 0
        )
        found: Floats1d = -(distributions * logarithms).sum(axis=1)
        return np.maximum(0.0, found)

    def of_segmentations(self, probabilities: Floats2d) -> Floats1d | None:
        return None


class Margin:
    """1 less the difference of the two largest probabilities."""

    def of_spans(self, distributions: Floats2d) -> Floats1d:
        ascending = np.sort(distributions, axis=1)
        return 1.0 - (ascending[:, -1] - ascending[:, -2])

    def of_segmentations(self, probabilities: Floats2d) -> Floats1d | None:
        found: Floats1d = 1.0 - (probabilities[0] - probabilities[1])
        return found


class LeastConfident:
    """1 less the largest probability."""

    def of_spans(self, distributions: Floats2d) -> Floats1d:
        found: Floats1d = 1.0 - distributions.max(axis=1)
        return found

    def of_segmentations(self, probabilities: Floats2d) -> Floats1d | None:
        found: Floats1d = 1.0 - probabilities[0]
        return found


MEASURES: Mapping[str, Measure] = {
    "entropy": Entropy(),
    "margin": Margin(),
    "least_confident": LeastConfident(),
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
    """What a measure says of a batch: of its likely spans `[P]`, and of its sequences `[N]`.

    names: of the labels that count. of_labels: float64 `[P, K]`, the probabilities of these.
    """

    likely: LikelyEntities
    names: tuple[str, ...]
    of_labels: Floats2d
    of_spans: Floats1d
    of_sequences: Floats1d


def measure_named(name: str) -> Measure:
    """Raises `ConfigError` for a name that no measure has."""
    if name not in MEASURES:
        raise ConfigError(f"There is no measure '{name}'. Choose one of {', '.join(MEASURES)}.")
    return MEASURES[name]


def measured(
    likely: LikelyEntities, measure: Measure, labels: Sequence[str] | None = None
) -> Uncertainties:
    """The uncertainty of the spans and the sequences of a batch.

    labels: only these count, None for all. A sentence then is as unsure as the least sure of its
    spans, where the measure looks at whole segmentations otherwise.
    """
    names = likely.labels if labels is None else tuple(labels)
    of_labels = likely.of_labels(names)
    rest = np.maximum(0.0, 1.0 - of_labels.sum(axis=1, keepdims=True))
    of_spans = measure.of_spans(np.concatenate([of_labels, rest], axis=1))
    of_whole = measure.of_segmentations(likely.segmentations)
    of_sequences = np.zeros(likely.n_sequences)
    if of_whole is None:
        np.add.at(of_sequences, likely.sequences, of_spans)
    elif labels is None:
        of_sequences = of_whole
    else:
        np.maximum.at(of_sequences, likely.sequences, of_spans)
    return Uncertainties(likely, names, of_labels, of_spans, of_sequences)


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
    """The sequences of each Doc of a batch, with their spans; tokens count from the Doc's first."""
    likely, tokens = found.likely, found.likely.batch.tokens
    starts = tokens.sequence_starts.tolist()
    doc_of = np.searchsorted(tokens.doc_starts, starts[:-1], side="right") - 1
    offsets = tokens.doc_starts[doc_of].tolist()
    spans: list[list[UncertainSpan]] = [[] for _ in offsets]
    for i in np.argsort(-found.of_spans, kind="stable"):
        sequence, label = int(likely.sequences[i]), int(found.of_labels[i].argmax())
        start, end = (likely.bounds[i] - offsets[sequence]).tolist()
        p, value = float(found.of_labels[i, label]), float(found.of_spans[i])
        spans[sequence].append(UncertainSpan(start, end, found.names[label], p, value))
    sentences: list[list[UncertainSentence]] = [[] for _ in tokens.doc_starts[:-1]]
    for i, (doc, offset) in enumerate(zip(doc_of.tolist(), offsets, strict=True)):
        start, end, value = starts[i] - offset, starts[i + 1] - offset, float(found.of_sequences[i])
        sentences[doc].append(UncertainSentence(start, end, value, tuple(spans[i])))
    return sentences
