"""Annotation of many texts: processes, batch sizes, and memory.

python -m benchmarks.experiments.bulk training/jnlpba/model-best corpus/jnlpba/train.spacy
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from itertools import count
from statistics import median
from typing import Any

from ..lib.arguments import add_rounds, new_parser
from ..lib.corpora import read_texts
from ..lib.machine import resident_megabytes
from ..lib.processes import Result, TaskRunner
from ..lib.timing import Stopwatch
from ..reports.output import run

CORES = 2
BATCH_SIZES = (32, 256, 2048)
PASSES, N_TEXTS = 61, 200
"""For the curves of memory: passes, and texts of each pass, with other words each time."""


def annotate_texts(
    model: str, data: str, rounds: int, part: int = 0, parts: int = 1, **settings: Any
) -> dict[str, Any]:
    """Seconds of `nlp.pipe` over the texts, after a pass that is not timed.

    part, parts: annotate one of several parts of the texts. settings: of `nlp.pipe`.
    """
    import spacy

    texts = read_texts(data, part, parts)
    nlp = spacy.load(model)
    n_tokens = sum(len(doc) for doc in nlp.pipe(texts))  # load kernels, cache words
    seconds = []
    for _ in range(rounds):
        with Stopwatch() as watch:
            for _ in nlp.pipe(texts, **settings):
                pass
        seconds.append(watch.passed)
    return {"tokens": n_tokens, "seconds": seconds}


def memory_growth(model: str, data: str, zone: bool, passes: int) -> dict[str, Any]:
    """Resident memory after each pass over the first texts, with new words in each pass.

    zone: whether each pass has a memory zone of its own.
    """
    import spacy

    texts = read_texts(data)[:N_TEXTS]
    nlp = spacy.load(model)
    numbers = count()
    memory = []
    for _ in range(passes):
        with nlp.memory_zone() if zone else nullcontext():
            for _ in nlp.pipe(with_new_words(text, numbers) for text in texts):
                pass
        memory.append(resident_megabytes(os.getpid()))
    return {"memory_megabytes": memory}


def with_new_words(text: str, numbers: Iterator[int]) -> str:
    """The text with a new word in place of every tenth word."""
    words = text.split(" ")
    words[::10] = [f"{word}{next(numbers)}" for word in words[::10]]
    return " ".join(words)


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """Measure all ways to annotate, each in processes of its own."""
    common = {"model": str(arguments.model), "data": str(arguments.data)}

    def annotate(cores: int, batch_size: int, **settings: int) -> Result:
        task = {**common, "rounds": arguments.rounds, "batch_size": batch_size, **settings}
        return runner.run("experiments.bulk:annotate_texts", task, cores)

    ways = {f"one process, batch_size {n}": [annotate(1, n)] for n in BATCH_SIZES}
    for n in BATCH_SIZES:
        ways[f"n_process = {CORES}, batch_size {n}"] = [annotate(CORES, n, n_process=CORES)]
    jobs = [partial(annotate, 1, 256, part=part, parts=CORES) for part in range(CORES)]
    ways[f"{CORES} processes with a part of the texts each"] = runner.run_in_parallel(jobs, CORES)
    growth = {
        name: runner.run(
            "experiments.bulk:memory_growth",
            {**common, "zone": zone, "passes": arguments.passes},
        )["memory_megabytes"]
        for name, zone in (("no memory zones", False), ("a memory zone each", True))
    }
    return {
        "tokens": ways[f"one process, batch_size {BATCH_SIZES[0]}"][0]["tokens"],
        "tokens_per_second": {
            name: sum(f["tokens"] for f in found) / max(median(f["seconds"]) for f in found)
            for name, found in ways.items()
        },
        "seconds": {name: [f["seconds"] for f in found] for name, found in ways.items()},
        "memory_megabytes": growth,
    }


def main() -> None:
    parser = new_parser(__doc__, "model", "data")
    add_rounds(parser, 5, PASSES)
    run(parser, "bulk", measure)


if __name__ == "__main__":
    main()
