"""ICRF through the components: a second chain that looks at the first one's spans."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span

from helpers import TEXTS, annotations, blank, bounds, make_examples, weights
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.systems.isomeric.loggers import make_terms_logger

MODEL = {
    "min_count": 1,
    "templates": {
        "@misc": "spacy_cascade.SegmentationTemplates.v1",
        "extra": [
            "span(cascade)@-1..1",
            "span(cascade)@-1 & span(cascade)",
            "word & span(cascade)",
        ],
    },
}
LIKELIHOOD = {
    "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
}
SECOND: dict[str, Any] = {
    "model": MODEL,
    **LIKELIHOOD,
    "typed": True,
    "set_ents": True,
    "spans_key": "types",
}


def joint(strength: float = 0.1, first: dict[str, Any] | None = None, **second: Any) -> Language:
    nlp = blank()
    nlp.add_pipe(
        "cascade_segmenter",
        config={
            "model": {"min_count": 1},
            **LIKELIHOOD,
            "trainer": {"@misc": "spacy_cascade.TrainedJointly.v1"},
            **(first or {}),
        },
    )
    trainer = {"@misc": "spacy_cascade.JointLBFGS.v1", "C": strength, "iterations": 5, "threads": 1}
    config = {**SECOND, "trainer": trainer, **second}
    nlp.add_pipe("cascade_segmenter", name="types", config=config)
    return nlp


def trained(nlp: Language, updates: int = 6) -> list[dict[str, float]]:
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    return [nlp.update(make_examples_of(examples, nlp), losses={}) for _ in range(updates)]


def make_examples_of(examples: list[Any], nlp: Language) -> list[Any]:
    """New predicted Docs for the same references, as in spaCy's loop."""
    return [
        type(e)(new.predicted, e.reference)
        for e, new in zip(examples, make_examples(nlp), strict=True)
    ]


def test_both_learn() -> None:
    nlp = joint()
    losses = trained(nlp)
    assert losses[-1]["types"] < losses[0]["types"]
    assert [loss["cascade_segmenter"] for loss in losses] == [0.0] * len(losses)
    for example in make_examples(nlp):
        doc = nlp(example.predicted)
        assert bounds(doc.ents) == bounds(example.reference.ents)
        found = [(s, e) for s, e, _ in bounds(doc.spans["cascade"])]
        assert found == [(s, e) for s, e, _ in bounds(example.reference.ents)]


def test_without_strength_they_are_two_separate_fits() -> None:
    together = joint(0.0)
    trained(together, 40)
    apart = blank()
    lbfgs = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 5, "threads": 1}
    first = {"model": {"min_count": 1}, **LIKELIHOOD, "trainer": lbfgs}
    apart.add_pipe("cascade_segmenter", config=first)
    apart.add_pipe("cascade_segmenter", name="types", config={**SECOND, "trainer": lbfgs})
    examples = make_examples(apart)
    apart.initialize(lambda: examples)
    for _ in range(40):
        apart.update(make_examples_of(examples, apart))
    for name in ("cascade_segmenter", "types"):
        for one, other in zip(
            weights(together.get_pipe(name)), weights(apart.get_pipe(name)), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=0.02)
    assert [a["ents"] for a in annotations(together)] == [a["ents"] for a in annotations(apart)]


def test_strength_changes_both() -> None:
    found = []
    for strength in (0.0, 1.0):
        nlp = joint(strength)
        trained(nlp)
        found.append([weights(nlp.get_pipe(name))[0] for name in nlp.pipe_names])
    for one, other in zip(*found, strict=True):
        assert np.abs(one - other).max() > 0.01


def test_the_result_does_not_depend_on_threads() -> None:
    found = []
    for threads in (1, 2):
        nlp = joint(0.5)
        object.__setattr__(nlp.get_pipe("types").trainer, "threads", threads)
        trained(nlp, 2)
        found.append([weights(nlp.get_pipe(name))[0].tobytes() for name in nlp.pipe_names])
    assert found[0] == found[1]


def test_terms_are_shown() -> None:
    nlp = joint(0.5)
    (losses,) = trained(nlp, 1)
    names = ["log-likelihood of cascade_segmenter", "of its own", "penalty", "mean |D|"]
    one, two, penalty, distance = (losses[f"types: {name}"] for name in names)
    assert max(one, two) < 0 < min(penalty, distance)
    assert losses["types"] > penalty - one - two  # and the priors
    stdout = io.StringIO()
    log_step, _ = make_terms_logger()(nlp, stdout, io.StringIO())
    log_step({"losses": losses, "epoch": 0, "step": 1, "score": 0.5, "other_scores": {}})
    line = stdout.getvalue().splitlines()[-1]
    assert f"penalty {penalty:.6g}, mean |D| {distance:.6g}" in line


def test_round_trips(tmp_path: Path) -> None:
    nlp = joint()
    trained(nlp, 2)
    nlp.to_disk(tmp_path)
    expected = annotations(nlp)
    for copy in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert annotations(copy) == expected


def test_the_second_sees_what_the_first_found() -> None:
    templates = {"@misc": "spacy_cascade.Templates.v1", "lexicons": {}, "patterns": {}}
    templates["templates"] = ["bias", "span(cascade)@-1..1"]
    nlp = joint(model={"min_count": 1, "templates": templates})
    trained(nlp)
    doc = nlp(TEXTS[0])
    assert [(s, e) for s, e, _ in bounds(doc.ents)] == [
        (s, e) for s, e, _ in bounds(doc.spans["cascade"])
    ]
    other = nlp.make_doc(TEXTS[0])
    other.spans["cascade"] = [Span(other, 2, 4, "ENT")]
    assert [b[:2] for b in bounds(nlp.get_pipe("types")(other).ents)] == [(2, 4)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trainer": {"first": "chunker"}}, "no component of that name.*'first'"),
        ({"model": {"templates": {"extra": []}}}, r"span\(cascade\)@-1..1"),
        (
            {
                "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2", "kappa": 1.0},
                "penalty": {"@misc": "spacy_cascade.Gaussian.v1"},
            },
            "Likelihood.v2",
        ),
        ({"trainer": {"C": -1.0}}, "C of 0 or more"),
    ],
)
def test_what_cannot_be_trained_jointly(change: dict[str, Any], message: str) -> None:
    trainer = {"@misc": "spacy_cascade.JointLBFGS.v1", "iterations": 5}
    change = dict(change)
    if "trainer" in change:
        change["trainer"] = {**trainer, **change["trainer"]}
    if "model" in change:
        templates = {**MODEL["templates"], **change["model"]["templates"]}
        change["model"] = {**MODEL, "templates": templates}
    with pytest.raises((ConfigError, TrainingError), match=message):
        trained(joint(**change), 1)


def test_a_first_one_with_training_of_its_own() -> None:
    lbfgs = {"@misc": "spacy_cascade.LBFGS.v1"}
    with pytest.raises(TrainingError, match=r"TrainedJointly.v1.*components.cascade_segmenter"):
        trained(joint(first={"trainer": lbfgs}), 1)
