"""Adaptation of trained pipelines: old and new parts of a corpus, adaptation, scores by part."""

from __future__ import annotations

import gc
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from spacy_cascade.scorers.linear import set_hessian_diagonal
from spacy_cascade.tools.annotation import adapting
from spacy_cascade.tools.annotation.adapting import adapt

from .corpora import read_docs, write_docs
from .package import component, read_examples
from .timing import Stopwatch

NEW_TYPE = "cell_line"
UPDATES = 2
"""Calls of `nlp.update` to adapt."""


def has_new_type(doc: Doc) -> bool:
    """Whether a document belongs to the new part: it has an entity of one type."""
    return any(entity.label_ == NEW_TYPE for entity in doc.ents)


def split_corpus(
    train: str, dev: str, folder: str, sizes: Sequence[int], draws: int
) -> dict[str, Any]:
    """Write the parts of a corpus into a folder, and return their sizes.

    The parts are `old` and `all` of train, `dev_old` and `dev_new`. For each random order (draw) of
    the new documents, `new-SIZE-DRAW` has their first SIZE sentences, and `old-SIZE-DRAW` the old
    documents and these sentences.
    """
    vocab = spacy.blank("en").vocab
    docs, dev_docs = read_docs(train, vocab), read_docs(dev, vocab)
    old, new = ([doc for doc in docs if has_new_type(doc) == part] for part in (False, True))
    parts = {
        "old": old,
        "all": docs,
        "dev_old": [doc for doc in dev_docs if not has_new_type(doc)],
        "dev_new": [doc for doc in dev_docs if has_new_type(doc)],
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
    adapting.set_share(nlp, share)
    adapt(nlp, read_examples(data, nlp), UPDATES)
    nlp.to_disk(output)
    return {}


def choose_share(model: str, data: str) -> dict[str, Any]:
    """The share that does best on kept-back documents, what each did, and the seconds."""
    nlp = spacy.load(model)
    examples, watch = read_examples(data, nlp), Stopwatch()
    with watch:
        share, tried = adapting.choose_share(nlp, examples, UPDATES)
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
