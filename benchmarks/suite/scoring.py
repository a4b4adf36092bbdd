"""Tasks that score a trained model of the suite at home, away from home and on raw text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import spacy

from ..lib.bootstrap import f1, interval, samples
from ..lib.corpora import read_docs
from ..peers.evaluation import character_spans, count, read_annotator, reliability, token_spans


def score_tokens(
    model: str, reader: str, dev: str, targets: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Scores on dev with its tokens and sentences, and under `shifted` those on other corpora.

    Each with the calibration of confidences, None for a system without any.

    reader: as for `read_annotator`. targets: for each other corpus its `data`, and under `labels`
    what each label counts as.
    """
    found = _scored_with(model, reader, dev, None)
    shifted = {
        name: _scored_with(model, reader, target["data"], target["labels"])
        for name, target in targets.items()
    }
    for scores in shifted.values():
        del scores["by_doc"]
    return {**found, "shifted": shifted}


def _scored_with(
    model: str, reader: str, data: str, labels: Mapping[str, str] | None
) -> dict[str, Any]:
    annotator = read_annotator(model, reader, data)
    docs, _ = annotator.once()
    counts = count(annotator.gold, docs, partial(token_spans, labels=labels))
    return {**summarize(counts), "calibration": reliability(annotator.gold, docs, labels)}


def score_raw(model: str, dev: str) -> dict[str, Any]:
    """Scores of `nlp(text)` for whole Docs of dev; entities are compared by their characters."""
    nlp = spacy.load(model)
    gold = read_docs(dev, nlp.vocab)
    docs = list(nlp.pipe(doc.text for doc in gold))
    return summarize(count(gold, docs, character_spans))


def summarize(counts: Mapping[str, Any]) -> dict[str, Any]:
    """F1 in percent with a 95 % interval (bootstrap over Docs), precision, recall and counts."""
    by_doc = np.array(counts["by_doc"], dtype=np.int64).reshape(-1, 3)
    right, found, gold = by_doc.sum(axis=0).tolist()
    return {
        "f1": float(f1(by_doc.sum(axis=0))),
        "f1_interval": interval(samples({"": by_doc})[""]),
        "precision": 100 * right / max(found, 1),
        "recall": 100 * right / max(gold, 1),
        "by_label": counts["by_label"],
        "by_doc": counts["by_doc"],
    }
