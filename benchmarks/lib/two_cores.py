"""Annotation on two cores against one: threads of one pipeline, spaCy's processes, `annotate`.

Ways take turns. Wall-clock times say nothing on a machine that does other work: processor time, of
child processes too, says what a second thread or process costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from .corpora import read_docs, read_texts
from .processes import run_python
from .timing import Timings

PART = 128
"""Texts of a stream that a thread annotates at a time."""
SHORT = range(12, 21)
"""Tokens of a short text."""
COMPARED = 1_000
"""Texts whose entities and confidences are compared between one process and two."""


def annotate_in_threads(model: str, data: str, rounds: int, passes: int) -> dict[str, Any]:
    """One stream of texts, whose parts go to new threads: `warm…` and `first…` of one and two."""
    nlp, texts = spacy.load(model), read_texts(data)
    n_tokens = sum(map(len, _in_threads(nlp, texts, 1)))  # load kernels, cache words
    timings = Timings()
    for _ in range(rounds):
        for name, n in (("one", 1), ("two", 2)):
            timings.add(f"warm_{name}", partial(_in_threads, nlp, texts, n), passes)
        for name, n in (("one", 1), ("two", 2)):
            timings.add(f"first_{name}", partial(_load_and_annotate, model, texts, n))
    return timings.rates(n_tokens)


def _in_threads(nlp: Language, texts: Sequence[str], n_threads: int) -> Iterator[Doc]:
    parts = list(minibatch(texts, PART))  # type: ignore[no-untyped-call]
    with ThreadPoolExecutor(n_threads) as pool:
        yield from chain.from_iterable(pool.map(lambda part: list(nlp.pipe(part)), parts))


def _load_and_annotate(model: str, texts: Sequence[str], n_threads: int) -> Iterator[Doc]:
    return _in_threads(spacy.load(model), texts, n_threads)


def annotate_in_processes(model: str, data: str, n_texts: int, rounds: int) -> dict[str, Any]:
    """Short texts by `nlp.pipe` in one process and in two, and by the command `annotate`."""
    nlp, texts = spacy.load(model), short_texts(data, n_texts)
    n_tokens = sum(map(len, nlp.pipe(texts)))  # load kernels, cache words
    one, two = (_found(nlp, texts[:COMPARED], n) for n in (1, 2))
    timings = Timings()
    with TemporaryDirectory() as folder:
        source = Path(folder) / "texts.txt"
        source.write_text("".join(f"{text}\n" for text in texts), encoding="utf8")
        for turn in range(rounds):
            for name, n in (("one", 1), ("two", 2)):
                timings.add(f"pipe_{name}", partial(nlp.pipe, texts, n_process=n))
            for name, n in (("one", 1), ("two", 2)):
                output = str(Path(folder) / f"{name}-{turn}")
                work = partial(_command, model, str(source), output, n)
                timings.add(f"annotate_{name}", work)
    return {**timings.rates(n_tokens), "is_same": one == two}


def short_texts(data: str, n: int) -> list[str]:
    """Sentences of a corpus that are short, again and again until there are `n`."""
    sentences = (sentence for doc in read_docs(data) for sentence in doc.sents)
    return list(islice(cycle([s.text for s in sentences if len(s) in SHORT]), n))


def _found(nlp: Language, texts: Sequence[str], n_process: int) -> list[Any]:
    """Entities with their confidences, and span groups."""
    return [
        (
            [(e.start, e.end, e.label_, e._.confidence) for e in doc.ents],
            {key: [(s.start, s.end, s.label_) for s in group] for key, group in doc.spans.items()},
        )
        for doc in nlp.pipe(texts, n_process=n_process)
    ]


def _command(model: str, source: str, output: str, processes: int) -> Iterator[object]:
    """Files to files, in processes of its own, whose start counts."""
    command = ["-m", "spacy", "cascade", "annotate", model, source, "--output", output]
    yield run_python([*command, "--processes", str(processes)], os.environ)
