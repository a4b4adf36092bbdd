"""python-crfsuite on CoNLL-2003: one typed chain with the templates of `conll2003_*.cfg`.

It has the templates of the second chain, except those that look at the training corpus
(`seen_inside`) or at the rest of the Doc (`@again`): a crfsuite feature cannot do this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pycrfsuite

from ..lib.corpora import entity_tags, read_docs
from ..lib.timing import Stopwatch
from .crfsuite import f1, open_model, word_features

BOUNDARY = "\ue000"
Row = tuple[str, str, str]
"""Word, part of speech and chunk tag."""


def read(path: str) -> Iterator[tuple[list[Row], list[str]]]:
    """The sentences of a `.spacy` file with chunks, and their IOB2 entity tags."""
    for doc in read_docs(path):
        chunks = ["O"] * len(doc)
        for span in doc.spans["chunks"]:
            chunks[span.start : span.end] = [f"I-{span.label_}"] * len(span)
            chunks[span.start] = f"B-{span.label_}"
        for sentence in doc.sents:
            yield [(t.text, t.tag_, chunks[t.i]) for t in sentence], entity_tags(sentence)


def brief_class(word: str) -> str:
    """The word class of the templates without repetitions; empty for words beyond a sentence."""
    return next((f[14:] for f in word_features(word, 1) if f.startswith("brief_class@1=")), "")


def features(rows: Sequence[Row]) -> list[list[str]]:
    beyond = [(BOUNDARY, "", "")] * 2
    line = [*beyond, *rows, *beyond]
    found = []
    for t in range(2, len(line) - 2):
        words, tags, chunks = zip(*line[t - 2 : t + 3], strict=True)
        lower = [word.lower() for word in words]
        brief = [brief_class(word) for word in words]
        row = [f for k in (-1, 0, 1) for f in word_features(words[2 + k], k)]
        for name, values in (("word", words), ("lower", lower), ("tag", tags)):
            row += [f"{name}@{k - 2}={values[k]}" for k in range(5)]
        row += [f"chunk@{k}={chunks[2 + k]}" for k in (-1, 0, 1)]
        row += [f"brief_class@{k}={brief[2 + k]}" for k in (-2, 2)]
        pairs = (("words", words, words), ("tags", tags, tags), ("chunks", chunks, chunks))
        for name, left, right in (*pairs, ("briefs", brief, brief)):
            row += [f"{name}@{k}={left[2 + k]} {right[3 + k]}" for k in (-1, 0)]
        row += [f"word_chunk={words[2]} {chunks[2]}", f"lower_brief={lower[1]} {brief[2]}"]
        found.append([*row, f"brief_lower={brief[2]} {lower[3]}"])
    return found


def train_crfsuite_conll2003(train: str, dev: str, model: str, iterations: int) -> dict[str, Any]:
    """Train by L-BFGS with `c1 = 0` and `c2 = 1`, and score. Chunks are gold in both."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": iterations})
    sentences = list(read(train))
    watch = Stopwatch()
    with watch:
        for rows, tags in sentences:
            trainer.append(pycrfsuite.ItemSequence(features(rows)), tags)
        trainer.train(model)
    return {
        "seconds": watch.passed,
        "computed_seconds": watch.computed,
        "iterations": trainer.logparser.last_iteration["num"],
        "f1": f1(open_model(model), read(dev), features),
    }
