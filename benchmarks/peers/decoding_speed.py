"""Decoding speed of pipelines and peers, which take turns in one process.

"first" is the first pass of a pipeline that was just loaded and knows no word yet. "warm" is any
later pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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
    model: str, dev: str, ner_model: str, rounds: int, passes: int, beside: Sequence[str] = ()
) -> dict[str, Any]:
    """From raw text to `doc.ents` with `nlp.pipe`: a pipeline of ours, and spaCy's `ner`.

    beside: also of `confidence`, ours with confidences, and `tokenizer`, which is alone.
    """
    others = {"confidence": partial(load, model, True), "tokenizer": partial(spacy.blank, "en")}
    load_pipelines = {
        "": partial(load, model, False),
        **{f"_{name}": others[name] for name in beside},
        "_ner": partial(spacy.load, ner_model),
    }
    return _annotate_texts(load_pipelines, dev, rounds, passes)


def _annotate_texts(
    load_pipelines: Mapping[str, Callable[[], Language]], dev: str, rounds: int, passes: int
) -> dict[str, Any]:
    """Timings `first…` and `warm…` of pipelines. spaCy's slow `ner` has one warm pass a round."""
    texts = read_texts(dev)
    pipelines = {name: load_pipeline() for name, load_pipeline in load_pipelines.items()}
    # The first pass loads kernels and caches words.
    n_tokens = {n: sum(map(len, _pipe(nlp, texts))) for n, nlp in pipelines.items()}
    timings = Timings()
    for _ in range(rounds):
        for name, load_pipeline in load_pipelines.items():
            timings.add(f"first{name}", partial(_load_and_pipe, load_pipeline, texts))
        for name, nlp in pipelines.items():
            n_passes = 1 if name == "_ner" else passes
            timings.add(f"warm{name}", partial(_pipe, nlp, texts), n_passes)
    return timings.rates(next(iter(n_tokens.values())))


def _pipe(nlp: Language, texts: Sequence[str]) -> Iterable[Doc]:
    """Annotate texts; without components only the tokenizer runs."""
    return nlp.pipe(texts) if nlp.pipe_names else map(nlp.make_doc, texts)


def _load_and_pipe(load_pipeline: Callable[[], Language], texts: Sequence[str]) -> Iterable[Doc]:
    return _pipe(load_pipeline(), texts)


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
            timings.add(name, partial(work, nlp, False), passes)
        for name, nlp in pipelines.items():
            timings.add(f"{name}_annotated", partial(work, nlp, True), passes)
    return timings.rates(sum(map(len, gold)))


def _segment(nlp: Language, docs: list[Doc], write: bool) -> Iterator[Doc]:
    segmenter = component(nlp, SEGMENTER)
    for batch in minibatch(docs, nlp.batch_size):
        found = segmenter.predict(batch)
        if write:
            segmenter.set_annotations(batch, found)
        yield from batch


def decode_in_turns(
    models: Mapping[str, str], dev: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From Docs with words to annotation: timings `first_NAME` and `warm_NAME` of pipelines."""
    pipelines = {name: spacy.load(path) for name, path in models.items()}
    docs = read_docs(dev)
    timings = Timings()
    for nlp in pipelines.values():  # load kernels, cache words
        list(annotate_words(nlp, docs))
    for _ in range(rounds):
        for name, nlp in pipelines.items():
            timings.add(f"warm_{name}", partial(annotate_words, nlp, docs), passes)
        for name, path in models.items():
            timings.add(f"first_{name}", partial(_load_and_annotate, path, docs))
    return timings.rates(sum(map(len, docs)))


def decode_texts_in_turns(
    models: Mapping[str, str], dev: str, rounds: int, passes: int
) -> dict[str, Any]:
    """As `decode_in_turns`, from raw text to entities without confidences."""
    loads = {f"_{name}": partial(load, path, False) for name, path in models.items()}
    return _annotate_texts(loads, dev, rounds, passes)


def _load_and_annotate(path: str, docs: Sequence[Doc]) -> Iterator[Doc]:
    return annotate_words(spacy.load(path), docs)
