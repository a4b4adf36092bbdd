"""What CONTRIBUTING promises: a new member of the family is one class and one registered name.

Each class below stands as it would in one file of another package; `@registry` stands for its line
among the entry points. Attributes of templates: `features/test_new_attributes.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from spacy.language import Language
from spacy.util import registry
from thinc.api import Model

from helpers import SENTENCES, SMALL, TRAINER, blank, bounds, make_doc, make_examples, train
from objectives import central_differences, objective_of
from spacy_cascade import ConfigError
from spacy_cascade.features.templates import Templates
from spacy_cascade.inference.schemes import Spans, TagSet
from spacy_cascade.inference.structure import (
    Columns,
    Costs,
    Part,
    Potentials,
    Shares,
    Structure,
    Weights,
)
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences, Loss, SequenceLosses
from spacy_cascade.losses.margin import Likelihood
from spacy_cascade.numeric.vectors import dot
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.base import CentredPenalty, Penalty
from spacy_cascade.scorers.linear import make_linear_model
from spacy_cascade.trainers.base import (
    BYTES_OF_WEIGHT,
    Fit,
    Progress,
    Room,
    Shape,
    Source,
    check_needs,
)
from spacy_cascade.trainers.objective import Objective
from strategies import LABELS, random_design

Floats = NDArray[np.float64]


@registry.misc("test.WordAndLength.v1")
def make_word_and_length() -> Templates:
    return Templates(("bias", "word@-1..1", "length & prefix(1)"), {}, {})


# A structure: tokens whose labels do not depend on each other


class IndependentTokens(Structure):
    """Every token has one of the tags, whatever the others have.

    With `p(t, y)` the softmax of the scores at `t` all sums are products over tokens. A tag that
    continues a span stands for nothing where none goes on.
    """

    def __init__(self, tag_set: TagSet) -> None:
        self.n_labels, self.tag_set = len(tag_set.tags), tag_set
        nothing = np.zeros((0, 2), dtype=np.int32)
        self.columns = Columns(np.arange(self.n_labels)[:, None], nothing, nothing[:, 0])

    def observed(self, spans: Spans, known: Any) -> Any:
        return self.tag_set.observed(spans, known)

    def spans(self, labels: Any, starts: Any) -> Spans:
        return self.tag_set.spans(labels, starts)

    def best(self, potentials: Potentials) -> tuple[Any, Any]:
        totals = np.add.reduceat(potentials.scores.max(axis=1), potentials.starts[:-1])
        return potentials.scores.argmax(axis=1).astype(np.int32), totals

    def log_partitions(
        self, potentials: Potentials, costs: Costs | None = None, observed: Any = None
    ) -> Floats:
        sums = np.logaddexp.reduce(potentials.scores, axis=1)
        return np.add.reduceat(sums, potentials.starts[:-1])

    def span_posteriors(self, potentials: Potentials, labels: Any, spans: Spans) -> Floats:
        """Probability of the tags of a span; what comes after it may be anything."""
        log_sums = np.logaddexp.reduce(potentials.scores, axis=1)
        chosen = np.exp(potentials.scores[np.arange(len(labels)), labels] - log_sums)
        pairs = zip(spans.start.tolist(), spans.end.tolist(), strict=True)
        return np.array([chosen[start:end].prod() for start, end in pairs])

    def costs(self, of_labels: Floats) -> Costs:
        return Costs(of_labels, np.where(np.eye(self.n_labels) > 0, 0.0, -np.inf))

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats:
        potentials, observed, first, last, losses = part
        expected, right = shares or np.ones((2, len(losses)))
        for i in range(first, last):
            units = slice(potentials.starts[i], potentials.starts[i + 1])
            scores, gold = potentials.scores[units], observed[units]
            tokens = np.flatnonzero(gold >= 0)
            augmented = scores[tokens] + costs.margin[gold[tokens]]
            log_sums = np.logaddexp.reduce(augmented, axis=1, keepdims=True)
            losses[i] = log_sums.sum() - scores[tokens, gold[tokens]].sum()
            scores[:] = 0.0
            scores[tokens] = expected[i] * np.exp(augmented - log_sums)
            scores[tokens, gold[tokens]] -= right[i]
        return np.zeros(0)


class IndependentFamily:
    """The structures of a model without transitions, for components that find spans."""

    structure = IndependentTokens

    def of_spans(self, tag_set: TagSet) -> IndependentTokens:
        return IndependentTokens(tag_set)

    def size_of_spans(self, scheme: str, n_labels: int) -> tuple[int, int]:
        return 0, len(TagSet(scheme, tuple(map(str, range(n_labels)))).tags)

    def identity(self) -> dict[str, Any]:
        return {}


@registry.architectures("test.IndependentTokens.v1")
def make_independent_tokens(templates: Templates) -> Model[Any, Any]:
    return make_linear_model("test_independent_tokens", templates, 1, IndependentFamily())


# A loss: the likelihood of flatter or sharper probabilities


@registry.misc("test.TemperedLikelihood.v1")
@dataclass(frozen=True)
class TemperedLikelihood(Loss):
    """`T · likelihood(scores / T)`, which becomes the loss of a perceptron as `T` goes to 0."""

    temperature: float = 1.0
    needs: ClassVar[frozenset[str]] = Likelihood.needs

    def on(self, structure: Structure) -> SequenceLosses:
        return Tempered(Likelihood().on(structure), self.temperature)


@dataclass
class Tempered:
    likelihood: SequenceLosses
    temperature: float

    def __call__(self, part: Part) -> Floats:
        potentials, _, first, last, losses = part
        potentials.scores[slice(*potentials.starts[[first, last]])] /= self.temperature
        cooled = potentials.replace(transitions=potentials.transitions / self.temperature)
        gradient = self.likelihood(part._replace(potentials=cooled))
        losses[first:last] *= self.temperature
        return gradient


# A penalty: squares near the centre, straight lines far from it


@registry.misc("test.PseudoHuber.v1")
@dataclass(frozen=True)
class PseudoHuber(Penalty):
    """`δ² Σ (√(1 + (z/δ)²) - 1)`: large weights cost less than under a Gaussian."""

    delta: float = 0.5

    def at_zero(self, shape: tuple[int, int], n_transitions: int) -> CentredPenalty:
        return CentredHuber(self.delta, Weights(np.zeros(shape), np.zeros(n_transitions)))

    def at_weights(
        self, weights: Weights, hessian_diagonal: Any, transition_columns: Any
    ) -> CentredPenalty:
        return CentredHuber(self.delta, weights)


@dataclass(frozen=True)
class CentredHuber:
    delta: float
    centre: Weights

    def curvature(self) -> tuple[Floats, Floats]:
        return np.ones(len(self.centre.features)), np.ones(len(self.centre.transitions))

    def of_features(self, rows: slice, deviation: Floats) -> tuple[Floats, Floats]:
        root = np.sqrt(1.0 + (deviation / self.delta) ** 2)
        return self.delta**2 * (root - 1.0).sum(axis=1), deviation / root

    def of_transitions(self, deviation: Floats) -> tuple[float, Floats]:
        root = np.sqrt(1.0 + (deviation / self.delta) ** 2)
        return float(self.delta**2 * (root - 1.0).sum()), deviation / root

    def inherited(self) -> float:
        return 0.0


# A trainer: plain gradient descent


@registry.misc("test.GradientDescent.v1")
@dataclass(frozen=True)
class GradientDescent:
    """Steps down the slope, halved until one lowers the objective."""

    iterations: int = 60
    sees_all: ClassVar[bool] = True
    reads_corpus: ClassVar[bool] = False

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_needs(
            self, loss, penalty, structure, loss_has="on", takes_penalty=True, advice="Use another."
        )

    def room(self, shape: Shape) -> Room:
        n_weights = shape.n_features * shape.n_columns
        return Room(n_weights * BYTES_OF_WEIGHT, n_weights)

    def begin(self, source: Source) -> Descent:
        task = source.task()
        assert task.penalty is not None
        objective = Objective.of(CorpusLoss(task.data, task.loss, Workers(1)), task.penalty)
        return Descent(self.iterations, objective, objective.parameters(task.start))


class Descent(Fit[LabelledSequences]):
    def __init__(self, iterations: int, objective: Objective, parameters: Floats) -> None:
        self.iterations = iterations
        self.objective, self.parameters = objective, parameters

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        value, gradient = self.objective.value_and_gradient(self.parameters)
        step = 1.0
        for _ in range(self.iterations):
            while dot(gradient, gradient, Workers(1)) > 1e-12:
                point = self.parameters - step * gradient
                there, slope = self.objective.value_and_gradient(point)
                if there < value:
                    self.parameters, value, gradient = point, there, slope
                    break
                step *= 0.5
            progress()
        return float(value)

    def weights(self) -> Weights:
        return self.objective.weights(self.parameters)


NEW: dict[str, dict[str, Any]] = {
    "template set": {
        "model": {"min_count": 1, "templates": {"@misc": "test.WordAndLength.v1"}},
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0},
        "trainer": TRAINER,
    },
    "structure": {
        "model": {
            "@architectures": "test.IndependentTokens.v1",
            "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        },
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 3.0},
        "trainer": TRAINER,
        "scheme": "IOB2",
    },
    "loss": {**SMALL, "loss": {"@misc": "test.TemperedLikelihood.v1", "temperature": 0.2}},
    "penalty": {**SMALL, "penalty": {"@misc": "test.PseudoHuber.v1", "delta": 2.0}},
    "trainer": {"model": {"min_count": 1}, "trainer": {"@misc": "test.GradientDescent.v1"}},
}


@cache
def learnt(what: str) -> Language:
    """A segmenter with these settings that has learnt `SENTENCES`."""
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config=NEW[what])
    first, *_, last = train(nlp, make_examples(nlp), updates=8)
    assert last["cascade_segmenter"] < first["cascade_segmenter"]
    return nlp


@pytest.mark.parametrize("what", NEW)
def test_something_new_is_used_by_its_name(what: str) -> None:
    nlp = learnt(what)
    for text, spans in SENTENCES:
        doc = nlp(make_doc(nlp.vocab, text))
        found = [(start, end) for start, end, _ in bounds(doc.spans["cascade"])]
        assert found == [(start, end) for start, end, _ in spans]


@pytest.mark.parametrize("what", NEW)
def test_it_is_saved_loaded_and_adapted(what: str) -> None:
    nlp = learnt(what)
    other = blank().from_config(nlp.config).from_bytes(nlp.to_bytes())
    doc, again = (pipeline(make_doc(nlp.vocab, SENTENCES[0][0])) for pipeline in (nlp, other))
    assert bounds(again.spans["cascade"]) == bounds(doc.spans["cascade"])
    np.testing.assert_array_equal(
        again.spans["cascade"].attrs["scores"], doc.spans["cascade"].attrs["scores"]
    )
    losses = other.update(make_examples(other)[:2], losses={})
    assert np.isfinite(losses["cascade_segmenter"])


def test_what_a_new_structure_does_not_offer_is_refused_early() -> None:
    settings = {**NEW["structure"], "n_best": 3}
    with pytest.raises(ConfigError, match=r"'cascade_segmenter' needs k_best, which Independent"):
        blank().add_pipe("cascade_segmenter", config=settings)
    segmenter = blank().add_pipe("cascade_segmenter", config=NEW["structure"])
    with pytest.raises(ConfigError, match="needs k_best"):
        segmenter.n_best = 3
    assert segmenter.n_best == 1
    online = {"loss": {"@misc": "spacy_cascade.Hinge.v2"}, "penalty": None}
    online["trainer"] = {"@misc": "spacy_cascade.PassiveAggressive.v1"}
    with pytest.raises(ConfigError, match=r"PassiveAggressive .* needs learn_online, which Indep"):
        blank().add_pipe("cascade_segmenter", config={**NEW["structure"], **online})


@pytest.mark.parametrize("loss", [Likelihood(), TemperedLikelihood(0.5)])
@pytest.mark.parametrize("penalty", [0.7, PseudoHuber(0.5)])
def test_structure_loss_and_penalty_multiply(
    loss: Loss, penalty: Any, generator: np.random.Generator
) -> None:
    """The gradient of every combination is the slope of its value."""
    structure = IndependentTokens(TagSet("IOB2", LABELS[:1]))
    observed = generator.integers(-1, structure.n_labels, 9).astype(np.int32)
    starts = np.array([0, 4, 9], dtype=np.int64)
    data = LabelledSequences((random_design(generator, 9, 5),), structure, observed, starts)
    if isinstance(penalty, Penalty):
        penalty = penalty.at_zero((5, structure.n_columns), 0)
    objective = objective_of(data, loss, penalty)
    parameters = generator.normal(size=objective.n_parameters)
    gradient = objective.value_and_gradient(parameters)[1]
    expected = central_differences(objective, parameters)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
