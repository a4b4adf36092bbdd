"""The product of components: one component whose scores are the sums of theirs.

For components `i` with features `f_i`, weights `w_i` and temperatures `t_i`,

    Π_i p_i(y | x) ∝ exp(Σ_i w_i·f_i(x, y) / t_i)

This is a log-linear model again, with the features of all of them. A feature that several
components have gets the sum of their weights. So the product costs no more than one component with
all the templates, and its probabilities are exact (docs/method.md, section 6.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...errors import ConfigError
from ...inference.structure import Weights
from ...numeric.index import KeyIndex
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.segmenter import CascadeSegmenter
from ...scorers.linear import parts_of, set_hessian_diagonal, set_weights
from ...types import Floats2d

Stage: TypeAlias = CascadeSegmenter | CascadeClassifier


def become_product(component: Stage, factors: Sequence[Stage]) -> None:
    """Make an untrained component the product of trained ones, at their temperatures.

    component: its templates are those of all factors, and its temperature is 1. A resource that
    several factors have, such as a lexicon, is that of the first one. Raises `ConfigError` where
    the factors differ in their labels, have more than features, or normalise locally: a product of
    such is not of their kind.
    """
    labels = {factor.labels for factor in factors}
    if len(labels) != 1:
        raise ConfigError(
            f"There is no product of components that know different labels: "
            f"{' | '.join(', '.join(each) for each in sorted(labels))}. Train them on Docs with "
            "the same labels."
        )
    if factors[0].structure.is_local:
        raise ConfigError(
            f"'{component.name}' normalises each decision by itself, and the product of such "
            "models is none of them. Use a linear chain (spacy_cascade.LinearChain.v1)."
        )
    if further := {name for each in (component, *factors) for name in parts_of(each.model)}:
        raise ConfigError(
            f"There is no product of models that have more than features. Leave out "
            f"{' and '.join(sorted(further))} in [model]."
        )
    component.add_labels(factors[0].labels)
    space = component.space
    for factor in reversed(factors):
        space.resources.made.update(factor.space.resources.made)
    space.index, weights = _summed(factors)
    space.forget_lexemes(0)
    component.reset_fit()
    set_weights(component.model, *weights)
    set_hessian_diagonal(component.model, None)
    component.warm_start = True


def _summed(factors: Sequence[Stage]) -> tuple[KeyIndex, Weights]:
    """All features of the factors, and the sums of their weights over temperatures."""
    index = KeyIndex()
    for factor in factors:
        keys = factor.space.index.keys
        index.add(keys[index.lookup(keys) < 0])
    first = factors[0].weights
    features: Floats2d = np.zeros((len(index), first.features.shape[1]))
    transitions = np.zeros_like(first.transitions)
    for factor in factors:
        temperature = factor.temperature
        of_features, of_transitions = factor.weights
        features[index.lookup(factor.space.index.keys)] += of_features / temperature
        transitions += of_transitions / temperature
    return index, Weights(features, transitions)
