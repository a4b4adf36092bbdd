"""N-best lists of the online cascade: the best that they contain, and what a reranker chooses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import spacy
from corpora import read_docs, without_entities
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_cascade.pipeline.tuning import tune_reranker, with_reranker

SEGMENTER = "cascade_segmenter"
ORACLE_SIZES = (1, 2, 3, 5, 8, 11, 20, 50, 100)
RERANKED_SIZES = (1, 2, 3, 5, 8, 11, 20, 50)

Curve = list[tuple[int, float]]
"""F1 by the length of the N-best lists."""


def oracle(model: str, dev: str) -> dict[str, Any]:
    """Span F1 of the best choice among the N best segmentations of each sentence, by N.

    The choice is the candidate with the largest `2 · right spans - spans`, which has the fewest
    wrong and missed spans.
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
    segmenter: Any = nlp.get_pipe(SEGMENTER)
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
    return 200 * right / max(found + n_gold, 1)


def rerankers(
    nlp: Language, examples: Sequence[Example], sizes: Iterable[int]
) -> tuple[Language, dict[int, Language], dict[str, Any]]:
    """The pipeline as tuned, pipelines for other lengths of the lists, and what tuning found.

    The one place that knows how a reranker is made.
    """
    tuned, found = tune_reranker(nlp, examples)
    of_size = {n: with_reranker(nlp, n, found.weight, found.theta) for n in sizes if n > 1}
    return tuned, of_size, {"n_best": found.n_best, "weight": found.weight}


def rerank(model: str, dev: str, output: str, n_best: int) -> dict[str, Any]:
    """Entity F1 on dev of a reranker that was tuned there, and of others by N.

    All get the sentences of the corpus; the first of the curve is the cascade alone. output:
    folder for the pipeline that reranks the `n_best` best.
    """
    nlp = spacy.load(model)
    annotated = read_docs(dev, nlp.vocab)
    sizes = {*RERANKED_SIZES, n_best}
    tuned, of_size, settings = rerankers(nlp, _examples(annotated, nlp), sizes)
    of_size[n_best].to_disk(output)
    return {
        **settings,
        "f1": _f1(tuned, annotated),
        "curve": [(n, _f1(of_size.get(n, nlp), annotated)) for n in RERANKED_SIZES],
    }


def _examples(annotated: list[Doc], nlp: Language) -> list[Example]:
    plain = without_entities(annotated, nlp.vocab)
    return [Example(*pair) for pair in zip(plain, annotated, strict=True)]


def _f1(nlp: Language, annotated: list[Doc]) -> float:
    return 100 * (nlp.evaluate(_examples(annotated, nlp))["ents_f"] or 0.0)
