"""Training of our pipelines in this process, with every step timed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import spacy
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import (
    create_before_to_disk_callback,
    create_evaluation_callback,
    create_train_batches,
    train_while_improving,
)
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import fix_random_seed

from .package import component, read_examples, size, weights
from .timing import Stopwatch

_LOOP_SETTINGS = (
    "dropout",
    "eval_frequency",
    "accumulate_gradient",
    "patience",
    "max_steps",
    "before_update",
)


def build(
    config: str,
    threads: int,
    min_count: int | None = None,
    tolerance: float | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[Language, int]:
    """An untrained pipeline, and the number of updates that its config allows.

    overrides: other settings by their dotted names. spaCy counts steps from 0 and stops after the
    step with the number `max_steps`.
    """
    settings = load_config(config, overrides=dict(overrides or {}))
    for section in settings["components"].values():
        if "trainer" not in section:
            continue
        for block in (section["trainer"], section["trainer"].get("trainer", {})):
            if "threads" in block:
                block["threads"] = threads
        if min_count is not None:
            section["model"]["min_count"] = min_count
        if tolerance is not None:
            section["trainer"]["tolerance"] = tolerance
    fix_random_seed(0)
    nlp = load_model_from_config(settings, auto_fill=True, validate=True)
    return nlp, int(nlp.config["training"]["max_steps"]) + 1


def initialize(nlp: Language, examples: Sequence[Example], watch: Stopwatch) -> float:
    """Make labels, feature spaces and zero weights. Returns the seconds."""
    return _timed(lambda: nlp.initialize(lambda: examples), watch)


def update(nlp: Language, examples: Sequence[Example], watch: Stopwatch) -> float:
    """Update on the whole corpus; the first update encodes it. Returns the seconds."""
    return _timed(lambda: nlp.update(examples, losses={}), watch)


def _timed(work: Callable[[], object], watch: Stopwatch) -> float:
    gc.collect()
    before = watch.passed
    with watch:
        work()
    return watch.passed - before


class Progress:
    """Seconds and F1 on dev in the course of a training, whose best pipeline is saved."""

    def __init__(self, watch: Stopwatch, model: str | None) -> None:
        self.watch, self.model = watch, model
        self.series: list[tuple[float, float, float]] = []

    def add(self, nlp: Language, score: float | None) -> None:
        """Add F1 with the seconds until now (wall-clock and processor)."""
        f1 = 100 * (score or 0.0)
        if self.model and f1 >= max((best for *_, best in self.series), default=0.0):
            nlp.to_disk(self.model)
        self.series.append((self.watch.passed, self.watch.computed, f1))


def train_cascade(
    config: str,
    train: str,
    dev: str,
    model: str | None = None,
    evaluate: bool = True,
    threads: int = 1,
    min_count: int | None = None,
) -> dict[str, Any]:
    """Run all updates of a config. The time of scoring on dev is not counted.

    model: folder for the best pipeline. The series in the result has an entry for each update.
    `scores` has all scores after the last update.
    """
    nlp, steps = build(config, threads, min_count)
    examples = read_examples(train, nlp)
    dev_examples = read_examples(dev, nlp) if evaluate else []
    watch = Stopwatch()
    progress = Progress(watch, model)
    seconds = [initialize(nlp, examples, watch)]
    scores: dict[str, Any] = {}
    for _ in range(steps):
        seconds.append(update(nlp, examples, watch))
        if evaluate:
            scores = nlp.evaluate(dev_examples)
            progress.add(nlp, scores["ents_f"])
    return {
        "initialize_seconds": seconds[0],
        "update_seconds": seconds[1:],
        "computed_seconds": watch.computed,
        "series": progress.series,
        "scores": scores,
        "components": {name: size(nlp, name) for name in nlp.pipe_names},
    }


def training_settings(nlp: Language) -> dict[str, Any]:
    """The section `[training]` of the config of a pipeline, with its functions."""
    settings = nlp.config.interpolate()["training"]
    return dict(registry.resolve(settings, schema=ConfigSchemaTraining))


def run_loop(
    nlp: Language,
    examples: Iterable[Example],
    training: Mapping[str, Any],
    evaluate: Callable[[], tuple[float, dict[str, float]]],
) -> Iterator[dict[str, Any]]:
    """The training loop of spaCy; yields what it tells after each update.

    examples: what a stream reads anew in each pass.
    """
    fix_random_seed(training["seed"])
    batches = create_train_batches(
        nlp, lambda _: examples, training["batcher"], training["max_epochs"]
    )
    steps = train_while_improving(
        nlp,
        training["optimizer"],
        batches,
        evaluate,
        exclude=training["frozen_components"],
        annotating_components=training["annotating_components"],
        **{name: training[name] for name in _LOOP_SETTINGS},
    )
    for _, info, _ in steps:
        yield info


def train_as_configured(
    config: str,
    train: str,
    dev: str,
    model: str,
    threads: int = 1,
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train with the loop of `spacy train`. The time of scoring on dev is not counted.

    model: folder for the best pipeline. overrides: other settings of the config. The series has an
    entry for each evaluation. The time that components need to bring their weights up to date
    before an evaluation is counted.
    """
    nlp, _ = build(config, threads, overrides=overrides)
    examples, dev_examples = read_examples(train, nlp), read_examples(dev, nlp)
    training = training_settings(nlp)
    score = create_evaluation_callback(nlp, lambda _: dev_examples, training["score_weights"])
    watch = Stopwatch()
    progress = Progress(watch, model)
    initialize_seconds = initialize(nlp, examples, watch)
    names = [name for name in nlp.pipe_names if hasattr(component(nlp, name), "sync_weights")]
    last_scores: dict[str, float] = {}

    def evaluate() -> tuple[float, dict[str, float]]:
        for name in names:
            component(nlp, name).sync_weights()
        with watch.paused():
            result, scores = score()
            last_scores.update(scores)
            progress.add(nlp, scores.get("ents_f"))
        return result, scores

    with watch:
        *_, info = run_loop(nlp, examples, training, evaluate)
    return {
        "initialize_seconds": initialize_seconds,
        "seconds": watch.passed,
        "computed_seconds": watch.computed,
        "updates": info["step"] + 1,
        "epochs": info["epoch"] + 1,
        "series": progress.series,
        "scores": last_scores,
        "components": {name: size(nlp, name) for name in names},
    }


