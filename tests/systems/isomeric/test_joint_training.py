"""ICRF through the components: a second chain that looks at the first one's spans."""

from __future__ import annotations

import io
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


def test_both_learn_and_the_terms_of_the_loss_are_shown(tmp_path: Path) -> None:
    """And what is saved says the same."""
    nlp = joint()
    losses = trained(nlp)
    assert losses[-1]["types"] < losses[0]["types"]
    assert [loss["cascade_segmenter"] for loss in losses] == [0.0] * len(losses)
    for example in make_examples(nlp):
        doc = nlp(example.predicted)
        assert bounds(doc.ents) == bounds(example.reference.ents)
        found = [(s, e) for s, e, _ in bounds(doc.spans["cascade"])]
        assert found == [(s, e) for s, e, _ in bounds(example.reference.ents)]
    names = ["log-likelihood of cascade_segmenter", "of its own", "penalty", "mean |D|"]
    one, two, penalty, distance = (losses[0][f"types: {name}"] for name in names)
    assert max(one, two) < 0 < min(penalty, distance)
    assert losses[0]["types"] > penalty - one - two  # and the priors
    shown = io.BytesIO()
    stdout = io.TextIOWrapper(shown, encoding="utf8")  # It keeps lines until it is flushed.
    log_step, _ = make_terms_logger()(nlp, stdout, io.StringIO())
    row = {"losses": losses[0], "epoch": 0, "step": 1, "score": 0.5, "other_scores": {}}
    log_step(row)
    *head, line = shown.getvalue().decode().splitlines()
    assert f"penalty {penalty:.6g}, mean |D| {distance:.6g}" in line
    log_step({**row, "losses": {"cascade_segmenter": 1.0, "types": 2.0}})
    log_step(None)
    after = shown.getvalue().decode().splitlines()[len(head) + 1 :]
    assert [line.split()[:4] for line in after] == [["0", "1", "1.00", "2.00"]]
    nlp.to_disk(tmp_path)
    assert annotations(spacy.load(tmp_path)) == annotations(nlp)


def test_strength_changes_both_and_threads_nothing() -> None:
    def found(strength: float, threads: int = 1) -> list[np.ndarray]:
        nlp = joint(strength)
        object.__setattr__(nlp.get_pipe("types").trainer, "threads", threads)
        trained(nlp, 2)
        return [weights(nlp.get_pipe(name))[0] for name in nlp.pipe_names]

    weak, strong, again = found(0.0), found(1.0), found(1.0, threads=2)
    for one, other, same in zip(weak, strong, again, strict=True):
        assert np.abs(one - other).max() > 0.01
        np.testing.assert_array_equal(other, same)


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
        (
            {"first": {"trainer": {"@misc": "spacy_cascade.LBFGS.v1"}}},
            r"TrainedJointly.v1.*components.cascade_segmenter",
        ),
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
