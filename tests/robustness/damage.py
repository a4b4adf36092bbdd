"""A run over many damaged model files, in a process of its own.

    python damage.py MODELS FIRST LAST

prints a JSON table of what came of the cases FIRST to LAST. A case that takes longer than
`LIMIT` seconds ends the process, and so does one that crashes it. Kernels that only odd weights
need are compiled then; that time does not count.
"""

from __future__ import annotations

import faulthandler
import json
import re
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from edits import AROUND, DAMAGE, EDITS
from model_files import Case, Model, choice
from numba.core import event
from spacy.language import Language
from spacy.tokens import Doc

from spacy_cascade import ModelFileError

LIMIT = 5.0
TIMES = 2
"""How many times the file may be in memory."""
OWN_OBJECTS = 1 << 21
"""Bytes that small objects, and the text of the largest header, may take beside that."""
TEXTS = [
    "The Zta protein switches Epstein-Barr virus to replication .",
    "IL-2 acted on T cells and monocytes through NF-kappa B .",
]


@dataclass
class Source:
    """A component and its model."""

    nlp: Language
    name: str
    data: bytes

    @property
    def pipe(self) -> Any:
        return self.nlp.get_pipe(self.name)


class Clock(event.Listener):
    """Ends the process `LIMIT` seconds after `start`, unless it is stopped or a kernel compiles."""

    def __init__(self) -> None:
        self.runs = False
        event.register("numba:compile", self)

    def start(self) -> None:
        self.runs = True
        faulthandler.dump_traceback_later(LIMIT, exit=True)

    def stop(self) -> None:
        self.runs = False
        faulthandler.cancel_dump_traceback_later()

    def on_start(self, event: event.Event) -> None:
        faulthandler.cancel_dump_traceback_later()

    def on_end(self, event: event.Event) -> None:
        if self.runs:
            self.start()


class Runner:
    """Loads damaged models into the components of pipelines, and notes what comes of it."""

    def __init__(self, folder: Path) -> None:
        self.sources: list[Source] = []
        self.clock = Clock()
        for path in sorted(folder.iterdir()):
            nlp = spacy.load(path, exclude=["tokenizer"])
            for name, pipe in nlp.pipeline:
                if pipe.labels:  # A reranker that was not trained has none.
                    self.sources.append(Source(nlp, name, pipe.to_bytes()))
            predict(nlp)
        self.came: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest, self.most_memory = 0.0, 0

    def case(self, number: int) -> tuple[Source, Callable[..., Case], Case]:
        """What to damage, how, and the damaged file."""
        generator = np.random.default_rng(number)
        source = choice(generator, self.sources)
        how = choice(generator, choice(generator, [DAMAGE, EDITS, EDITS]))
        return source, how, how(generator, Model.of(source.data), source.data)

    def run(self, number: int) -> None:
        source, how, case = self.case(number)
        came = self._came(source, case)
        self.came[came] += 1
        if came not in ("refused", "another valid model", "the same model"):
            self.wrong.append(f"{number}, {source.name}, {how.__name__}: {came}")

    def _came(self, source: Source, case: Case) -> str:
        pipe = source.pipe
        self.clock.start()
        tracemalloc.start()
        begin = time.perf_counter()
        try:
            pipe.from_bytes(case.data)
            error = None
        except Exception as caught:
            error = caught
        self.slowest = max(self.slowest, time.perf_counter() - begin)
        # The file itself is in memory, too.
        memory = tracemalloc.get_traced_memory()[1] + len(case.data)
        tracemalloc.stop()
        try:
            if error is None:
                return self._loaded(source, case)
            return self._refused(error, case, memory)
        finally:
            pipe.from_bytes(source.data)
            self.clock.stop()

    def _loaded(self, source: Source, case: Case) -> str:
        if source.pipe.to_bytes() == source.data and case.named is not None:
            return "the same model" if AROUND in case.named else "damage not seen"
        if case.named is not None:
            return f"loaded, though {case.named} is not valid"
        return "another valid model" if predict(source.nlp) else "predictions are not finite"

    def _refused(self, error: Exception, case: Case, memory: int) -> str:
        message = str(error)
        if type(error) is not ModelFileError:
            return f"{type(error).__name__}: {message[:300]}"
        if case.named is None:
            return f"refused, though valid: {message[:300]}"
        if not re.search(case.named, message):
            return f"{case.named} is not named: {message[:300]}"
        if len(message) > 600 or not message.isprintable():
            return f"no clear error: {message[:1000]!r}"
        beyond = memory - TIMES * len(case.data)
        self.most_memory = max(self.most_memory, beyond)
        if beyond > OWN_OBJECTS:
            return f"took {beyond:,} bytes more than {TIMES} x its {len(case.data):,}: {message}"
        return "refused"


def predict(nlp: Language) -> bool:
    """Whether confidences are numbers from 0 to 1. Other labels may be a documented error."""
    for text in TEXTS:
        doc = Doc(nlp.vocab, words=text.split())
        for _, pipe in nlp.pipeline:
            try:
                doc = pipe(doc)
            except ValueError as error:
                if "was trained for the types" not in str(error):
                    raise
        for spans in doc.spans.values():
            scores = np.array(spans.attrs.get("scores", []), dtype=float)
            if not ((scores >= 0) & (scores <= 1 + 1e-9)).all():
                return False
    return True


def main(folder: str, first: str, last: str) -> None:
    runner = Runner(Path(folder))
    for number in range(int(first), int(last)):
        runner.run(number)
    print(
        json.dumps(
            {
                "came": runner.came,
                "wrong": runner.wrong[:20],
                "slowest": runner.slowest,
                "memory": runner.most_memory,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
