"""What CONTRIBUTING promises: something new is one function and one registered name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.util import registry
from spacy_cascade.losses.problem import Problem
from thinc.api import Model

from helpers import SENTENCES, TRAINER, blank, bounds, make_doc, make_examples, train
from spacy_cascade.features.templates import Templates
from spacy_cascade.models.linear import make_linear_model
from spacy_cascade.numeric.vectors import dot
from spacy_cascade.parallel import Workers
from spacy_cascade.types import Floats1d


@registry.misc("test.WordAndLength.v1")
def make_word_and_length() -> Templates:
    return Templates(("bias", "word@-1..1", "length & prefix(1)"), {}, {})


@registry.architectures("test.LabelsOnlyChain.v1")
def make_labels_only_chain(templates: Templates) -> Model[Any, Any]:
    return make_linear_model("test_chain", templates, 1, label_pairs=False)


class GradientDescent:
    """A trainer of another kind: plain steps, halved until one lowers the objective."""

    iterations = 60

    def workers(self) -> Workers:
        return Workers(1)

    def check(self, objective: object) -> None:
        pass

    def start(self, problem: Problem, parameters: Floats1d, workers: Workers) -> Any:
        return Descent(problem, np.array(parameters))


class Descent:
    def __init__(self, problem: Problem, parameters: Floats1d) -> None:
        self.problem, self.parameters = problem, parameters

    def run(self, iterations: int, progress: Any = lambda: None) -> float:
        value, gradient = self.problem.value_and_gradient(self.parameters)
        step = 1.0
        for _ in range(iterations):
            while dot(gradient, gradient, Workers(1)) > 1e-12:
                point = self.parameters - step * gradient
                there, slope = self.problem.value_and_gradient(point)
                if there < value:
                    self.parameters, value, gradient = point, there, slope
                    break
                step *= 0.5
            progress()
        return float(value)


@registry.misc("test.GradientDescent.v1")
def make_gradient_descent() -> GradientDescent:
    return GradientDescent()


NEW: dict[str, dict[str, Any]] = {
    "template set": {
        "model": {"min_count": 1, "templates": {"@misc": "test.WordAndLength.v1"}},
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0},
        "trainer": TRAINER,
    },
    "model": {
        "model": {
            "@architectures": "test.LabelsOnlyChain.v1",
            "templates": {"@misc": "spacy_cascade.JnlpbaTemplates.v1"},
        },
        "trainer": TRAINER,
    },
    "trainer": {"model": {"min_count": 1}, "trainer": {"@misc": "test.GradientDescent.v1"}},
}


@pytest.mark.parametrize("what", NEW)
def test_something_new_is_used_by_its_name(what: str) -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config=NEW[what])
    first, *_, last = train(nlp, make_examples(nlp))
    assert last["cascade_segmenter"] < first["cascade_segmenter"]
    for text, spans in SENTENCES:
        doc = nlp(make_doc(nlp.vocab, text))
        found = [(start, end) for start, end, _ in bounds(doc.spans["cascade"])]
        assert found == [(start, end) for start, end, _ in spans]
