"""The features with the largest weights of a component, label by label.

Weights have no names, so these are made anew from a corpus (`features.names`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from spacy.training import Example

from ...pipeline.base import CascadePipe
from ...pipeline.initializing import units_of
from ...systems.semi_markov.space import find_all_names
from ...types import Floats1d
from .explanations import START, text_reader

_AT_ONCE = 256


@dataclass(frozen=True)
class WeightedFeature:
    """A feature and its weight for a label.

    name: None where the corpus has no such feature. weight: what it adds to the score of the
    label; where that depends on the label before, the mean. after: the weight after each label.
    """

    name: str | None
    weight: float
    after: dict[str, float]


@dataclass(frozen=True)
class LabelFeatures:
    """The features that speak most for a label, and those that speak most against it."""

    label: str
    strongest: tuple[WeightedFeature, ...]
    weakest: tuple[WeightedFeature, ...]


@dataclass(frozen=True)
class ComponentFeatures:
    """Those of all labels of a component; n_features: how many features it has."""

    component: str
    n_features: int
    labels: tuple[LabelFeatures, ...]

    @property
    def n_unnamed(self) -> int:
        """How many features no text of the corpus could name."""
        return sum(f.name is None for of in self.labels for f in (*of.strongest, *of.weakest))

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def top_features(pipe: CascadePipe, examples: Iterable[Example], n: int) -> ComponentFeatures:
    """The n features with the largest, and with the smallest, weights for each label.

    examples: where names are found, best of all those that the component was trained on, for
    they have all its features. They are read as in training, and nothing is changed.
    """
    pipe.sync_weights()
    columns = list(_columns(pipe))
    extremes = [[column.extremes(n, sign) for sign in (1, -1)] for column in columns]
    wanted = {number for of_label in extremes for side in of_label for number in side}
    names = _find(pipe, examples, wanted)
    return ComponentFeatures(
        pipe.name,
        len(pipe.space),
        tuple(
            LabelFeatures(column.label, *(column.features(side, names) for side in of_label))
            for column, of_label in zip(columns, extremes, strict=True)
        ),
    )


@dataclass(frozen=True)
class _Column:
    """Weights `[K]` for one label: the mean over the labels before, and after each of these."""

    label: str
    means: Floats1d
    after: dict[str, Floats1d]

    def extremes(self, n: int, sign: int) -> list[int]:
        """The n features with the largest weights of a sign, the largest first."""
        order = np.argsort(-sign * self.means, kind="stable")[:n]
        return [k for k in order.tolist() if sign * self.means[k] > 0]

    def features(
        self, numbers: Iterable[int], names: Mapping[int, str]
    ) -> tuple[WeightedFeature, ...]:
        return tuple(
            WeightedFeature(
                names.get(k),
                float(self.means[k]),
                {label: float(weights[k]) for label, weights in self.after.items()},
            )
            for k in numbers
        )


def _columns(pipe: CascadePipe) -> Iterator[_Column]:
    weights = pipe.weights.features[: len(pipe.space)]  # without those of vectors
    names = [name or START for name in pipe.structure_labels]
    for number, label in enumerate(names):
        columns, sources = pipe.structure.columns.of_label(number)
        if len(columns):
            by_column = weights[:, columns].astype(np.float64)
            before = [] if sources is None else [names[source] for source in sources]
            after = dict(zip(before, by_column.T, strict=False))
            yield _Column(label, by_column.mean(axis=1), after)
    for block in pipe.structure.columns.blocks[1:]:
        of_wholes = weights[:, block].astype(np.float64)
        for label, column in zip(pipe.labels, of_wholes.T, strict=True):
            yield _Column(f"{label} as a whole", column, {})


def _find(pipe: CascadePipe, examples: Iterable[Example], wanted: set[int]) -> dict[int, str]:
    """Names of features, as far as examples have them; no more are read than are needed."""
    names: dict[int, str] = {}
    remaining = iter(examples)
    while wanted and (batch := list(islice(remaining, _AT_ONCE))):
        pipe.begin_batch()
        units = units_of(pipe, batch)
        if len(units.first):
            text_of = text_reader(pipe, [example.reference for example in batch])
            names |= find_all_names(pipe.space, units, text_of, wanted)
            wanted = wanted - names.keys()
    return names
