"""What is trained beside a linear model: when it adds its scores, what it is told and forgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from thinc.api import Model

from linear_models import TEXTS, units_of
from spacy_cascade.errors import TrainingError
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.units import Units
from spacy_cascade.scorers.linear import (
    all_scores,
    forget_weights,
    labels_of,
    make_linear_chain,
    make_span_classifier,
    parts_of,
    rearrange,
    set_to_zero,
    unit_scores,
)
from spacy_cascade.types import Floats2d

TEMPLATES = Templates(("word@-2", "bias"), {}, {})
WITHOUT: tuple[dict[str, Any], list[str]] = {}, []
"""What is restored where nothing was saved."""


class Ones:
    """A scorer that adds one to each score, and notes what it is told."""

    def __init__(self, are_spans: bool, margin: int) -> None:
        self.are_spans, self.margin, self.is_trained = are_spans, margin, False
        self.told: list[object] = []

    def add_scores(self, units: Units, out: Floats2d) -> None:
        out += 1.0

    def set_columns(self, names: Sequence[str]) -> None:
        self.told.append(names)

    def restore(self, arrays: dict[str, Any], names: Sequence[str]) -> None:
        self.told.append((arrays, names))


class Network:
    def __init__(self, margin: int = 0) -> None:
        self.margin = margin

    def scorer(self, templates: Templates, are_spans: bool) -> Any:
        assert templates is TEMPLATES
        return Ones(are_spans, self.margin)


def chain() -> Model:
    """A chain of two labels that has learnt nothing, and a scorer beside it."""
    model = make_linear_chain(TEMPLATES, 1, network=Network())
    model.attrs["space"].learn(units_of(model, TEXTS), 1)
    set_to_zero(model, 2, 4)
    return model


@pytest.mark.parametrize(
    ("make", "are_spans"), [(make_linear_chain, False), (make_span_classifier, True)]
)
def test_it_knows_what_it_is_beside_of(make: Callable[..., Model], are_spans: bool) -> None:
    model = make(TEMPLATES, 1, network=Network())
    assert model.attrs["beside"].are_spans is are_spans
    assert parts_of(model) == {"network": True}
    assert make(TEMPLATES, 1).attrs["beside"] is None


@pytest.mark.parametrize(("margin", "wider"), [(0, 2), (5, 5)])
def test_words_are_laid_out_for_both(margin: int, wider: int) -> None:
    assert make_linear_chain(TEMPLATES, 1).attrs["space"].plan.margin == 2
    model = make_linear_chain(TEMPLATES, 1, network=Network(margin))
    assert model.attrs["space"].plan.margin == wider


def test_it_adds_its_scores_when_it_is_trained() -> None:
    model = chain()
    units = units_of(model, TEXTS)
    assert not unit_scores(model, units).any()
    model.attrs["beside"].is_trained = True
    assert (unit_scores(model, units) == 1.0).all()
    assert not model.predict(units).any()


def test_it_is_told_labels_and_forgets_with_the_model() -> None:
    model = chain()
    told = model.attrs["beside"].told
    assert told == [WITHOUT]
    edges = ["a", "b", "c", "d"]
    rearrange(model, (["O", "B"], edges), ([("O", "x", "B"), ("O",), 3], edges))
    forget_weights(model)
    assert told == [WITHOUT, ["B", "O", "3"], WITHOUT]
    assert labels_of(([], edges)) == []


def test_features_that_are_added_while_it_scores_are_refused() -> None:
    model = chain()
    space, units = model.attrs["space"], units_of(model, TEXTS)
    others = [space.design(units)]
    beside = model.attrs["beside"]
    beside.is_trained = True
    (scores,) = all_scores(model, units, others, [slice(None)])
    assert (scores == 1.0).all()
    keys = np.append(space.index.keys, np.uint64(1))
    beside.add_scores = lambda *_: space._know(keys)  # as another thread may do
    with pytest.raises(TrainingError, match="Did another thread train the component meanwhile"):
        all_scores(model, units, others, [slice(None)])
