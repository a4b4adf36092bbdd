"""Errors of workers, as the errors of this package that a user sees."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from ...errors import CascadeError, TrainingError

MOST_DEATHS = 3
"""A worker that dies so often before it answers once is not made again."""


@dataclass(frozen=True)
class Failure:
    """What a worker sends instead of an answer.

    error: where it is one of this package. text: where it happened.
    """

    error: CascadeError | None
    text: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        own = error if isinstance(error, CascadeError) else None
        return cls(own, "".join(traceback.format_exception(error)))

    def as_error(self) -> CascadeError:
        """The error itself, or a `TrainingError` about it."""
        if self.error is not None:
            return self.error
        last = self.text.strip().splitlines()[-1]
        return TrainingError(
            f"A worker failed with {last}. To find the cause, train with workers = 0 in the "
            f"[trainer] block. Where it happened:\n{self.text}"
        )


def check_deaths(n_deaths: int, number: int, n_workers: int, reason: str) -> None:
    """Raise `TrainingError` where a worker dies again and again; number: which one, from 1."""
    if n_deaths >= MOST_DEATHS:
        raise TrainingError(
            f"Worker {number} of {n_workers} ended {n_deaths} times before it could answer "
            f"({reason}), perhaps for want of memory. Set workers in the [trainer] block to a "
            "smaller number, or to 0. A script of your own has to train under `if __name__ == "
            '"__main__":`, because workers import the script.'
        )
