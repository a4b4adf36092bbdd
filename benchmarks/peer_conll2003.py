"""python-crfsuite on CoNLL-2003: one typed chain with the templates of the thesis's table 5.13."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pycrfsuite
import spacy
from spacy.tokens import Span

from corpora import read_docs
from measure import Stopwatch
from peer_crfsuite import tag_spans

PATTERNS = [re.compile(pattern) for pattern in (r"^[A-Z][a-z]+", r".*[0-9].*")]
Row = tuple[str, str, str]
"""Word, part of speech and chunk tag."""


def read(path: str) -> Iterator[tuple[list[Row], list[str]]]:
    """The sentences of a `.spacy` file with chunks, and their IOB2 entity tags."""
    for doc in read_docs(path, spacy.blank("en").vocab):
        chunks = ["O"] * len(doc)
        for span in doc.spans["chunks"]:
            chunks[span.start : span.end] = [f"I-{span.label_}"] * len(span)
            chunks[span.start] = f"B-{span.label_}"
        for sentence in doc.sents:
            yield [(t.text, t.tag_, chunks[t.i]) for t in sentence], _tags(sentence)


def _tags(sentence: Span) -> list[str]:
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type else "O" for t in sentence]


def features(rows: Sequence[Row]) -> list[list[str]]:
    """Features of each word of a sentence."""
    words = ["", "", *(word for word, _, _ in rows), "", ""]
    found = []
    for t, (word, tag, chunk) in enumerate(rows):
        row = ["bias", f"tag={tag}", f"chunk={chunk}"]
        row += [f"word@{k - 2}={words[t + k]}" for k in range(5)]
        row += [f"prefix={word[:n]}" for n in range(2, 5) if len(word) >= n]
        row += [f"suffix={word[-n:]}" for n in range(2, 5) if len(word) >= n]
        row += [f"pattern{n}" for n, pattern in enumerate(PATTERNS) if pattern.search(word)]
        found.append(row)
    return found


def train_crfsuite_conll2003(train: str, dev: str, model: str, iterations: int) -> dict[str, Any]:
    """Train by L-BFGS with `c1 = 0`, `c2 = 1` on gold chunks, score on gold chunks."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": iterations})
    sentences = list(read(train))
    watch = Stopwatch()
    with watch:
        for rows, tags in sentences:
            trainer.append(pycrfsuite.ItemSequence(features(rows)), tags)
        trainer.train(model)
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    right = found = wanted = 0
    for rows, tags in read(dev):
        predicted = set(tag_spans(tagger.tag(pycrfsuite.ItemSequence(features(rows)))))
        gold = set(tag_spans(tags))
        right, found, wanted = (
            right + len(predicted & gold), found + len(predicted), wanted + len(gold)
        )  # fmt: skip
    return {
        "seconds": watch.passed,
        "computed_seconds": watch.computed,
        "iterations": trainer.logparser.last_iteration["num"],
        "f1": 200 * right / max(found + wanted, 1),
    }
