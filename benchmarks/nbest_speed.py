"""Speed of N-best lists and of reranking, in one process and in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from corpora import read_docs, without_entities
from speed import Timings, load

SEGMENTER = "cascade_segmenter"


def predict_nbest(model: str, dev: str, n_best: int, rounds: int, passes: int) -> dict[str, Any]:
    """The segmenter alone on ready Docs whose words it knows: one best and N best.

    Without confidences; "annotated": written to the Docs, too.
    """
    pipelines = {
        name: spacy.load(
            model, config={"components": {SEGMENTER: {"n_best": n, "confidence": False}}}
        )
        for name, n in (("one", 1), ("n", n_best))
    }
    annotated = read_docs(dev, spacy.blank("en").vocab)

    def work(nlp: Language, write: bool) -> Iterator[Doc]:
        return _segment(nlp, without_entities(annotated, nlp.vocab), write)

    for nlp in pipelines.values():  # kernels into memory, words into the tables
        list(work(nlp, write=True))
    timings = Timings()
    for _ in range(rounds):
        for name, nlp in pipelines.items():
            timings.add(name, lambda nlp=nlp: work(nlp, write=False), passes)
        for name, nlp in pipelines.items():
            timings.add(f"{name}_annotated", lambda nlp=nlp: work(nlp, write=True), passes)
    return timings.rates(sum(map(len, annotated)))


def _segment(nlp: Language, docs: list[Doc], write: bool) -> Iterator[Doc]:
    segmenter: Any = nlp.get_pipe(SEGMENTER)
    for batch in minibatch(docs, nlp.batch_size):
        found = segmenter.predict(batch)
        if write:
            segmenter.set_annotations(batch, found)
        yield from batch


def decode_reranked(
    model: str, dev: str, ner_model: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From raw text to `doc.ents` with `nlp.pipe`: a pipeline with a reranker, spaCy's `ner`."""
    reranked, ner = load(model, confidence=False), spacy.load(ner_model)
    texts = [doc.text for doc in read_docs(dev, spacy.blank("en").vocab)]
    n_tokens = sum(len(doc) for doc in reranked.pipe(texts))
    list(ner.pipe(texts))
    timings = Timings()
    for _ in range(rounds):
        timings.add("first", lambda: load(model, confidence=False).pipe(texts))
        timings.add("first_ner", lambda: spacy.load(ner_model).pipe(texts))
        timings.add("warm", lambda: reranked.pipe(texts), passes)
        timings.add("warm_ner", lambda: ner.pipe(texts))
    return timings.rates(n_tokens)
