"""The most probable hypotheses of the sentences of a Doc: segmentations with their types.

    P(hypothesis) = P(segmentation) · Π P(type | span)

Both probabilities come from scores divided by the temperature of their component, as confidences
do: the confidence of an entity is the sum over all hypotheses that have it. The best hypothesis is
the most probable whole, which need not have the best segmentation.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...errors import ConfigError
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.decoding import potentials_of, spans_of_paths
from ...pipeline.recognisers import recognisers, refuse_levels
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.nbest import MOST, Ranked, candidates_by_doc, check_n
from ...pipeline.spans.placing import LabelledSpan, rows_of
from ...pipeline.spans.results import class_probabilities
from .explanations import score_spans


@dataclass(frozen=True)
class Hypothesis:
    """One way to annotate a sentence.

    entities: in ascending order; a span that the classifier rejects has the label `O`.
    segmentation: probability of the spans. probability: of spans and types together.
    """

    entities: tuple[LabelledSpan, ...]
    segmentation: float
    probability: float


@dataclass(frozen=True)
class Hypotheses:
    """Hypotheses of one sentence, best first; start, end: its tokens in the Doc."""

    start: int
    end: int
    hypotheses: tuple[Hypothesis, ...]

    def to_json(self, doc: Doc) -> dict[str, Any]:
        """As values for JSON, with the texts."""
        return {
            "text": doc[self.start : self.end].text,
            "start": self.start,
            "end": self.end,
            "hypotheses": [
                {
                    "probability": hypothesis.probability,
                    "segmentation": hypothesis.segmentation,
                    "entities": [
                        {"text": doc[s:e].text, "start": s, "end": e, "label": label}
                        for s, e, label in hypothesis.entities
                    ],
                }
                for hypothesis in self.hypotheses
            ],
        }


def joint_hypotheses(nlp: Language, doc: Doc, n: int) -> list[Hypotheses]:
    """The n best hypotheses of each sentence by the components of a pipeline, best first.

    They are those of the whole Doc where the segmenter was trained on such. doc: as the pipeline
    left it; it is not changed. A short sentence has fewer hypotheses. They are of the 100 best
    segmentations; one of another segmentation is no more probable than the last of these is. A
    reranker's choice is not looked at. Raises `ConfigError` where no segmenter finds the entities,
    or levels of them are found, and where n is not from 1 to 100.
    """
    check_n(n, "joint_hypotheses")
    segmenter, classifier = recognisers(nlp)
    if segmenter is None:
        raise ConfigError(
            "Hypotheses need a cascade_segmenter that finds the entities; the pipeline has "
            f"{nlp.pipe_names}. Add one, or set its set_ents = true if it has no classifier."
        )
    refuse_levels(segmenter, "A hypothesis has no spans that overlap")
    tokens, potentials = potentials_of(segmenter, [doc])
    if not len(potentials.scores):
        return []
    potentials = potentials.at_temperature(segmenter.temperature)
    paths, ranked = segmenter.structure.k_best(potentials, MOST)
    partitions = segmenter.structure.log_partitions(potentials)
    log_probabilities = ranked - partitions
    spans = spans_of_paths(segmenter.structure, paths, potentials.starts)
    (candidates,) = candidates_by_doc(Ranked(spans, ranked, log_probabilities), tokens)
    rows = [rows_of(of_rank) for of_rank in candidates.spans]
    choices = _choices(segmenter, classifier, doc, sorted({row for of in rows for row in of}))
    ends = [*candidates.starts[1:], len(doc)]
    hypotheses = []
    for start, end, values in zip(
        candidates.starts, ends, log_probabilities.T.tolist(), strict=True
    ):
        segmented = [
            _Segmented(value, [choices[row] for row in rows[k] if start <= row[0] < end])
            for k, value in enumerate(values)
            if value > -math.inf
        ]
        hypotheses.append(Hypotheses(start, end, tuple(_best(segmented, n))))
    return hypotheses


Row = tuple[int, int, int]
"""Start and end (exclusive) of a span, and the number of its label."""
Choice = tuple[float, LabelledSpan]
"""Log-probability of a type of a span, and the span with it."""


@dataclass(frozen=True)
class _Segmented:
    """A segmentation of a sentence; for each span the types that it can have, best first."""

    log_probability: float
    choices: list[list[Choice]]

    def total(self, ranks: Sequence[int]) -> float:
        """Log-probability of the hypothesis in which each span has its type of that rank."""
        chosen = (of[rank][0] for of, rank in zip(self.choices, ranks, strict=True))
        return self.log_probability + math.fsum(chosen)

    def next_to(self, ranks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Hypotheses with one span's next type; all hypotheses are reached, each from one other."""
        last = max((i for i, rank in enumerate(ranks) if rank), default=0)
        for i in range(last, len(ranks)):
            if ranks[i] + 1 < len(self.choices[i]):
                yield (*ranks[:i], ranks[i] + 1, *ranks[i + 1 :])


def _best(segmented: Sequence[_Segmented], n: int) -> Iterator[Hypothesis]:
    """The n most probable hypotheses: no hypothesis is more probable than the one it is next to."""
    heap = [
        (-s.total([0] * len(s.choices)), k, (0,) * len(s.choices)) for k, s in enumerate(segmented)
    ]
    heapq.heapify(heap)
    while heap and n:
        n -= 1
        negative, k, ranks = heapq.heappop(heap)
        found = segmented[k]
        yield Hypothesis(
            tuple(of[rank][1] for of, rank in zip(found.choices, ranks, strict=True)),
            min(1.0, math.exp(found.log_probability)),
            min(1.0, math.exp(-negative)),
        )
        for other in found.next_to(ranks):
            heapq.heappush(heap, (-found.total(other), k, other))


def _choices(
    segmenter: CascadeSegmenter, classifier: CascadeClassifier | None, doc: Doc, rows: Sequence[Row]
) -> dict[Row, list[Choice]]:
    """The types of spans, best first; a type of no probability is none."""
    if classifier is None:
        return {(s, e, label): [(0.0, (s, e, segmenter.labels[label]))] for s, e, label in rows}
    if not rows:
        return {}
    _, _, scores = score_spans(classifier, doc, [(start, end) for start, end, _ in rows])
    probabilities = class_probabilities(scores, classifier.temperature).tolist()
    choices: dict[Row, list[Choice]] = {}
    for row, of_row in zip(rows, probabilities, strict=True):
        both = zip(of_row, classifier.structure_labels, strict=True)
        found = [(math.log(p), (row[0], row[1], label)) for p, label in both if p > 0]
        choices[row] = sorted(found, key=lambda choice: -choice[0])
    return choices
