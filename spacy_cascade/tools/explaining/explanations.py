"""What explanations are made of."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...caching import cached_property
from ...features.names import NamedFeature
from ...pipeline.spans.placing import LabelledSpan
from ...types import RealsXd


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
        parts = (self.template or self.name).split(" & ")
        return " & ".join(part.partition("@")[0].partition("(")[0] for part in parts)


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
        return math.fsum(c.weight for c in self.contributions)

    @cached_property
    def runner_up_score(self) -> float:
        return math.fsum(c.runner_up for c in self.contributions)

    @property
    def evidence(self) -> float:
        """By how much the score is above that of the runner-up; negative where it is below."""
        return self.score - self.runner_up_score

    def strongest(self, n: int) -> list[Contribution]:
        """The n that push most, either way, and a last one with the sum of the others."""
        listed, others = list(self.contributions[:n]), self.contributions[n:]
        if others:
            listed.append(_sum_of(others, f"{len(others)} others"))
        return listed

    def families(self, n: int) -> list[tuple[int, Contribution]]:
        """The others than the n strongest by family: how many, and their sum, most push first."""
        families: dict[str, list[Contribution]] = {}
        for c in self.contributions[n:]:
            families.setdefault(c.family, []).append(c)
        sums = [(len(of_one), _sum_of(of_one, name)) for name, of_one in families.items()]
        return sorted(sums, key=lambda pair: -abs(pair[1].push))

    def to_json(self) -> dict[str, Any]:
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


def by_push(contributions: list[Contribution]) -> tuple[Contribution, ...]:
    """The strongest first, of equals in the order of the text; those that add nothing fall out."""
    adding = [c for c in contributions if c.weight or c.runner_up]
    return tuple(sorted(adding, key=lambda c: -abs(c.push)))
