"""The trainer L-BFGS: its settings, and what it minimises (docs/method.md, section 5.1)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..checks import check_counts
from ..errors import ConfigError
from ..inference.structure import Structure
from ..losses.base import CorpusLoss, Loss, ShardedLoss
from ..parallel import Workers
from ..systems.many_labels.trainer import MANY_COLUMNS, SparseObjective, can_be_sparse
from ..tools.scale.corpus_file import ShardLosses
from ..tools.scale.remote_loss import RemoteLoss, shared_parts
from ..types import Floats1d
from .base import ShardedTask, Task, check_induction, check_needs
from .lbfgs_run import BatchFit, LBFGSRun
from .objective import BatchObjective, Objective, Parametrisation


@dataclass(frozen=True)
class LBFGS:
    """Settings of the optimiser; registered as `spacy_cascade.LBFGS.v1`.

    iterations: of one `update` of the pipeline. history: number of remembered pairs, `m`.
    tolerance: stop when the gradient norm has fallen below this part of the parameters' norm (or
    of 1). threads: 0 for all cores; the result does not depend on it. induction: how training finds
    the features (`systems.induction.trainer`); null where all that are frequent enough are there.
    sparse: fit weights only of features with labels that they were seen with
    (`systems.many_labels.trainer`); null where there are 128 score columns or more and it is
    possible. workers: processes or actors that compute the loss (`tools.scale`); 0 or 1 for this
    process alone. engine: where workers run. parts: sums that a gradient is gathered in, and the
    most workers there can be; 0 for 1 without workers, which is fastest, and 8 with them. The last
    bits of the result depend on it, and on nothing else here but shards. shard_tokens: 0 for a
    corpus in memory; else it is encoded in shards of about so many tokens, in a temporary file, and
    one of them at a time is in memory.

    Raises `ConfigError` for a setting out of range.
    """

    iterations: int = 5
    history: int = 5
    tolerance: float = 1e-4
    threads: int = 0
    induction: Any = None
    workers: int = 0
    engine: str = "processes"
    parts: int = 0
    sparse: bool | None = None
    shard_tokens: int = 0

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.history < 1 or not self.tolerance >= 0 or self.threads < 0:
            raise ConfigError(
                "The L-BFGS trainer needs iterations >= 1, history >= 1, tolerance >= 0 and "
                f"threads >= 0, not {self}. Mend the [trainer] block."
            )
        check_counts(
            "trainer", iterations=self.iterations, history=self.history, threads=self.threads,
            workers=self.workers, parts=self.parts, shard_tokens=self.shard_tokens,
        )  # fmt: skip
        shared_parts(self.workers, self.parts)
        if self.sparse and self.workers > 1:
            raise ConfigError(
                "Sparse training has no workers. Write workers = 0 into the [trainer] block, or "
                "sparse = false."
            )
        if self.shard_tokens and (self.workers > 1 or self.sparse or self.induction is not None):
            raise ConfigError(
                f"Training with a corpus in a file (shard_tokens = {self.shard_tokens}) has no "
                "workers, is never sparse and finds no features. Write workers = 0, sparse = null "
                "and induction = null into the [trainer] block, or shard_tokens = 0."
            )

    sees_all: ClassVar[bool] = True

    def thread_pool(self) -> Workers:
        """For the loss and the optimiser."""
        return Workers(self.threads)

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_needs(
            self, loss, penalty, structure, loss_has="on", takes_penalty=True,
            advice='Put @misc = "spacy_cascade.SoftmaxMargin.v2" into the [loss] block and '
            '@misc = "spacy_cascade.Gaussian.v1" into the [penalty] block.',
        )  # fmt: skip
        if self.induction is not None:
            check_induction(self, structure)
        if self.shard_tokens and getattr(type(loss), "of_part", Loss.of_part) is not Loss.of_part:
            raise ConfigError(
                f"The loss {loss} knows more of sequences than their labels, which a corpus in a "
                "file does not have. Write shard_tokens = 0 into the [trainer] block."
            )

    def may_be_sparse(self, n_columns: int) -> bool:
        """Whether training with so many score columns is sparse, if it can be."""
        is_wanted = n_columns >= MANY_COLUMNS if self.sparse is None else self.sparse
        return is_wanted and self.workers <= 1 and not self.shard_tokens

    def begin(self, task: Task) -> BatchFit:
        if self.shard_tokens:
            raise ConfigError(
                f"A corpus in memory cannot be trained on with shard_tokens = {self.shard_tokens}. "
                "Write shard_tokens = 0 into the [trainer] block."
            )
        workers = self.thread_pool()
        objective: BatchObjective
        if self.may_be_sparse(task.data.structure.n_columns) and can_be_sparse(task, self.sparse):
            objective = SparseObjective(task, workers)
        else:
            objective = make_objective(task, workers, self)
        return self._fit(objective, objective.parameters(task.start), workers)

    def begin_on_shards(self, task: ShardedTask) -> BatchFit:
        workers, corpus = self.thread_pool(), task.data
        assert task.penalty is not None
        n_parts = shared_parts(self.workers, self.parts)
        loss = ShardedLoss(ShardLosses(corpus, task.loss, workers, n_parts))
        n_units, structure = corpus.n_units, corpus.structure
        parametrisation = Parametrisation(loss, n_units, structure, task.penalty, workers)
        objective = Objective(loss, parametrisation)
        return self._fit(objective, objective.parameters(task.start), workers)

    def _fit(self, objective: BatchObjective, parameters: Floats1d, workers: Workers) -> BatchFit:
        return BatchFit(objective, LBFGSRun(self, objective, parameters, workers))


def make_objective(task: Task, workers: Workers, settings: LBFGS) -> Objective:
    assert task.penalty is not None
    task.data.design.n_parts = shared_parts(settings.workers, settings.parts)
    loss = CorpusLoss(task.data, task.loss, workers)
    if settings.workers <= 1:
        return Objective.of(loss, task.penalty)
    remote = RemoteLoss(loss, settings.workers, settings.engine)
    return Objective.of(loss, task.penalty, remote)
