"""N-best lists of the online cascade: oracle F1, and F1 after reranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus

from spacy_cascade.systems.reranking.training import train_reranker
from spacy_cascade.systems.reranking.tuning import tune_reranker, with_reranker

from .corpora import read_docs, without_entities
from .package import SEGMENTER, component
from .timing import Stopwatch

ORACLE_SIZES = (1, 2, 3, 5, 8, 11, 20, 50, 100)
RERANKED_SIZES = (1, 2, 3, 5, 8, 11, 20, 50)

Curve = list[tuple[int, float]]
"""F1 by the length of the N-best lists."""


def oracle(model: str, dev: str) -> dict[str, Any]:
    """Oracle F1: F1 of spans of the best of the N best segmentations of each sentence, by N.

    The best one has the largest `2 · right spans - spans`: the fewest wrong and missed spans.
    """
    nlp = spacy.load(model)
    annotated = read_docs(dev, nlp.vocab)
    sentences = [
        counts
        for doc, plain in zip(annotated, without_entities(annotated, nlp.vocab), strict=True)
        for counts in _count_spans(nlp, plain, {(e.start, e.end) for e in doc.ents})
    ]
    n_gold = sum(len(doc.ents) for doc in annotated)
    return {
        "curve": [(n, _best_f1(sentences, n, n_gold)) for n in ORACLE_SIZES],
        "sentences": len(sentences),
        "sentences_with_all": sum(len(counts) == ORACLE_SIZES[-1] for counts in sentences),
    }


def _count_spans(
    nlp: Language, doc: Doc, gold: set[tuple[int, int]]
) -> list[list[tuple[int, int]]]:
    """Numbers of right spans and of all spans of each candidate of each sentence."""
    segmenter = component(nlp, SEGMENTER)
    return [
        [
            (sum((s.start, s.end) in gold for s in candidate.spans), len(candidate.spans))
            for candidate in sentence
        ]
        for sentence in segmenter.nbest(doc, ORACLE_SIZES[-1])
    ]


def _best_f1(sentences: Iterable[Sequence[tuple[int, int]]], n: int, n_gold: int) -> float:
    chosen = [max(counts[:n], key=lambda c: 2 * c[0] - c[1]) for counts in sentences]
    right, found = (sum(column) for column in zip(*chosen, strict=True))
    return float(200 * right / max(found + n_gold, 1))


def rerank(
    model: str, train: str, dev: str, output: str, n_best: int, tuned_output: str | None = None
) -> dict[str, Any]:
    """F1 of entities on dev by N for two rerankers, and the seconds to tune or train them.

    One reranker adds the scores of both stages; the other one is trained on jackknifed
    lists of the training corpus. The settings of both are chosen on dev. Each curve begins with
    the cascade alone on the same sentences, which a sentencizer finds. output: folder for the
    trained reranker of `n_best`. tuned_output: folder for the other one.
    """
    nlp = spacy.load(model)
    examples = list(Corpus(dev)(nlp))
    with Stopwatch() as tuning:
        by_both, tuned = tune_reranker(nlp, examples)
    with Stopwatch() as training:
        reranked, trained = train_reranker(nlp, Path(train), Path(dev), n_best=n_best)
    reranked.to_disk(output)
    if tuned_output is not None:
        by_both.to_disk(tuned_output)
    nlp.add_pipe("sentencizer", first=True)
    alone = _f1(nlp, dev)
    sizes = [n for n in RERANKED_SIZES if n > 1]
    by_rule = [(n, _f1(with_reranker(nlp, n, weight=tuned.weight), dev)) for n in sizes]
    by_training = [(n, _f1(with_reranker(reranked, n), dev)) for n in sizes]
    best, passes = trained.best
    return {
        "alone": alone,
        "tuned": {"n_best": tuned.n_best, "weight": tuned.weight, "f1": 100 * tuned.f1},
        "trained": {
            "n_best": n_best,
            "scale": best.scale,
            "weight": best.weight,
            "passes": passes,
            "f1": _f1(reranked, dev),
            "trials": [asdict(trial) for trial in trained.trials],
        },
        "curve_tuned": [(1, alone), *by_rule],
        "curve_trained": [(1, alone), *by_training],
        "tuning_seconds": tuning.passed,
        "training_seconds": training.passed,
    }


def _f1(nlp: Language, dev: str) -> float:
    return 100 * (nlp.evaluate(list(Corpus(dev)(nlp)))["ents_f"] or 0.0)
