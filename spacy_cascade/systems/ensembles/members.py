"""The members of an ensemble: what each makes of a Doc, their mean, and what it decides for.

For a span of a text and a label `c`, with the members `m = 1 … M` of an ensemble,

    p(span, c) = 1/M Σ_m P_m(span)·P_m(c | span)        P(background) = 1 - p(span, c)

A span stays background only where `P(background) - p(span, c) > penalty` for its best label `c`,
that is, where `p(span, c) < (1 - penalty) / 2`. Of spans that overlap, those with the largest sum
of `p - (1 - penalty) / 2` are kept. (Source: the random forest of MEMMs in docs/combining.md, where
the penalty is on the sum over the members: 2 there is 0.2 here with ten members.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config
from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError, ModelFileError
from ...inference.structure import require
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.decoding import LEAST
from ...pipeline.recognisers import annotated, recognisers
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.gold import read_gold
from ...pipeline.spans.placing import BoundsArray, as_array, choose_disjoint
from ...pipeline.spans.results import Segments, class_probabilities
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d


class TypedPosteriors(NamedTuple):
    """Spans with the probability of each label.

    start, end (exclusive): int64 `[P]`, counted from the first token of a batch. probabilities:
    float64 `[P, C]`; the sum of a row is the posterior of the span.
    """

    start: Pointers1d
    end: Pointers1d
    probabilities: Floats2d


class Decision(NamedTuple):
    """Which spans `[P]` become entities, the best label of each, and its probability."""

    chosen: Bools1d
    label: Ints1d
    probability: Floats1d


def mean_posteriors(members: Sequence[TypedPosteriors]) -> TypedPosteriors:
    """The mean over members, in ascending order of spans; a span that one has not is 0 there."""
    start, end, probabilities = (np.concatenate(parts) for parts in zip(*members, strict=True))
    if not len(start):
        return TypedPosteriors(start, end, probabilities)
    order = np.lexsort((end, start))
    start, end, probabilities = start[order], end[order], probabilities[order]
    is_new = np.append(True, (np.diff(start) != 0) | (np.diff(end) != 0))
    first = np.flatnonzero(is_new)
    sums = np.add.reduceat(probabilities, first, axis=0)
    return TypedPosteriors(start[first], end[first], sums / len(members))


def least_probability(penalty: float) -> float:
    """The probability from which on a span is no background."""
    return (1.0 - penalty) / 2


def decide(spans: TypedPosteriors, penalty: float) -> Decision:
    """The entities among spans that may overlap."""
    if not len(spans.start):
        nothing = np.zeros(0)
        return Decision(nothing.astype(np.bool_), nothing.astype(np.int32), nothing)
    label = spans.probabilities.argmax(axis=1).astype(np.int32)
    best = spans.probabilities.max(axis=1)
    chosen = choose_disjoint(spans.start, spans.end, best - least_probability(penalty))
    return Decision(chosen, label, best)


def at_temperature(probabilities: Floats1d, temperature: float) -> Floats1d:
    """Probabilities whose log-odds are divided by a temperature."""
    with np.errstate(divide="ignore"):
        log_odds = np.log(probabilities) - np.log1p(-np.minimum(probabilities, 1.0))
    flatter: Floats1d = 1.0 / (1.0 + np.exp(-log_odds / temperature))
    return flatter


_LISTING = {
    "confidence": True, "overlapping": True, "n_best": 1,
    "threshold": LEAST, "label_thresholds": {},
}  # fmt: skip
"""Options of a segmenter that lists all likely spans."""


@dataclass(frozen=True)
class Member:
    """A trained pipeline, whose segmenter lists all likely spans.

    name: for messages. segmenter, classifier: the components that find and type its entities; a
    single-phase recogniser has no classifier. earlier: the components before these.
    """

    name: str
    nlp: Language
    segmenter: CascadeSegmenter
    classifier: CascadeClassifier | None
    earlier: tuple[Callable[[Doc], Doc], ...]

    @classmethod
    def of(cls, nlp: Language, name: str) -> Member:
        """A member from its pipeline, whose segmenter is set to list.

        Raises `ConfigError` where it has no segmenter and classifier that give probabilities.
        """
        segmenter, classifier = recognisers(nlp)
        if segmenter is None or (classifier is None and not segmenter.typed):
            raise ConfigError(
                f"The member {name} finds no entities with components of this package; it has "
                f"{nlp.pipe_names}. Give a pipeline with a cascade_segmenter and, where that is "
                "not typed, a cascade_classifier."
            )
        require(segmenter.family.structure, ["likely_spans"], f"The member {name}")
        segmenter.cfg = _LISTING
        last = segmenter if classifier is None else classifier
        before = [pipe for _, pipe in nlp.pipeline]
        before = before[: before.index(last)]
        looks = set() if classifier is None else classifier.space.span_keys
        if segmenter.spans_key not in looks:
            before = [pipe for pipe in before if pipe is not segmenter]
        return cls(name, nlp, segmenter, classifier, tuple(before))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its entities, in alphabetical order."""
        return (self.classifier or self.segmenter).labels

    def posteriors(self, docs: Sequence[Doc]) -> TypedPosteriors:
        """The likely spans of a batch of Docs with the probability of each label.

        The Docs are not changed.
        """
        if self.earlier:
            docs = [doc.copy() for doc in docs]
        for pipe in self.earlier:
            docs = annotated(pipe, docs)
        found = self.segmenter.predict(docs)
        bounds = [np.stack([of_doc.spans.start, of_doc.spans.end], axis=1) for of_doc in found]
        offsets = np.cumsum([0, *map(len, docs)])
        placed = [b + offset for b, offset in zip(bounds, offsets, strict=False)]
        start, end = np.concatenate([as_array([]), *placed]).T
        return TypedPosteriors(start, end, self._by_label(docs, found, bounds))

    def _by_label(
        self, docs: Sequence[Doc], found: Sequence[Segments], bounds: Sequence[BoundsArray]
    ) -> Floats2d:
        """Probability of each label of each span, float64 `[P, C]`."""
        sure: Floats1d = np.concatenate([np.zeros(0), *(_confidences(each) for each in found)])
        if self.classifier is None:
            labels = [np.zeros(0, dtype=np.int32), *(each.spans.label for each in found)]
            by_label = np.zeros((len(sure), len(self.labels)))
            by_label[np.arange(len(sure)), np.concatenate(labels)] = sure
            return by_label
        classifier = self.classifier
        if not len(sure):
            return np.zeros((0, len(self.labels)))
        scores = classifier.scores(docs, bounds, bounds)
        types = class_probabilities(scores, classifier.temperature)[:, int(classifier.reject) :]
        return types * sure[:, None]

    def to_bytes(self) -> bytes:
        """The whole pipeline but for its vocabulary, which is that of the ensemble."""
        data: bytes = self.nlp.to_bytes(exclude=["vocab"])
        return data

    @classmethod
    def from_bytes(cls, data: bytes, name: str, vocab: Vocab) -> Member:
        """A member from its bytes. Raises `ModelFileError` where they are none."""
        try:
            config = Config().from_bytes(srsly.msgpack_loads(data)["config.cfg"])
            nlp = load_model_from_config(config, vocab=vocab, auto_fill=True)
        except (ValueError, KeyError, TypeError) as error:
            raise ModelFileError(f"The bytes of the member {name} are damaged: {error}.") from None
        return cls.of(nlp.from_bytes(data, exclude=["vocab"]), name)


