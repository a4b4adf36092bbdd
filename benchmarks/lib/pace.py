"""How fast two pipelines annotate the same tokens, new and known, taking turns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from .corpora import read_docs
from .timing import Timings, median_ratio


def compare(
    one: str, other: str, corpus: str, rounds: int, of_text: bool = False
) -> dict[str, Any]:
    """Seconds of one model over those of the other, on one thread, for known words and new ones.

    corpus: Docs whose tokens are taken, or, with `of_text`, their texts. The end is the last Doc,
    confidences included. For new words pipelines are loaded anew in each round, after kernels were
    loaded by another text.
    """
    models, read = {"one": one, "other": other}, _texts if of_text else _tokens
    known = {name: spacy.load(path) for name, path in models.items()}
    timings = {"known": Timings(), "new": Timings()}
    for number in range(rounds):
        for name in sorted(models, reverse=bool(number % 2)):
            fresh = spacy.load(models[name])
            list(fresh.pipe(fresh.make_doc(text) for text in ("One text .", "Another one .")))
            docs = read(corpus, fresh)
            timings["new"].add(name, partial(fresh.pipe, docs))
            if number:
                timings["known"].add(name, partial(known[name].pipe, read(corpus, known[name])))
            else:
                list(known[name].pipe(read(corpus, known[name])))
    return {what: median_ratio(timing.computed, "one", "other") for what, timing in timings.items()}


def _texts(corpus: str, nlp: Language) -> Sequence[str]:
    return [doc.text for doc in read_docs(corpus, nlp.vocab)]


def _tokens(corpus: str, nlp: Language) -> Sequence[Doc]:
    return [
        Doc(
            nlp.vocab,
            words=[token.text for token in doc],
            spaces=[bool(t.whitespace_) for t in doc],
        )
        for doc in read_docs(corpus, nlp.vocab)
    ]
