"""What a user waits for before the first Doc: loading, and the first compilation ever.

spaCy is imported inside the functions, because that is on the clock too.
"""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import Any

TEXT = (
    "Activation of the CD28 surface receptor provides a major costimulatory signal for T "
    "cell activation resulting in enhanced production of interleukin-2 (IL-2)."
)


def load_and_decode(model: str) -> dict[str, Any]:
    """Seconds for importing spaCy, for `spacy.load`, for the first Doc and for the second."""
    times = [perf_counter()]
    import spacy

    times.append(perf_counter())
    nlp = spacy.load(model)
    times.append(perf_counter())
    nlp(TEXT)
    times.append(perf_counter())
    nlp(TEXT)
    times.append(perf_counter())
    names = ("import_seconds", "load_seconds", "first_doc_seconds", "second_doc_seconds")
    return {name: b - a for name, a, b in zip(names, times, times[1:], strict=False)}


def compile_decoding(model: str) -> dict[str, Any]:
    """Seconds from nothing to the first annotated Doc."""
    return {"seconds": sum(load_and_decode(model).values())}


def compile_training(config: str, train: str, sentences: int) -> dict[str, Any]:
    """Seconds from nothing through `initialize` and one `update` on a few sentences."""
    begin = perf_counter()
    from corpora import read_docs
    from spacy.training import Example
    from training import build

    nlp, _ = build(config, threads=1)
    docs = [
        sentence.as_doc()
        for doc in islice(read_docs(train, nlp.vocab), sentences)
        for sentence in doc.sents
    ][:sentences]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    nlp.update(examples, losses={})
    return {"seconds": perf_counter() - begin}
