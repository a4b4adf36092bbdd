"""Search of any number of settings by Optuna's TPE sampler, which learns from all earlier trials.

The study is only in memory. The sampler has a fixed seed and gets the same scores in the same
order, so a second run asks for the same points, whose scores are in `trials.Archive`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ConfigError
from .axes import Axis, Found, Point, Scores

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution

_SEED = 0


def search(axes: Sequence[Axis], scores_of: Scores, trials: int, batch: int) -> Found:
    """The best point of the box that the axes span; a `Searcher` once the numbers are bound.

    scores_of: gets `batch` points at once, fewer at the end. trials: number of points to try,
    including repeated ones. A search with another number of trials begins with the same points;
    a search with another batch does not. Raises `ConfigError` without an axis, a trial or a
    process, and if Optuna is not installed.
    """
    if not axes or trials < 1 or batch < 1:
        raise ConfigError(
            "A search by optuna needs at least 1 setting, 1 trial and 1 process, not "
            f"{len(axes)}, {trials} and {batch}."
        )
    study = _study()
    distributions = {axis.name: _distribution(axis) for axis in axes}
    tried: list[tuple[Point, float]] = []
    while len(tried) < trials:
        asked = [study.ask(distributions) for _ in range(min(batch, trials - len(tried)))]
        points = [tuple(axis.setting(one.params[axis.name]) for axis in axes) for one in asked]
        scores = scores_of(points)
        for one, score in zip(asked, scores, strict=True):
            study.tell(one, score)
        tried.extend(zip(points, scores, strict=True))
    point, score = max(tried, key=lambda result: result[1])
    return Found(point, score, [tuple(axes)])


def _study() -> Study:
    """A study in memory; running trials count as bad ones, so the points of a batch differ."""
    try:
        from optuna import create_study, logging
        from optuna.exceptions import ExperimentalWarning
        from optuna.samplers import TPESampler
    except ImportError as error:
        raise ConfigError(
            "--backend optuna needs Optuna, which is not installed. Install it with "
            'pip install "spacy-cascade[tune]", or use --backend quadrants.'
        ) from error
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        with warnings.catch_warnings():
            # Optuna 4 warns that both options are experimental; they are the defaults in 5.
            warnings.simplefilter("ignore", ExperimentalWarning)
            sampler = TPESampler(seed=_SEED, multivariate=True, constant_liar=True)
        return create_study(sampler=sampler, direction="maximize")
    finally:
        logging.set_verbosity(verbosity)


def _distribution(axis: Axis) -> BaseDistribution:
    from optuna.distributions import FloatDistribution, IntDistribution

    if axis.is_integer:
        return IntDistribution(math.ceil(axis.low), math.floor(axis.high), log=axis.is_log)
    return FloatDistribution(axis.low, axis.high, log=axis.is_log)
