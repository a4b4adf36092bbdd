"""The memory of a service over a long time: `python long_service.py MODEL PIPES ZONES N MAXIMUM`.

PIPES: `all`, or `none` for the tokenizer alone. ZONES: `zones`, a memory zone for each batch, or
`none`. N: texts, each with ten words that are new. MAXIMUM: words that a component keeps between
batches. Prints a line of JSON: the highest resident megabytes of each period in which the tables
of words fill up once; and the largest numbers of entries that were seen.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "support"))

import spacy
from new_words import texts_of_new_words
from spacy.language import Language

from spacy_cascade.pipeline import base

BATCH, NEW_WORDS = 64, 10


def resident_megabytes() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf8").split()[1])
    return pages * 4096 / 2**20


def entries(nlp: Language) -> dict[str, int]:
    """How much the caches of the components hold."""
    counts = {}
    for name in nlp.pipe_names:
        model = nlp.get_pipe(name).model
        space, scores = model.attrs["space"], model.attrs["lexeme_scores"]
        tables = list(scores._known.values())
        counts |= {
            f"{name}: words": len(space.lexemes),
            f"{name}: tables of scores": len(tables),
            f"{name}: scored words": max((table._n_lexemes for table in tables), default=0),
            f"{name}: features of words": space.n_cached,
            f"{name}: bytes": sum(map(_bytes_of, [space.lexemes, *tables])),
        }
    return counts


def _bytes_of(holder: Any) -> int:
    """Of the arrays of an object and of the indexes that it has."""
    values = list(vars(holder).values())
    indexes = [value for value in values if type(value).__name__ == "KeyIndex"]
    return sum(getattr(value, "nbytes", 0) for value in values) + sum(map(_bytes_of, indexes))


def main(model: str, pipes: str, zones: str, n: int, maximum: int) -> None:
    """Annotate, and print what it took."""
    base._MAXIMUM_LEXEMES = maximum
    nlp = spacy.load(model)
    if pipes == "none":
        nlp.select_pipes(enable=[])
    texts = texts_of_new_words(NEW_WORDS, seed=1, n=n)
    n_batches, period = n // BATCH, maximum // (BATCH * NEW_WORDS) + 1
    highest: list[float] = []
    most: Counter[str] = Counter()
    for number in range(n_batches):
        with nlp.memory_zone() if zones == "zones" else nullcontext():
            for _ in nlp.pipe(islice(texts, BATCH)):
                pass
        if number % period == 0:
            highest.append(0.0)
        highest[-1] = max(highest[-1], resident_megabytes())
        if zones == "zones":
            most["strings"] = max(most["strings"], len(nlp.vocab.strings))
        for what, many in entries(nlp).items():
            most[what] = max(most[what], many)
    print(json.dumps({"megabytes": highest[: n_batches // period], "entries": most}))


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
