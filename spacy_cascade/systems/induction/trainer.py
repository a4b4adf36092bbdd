"""Feature induction: features are added in rounds, where the model is wrong.

It begins with no features but candidates: the *tests* that a model's templates make. In each round
the candidates with the largest gains (`systems.induction.gains`) are added, and some iterations of
L-BFGS move all weights. What is chosen are rows of the weights: a feature has a weight for each
label, or pair of labels, of the structure. (docs/method.md, section 5.8)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ...checks import configured
from ...errors import ConfigError, TrainingError
from ...inference.structure import Weights
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...numeric.csr import BinaryCSR
from ...numeric.design import Design, SegmentRows
from ...numeric.encoded import Encoded
from ...penalties.base import Penalty
from ...trainers.base import Source
from ...trainers.lbfgs import LBFGS, AroundLBFGS
from ...trainers.lbfgs_run import BatchFit, LBFGSRun
from ...trainers.objective import Objective
from ...types import Floats2d, Pointers1d
from .candidates import (
    AtomicTests,
    Candidate,
    Conjunction,
    Parts,
    Search,
    choose,
    hard_units,
    rows_of,
    transposed,
)
from .component import Induced, Round, TestedSource


@configured
@dataclass(frozen=True)
class Induction(AroundLBFGS):
    """Training that first chooses the features; registered as `spacy_cascade.Induction.v1`.

    trainer: L-BFGS, which trains the features that were found. rounds: how often features are
    added. features: how many of them in a round. templates: how many new conjunctions of templates
    a round may admit. round_iterations: of L-BFGS in a round. longest: most tests of a conjunction,
    null for any number. min_count: of wrong units that have a candidate. certainty: a unit counts
    as wrong if its right label has no higher probability, in training.

    Raises `ConfigError` for a setting out of range.
    """

    rounds: int = 5
    features: int = 300
    templates: int = 5
    round_iterations: int = 10
    longest: int | None = None
    min_count: int = 3
    certainty: float = 0.5

    def __post_init__(self) -> None:
        counts = self.rounds, self.features, self.round_iterations, self.min_count
        longest = 1 if self.longest is None else self.longest
        if min(*counts, longest) < 1 or self.templates < 0 or not 0 < self.certainty <= 1:
            raise ConfigError(
                "Feature induction needs rounds, features, round_iterations, min_count and longest "
                "of 1 or more, templates of 0 or more, and a certainty above 0 and up to 1, not "
                f"{self}. Mend the [trainer] block."
            )

    def begin(self, source: Source) -> BatchFit:
        """Choose the features where nothing has been learnt yet, and begin with their weights."""
        if source.is_new:
            tested = source.extended(TestedSource)
            (task, tests), numbers = tested.tests(), count()
            found = self.run(
                task.data, tests, task.loss, tested.penalty,
                lambda done: tested.tell(next(numbers), done),
            )  # fmt: skip
            tested.adopt(found)
        return self.trainer.begin(source)

    def run(
        self,
        data: LabelledSequences,
        tests: AtomicTests,
        loss: Loss,
        penalty: Penalty,
        tell: Callable[[Round], object],
    ) -> Induced:
        """Induce features for a corpus, whose own features are the tests.

        tell: called after each round. Raises `TrainingError` where no test gains anything.
        """
        model = _Growing(data, loss, penalty, self.trainer)
        admitted = set(tests.parts)
        rounds: list[Round] = []
        for n_wanted in (1, *(self.features,) * self.rounds):
            n_hard, added = self._chosen(model, tests, admitted, n_wanted)
            if not added:
                break
            model.add([candidate.tests for candidate in added])
            rounds.append(Round(n_hard, tuple(added), model.fit(self.round_iterations)))
            tell(rounds[-1])
        if not rounds:
            raise TrainingError(
                "Feature induction found no feature that improves the model. Lower min_count in "
                "the [trainer] and [model] blocks, or train without induction."
            )
        return Induced(
            model.kept, tuple(model.features), model.first_units(), tuple(rounds), model.weights
        )

    def _chosen(
        self, model: "_Growing", tests: AtomicTests, admitted: set[Parts], n: int
    ) -> tuple[int, list[Candidate]]:
        """How many units are wrong, and the `n` features to add."""
        units = hard_units(
            model.tests, model.marginals(), model.data.observed, self.certainty, model.precision
        )
        search = Search(units, tests, model.features, self.min_count, model.workers)
        found = search.best(n, self.longest)
        return units.tests.n_rows, choose(found, tests, n, admitted, self.templates if n > 1 else 0)


class _Growing:
    """A model of the features that have been added so far.

    tests `[U, K]`: of each unit, each of them once.
    """

    def __init__(
        self, data: LabelledSequences, loss: Loss, penalty: Penalty, trainer: LBFGS
    ) -> None:
        self.data, self.workers = data, trainer.thread_pool()
        self._loss, self._penalty, self._trainer = loss, penalty, trainer
        design, *wholes = data.encoded
        if not isinstance(design, Design) or len(_segments(wholes)) < len(wholes):
            raise ConfigError(
                "Induction combines listed features. This model scores more than these. "
                "Choose another [model], or a trainer without induction."
            )
        self._n_units = design.n_scored
        self._postings = transposed(design.active_features())
        self.tests = transposed(self._postings)
        self._wholes, self.kept = _renumbered(_segments(wholes))
        structure = data.structure
        self.features: list[Conjunction] = []
        self._columns = BinaryCSR(np.zeros(1, np.int64), np.zeros(0, np.int32), self._n_units)
        self.weights = Weights(
            np.zeros((len(self.kept), structure.n_columns)), np.zeros(structure.n_transitions)
        )
        of_features, _ = penalty.at_zero((1, structure.n_columns), 0).curvature()
        self.precision = float(of_features[0])

    def add(self, features: list[Conjunction]) -> None:
        """Add features with weights of zero."""
        self.features += features
        self._columns = self._columns.append(rows_of(self._postings, features))
        own, transitions = self.weights
        new = np.zeros((len(features), own.shape[1]))
        self.weights = Weights(np.concatenate([own, new]), transitions)

    def fit(self, iterations: int) -> float:
        """Move all weights; the objective."""
        loss, structure = self._corpus_loss(), self.data.structure
        shape = self.weights.features.shape
        penalty = self._penalty.at_zero((shape[0], shape[1]), structure.n_transitions)
        objective = Objective.of(loss, penalty)
        start = objective.parameters(self.weights)
        run = LBFGSRun(self._trainer, objective, start, self.workers)
        value = run.run(iterations)
        self.weights = objective.weights(run.parameters)
        return value

    def marginals(self) -> Floats2d:
        """Probabilities of labels `[U, Y]` under the model, with the margin if the loss has one.

        The gradient of a loss with respect to the scores is the probability of what they belong
        to, less 1 where that was observed.
        """
        loss, structure = self._corpus_loss(), self.data.structure
        potentials = loss.potentials(self.weights)
        loss.losses(potentials)
        labels = range(structure.n_labels)
        columns = [structure.columns.of_label(label)[0] for label in labels]
        sums = [potentials.scores[:, own].sum(axis=1) for own in columns]
        marginals = np.column_stack(sums)
        known = np.flatnonzero(self.data.observed >= 0)
        marginals[known, self.data.observed[known]] += 1.0
        clipped: Floats2d = np.clip(marginals, 0.0, 1.0)
        return clipped

    def first_units(self) -> Pointers1d:
        """The first unit that has each feature."""
        first: Pointers1d = self._columns.indices[self._columns.indptr[:-1]].astype(np.int64)
        return first

    def _corpus_loss(self) -> CorpusLoss:
        kept, data = len(self.kept), self.data
        of_units = transposed(self._columns)
        n_features = kept + len(self.features)
        shifted = (of_units.indices + kept).astype(np.int32)
        rows = BinaryCSR(of_units.indptr, shifted, n_features)
        design = Design(_empty(0, n_features), _empty(self._n_units, 0), rows)
        wholes = [
            replace(w, features=replace(w.features, n_columns=n_features)) for w in self._wholes
        ]
        grown = LabelledSequences((design, *wholes), data.structure, data.observed, data.starts)
        return CorpusLoss(grown, self._loss, self.workers)


def _empty(n_rows: int, n_columns: int) -> BinaryCSR:
    return BinaryCSR(np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32), n_columns)


def _segments(encoded: Sequence[Encoded]) -> list[SegmentRows]:
    return [rows for rows in encoded if isinstance(rows, SegmentRows)]


def _renumbered(segments: Sequence[SegmentRows]) -> tuple[list[SegmentRows], Pointers1d]:
    """Segments whose features are numbered from 0, and the numbers that they had."""
    indices = [rows.features.indices for rows in segments]
    kept = np.unique(np.concatenate([np.zeros(0, np.int32), *indices]))
    renumbered = [
        replace(
            rows,
            features=BinaryCSR(
                rows.features.indptr,
                np.searchsorted(kept, rows.features.indices).astype(np.int32),
                len(kept),
            ),
        )
        for rows in segments
    ]
    return renumbered, kept.astype(np.int64)
