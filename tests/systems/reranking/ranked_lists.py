"""A trained cascade with a reranker, and N-best lists to choose from and to learn from."""

from __future__ import annotations

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import TEXTS, bounds, make_doc, of_sentences
from spacy_cascade.workflows.reconfigure import reconfigured

KEY = "cascade"
TWO_SENTENCES = f"{TEXTS[0]} {TEXTS[3]}"
STARTS = [0, 9]
N = 4


def reranking(trained: Language, n_best: int = N, **settings: Any) -> Language:
    """The trained cascade with lists of the N best and a reranker."""
    config = trained.config.copy()
    config["components"]["cascade_segmenter"]["n_best"] = n_best
    nlp = reconfigured(trained, config)
    nlp.add_pipe("cascade_reranker", config=settings)
    return of_sentences(nlp)


def two_sentences(nlp: Language) -> Doc:
    return make_doc(nlp.vocab, TWO_SENTENCES, STARTS)


def with_list(nlp: Language, doc: Doc | None = None) -> Doc:
    """A Doc annotated by all but the reranker."""
    with nlp.select_pipes(disable=["cascade_reranker"]):
        return nlp(two_sentences(nlp) if doc is None else doc)


def prefer(doc: Doc, *ranks: int) -> None:
    """Give the segmentation of each sentence that has this rank the highest score."""
    for i, rank in enumerate(ranks):
        doc.spans[f"{KEY}/{rank}"].attrs["sequence_scores"][i] = 100.0


def lists(nlp: Language) -> list[Example]:
    """Examples whose second segmentation was made the right one."""
    examples = []
    for text in TEXTS[:4]:
        doc = with_list(nlp, make_doc(nlp.vocab, text))
        gold = make_doc(nlp.vocab, text)
        gold.set_ents([Span(gold, *b) for b in bounds(doc.spans[f"{KEY}/2"])], default="outside")
        examples.append(Example(doc, gold))
    return examples


def learnt(trained: Language, passes: int = 1, **settings: Any) -> tuple[Language, list[float]]:
    """A pipeline with a reranker trained on `lists`, and its losses."""
    nlp = reranking(trained, model={"min_count": 1}, **settings)
    reranker = nlp.get_pipe("cascade_reranker")
    examples = lists(nlp)
    reranker.initialize(lambda: examples, nlp=nlp)
    losses = [reranker.update(examples)["cascade_reranker"] for _ in range(passes)]
    return nlp, losses