def read_members(folder: Path, vocab: Vocab) -> list[Member]:
    """The pipelines in the folders of a folder, by name.

    Raises `ConfigError` where there is no such folder, or no pipeline in it.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"There is no folder {folder} with the members of an ensemble. Check the path."
        )
    found = sorted(path.parent for path in folder.glob("*/config.cfg"))
    if not found:
        raise ConfigError(
            f"The folder {folder} has no trained pipelines, so the ensemble would have no members. "
            "Save each member into a folder of its own there."
        )
    return [Member.of(spacy.load(path, vocab=vocab), path.name) for path in found]


def check_alike(nlp: Language | None, members: Sequence[Member]) -> None:
    """Raise `ConfigError` where there are no members, or they do not go together.

    nlp: the pipeline of the ensemble; all members need its tokenizer, and the same labels.
    """
    if not members:
        raise ConfigError("An ensemble needs at least one member. Give trained pipelines.")
    first = members[0]
    for member in members[1:]:
        if member.labels != first.labels:
            raise ConfigError(
                f"The members of an ensemble need the same labels. {first.name} has "
                f"{', '.join(first.labels)}; {member.name} has {', '.join(member.labels)}. Train "
                "all of them for the same labels."
            )
    for member in members:
        check_tokenizers(member.nlp, nlp or first.nlp)


def check_tokenizers(one: Language, other: Language) -> None:
    """Raise `ConfigError` where two pipelines split text differently."""
    if _tokenizer_of(one) != _tokenizer_of(other):
        raise ConfigError(
            "The pipelines have different tokenizers. An ensemble, its members and what is "
            "distilled from it need the same [nlp.tokenizer]."
        )


def _tokenizer_of(nlp: Language) -> Any:
    """What tells tokenizers apart: their rules, or else their settings."""
    made: Any = nlp.tokenizer
    if not hasattr(made, "to_bytes"):
        return nlp.config["nlp"]["tokenizer"]
    # As a table, since equal rules may stand in another order.
    return srsly.msgpack_loads(made.to_bytes(exclude=["vocab"]))


def _confidences(segments: Segments) -> Floats1d:
    assert segments.confidences is not None
    return segments.confidences


def gold_in_batch(
    examples: Sequence[Example], labels: Sequence[str]
) -> tuple[set[tuple[int, int, int]], Bools1d]:
    """Gold entities of a batch, and which of its tokens `[T]` are annotated.

    An entity is its start, end (exclusive) and number among the labels, -1 for any other label.
    """
    numbers = {label: i for i, label in enumerate(labels)}
    wanted, observed, offset = set(), [np.zeros(0, dtype=np.bool_)], 0
    for example in examples:
        gold = read_gold(example, None)
        for start, end, label in gold.spans:
            wanted.add((start + offset, end + offset, numbers.get(label, -1)))
        observed.append(gold.observed)
        offset += len(example.predicted)
    return wanted, np.concatenate(observed)
