"""Training whose weights are no longer numbers, or would not fit into memory."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest

from helpers import add_segmenter, blank, make_examples, weights
from spacy_cascade import TrainingError
from spacy_cascade.scorers import linear

ONLINE = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2", "kappa": 1e100},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 1e300},
}


def test_the_last_finite_weights_stay() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, **ONLINE)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    with pytest.raises(TrainingError, match=r"'cascade_segmenter' has diverged.*\[trainer\]"):
        segmenter.sync_weights()
    assert all(np.isfinite(values).all() for values in weights(segmenter))
    segmenter.to_bytes()


def test_not_enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(linear, "set_weights", fail)
    nlp = blank()
    add_segmenter(nlp)
    with pytest.raises(
        TrainingError, match=r"not enough memory for 'cascade_segmenter'.*min_count"
    ):
        nlp.initialize(lambda: make_examples(nlp))
