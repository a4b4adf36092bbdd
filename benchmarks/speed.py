"""Decoding speed of pipelines side by side, in one process and in turn."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from corpora import read_docs, without_entities
from measure import Stopwatch

Texts = Sequence[str] | Sequence[Doc]


class Timings:
    """Seconds of each contender, round by round, passed and computed."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.computed: dict[str, list[float]] = {}

    def add(self, name: str, work: Callable[[], Iterable[Doc]], passes: int = 1) -> None:
        """Time one pass and keep it; called once a round for each contender.

        work: makes everything that is not timed and returns an iterable that does the rest.
        """
        watches = []
        for _ in range(passes):
            docs = work()
            gc.collect()
            with Stopwatch() as watch:
                for _ in docs:
                    pass
            watches.append(watch)
        self.seconds.setdefault(name, []).append(median(w.passed for w in watches))
        self.computed.setdefault(name, []).append(median(w.computed for w in watches))

    def rates(self, n_tokens: int) -> dict[str, Any]:
        """Median tokens a second, and the single rounds."""
        return {
            "tokens": n_tokens,
            "tokens_per_second": {k: n_tokens / median(v) for k, v in self.seconds.items()},
            "seconds": self.seconds,
            "computed_seconds": self.computed,
        }


def load(model: str, confidence: bool) -> Language:
    """Our pipeline, freshly loaded, with or without confidences."""
    components = spacy.util.load_config(f"{model}/config.cfg")["components"]
    settings = {
        name: {"confidence": confidence} for name, c in components.items() if "confidence" in c
    }
    return spacy.load(model, config={"components": settings})


def decode_docs(
    model: str, dev: str, crfsuite_model: str | None, rounds: int, passes: int
) -> dict[str, Any]:
    """From ready Docs to `doc.ents`: ours without and with confidences, and crfsuite.

    "first" is the first pass of a pipeline just loaded, which knows no word yet; crfsuite's
    Python side begins without its kept features then.
    """
    bare, confident = load(model, False), load(model, True)
    annotated = read_docs(dev, bare.vocab)
    tagger = open_tagger(crfsuite_model) if crfsuite_model else None
    for nlp in (bare, confident):  # kernels into memory, words into the tables
        list(nlp.pipe(without_entities(annotated, nlp.vocab)))
    timings = Timings()

    def ready(nlp: Language) -> Iterable[Doc]:
        return nlp.pipe(without_entities(annotated, nlp.vocab))

    for _ in range(rounds):
        timings.add("first", lambda: ready(load(model, False)))
        timings.add("first_confidence", lambda: ready(load(model, True)))
        timings.add("warm", lambda: ready(bare), passes)
        timings.add("warm_confidence", lambda: ready(confident), passes)
        if tagger is not None:
            timings.add("first_crfsuite", lambda: _tag(annotated, bare, tagger, forget=True))
            timings.add("warm_crfsuite", lambda: _tag(annotated, bare, tagger))
    return timings.rates(sum(map(len, annotated)))


def _tag(
    annotated: list[Doc], nlp: Language, tagger: Callable[[Doc], Doc], forget: bool = False
) -> Iterable[Doc]:
    from peer_crfsuite import word_features

    if forget:
        word_features.cache_clear()
    return map(tagger, without_entities(annotated, nlp.vocab))


def open_tagger(model: str) -> Callable[[Doc], Doc]:
    import pycrfsuite

    from peer_crfsuite import sentence_features, tag_spans

    tagger = pycrfsuite.Tagger()
    tagger.open(model)

    def annotate(doc: Doc) -> Doc:
        spans = []
        for sentence in doc.sents:
            words = [token.text for token in sentence]
            tags = tagger.tag(pycrfsuite.ItemSequence(sentence_features(words)))
            for start, end, label in tag_spans(tags):
                spans.append(Span(doc, sentence.start + start, sentence.start + end, label))
        doc.set_ents(spans)
        return doc

    return annotate


def decode_raw_text(
    model: str, dev: str, ner_model: str, rounds: int, passes: int
) -> dict[str, Any]:
    """From raw text to `doc.ents` with `nlp.pipe`: ours, spaCy's `ner`, the bare tokenizer."""
    bare, confident, ner = load(model, False), load(model, True), spacy.load(ner_model)
    tokenizer = spacy.blank("en")
    texts = [doc.text for doc in read_docs(dev, spacy.blank("en").vocab)]
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
