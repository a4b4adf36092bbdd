"""The wait before the first Doc: loading a pipeline, and compiling kernels for the first time.

Functions import spaCy themselves, because the time of this import is measured, too.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from .timing import Stopwatch

TEXT = (
    "Activation of the CD28 surface receptor provides a major costimulatory signal for T "
    "cell activation resulting in enhanced production of interleukin-2 (IL-2)."
)


def load_and_decode(model: str) -> dict[str, Any]:
    """Seconds for the import of spaCy, `spacy.load`, the first Doc and the second Doc.

    `computed_seconds`: processor time of `spacy.load` and the first Doc together.
    """
    watches = [Stopwatch() for _ in range(4)]
    with watches[0]:
        import spacy
    with watches[1]:
        nlp = spacy.load(model)
    for watch in watches[2:]:
        with watch:
            nlp(TEXT)
    names = ("import_seconds", "load_seconds", "first_doc_seconds", "second_doc_seconds")
    seconds = {name: watch.passed for name, watch in zip(names, watches, strict=True)}
    return {**seconds, "computed_seconds": watches[1].computed + watches[2].computed}


def compile_decoding(model: str) -> dict[str, Any]:
    """Seconds from the start of the process to the first annotated Doc."""
    watch = Stopwatch()
    with watch:
        load_and_decode(model)
    return {"seconds": watch.passed, "computed_seconds": watch.computed}


def compile_training(config: str, train: str, sentences: int) -> dict[str, Any]:
    """Seconds from the start of the process to the end of one update on a few sentences."""
    watch = Stopwatch()
    with watch:
        _train_a_little(config, train, sentences)
    return {"seconds": watch.passed, "computed_seconds": watch.computed}


def _train_a_little(config: str, train: str, sentences: int) -> None:
    from spacy.training import Example

    from .corpora import read_docs
    from .training import build

    nlp, _ = build(config, threads=1)
    # A corpus may begin with documents that have no entities, of which nothing can be learnt.
    found = (
        sentence.as_doc()
        for doc in read_docs(train, nlp.vocab)
        for sentence in doc.sents
        if sentence.ents
    )
    docs = list(islice(found, sentences))
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    nlp.update(examples, losses={})
