"""Annotating many texts: processes, sizes of batches, and memory.

python benchmarks/bulk.py training/jnlpba/model-best corpus/jnlpba/train.spacy
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from measure import HERE, Laboratory, Stopwatch, circumstances, print_results

CORES = 2
BATCH_SIZES = (32, 256, 2048)
PASSES, N_TEXTS = 61, 200
"""Over so many texts, each time with other words, for the curves of memory."""


def read_texts(data: str, part: int = 0, parts: int = 1) -> list[str]:
    """The texts of a corpus, or of every so many of its Docs."""
    import spacy

    from corpora import read_docs

    return [doc.text for doc in read_docs(data, spacy.blank("en").vocab)[part::parts]]


def annotate_texts(
    model: str, data: str, rounds: int, part: int = 0, parts: int = 1, **settings: int
) -> dict[str, Any]:
    """Seconds of `nlp.pipe` over the texts, words known but for those of the first round.

    settings: of `nlp.pipe`. part: of so many parts, every so manyth text.
    """
    import spacy

    texts = read_texts(data, part, parts)
    nlp = spacy.load(model)
    n_tokens = sum(len(doc) for doc in nlp.pipe(texts))  # kernels and words into memory
    seconds = []
    for _ in range(rounds):
        with Stopwatch() as watch:
            for _ in nlp.pipe(texts, **settings):
                pass
        seconds.append(watch.passed)
    return {"tokens": n_tokens, "seconds": seconds}


def grow(model: str, data: str, zone: bool, passes: int) -> dict[str, Any]:
    """Resident memory after each pass over the first texts, whose words are new each time.

    zone: whether each pass is in a memory zone of its own.
    """
    import spacy

    from serving import memory_megabytes

    texts = read_texts(data)[:N_TEXTS]
    nlp = spacy.load(model)
    numbers = count()
    memory = []
    for _ in range(passes):
        with nlp.memory_zone() if zone else nullcontext():
            for _ in nlp.pipe(renamed(text, numbers) for text in texts):
                pass
        memory.append(memory_megabytes(os.getpid()))
    return {"memory_megabytes": memory}


def renamed(text: str, numbers: Iterator[int]) -> str:
    """The text with every tenth word made a new one."""
    words = text.split(" ")
    words[::10] = [f"{word}{next(numbers)}" for word in words[::10]]
    return " ".join(words)


def measure(
    laboratory: Laboratory, model: str, data: str, rounds: int, passes: int
) -> dict[str, Any]:
    """All ways, each in processes of its own."""
    common = {"model": model, "data": data, "rounds": rounds}
    ways: dict[str, list[dict[str, Any]]] = {}
    for size in BATCH_SIZES:
        arguments = {**common, "batch_size": size}
        ways[f"one process, batch_size {size}"] = [laboratory.run("annotate_texts", arguments)]
    for size in BATCH_SIZES:
        arguments = {**common, "batch_size": size, "n_process": CORES}
        found = laboratory.run("annotate_texts", arguments, cores=CORES)
        ways[f"n_process = {CORES}, batch_size {size}"] = [found]

    def part(number: int) -> dict[str, Any]:
        arguments = {**common, "batch_size": 256, "part": number, "parts": CORES}
        return laboratory.run("annotate_texts", arguments)

    jobs = [lambda number=number: part(number) for number in range(CORES)]
    ways[f"{CORES} processes with a part of the texts each"] = laboratory.side_by_side(jobs, CORES)
    growth = {
        name: laboratory.run(
            "grow", {"model": model, "data": data, "zone": zone, "passes": passes}
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
    """Read the arguments, measure, print the results and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="trained pipeline")
    parser.add_argument("data", type=Path, help=".spacy file whose texts are annotated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=PASSES, help="for the curves of memory")
    parser.add_argument("--kernels", type=Path, default=HERE / "work" / "kernels")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    results = circumstances()
    model, data = (str(path.resolve()) for path in (arguments.model, arguments.data))
    with TemporaryDirectory() as work:
        laboratory = Laboratory(Path(work), kernels=arguments.kernels)
        results |= measure(laboratory, model, data, arguments.rounds, arguments.passes)
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
