"""A greedy search of named changes of a config: what gains is kept, and the next build on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from thinc.api import Config

from ..recipes.deciding import Rules, Variant, change_of
from ..recipes.settings import with_settings
from .noise import standard_error
from .trials import Settings, Trial

THRESHOLD = 0.5
"""A change is kept that gains more than this many standard errors of the difference."""
START = "the choice of the rules"


@dataclass(frozen=True)
class Candidate:
    """Settings that are worth a training; variant: None for the start."""

    settings: Settings
    variant: Variant | None = None

    @property
    def name(self) -> str:
        return START if self.variant is None else self.variant.name


@dataclass(frozen=True)
class Step:
    """A candidate that was tried.

    gain: of its score over the best one at that time, 0 for the start. error: standard error of
    the gain. is_kept: whether the next candidates build on it.
    """

    candidate: Candidate
    score: float
    seconds: float
    gain: float
    error: float
    is_kept: bool


@dataclass
class Search:
    """What a search has found so far.

    best: the trial of the best settings; None before the first one has ended. is_stopped: whether
    Ctrl-C ended it. left: trainings that are left of the budget.
    """

    left: int
    best: Trial | None = None
    steps: list[Step] = field(default_factory=list)
    is_stopped: bool = False


def search_variants(
    start: Config,
    variants: Sequence[Variant],
    rules: Rules,
    *,
    budget: int,
    at_once: int,
    run: Callable[[Sequence[Candidate]], object],
    trial_of: Callable[[Candidate], Trial | None],
    told: Callable[[Sequence[Step]], object],
) -> Search:
    """Try the start, then variants in their order, until the budget of trainings is spent.

    at_once: candidates that are tried together; the best of them that gains is kept, and others
    that gain are tried again on top of it. run: trains them; Ctrl-C there ends the search, and
    what has ended before counts. trial_of: what came of one, None if it has not ended. told: called
    with the steps of each round.
    """
    search = Search(budget)
    queue = list(variants)
    while search.left > 0 and not search.is_stopped:
        candidates = list(_next(start, queue, rules, search, min(at_once, search.left)))
        if not candidates:
            break
        try:
            run(candidates)
        except KeyboardInterrupt:
            search.is_stopped = True
        trials = [(candidate, trial_of(candidate)) for candidate in candidates]
        ended = [(candidate, trial) for candidate, trial in trials if trial is not None]
        search.left -= len(ended)
        steps, again = _judge(search, ended)
        queue = [*again, *queue]
        search.steps += steps
        told(steps)
    return search


def _next(
    start: Config, queue: list[Variant], rules: Rules, search: Search, n: int
) -> Iterator[Candidate]:
    """The next candidates, which leave the queue; variants that change nothing more are dropped."""
    found: Settings = {} if search.best is None else search.best.settings
    config = with_settings(start, found)
    if search.best is None:
        n -= 1
        yield Candidate({})
    while n > 0 and queue:
        variant = queue.pop(0)
        change = change_of(config, rules, variant)
        if change and not change.keys() & found.keys():
            n -= 1
            yield Candidate({**found, **change}, variant)


def _judge(
    search: Search, ended: Sequence[tuple[Candidate, Trial]]
) -> tuple[list[Step], list[Variant]]:
    """Steps of a round, and the variants that gain, too, but less than the one that is kept."""
    steps, gaining = [], []
    if search.best is None:
        search.best = next((trial for candidate, trial in ended if not candidate.variant), None)
        if search.best is None:
            return [], []
    base = search.best
    for candidate, trial in ended:
        gain = trial.score - base.score
        error = standard_error(base.outcomes, trial.outcomes)
        is_start = candidate.variant is None
        steps.append(Step(candidate, trial.score, trial.seconds, gain, error, is_start))
        if gain > 0 and gain > THRESHOLD * error:
            gaining.append((gain, len(steps) - 1, candidate, trial))
    if not gaining:
        return steps, []
    gaining.sort(key=lambda one: -one[0])
    (_, number, _, search.best), *others = gaining
    steps[number] = replace(steps[number], is_kept=True)
    return steps, [c.variant for _, _, c, _ in others if c.variant is not None]
