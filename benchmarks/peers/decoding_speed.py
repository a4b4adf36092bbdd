"""Decoding speed of pipelines and peers, which take turns in one process.

"first" is the first pass of a pipeline that was just loaded and knows no word yet. "warm" is any
later pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ..lib.corpora import annotate_words, read_docs, read_texts, without_entities
from ..lib.package import SEGMENTER, component
from ..lib.timing import Timings


def load(model: str, confidence: bool) -> Language:
    """Our pipeline, newly loaded, with or without confidences."""
    components = spacy.util.load_config(f"{model}/config.cfg")["components"]
    settings = {
        name: {"confidence": confidence} for name, c in components.items() if "confidence" in c
    }
    return spacy.load(model, config={"components": settings})


def decode_docs(
    model: str, dev: str, crfsuite_model: str | None, rounds: int, passes: int
) -> dict[str, Any]:
    """From Docs with words to `doc.ents`: ours without and with confidences, and crfsuite.

    In its first pass, the Python side of crfsuite begins without cached features.
    """
    bare, confident = load(model, False), load(model, True)
    gold = read_docs(dev, bare.vocab)
    for nlp in (bare, confident):  # load kernels, cache words
        list(annotate_words(nlp, gold))
    timings = Timings()
    tag: Callable[[bool], Iterable[Doc]] | None = None
    if crfsuite_model:
        tag = _crfsuite(crfsuite_model, gold)
    for _ in range(rounds):
        timings.add("first", lambda: annotate_words(load(model, False), gold))
        timings.add("first_confidence", lambda: annotate_words(load(model, True), gold))
        timings.add("warm", lambda: annotate_words(bare, gold), passes)
        timings.add("warm_confidence", lambda: annotate_words(confident, gold), passes)
        if tag is not None:
            timings.add("first_crfsuite", lambda: tag(True))
            timings.add("warm_crfsuite", lambda: tag(False))
    return timings.rates(sum(map(len, gold)))


def _crfsuite(model: str, gold: Sequence[Doc]) -> Callable[[bool], Iterable[Doc]]:
    """A function that annotates the words of Docs; its argument clears cached features before."""
    from .crfsuite import open_annotator, word_features

    annotate = open_annotator(model)

    def tag(forget: bool) -> Iterable[Doc]:
        if forget:
            word_features.cache_clear()
        return map(annotate, without_entities(gold, gold[0].vocab))

    return tag


def decode_raw_text(
    model: str, dev: str, ner_model: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From raw text to `doc.ents` with `nlp.pipe`: ours, spaCy's `ner`, the tokenizer alone."""
    bare, confident, ner = load(model, False), load(model, True), spacy.load(ner_model)
    tokenizer = spacy.blank("en")
    texts = read_texts(dev)
    n_tokens = sum(len(doc) for doc in bare.pipe(texts))
    for nlp in (confident, ner, tokenizer):
        list(nlp.pipe(texts))
    timings = Timings()
    for _ in range(rounds):
        timings.add("first", lambda: load(model, False).pipe(texts))
        timings.add("first_confidence", lambda: load(model, True).pipe(texts))
        timings.add("first_ner", lambda: spacy.load(ner_model).pipe(texts))
        timings.add("first_tokenizer", lambda: map(spacy.blank("en").make_doc, texts))
        timings.add("warm", lambda: bare.pipe(texts), passes)
        timings.add("warm_confidence", lambda: confident.pipe(texts), passes)
        timings.add("warm_tokenizer", lambda: map(tokenizer.make_doc, texts), passes)
        timings.add("warm_ner", lambda: ner.pipe(texts))
    return timings.rates(n_tokens)


def decode_reranked(
    model: str, dev: str, ner_model: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From raw text to `doc.ents` with `nlp.pipe`: a pipeline with a reranker, spaCy's `ner`."""
    reranked, ner = load(model, confidence=False), spacy.load(ner_model)
    texts = read_texts(dev)
    n_tokens = sum(len(doc) for doc in reranked.pipe(texts))
    list(ner.pipe(texts))
    timings = Timings()
    for _ in range(rounds):
        timings.add("first", lambda: load(model, confidence=False).pipe(texts))
        timings.add("first_ner", lambda: spacy.load(ner_model).pipe(texts))
        timings.add("warm", lambda: reranked.pipe(texts), passes)
        timings.add("warm_ner", lambda: ner.pipe(texts))
    return timings.rates(n_tokens)


def predict_nbest(model: str, dev: str, n_best: int, rounds: int, passes: int) -> dict[str, Any]:
    """The segmenter alone on Docs whose words it knows: the best segmentation and the N best.

    Without confidences. "annotated": with writing to the Docs.
    """
    pipelines = {
        name: spacy.load(
            model, config={"components": {SEGMENTER: {"n_best": n, "confidence": False}}}
        )
        for name, n in (("one", 1), ("n", n_best))
    }
    gold = read_docs(dev)

    def work(nlp: Language, write: bool) -> Iterator[Doc]:
        return _segment(nlp, without_entities(gold, nlp.vocab), write)

    for nlp in pipelines.values():  # load kernels, cache words
        list(work(nlp, write=True))
    timings = Timings()
    for _ in range(rounds):
        for name, nlp in pipelines.items():
            timings.add(name, lambda nlp=nlp: work(nlp, write=False), passes)
        for name, nlp in pipelines.items():
            timings.add(f"{name}_annotated", lambda nlp=nlp: work(nlp, write=True), passes)
    return timings.rates(sum(map(len, gold)))


def _segment(nlp: Language, docs: list[Doc], write: bool) -> Iterator[Doc]:
    segmenter = component(nlp, SEGMENTER)
    for batch in minibatch(docs, nlp.batch_size):
        found = segmenter.predict(batch)
        if write:
            segmenter.set_annotations(batch, found)
        yield from batch


def decode_with_and_without(
    without: str, listed: str, dev: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From Docs with words to `doc.ents`: pipelines without and with a term list."""
    paths = {"without": without, "with": listed}
    pipelines = {name: spacy.load(path) for name, path in paths.items()}
    docs = read_docs(dev)
    timings = Timings()
    for nlp in pipelines.values():  # load kernels, cache words
        list(annotate_words(nlp, docs))
    for _ in range(rounds):
        for name, nlp in pipelines.items():
            timings.add(f"warm_{name}", lambda nlp=nlp: annotate_words(nlp, docs), passes)
        for name, path in paths.items():
            timings.add(f"first_{name}", lambda p=path: annotate_words(spacy.load(p), docs))
    return timings.rates(sum(map(len, docs)))