def finish(model: str) -> dict[str, float]:
    """Do to a saved pipeline what its config asks for before it is saved. Returns the seconds."""
    nlp = spacy.load(model)
    watch = Stopwatch()
    with watch:
        callback = create_before_to_disk_callback(training_settings(nlp)["before_to_disk"])
        finished = callback(nlp)
    finished.to_disk(model)
    return {"seconds": watch.passed}


def compare_threads(
    config: str, train: str, counts: Sequence[int], rounds: int = 0
) -> dict[str, Any]:
    """The same training with different numbers of threads, which take turns update by update.

    rounds: number of updates, 0 for that of the config. The first entry of each list of seconds is
    `initialize`, the others are updates.
    """
    pipelines: list[tuple[Language, list[Example], list[Stopwatch]]] = []
    steps = 0
    for threads in counts:
        nlp, steps = build(config, threads)
        pipelines.append((nlp, read_examples(train, nlp), [Stopwatch()]))
        initialize(nlp, pipelines[-1][1], pipelines[-1][2][0])
    for _ in range(rounds or steps):
        for nlp, examples, watches in pipelines:
            watches.append(Stopwatch())
            update(nlp, examples, watches[-1])
    return {
        "seconds": [[watch.passed for watch in watches] for *_, watches in pipelines],
        "computed_seconds": [[watch.computed for watch in watches] for *_, watches in pipelines],
        "same_weights": len({_weights(nlp) for nlp, _, _ in pipelines}) == 1,
    }


def _weights(nlp: Language) -> bytes:
    return b"".join(weights(nlp, name).tobytes() for name in nlp.pipe_names)
