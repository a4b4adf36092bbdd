"""The trainer L-BFGS: its settings, and what it minimises (docs/method.md, section 5.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..checks import check_counts, configured
from ..errors import ConfigError
from ..inference.structure import Structure
from ..losses.base import CorpusLoss
from ..parallel import Workers
from ..rooms import offered
from ..types import Singles1d
from .base import BYTES_OF_WEIGHT, Room, Shape, Source, TaskOn, check_needs
from .lbfgs_run import BatchFit, LBFGSRun, singles_in_memory
from .objective import Loss, Objective, Parametrisation

_BYTES_OF_PAIR = 2 * 4
"""A step and a change of the gradient, which are remembered in single precision."""
_BYTES_OF_SPARSE_WEIGHT = 2 * 4
"""All weights as the model keeps them, and as sparse training gives them."""


MANY_COLUMNS = 128
"""From so many score columns on training is sparse where nothing is said and it can be."""


@dataclass(frozen=True)
class BatchSettings:
    """Settings of the optimiser.

    iterations: of one `update` of the pipeline. history: number of remembered pairs, `m`.
    tolerance: stop when the gradient norm has fallen below this part of the parameters' norm (or
    of 1). threads: 0 for all cores; the result does not depend on it.

    Raises `ConfigError` for a setting out of range.
    """

    iterations: int = 5
    history: int = 5
    tolerance: float = 1e-4
    threads: int = 0

    sees_all: ClassVar[bool] = True
    reads_corpus: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_counts(
            "trainer", iterations=self.iterations, history=self.history, threads=self.threads
        )
        if self.iterations < 1 or self.history < 1 or not self.tolerance >= 0:
            raise ConfigError(
                "The L-BFGS trainer needs iterations >= 1, history >= 1 and tolerance >= 0, not "
                f"{self}. Mend the [trainer] block."
            )

    def thread_pool(self) -> Workers:
        """For the loss and the optimiser."""
        return Workers(self.threads)

    @property
    def _bytes_of_trained(self) -> int:
        return BYTES_OF_WEIGHT + self.history * _BYTES_OF_PAIR

    def room(self, shape: Shape) -> Room:
        n_weights = shape.n_features * shape.n_columns
        return Room(n_weights * self._bytes_of_trained, n_weights)


@configured
@dataclass(frozen=True)
class LBFGS(BatchSettings):
    """Batch training by L-BFGS; registered as `spacy_cascade.LBFGS.v1`.

    sparse: fit weights only of features with labels that they were seen with
    (`systems.many_labels.trainer`); null where there are 128 score columns or more and it is
    possible. Others: `BatchSettings`.
    """

    sparse: bool | None = None

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_needs(
            self, loss, penalty, structure, loss_has="on", takes_penalty=True,
            advice='Put @misc = "spacy_cascade.SoftmaxMargin.v2" into the [loss] block and '
            '@misc = "spacy_cascade.Gaussian.v1" into the [penalty] block.',
        )  # fmt: skip

    def room(self, shape: Shape) -> Room:
        if shape.label_pairs or not self.may_be_sparse(shape.n_columns):
            return super().room(shape)
        # Each feature is seen with one label at least.
        n_weights = shape.n_features * shape.n_columns
        trained = shape.n_features * self._bytes_of_trained
        return Room(n_weights * _BYTES_OF_SPARSE_WEIGHT + trained, 0)

    def may_be_sparse(self, n_columns: int) -> bool:
        """Whether training with so many score columns is sparse, if it can be."""
        return n_columns >= MANY_COLUMNS if self.sparse is None else self.sparse

    def begin(self, source: Source) -> BatchFit:
        task = source.task()
        data, workers = task.data, self.thread_pool()
        make_sparse = offered("objective") if self.may_be_sparse(data.structure.n_columns) else None
        objective = None if make_sparse is None else make_sparse(task, workers, self.sparse)
        if objective is not None:
            run = LBFGSRun(self, objective, objective.parameters(task.start), workers)
            return BatchFit(objective, run)
        loss = CorpusLoss(data, task.loss, workers)
        return self.minimise(loss, data.structure, len(data.observed), task)

    def minimise(
        self,
        loss: Loss,
        structure: Structure,
        n_units: int,
        task: TaskOn[Any],
        new_singles: Callable[[int], Singles1d] = singles_in_memory,
    ) -> BatchFit:
        """Begin to train all weights with a loss, wherever it is computed.

        task: for its penalty and start. n_units: what the loss is of. new_singles: as of
        `LBFGSRun`.
        """
        assert task.penalty is not None
        workers = self.thread_pool()
        objective = Objective(
            loss, Parametrisation(loss, n_units, structure, task.penalty, workers)
        )
        start = objective.parameters(task.start)
        run = LBFGSRun(self, objective, start, workers, new_singles)
        return BatchFit(objective, run)


@dataclass(frozen=True)
class AroundLBFGS:
    """A trainer that has L-BFGS do its work.

    trainer: the L-BFGS trainer, as a block of its own.
    """

    trainer: LBFGS

    sees_all: ClassVar[bool] = True
    reads_corpus: ClassVar[bool] = False

    @property
    def iterations(self) -> int:
        return self.trainer.iterations

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        self.trainer.check(loss, penalty, structure)

    def room(self, shape: Shape) -> Room:
        return self.trainer.room(shape)
