"""Training of our pipelines in this process, with a clock on every step."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import spacy
from corpora import read_examples
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, load_model_from_config


def build(config: str, threads: int, min_count: int | None = None) -> tuple[Language, int]:
    """An untrained pipeline, and how many updates its config allows."""
    settings = load_config(config)
    for component in settings["components"].values():
        component["trainer"]["threads"] = threads
        if min_count is not None:
            component["model"]["min_count"] = min_count
    spacy.util.fix_random_seed(0)
    nlp = load_model_from_config(settings, auto_fill=True, validate=True)
    return nlp, int(nlp.config["training"]["max_steps"])


def timed_initialize(nlp: Language, examples: Sequence[Example]) -> float:
    """Seconds for labels, feature spaces and zero weights."""
    begin = perf_counter()
    nlp.initialize(lambda: examples)
    return perf_counter() - begin


def timed_update(nlp: Language, examples: Sequence[Example]) -> float:
    """Seconds for one update on the whole corpus; the first encodes it too."""
    gc.collect()
    begin = perf_counter()
    nlp.update(examples, losses={})
    return perf_counter() - begin


def train_cascade(
    config: str,
    train: str,
    dev: str,
    model: str | None = None,
    evaluate: bool = True,
    threads: int = 1,
    min_count: int | None = None,
) -> dict[str, Any]:
    """Run all updates of a config; the clock stands still while dev is scored.

    model: folder for the best pipeline. series: seconds since the beginning of
    `initialize` and dev F1, after each update.
    """
    nlp, steps = build(config, threads, min_count)
    examples = read_examples(train, nlp)
    dev_examples = read_examples(dev, nlp) if evaluate else []
    seconds = [timed_initialize(nlp, examples)]
    series: list[tuple[float, float]] = []
    for _ in range(steps):
        seconds.append(timed_update(nlp, examples))
        if evaluate:
            f1 = 100 * (nlp.evaluate(dev_examples)["ents_f"] or 0.0)
            if model and f1 > max((best for _, best in series), default=-1.0):
                nlp.to_disk(model)
            series.append((sum(seconds), f1))
    return {
        "initialize_seconds": seconds[0],
        "update_seconds": seconds[1:],
        "series": series,
        "components": {name: size(nlp, name) for name in nlp.pipe_names},
    }


def size(nlp: Language, name: str) -> dict[str, int]:
    """Numbers of features and of weights of a component."""
    weights = nlp.get_pipe(name).model.get_param("W")
    return {"features": int(weights.shape[0]), "weights": int(weights.size)}


def compare_threads(config: str, train: str, counts: Sequence[int]) -> dict[str, Any]:
    """The same training with different numbers of threads, update by update in turn."""
    pipelines: list[tuple[Language, list[Example], list[float]]] = []
    steps = 0
    for threads in counts:
        nlp, steps = build(config, threads)
        examples = read_examples(train, nlp)
        pipelines.append((nlp, examples, [timed_initialize(nlp, examples)]))
    for _ in range(steps):
        for nlp, examples, seconds in pipelines:
            seconds.append(timed_update(nlp, examples))
    return {
        "seconds": [seconds for _, _, seconds in pipelines],
        "same_weights": len({_weights(nlp) for nlp, _, _ in pipelines}) == 1,
    }


def _weights(nlp: Language) -> bytes:
    return b"".join(pipe.model.get_param("W").tobytes() for _, pipe in nlp.pipeline)


def folder_size(folder: str | Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
