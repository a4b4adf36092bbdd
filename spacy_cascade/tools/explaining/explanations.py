"""What explanations are made of, and scores taken apart into features."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ...caching import cached_property
from ...features.names import NamedFeature, named_features
from ...features.space import TextOf
from ...features.strings import hash_string
from ...features.units import Units
from ...inference.structure import Contrast
from ...numeric.dense import TokenVectors
from ...pipeline.base import CascadePipe
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.decoding import linear_potentials
from ...pipeline.reading import read, span_units, token_units, untyped
from ...pipeline.spans.placing import Bounds, LabelledSpan, as_array, bounds_of, in_batch
from ...scorers.beside import Beside
from ...scorers.linear import unit_scores
from ...systems.semi_markov.space import named_segments
from ...types import Floats2d, Ints1d, RealsXd

_SIZE = re.compile(r"\bcluster\(([\w-]+), \d+\)")


def _without_size(template: str) -> str:
    """A template that looks at any size of the clusters of its table."""
    return _SIZE.sub(r"cluster(\1)", template)


def _family(attribute: str) -> str:
    """An attribute without its argument, but with the table of words that it looks at."""
    name = attribute.partition("(")[0]
    return attribute if name == "cluster" else name


@dataclass(frozen=True)
class Contribution:
    """What one feature, or one transition between labels, adds to the scores compared.

    token: number of the token that has the feature, None where the whole span has it.
    weight: added to the score of what is explained. runner_up: added to that of the runner-up.
    template: the name of the feature without its values, such as `suffix(3)@-1`.
    """

    name: str
    token: int | None
    weight: float
    runner_up: float
    template: str = ""

    @property
    def push(self) -> float:
        """How much it speaks for what is explained, negative where it speaks against it."""
        return self.weight - self.runner_up

    @property
    def family(self) -> str:
        """What its template looks at, wherever that stands: `suffix` for `suffix(3)@-1`."""
        parts = _without_size(self.template or self.name).split(" & ")
        return " & ".join(_family(part.partition("@")[0]) for part in parts)


@dataclass(frozen=True)
class Explanation:
    """Why one component holds a span, with its label, for more likely than the runner-up.

    span: what is explained. hypothesis, runner_up: what stands in one of them and not in the
    other. probability: of the span or of its label, under the component alone; None where it
    gives none. contributions: of all features and transitions in which the two differ, the
    strongest push first.
    """

    component: str
    span: LabelledSpan
    hypothesis: tuple[LabelledSpan, ...]
    runner_up: tuple[LabelledSpan, ...]
    probability: float | None
    contributions: tuple[Contribution, ...]

    @cached_property
    def score(self) -> float:
        """What all features and transitions add up to."""
        return math.fsum(c.weight for c in self.contributions)

    @cached_property
    def runner_up_score(self) -> float:
        """The same of the best labelling without the span."""
        return math.fsum(c.runner_up for c in self.contributions)

    @property
    def evidence(self) -> float:
        """By how much the score is above that of the runner-up; negative where it is below."""
        return self.score - self.runner_up_score

    def strongest(self, n: int) -> list[Contribution]:
        """The n that push most, either way, and a last one with the sum of the others.

        The clusters of a word in one table are one, whatever their size.
        """
        listed, others = list(self._together[:n]), self._together[n:]
        if others:
            listed.append(_sum_of(others, f"{len(others)} others"))
        return listed

    def families(self, n: int) -> list[tuple[int, Contribution]]:
        """The others than the n strongest by family: how many, and their sum, most push first."""
        families: dict[str, list[Contribution]] = {}
        for c in self._together[n:]:
            families.setdefault(c.family, []).append(c)
        sums = [(len(of_one), _sum_of(of_one, name)) for name, of_one in families.items()]
        return sorted(sums, key=lambda pair: -abs(pair[1].push))

    @cached_property
    def _together(self) -> tuple[Contribution, ...]:
        """The contributions, with the sum of those that only differ in the size of a cluster."""
        alike: dict[object, list[Contribution]] = {}
        for number, c in enumerate(self.contributions):
            template = _without_size(c.template)
            key = (template, c.token) if template != c.template else number
            alike.setdefault(key, []).append(c)
        return by_push([each[0] if len(each) == 1 else _of_sizes(each) for each in alike.values()])

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "component": self.component,
            "reading": self.hypothesis,
            "runner_up": self.runner_up,
            "probability": self.probability,
            "score": self.score,
            "runner_up_score": self.runner_up_score,
            "evidence": self.evidence,
            "contributions": [{**asdict(c), "push": c.push} for c in self.contributions],
        }


@dataclass(frozen=True)
class EntityExplanation:
    """An entity of a Doc, with an explanation for each stage that decided on it.

    confidence: `span._.confidence`, of all stages together.
    """

    span: LabelledSpan
    text: str
    confidence: float | None
    stages: tuple[Explanation, ...]

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        start, end, label = self.span
        return {
            "text": self.text,
            "start": start,
            "end": end,
            "label": label,
            "confidence": self.confidence,
            "stages": [stage.to_json() for stage in self.stages],
        }


def _sum_of(contributions: Sequence[Contribution], name: str) -> Contribution:
    weight = math.fsum(c.weight for c in contributions)
    return Contribution(name, None, weight, math.fsum(c.runner_up for c in contributions))


def _of_sizes(contributions: Sequence[Contribution]) -> Contribution:
    """What the clusters of a word in one table add together, under the name of the strongest."""
    first, name = contributions[0], _without_size(contributions[0].name)
    template = _without_size(first.template)
    return replace(_sum_of(contributions, name), token=first.token, template=template)


def of_features(
    features: Sequence[NamedFeature], token: int | None, weights: RealsXd, columns: Sequence[int]
) -> list[Contribution]:
    """What features of one unit add, each as often as it counts.

    weights: `[K, S]`. columns: of what is explained, and of the runner-up if there is one.
    """
    found = []
    for feature, n in Counter(features).items():
        name = feature.name if n == 1 else f"{feature.name} ({n} times)"
        weight, *others = (n * weights[feature.number, columns].astype(np.float64)).tolist()
        runner_up = others[0] if others else 0.0
        found.append(Contribution(name, token, weight, runner_up, feature.template))
    return found


def of_vectors(
    vectors: TokenVectors | None, unit: int, token: int | None, weights: RealsXd, columns: list[int]
) -> list[Contribution]:
    """What the vectors of one unit add, if there are any; others as in `of_features`."""
    if vectors is None:
        return []
    (row,) = vectors.take(slice(unit, unit + 1)).of_units()
    parts = [""] if vectors.bounds is None else [" of the first", " of the last", " of all tokens"]
    own = weights[len(weights) - len(row) :, columns].astype(np.float64)
    found = []
    for part, values, of_part in zip(
        parts, np.split(row, len(parts)), np.split(own, len(parts)), strict=True
    ):
        weight, *others = (values @ of_part).tolist()
        runner_up = others[0] if others else 0.0
        found.append(Contribution(f"tok2vec{part}", token, weight, runner_up, VECTORS))
    return found


def of_network(
    beside: Beside | None, units: Units, unit: int, token: int | None, columns: list[int]
) -> list[Contribution]:
    """What words beside and inside one unit add by the network, if there is one; by their place."""
    if beside is None or not beside.is_trained:
        return []
    found = []
    for place, values in beside.contributions(units.take(slice(unit, unit + 1)), columns):
        weight, *others = values
        runner_up = others[0] if others else 0.0
        found.append(Contribution(f"network@{place}", token, weight, runner_up, NETWORK))
    return found


def by_push(contributions: list[Contribution]) -> tuple[Contribution, ...]:
    """The strongest first, of equals in the order of the text; those that add nothing fall out."""
    adding = [c for c in contributions if c.weight or c.runner_up]
    return tuple(sorted(adding, key=lambda c: -abs(c.push)))


START = "start"
"""Name of the label that stands before the first token and nowhere else."""
TRANSITION, CHOICES, LENGTH = "transition", "all choices", "length"
VECTORS, NETWORK = "tok2vec", "network"
"""Kinds of contributions that are no features."""


def text_reader(pipe: CascadePipe, docs: Iterable[Doc]) -> TextOf:
    """Gives words, labels and tags by their hashes, with those of spans that templates look at.

    docs: where such spans can be that no component of the pipeline finds. What is unknown, such
    as a phrase between two spans, is shown by its hash.
    """
    keys = pipe.space.span_keys
    labels = {span.label_ for doc in docs for key in keys for span in doc.spans.get(key, ())}
    for _, other in () if pipe.pipeline is None else pipe.pipeline.pipeline:
        if isinstance(other, CascadePipe) and getattr(other, "spans_key", None) in keys:
            labels.update(other.labels)
    tags = ["O", *(f"{prefix}-{label}" for prefix in "BI" for label in labels)]
    of_spans = {hash_string(tag): tag for tag in tags}
    strings = pipe.vocab.strings

    def text_of(number: int) -> str:
        if number in of_spans:
            return of_spans[number]
        try:
            return str(strings[number])
        except KeyError:
            return f"#{number:016x}"

    return text_of


def score_spans(
    classifier: CascadeClassifier, doc: Doc, spans: Sequence[Bounds]
) -> tuple[Units, TextOf, Floats2d]:
    """Spans of a Doc, beside those that stand on it, as a classifier looks at them.

    Returns the spans, what gives the texts of their features, and the scores of their classes,
    float64 `[P, C]`. The Doc is not changed.
    """
    key = classifier.spans_key
    found = doc.ents if key is None else doc.spans.get(key, ())
    classifier.begin_batch()
    text_of = text_reader(classifier, [doc])
    tokens = read(classifier, [doc])
    around = untyped(as_array(bounds_of(found)))
    bounds = in_batch([as_array(spans)], tokens)
    units = span_units(classifier.space, text_of, tokens, bounds, around)
    return units, text_of, unit_scores(classifier.model, units)


class ScoredDoc:
    """A Doc as a component that labels its tokens scores it."""

    def __init__(self, pipe: CascadePipe, doc: Doc) -> None:
        self._pipe = pipe
        self._text_of = text_reader(pipe, [doc])
        self.tokens, self._linear = linear_potentials(pipe, [doc])
        self._potentials = pipe.structure.normalised(self._linear)
        self._units = token_units(pipe, self.tokens)

    def explain(
        self,
        span: LabelledSpan,
        labels: Ints1d,
        spans_of: Callable[[Ints1d], list[LabelledSpan]],
        probability: float | None = None,
    ) -> Explanation | None:
        """The best labelling that has a span against the best without; None where one is missing.

        labels: of the tokens of the span. spans_of: gives the spans of a labelling of a sequence.
        """
        starts = self.tokens.sequence_starts
        i = int(np.searchsorted(starts, span[0], side="right"))
        begin, end = int(starts[i - 1]), int(starts[i])
        of_sequence = self._potentials.of_sequence(begin, end)
        paths = self._pipe.structure.contrast(of_sequence, labels, span[0] - begin)
        if paths is None:
            return None
        one, other = (
            [(first + begin, last + begin, label) for first, last, label in spans_of(path.labels)]
            for path in paths
        )
        one, other = [s for s in one if s not in other], [s for s in other if s not in one]
        return Explanation(
            self._pipe.name,
            span,
            tuple(one),
            tuple(other),
            probability,
            by_push(self._contributions(paths, begin) + self._of_wholes(paths, begin)),
        )

    def _contributions(self, paths: Contrast, begin: int) -> list[Contribution]:
        """What adds to the scores where the two paths differ; begin: first token of theirs."""
        structure, weights = self._pipe.structure, self._pipe.weights
        (_, columns, one, _), (_, other_columns, other, _) = paths
        labels = [name or START for name in self._pipe.structure_labels]
        _, names = structure.columns.names(labels)
        places = np.flatnonzero(one != other)
        named = named_features(self._pipe.space, self._units.take(begin + places), self._text_of)
        found = []
        for place, features in zip(places.tolist(), named, strict=True):
            pair = [int(columns[place]), int(other_columns[place])]
            if pair[0] != pair[1]:
                token = begin + place
                found += of_features(features, token, weights.features, pair)
                found += of_vectors(self._units.vectors, token, token, weights.features, pair)
                beside = self._pipe.model.attrs["beside"]
                found += of_network(beside, self._units, token, token, pair)
            edges = [int(one[place]), int(other[place])]
            weight, runner_up = weights.transitions[edges].tolist()
            texts = [" to ".join(names[edge]) for edge in edges]
            found.append(
                Contribution(f"transition {texts[0]}", begin + place, weight, 0.0, TRANSITION)
            )
            found.append(
                Contribution(f"transition {texts[1]}", begin + place, 0.0, runner_up, TRANSITION)
            )
            if self._potentials is not self._linear:
                found += self._of_decisions(begin + place, pair, [names[edge][0] for edge in edges])
        return found

    def _of_decisions(
        self, token: int, columns: list[int], before: list[str]
    ) -> list[Contribution]:
        """What is taken off two scores of a token, so that those after one label sum to 1.

        before: the label before in each path.
        """
        normalised, linear = (p.scores[token, columns] for p in (self._potentials, self._linear))
        one, other = (normalised - linear).tolist()
        return [
            Contribution(f"all choices after {before[0]}", token, one, 0.0, CHOICES),
            Contribution(f"all choices after {before[1]}", token, 0.0, other, CHOICES),
        ]

    def _of_wholes(self, paths: Contrast, begin: int) -> list[Contribution]:
        """What spans of either hypothesis add to its score as wholes; begin: first token."""
        one, other = (path.wholes for path in paths)
        only = [w for w in one if w not in other], [w for w in other if w not in one]
        wholes = [*only[0], *only[1]]
        if not wholes:
            return []
        bounds = np.array([whole[:2] for whole in wholes], dtype=np.int64) + begin
        named = named_segments(self._pipe.space, self._units, self._text_of, bounds)
        weights, found = self._pipe.weights.features, []
        for i, (whole, features) in enumerate(zip(wholes, named, strict=True)):
            length = f"length {whole.end - whole.start}"
            of_span = [Contribution(length, None, whole.of_length, 0.0, LENGTH)]
            of_span += of_features(features, None, weights, [whole.column])
            is_of_other = i >= len(only[0])
            found += [
                replace(c, weight=0.0, runner_up=c.weight) if is_of_other else c for c in of_span
            ]
        return found
