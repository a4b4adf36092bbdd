"""Training a pipeline in one call: examples in, a calibrated pipeline out."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ConfigError, TrainingError
from ..pipeline.calibration import Outcomes, best_temperature
from ..pipeline.learning import LearningPipe
from ..pipeline.progress import progress
from ..types import Floats1d
from .calibrate import outcomes_of

UPDATES = 5
"""Largest number of updates; each runs the iterations of the trainer."""
_FOLDS = 5
_MOST_IN_FOLDS = 500
"""With more examples one part is left out once, instead of each part in turn."""
_PATIENCE = 2
"""Updates without a gain on dev after which training stops."""
_SMALL = 1000
"""With fewer examples every feature is kept."""
_SCORES = ("ents_f", "segments_f", "tag_acc")
"""What is maximised: the first of them that the pipeline has."""

Annotated: TypeAlias = (
    Example | Doc | tuple[str, Mapping[str, Any] | Sequence[tuple[int, int, str]]]
)
"""An example, a Doc with annotation, or a text with spans as `(first character, end, label)`; or
with a dictionary as `Example.from_dict` takes it."""


@dataclass(frozen=True)
class Fitted:
    """What `fit` found.

    updates: number of updates of the best score. score: that on dev, or the mean over parts that
    were left out of training; None where there was nothing to score on. temperatures: by component.
    """

    updates: int
    score: float | None
    temperatures: dict[str, float]


@dataclass(frozen=True)
class _Step:
    """After one update: the score, and what each component is sure of."""

    score: float
    outcomes: dict[str, Outcomes]


def fit(
    nlp: Language,
    examples: Iterable[Annotated],
    dev: Iterable[Annotated] | None = None,
    updates: int = UPDATES,
) -> Fitted:
    """Train the cascade of a pipeline from the beginning, and calibrate its confidences.

    A pipeline without components of ours gets a cascade. Other components stay as they are. Without
    dev, parts of the examples are left out in turn, to choose the number of updates and the
    temperatures; then all examples are learnt. Examples are shuffled with a fixed seed. Afterwards
    the components are as if they were loaded: `nlp.update` adapts them. Raises `TrainingError`
    without examples or entities, `ConfigError` for fewer than one update.
    """
    if updates < 1:
        raise ConfigError(f"fit takes 1 update or more, not {updates}.")
    known = [_example(nlp, one) for one in examples]
    if not known:
        raise TrainingError("There are no examples to learn from. Give some.")
    if not _learning(nlp):
        _add_cascade(nlp, len(known))
    random.Random(0).shuffle(known)
    if dev is None:
        return _fit_by_parts(nlp, known, updates)
    return _fit_by_dev(nlp, known, [_example(nlp, one) for one in dev], updates)


def _fit_by_parts(nlp: Language, examples: Sequence[Example], updates: int) -> Fitted:
    """Choose on parts that are left out, then learn all examples."""
    splits = list(_splits(examples))
    runs: list[list[_Step]] = []
    with progress("Training", total=updates * (len(splits) + 1)) as bar:
        for rest, held in splits:
            with suppress(TrainingError):  # such as no entity in the rest
                runs.append([])
                for step in _run(nlp, rest, held, updates):
                    runs[-1].append(step)
                    bar.update()
        runs = [run for run in runs if len(run) == updates]
        means = [fmean(run[i].score for run in runs) for i in range(updates)] if runs else []
        n = means.index(max(means)) + 1 if means else updates
        for _ in _updates(nlp, examples, n):
            bar.update()
    _restore(nlp, _saved(nlp))
    return Fitted(n, max(means, default=None), _calibrate(nlp, [run[n - 1] for run in runs]))


def _fit_by_dev(
    nlp: Language, examples: Sequence[Example], dev: Sequence[Example], updates: int
) -> Fitted:
    """Learn all examples, and keep what is best on dev; Ctrl-C keeps the best so far."""
    steps: list[_Step] = []
    saved: dict[str, bytes] = {}
    best = 0
    try:
        for step in progress("Training", iterable=_run(nlp, examples, dev, updates), total=updates):
            steps.append(step)
            if not saved or step.score > steps[best].score:
                best, saved = len(steps) - 1, _saved(nlp)
            if len(steps) - 1 - best >= _PATIENCE:
                break
    except KeyboardInterrupt:
        if not saved:
            raise
        warnings.warn(
            f"Stopped after {len(steps)} of {updates} updates. The pipeline has the weights of the "
            "best one. To go on, call fit again.",
            stacklevel=3,
        )
    _restore(nlp, saved)
    return Fitted(best + 1, steps[best].score, _calibrate(nlp, [steps[best]]))


def _saved(nlp: Language) -> dict[str, bytes]:
    return {name: pipe.to_bytes() for name, pipe in _learning(nlp)}


def _restore(nlp: Language, saved: Mapping[str, bytes]) -> None:
    for name, pipe in _learning(nlp):
        pipe.from_bytes(saved[name])


def _example(nlp: Language, given: Annotated) -> Example:
    if isinstance(given, Example):
        return given
    if isinstance(given, Doc):
        return Example(nlp.make_doc(given.text), given)
    text, annotation = given
    if not isinstance(annotation, Mapping):
        annotation = {"entities": list(annotation)}
    return Example.from_dict(nlp.make_doc(text), dict(annotation))


def _learning(nlp: Language) -> list[tuple[str, LearningPipe[Any]]]:
    return [(name, pipe) for name, pipe in nlp.pipeline if isinstance(pipe, LearningPipe)]


def _add_cascade(nlp: Language, n_examples: int) -> None:
    settings = {"model": {"min_count": 1}} if n_examples < _SMALL else {}
    for factory in ("cascade_segmenter", "cascade_classifier"):
        nlp.add_pipe(factory, config=settings)


def _splits(examples: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """Examples to learn from, and those left out."""
    n = min(_FOLDS, len(examples))
    for fold in range(0 if n < 2 else 1 if len(examples) > _MOST_IN_FOLDS else n):
        rest = [example for i, example in enumerate(examples) if i % n != fold]
        yield rest, list(examples[fold::n])


def _updates(nlp: Language, examples: Sequence[Example], n: int) -> Iterator[None]:
    """Begin anew, and stop after each of n updates."""
    pipes = dict(_learning(nlp))
    others = [name for name, _ in nlp.pipeline if name not in pipes]
    rejects = any(getattr(pipe.options, "reject", False) for pipe in pipes.values())
    for pipe in pipes.values():
        pipe.initialize(lambda: examples, nlp=nlp)
    order, rng = list(examples), random.Random(0)
    for _ in range(n):
        nlp.update(order, exclude=others, annotates=list(pipes)[:1] if rejects else [])
        yield
        rng.shuffle(order)


def _run(
    nlp: Language, examples: Sequence[Example], held: Sequence[Example], n: int
) -> Iterator[_Step]:
    """The steps of a training that does not see `held`."""
    for _ in _updates(nlp, examples, n):
        scores = nlp.evaluate(held)
        found = [scores[name] for name in _SCORES if scores.get(name) is not None]
        yield _Step(found[0] if found else 0.0, dict(outcomes_of(nlp, held)))


def _calibrate(nlp: Language, steps: Sequence[_Step]) -> dict[str, float]:
    """Give each component the temperature of least log loss on what was left out."""
    chosen: dict[str, float] = {}
    for name, pipe in _learning(nlp):
        parts = [step.outcomes[name] for step in steps if name in step.outcomes]
        parts = [part for part in parts if len(part.right)]
        if parts:
            chosen[name] = pipe.temperature = best_temperature(_together(parts))
    return chosen


def _together(parts: Sequence[Outcomes]) -> Outcomes:
    def confidences(temperature: float) -> Floats1d:
        return np.concatenate([part.confidences(temperature) for part in parts])

    return Outcomes(np.concatenate([part.right for part in parts]), confidences)
