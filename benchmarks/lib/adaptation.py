"""Adaptation of trained pipelines: old and new parts of a corpus, adaptation, scores by part."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import spacy
from spacy.tokens import Doc

from spacy_cascade.scorers.linear import set_hessian_diagonal
from spacy_cascade.tools.annotation import old_share
from spacy_cascade.tools.annotation.adapting import adapt

from .corpora import read_docs, write_docs
from .package import component, read_examples
from .timing import Stopwatch

Split = Callable[[Sequence[Doc], Sequence[Doc]], tuple[list[bool], list[bool]]]
"""Which Docs of train and of dev belong to the new part."""

NEW_TYPE = "cell_line"
UPDATES = 2
"""Calls of `nlp.update` to adapt."""
_RARE, _FREQUENT = 20, 0.5
"""The least number of documents, and the largest share of them, that have a word of a topic."""


def by_type(train: Sequence[Doc], dev: Sequence[Doc]) -> tuple[list[bool], list[bool]]:
    """The new part has all documents with an entity of one type."""
    is_new = [[any(e.label_ == NEW_TYPE for e in doc.ents) for doc in d] for d in (train, dev)]
    return is_new[0], is_new[1]


def by_topic(train: Sequence[Doc], dev: Sequence[Doc]) -> tuple[list[bool], list[bool]]:
    """The new part is one half by the first principal component of the TF-IDF of documents."""
    frequency = Counter(word for doc in train for word in {t.lower_ for t in doc if t.is_alpha})
    words = {
        word: i
        for i, word in enumerate(
            sorted(w for w, n in frequency.items() if _RARE <= n <= _FREQUENT * len(train))
        )
    }
    rarity = np.log(len(train) / np.array([frequency[word] for word in words]))
    rows = _term_weights(train, words, rarity)
    mean = rows.mean(axis=0)
    _, vectors = np.linalg.eigh((rows - mean).T @ (rows - mean))
    positions = (rows - mean) @ vectors[:, -1]
    cut = np.median(positions)
    dev_positions = (_term_weights(dev, words, rarity) - mean) @ vectors[:, -1]
    # An axis has no direction. The new side is that of the rarer one of the two extreme words.
    side = 1.0 if rarity[vectors[:, -1].argmax()] >= rarity[vectors[:, -1].argmin()] else -1.0
    return (side * (positions - cut) > 0).tolist(), (side * (dev_positions - cut) > 0).tolist()


def _term_weights(
    docs: Sequence[Doc], words: Mapping[str, int], rarity: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """TF-IDF of documents, of length 1, `[D, W]`."""
    counts = np.zeros((len(docs), len(words)))
    for row, doc in zip(counts, docs, strict=True):
        for token in doc:
            if token.lower_ in words:
                row[words[token.lower_]] += 1.0
    weights: npt.NDArray[np.float64] = np.log1p(counts) * rarity
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    return weights


SPLITS: dict[str, Split] = {"type": by_type, "topic": by_topic}


def split_corpus(
    train: str, dev: str, folder: str, split: str, sizes: Sequence[int], draws: int
) -> dict[str, Any]:
    """Write the parts of a corpus into a folder, and return their sizes.

    The parts are `old` and `all` of train, `dev_old` and `dev_new`. For each random order (draw) of
    the new documents, `new-SIZE-DRAW` has their first SIZE sentences, and `old-SIZE-DRAW` the old
    documents and these sentences.
    """
    vocab = spacy.blank("en").vocab
    docs, dev_docs = read_docs(train, vocab), read_docs(dev, vocab)
    is_new, is_dev_new = SPLITS[split](docs, dev_docs)
    old = [doc for doc, new in zip(docs, is_new, strict=True) if not new]
    new = [doc for doc, new in zip(docs, is_new, strict=True) if new]
    parts = {
        "old": old,
        "all": docs,
        "dev_old": [doc for doc, new in zip(dev_docs, is_dev_new, strict=True) if not new],
        "dev_new": [doc for doc, new in zip(dev_docs, is_dev_new, strict=True) if new],
    }
    for draw in range(draws):
        random.Random(draw).shuffle(new)
        for size in sizes:
            few = first_sentences(new, size)
            parts[f"new-{size}-{draw}"] = few
            parts[f"old-{size}-{draw}"] = old + few
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        write_docs(part, Path(folder) / f"{name}.spacy")
    return {
        name: {
            "documents": len(part),
            "sentences": sum(sum(1 for _ in doc.sents) for doc in part),
            "entities": sum(len(doc.ents) for doc in part),
        }
        for name, part in parts.items()
    }


def first_sentences(docs: Sequence[Doc], n: int) -> list[Doc]:
    """The Docs of the first `n` sentences; the last Doc may be cut."""
    found = []
    for doc in docs:
        sentences = list(doc.sents)[:n]
        found.append(doc[: sentences[-1].end].as_doc())
        n -= len(sentences)
        if n == 0:
            break
    return found


def adapt_cascade(
    model: str,
    data: str,
    output: str,
    overrides: Mapping[str, Any],
    updates: int,
    has_curvature: bool = True,
) -> dict[str, Any]:
    """Adapt a trained pipeline. Returns the seconds without loading and saving.

    overrides: other settings of the pipeline by their dotted names. has_curvature: whether weights
    that the old corpus determined well move less.
    """
    nlp = spacy.load(model, config=dict(overrides))
    if not has_curvature:
        for name in nlp.pipe_names:
            if hasattr(component(nlp, name), "space"):
                set_hessian_diagonal(component(nlp, name).model, None)
    examples = read_examples(data, nlp)
    gc.collect()
    watch = Stopwatch()
    with watch:
        adapt(nlp, examples, updates)
    nlp.to_disk(output)
    return {"seconds": watch.passed, "computed_seconds": watch.computed}


def adapt_with_share(model: str, data: str, output: str, share: float) -> dict[str, Any]:
    """Adapt a trained pipeline whose old corpus counts a share."""
    nlp = spacy.load(model)
    old_share.set_share(nlp, share)
    adapt(nlp, read_examples(data, nlp), UPDATES)
    nlp.to_disk(output)
    return {}


def choose_share(model: str, data: str) -> dict[str, Any]:
    """The share that does best on kept-back documents, what each did, and the seconds."""
    nlp = spacy.load(model)
    examples, watch = read_examples(data, nlp), Stopwatch()
    with watch:
        share, tried = old_share.choose_share(nlp, examples, UPDATES)
    by_share = {f"{found.share:g}": 100 * found.f1 for found in tried}
    return {"share": share, "tried": by_share, "seconds": watch.passed}


def score_parts(model: str, parts: Mapping[str, str]) -> dict[str, Any]:
    """F1 of entities of a pipeline on each part: over all types and by type."""
    nlp = spacy.load(model)
    found = {}
    for name, path in parts.items():
        scores = nlp.evaluate(read_examples(path, nlp))
        by_type = {label: 100 * s["f"] for label, s in (scores["ents_per_type"] or {}).items()}
        found[name] = {"f1": 100 * (scores["ents_f"] or 0.0), "by_type": by_type}
    return found
