"""Training a pipeline in one call: examples in, a calibrated pipeline out."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ..errors import ConfigError, TrainingError
from ..pipeline.calibration import Outcomes, best_temperature
from ..pipeline.included_words import included_words
from ..pipeline.misfits import left_out_spans, span_learners
from ..pipeline.progress import progress
from ..pipeline.recognisers import main_score
from ..pipeline.scripts import tokenizer_for
from ..pipeline.spans.gold import read_gold
from ..pipeline.spans.left_out import CUTS, OVERLAPS, LeftOutSpan
from ..pipeline.unseen_words import WordCounts, count_words, options_after
from ..types import Floats1d
from .calibrate import outcomes_of
from .hand_made import Annotated, read_examples, shown
from .updating import learners, update, upstream

UPDATES = 5
"""Largest number of updates; each runs the iterations of the trainer."""
_FOLDS = 5
_MOST_IN_FOLDS = 500
"""With more examples one part is left out once, instead of each part in turn."""
_PATIENCE = 2
"""Updates without a gain on dev after which training stops."""
_SMALL = 1000
"""With fewer examples every feature is kept."""
_SCORES = ("segments_f", "tag_acc")
"""What is maximised where there is no score of entities or of levels of spans."""


@dataclass(frozen=True)
class Fitted:
    """What `fit` found.

    updates: number of updates of the best score. score: that on dev, or the mean over parts that
    were left out of training; None where there was nothing to score on. temperatures: by component.
    n_spans: gold spans that were learnt. left_out: the others, each with the number of its example
    and the reason, such as that it cuts a token; their tokens count as missing.
    """

    updates: int
    score: float | None
    temperatures: dict[str, float]
    n_spans: int = 0
    left_out: tuple[LeftOutSpan, ...] = field(default=(), repr=False)

    @property
    def n_left_out(self) -> int:
        """Number of gold spans that were left out."""
        return len(self.left_out)


@dataclass(frozen=True)
class _Step:
    """After one update: the score, what each component is sure of, and the words that it met."""

    score: float
    outcomes: dict[str, Outcomes]
    words: dict[str, WordCounts]


def fit(
    nlp: Language,
    examples: Iterable[Annotated],
    dev: Iterable[Annotated] | None = None,
    updates: int = UPDATES,
) -> Fitted:
    """Train the cascade of a pipeline from the beginning, and calibrate its confidences.

    A pipeline without components of ours gets a cascade, which looks at the tables of words that
    the package has of its language. Other components stay as they are; those that its training
    config has annotate, such as a `sentencizer`, do so here, too. Without dev, parts of the
    examples are left out in turn, to choose the number of updates and the temperatures; then all
    examples are learnt. Examples are shuffled with a fixed seed. Afterwards the components are as
    if they were loaded: `nlp.update` adapts them. Raises `TrainingError` for an example that is
    none, without examples or entities, and for dev examples that nothing can be scored on;
    `ConfigError` for fewer than one update.
    """
    if updates < 1:
        raise ConfigError(f"fit takes 1 update or more, not {updates}.")
    known = read_examples(nlp, examples, "example")
    held = None if dev is None else read_examples(nlp, dev, "dev example")
    if not known:
        raise TrainingError("There are no examples to learn from. Give some.")
    if not learners(nlp):
        _add_cascade(nlp, len(known))
    left_out = tuple(left_out_spans(nlp, known))
    n_spans = _count(nlp, known) - sum(span.reason == OVERLAPS for span in left_out)
    logger.info("fit learns %d gold spans of %d examples", n_spans, len(known))
    if left_out and n_spans:
        warnings.warn(_text_of(left_out, n_spans, nlp, known), stacklevel=2)
    if held is not None:
        _check_dev(nlp, held)
    random.Random(0).shuffle(known)
    if held is None:
        found = _fit_by_parts(nlp, known, updates)
    else:
        found = _fit_by_dev(nlp, known, held, updates)
    return replace(found, n_spans=n_spans, left_out=left_out)


def _text_of(
    left_out: Sequence[LeftOutSpan], n_spans: int, nlp: Language, examples: Sequence[Example]
) -> str:
    first, text = left_out[0], examples[int(left_out[0].document) - 1].text
    kinds = Counter(span.reason for span in left_out).most_common()
    listed = ", ".join(f"{n:,} {reason}" for reason, n in kinds)
    advice = tokenizer_for(first.text, nlp.lang) if first.reason == CUTS else ""
    return (
        f"fit leaves out {len(left_out):,} of {n_spans + len(left_out):,} gold spans ({listed}); "
        f"the first is {shown(first.text)} in {shown(text)}. Fitted.left_out lists them. {advice}"
    ).rstrip()


def _check_dev(nlp: Language, examples: Sequence[Example]) -> None:
    """Raise `TrainingError` for dev examples that every update has the same score on."""
    finds_spans = bool(span_learners(nlp))
    is_tagged = any(len(e.reference) and e.reference.has_annotation("TAG") for e in examples)
    has_spans = _count(nlp, examples) or any(left_out_spans(nlp, examples))
    if has_spans or (is_tagged and not finds_spans):
        return
    what = "spans" if finds_spans else "tags"
    raise TrainingError(
        f"The {len(examples)} dev examples have no gold {what} to score on. Give some that have, "
        "or leave dev out: then parts of the examples are left out of training in turn."
    )


def _count(nlp: Language, examples: Sequence[Example]) -> int:
    """How many gold spans tokens of the pipeline can express."""
    pipes = span_learners(nlp)
    return sum(
        len(read_gold(example, *read).spans)
        for read in {(p.gold_key, _as_key(p.gold_labels), p.gold_parts) for p in pipes}
        for example in examples
    )


def _as_key(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if labels is None else tuple(labels)


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
    names = [*upstream(nlp)[0], *(name for name, _ in learners(nlp))]
    return {name: nlp.get_pipe(name).to_bytes() for name in names}  # type: ignore[attr-defined]


def _restore(nlp: Language, saved: Mapping[str, bytes]) -> None:
    for name, content in saved.items():
        nlp.get_pipe(name).from_bytes(content)  # type: ignore[attr-defined]


def _add_cascade(nlp: Language, n_examples: int) -> None:
    model = {"templates": {"words": included_words(nlp.lang)}}
    settings = {"model": {**model, "min_count": 1} if n_examples < _SMALL else model}
    for factory in ("cascade_segmenter", "cascade_classifier"):
        nlp.add_pipe(factory, config=settings)


def _splits(examples: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """Examples to learn from, and those left out."""
    n = min(_FOLDS, len(examples))
    for fold in range(0 if n < 2 else 1 if len(examples) > _MOST_IN_FOLDS else n):
        rest = [example for i, example in enumerate(examples) if i % n != fold]
        yield rest, list(examples[fold::n])


def _updates(nlp: Language, examples: Sequence[Example], n: int) -> Iterator[None]:
    """Begin anew, and stop after each of n updates.

    A component that only learners listen to learns with them.
    """
    pipes = dict(learners(nlp))
    encoders, shared = upstream(nlp)
    others = [name for name, _ in nlp.pipeline if name not in (*pipes, *encoders)]
    rejects = any(getattr(pipe, "reject", False) for pipe in pipes.values())
    configured = [*nlp.config["training"].get("annotating_components", []), *shared]
    annotating = [name for name in others if name in configured] + list(pipes)[:rejects]
    for name in (*encoders, *pipes):
        learner: Any = nlp.get_pipe(name)
        learner.initialize(lambda: examples, nlp=nlp)
    order, rng = list(examples), random.Random(0)
    for _ in range(n):
        update(nlp, order, others, annotating)
        yield
        rng.shuffle(order)


def _run(
    nlp: Language, examples: Sequence[Example], held: Sequence[Example], n: int
) -> Iterator[_Step]:
    """The steps of a training that does not see `held`."""
    for _ in _updates(nlp, examples, n):
        scores = nlp.evaluate(held)
        names = (main_score(nlp), *_SCORES)
        found = [scores[name] for name in names if scores.get(name) is not None]
        docs = [example.predicted for example in held]
        words = {name: count_words(pipe, docs) for name, pipe in learners(nlp)}
        yield _Step(found[0] if found else 0.0, dict(outcomes_of(nlp, held)), words)


def _calibrate(nlp: Language, steps: Sequence[_Step]) -> dict[str, float]:
    """Calibrate each component on what was left out: the temperature of least log loss."""
    chosen: dict[str, float] = {}
    for name, pipe in learners(nlp):
        parts = [step.outcomes[name] for step in steps if name in step.outcomes]
        parts = [part for part in parts if len(part.right)]
        if parts:
            chosen[name] = best_temperature(_together(parts))
            words = sum((step.words[name] for step in steps), WordCounts())
            pipe.cfg = {"temperature": chosen[name], **options_after(pipe, words)}
    return chosen


def _together(parts: Sequence[Outcomes]) -> Outcomes:
    def confidences(temperature: float) -> Floats1d:
        return np.concatenate([part.confidences(temperature) for part in parts])

    return Outcomes(np.concatenate([part.right for part in parts]), confidences)
