"""Blocks and names of release 0.2: they warn, and train to the very same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from helpers import TRAINER, add_classifier, add_segmenter, annotations, blank, make_examples, train
from spacy_cascade.systems.isomeric.trainer import TrainedJointly

ONLINE = {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1, "passes": 3}


def named(name: str, **settings: Any) -> dict[str, Any]:
    return {"@misc": f"spacy_cascade.{name}", **settings}


def made(**learning: Any) -> Language:
    """A cascade whose classifier tells right spans from wrong ones, so that misses count."""
    nlp = blank()
    add_segmenter(nlp, **learning)
    add_classifier(nlp, reject=True, **learning)
    return nlp


OLD_AND_NEW = [
    (
        {"objective": named("SoftmaxMargin.v1", kappa=2.0, sigma=0.5, miss=3.0)},
        {
            "loss": named("SoftmaxMargin.v2", kappa=2.0, false_negative_weight=3.0),
            "penalty": named("Gaussian.v1", sigma=0.5),
        },
    ),
    (
        {"objective": named("Likelihood.v1", sigma=2.0)},
        {"loss": named("Likelihood.v2"), "penalty": named("Gaussian.v1", sigma=2.0)},
    ),
    (
        {"objective": named("Hinge.v1", kappa=2.0, miss=3.0), "trainer": ONLINE},
        {
            "loss": named("Hinge.v2", kappa=2.0, false_negative_weight=3.0),
            "penalty": None,
            "trainer": ONLINE,
        },
    ),
]


@pytest.mark.parametrize(("old", "new"), OLD_AND_NEW, ids=["margin", "likelihood", "hinge"])
def test_an_objective_block(old: dict[str, Any], new: dict[str, Any], tmp_path: Path) -> None:
    name = old["objective"]["@misc"]
    with pytest.warns(FutureWarning, match=rf"\[objective\] with {name}.*\[loss\]"):
        first = made(**old)
    second = made(**new)
    for component in first.pipe_names:
        pipes = [nlp.get_pipe(component) for nlp in (first, second)]
        assert pipes[0].loss == pipes[1].loss
        assert pipes[0].penalty == pipes[1].penalty
    for nlp in (first, second):
        train(nlp, make_examples(nlp), updates=2)
    for component in first.pipe_names:
        assert first.get_pipe(component).to_bytes() == second.get_pipe(component).to_bytes()
    first.to_disk(tmp_path)
    with pytest.warns(FutureWarning, match="spacy_cascade"):
        loaded = spacy.load(tmp_path)
    assert annotations(loaded) == annotations(second)


def test_the_trainer_of_an_earlier_component() -> None:
    with pytest.warns(FutureWarning, match="TrainedLater.v1.*TrainedJointly.v1"):
        segmenter = add_segmenter(
            blank(), loss=named("Likelihood.v2"), trainer=named("TrainedLater.v1")
        )
    assert segmenter.trainer == TrainedJointly()


def test_blocks_of_today_do_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    for _, new in OLD_AND_NEW:
        made(**new)
    made(trainer=TRAINER)
    assert not [w for w in recwarn if issubclass(w.category, FutureWarning)]
