"""Temperatures: log loss by hand, and the one that makes confidences right."""

from __future__ import annotations

from math import log
from types import SimpleNamespace

import numpy as np
import pytest

from spacy_cascade.pipeline.calibration import (
    RANGE,
    Outcomes,
    best_temperature,
    gives_confidences,
    log_loss,
)


def outcomes(right: list[bool], logits: list[float]) -> Outcomes:
    odds = np.array(logits)
    return Outcomes(np.array(right), lambda temperature: 1 / (1 + np.exp(-odds / temperature)))


def test_the_log_loss_of_smoothed_outcomes() -> None:
    """Three of four are right: 4/5 is wanted of these, and 1/3 of the wrong one."""
    found = outcomes([True, True, True, False], [log(3)] * 4)
    right, wrong = 0.8 * log(0.75) + 0.2 * log(0.25), (log(0.75) + 2 * log(0.25)) / 3
    assert log_loss(found, 1.0) == pytest.approx(-(3 * right + wrong) / 4)
    for confidence, doubt in ((1.0, 1 / 3), (0.0, 2 / 3)):  # what is certain costs no infinity
        sure = Outcomes(np.array([True]), lambda _, c=confidence: np.array([c]))
        assert log_loss(sure, 1.0) == pytest.approx(-doubt * log(1e-12), rel=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_the_best_temperature_gives_the_shares_that_are_right(temperature: float) -> None:
    """With one confidence for all, that is the mean of what is wanted."""
    right = [True] * 80 + [False] * 20
    wanted = (80 * 81 / 82 + 20 / 22) / 100
    logit = log(wanted / (1 - wanted)) * temperature
    assert best_temperature(outcomes(right, [logit] * 100)) == pytest.approx(temperature, rel=2e-3)


def test_temperatures_have_bounds() -> None:
    all_right, none_right = outcomes([True] * 9, [0.01] * 9), outcomes([False] * 9, [99.0] * 9)
    assert best_temperature(all_right) == pytest.approx(RANGE[0], rel=0.1)
    assert best_temperature(none_right) == pytest.approx(RANGE[1], rel=0.1)


@pytest.mark.parametrize(
    ("has_outcomes", "option", "expected"),
    [(True, True, True), (True, False, False), (True, None, False), (False, True, False)],
)
def test_which_components_give_confidences(
    has_outcomes: bool, option: bool | None, expected: bool
) -> None:
    pipe = SimpleNamespace()
    if has_outcomes:
        pipe.outcomes = outcomes
    if option is not None:
        pipe.confidence = option
    assert gives_confidences(pipe) is expected
