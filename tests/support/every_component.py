"""Each component in a small pipeline, with examples that it can learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from helpers import (
    SENTENCES,
    TEXTS,
    Sentence,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    gold_doc,
    make_doc,
)

SEGMENTER, CLASSIFIER, RERANKER, TAGGER = NAMES = (
    "cascade_segmenter",
    "cascade_classifier",
    "cascade_reranker",
    "cascade_tagger",
)
LEARNERS = (SEGMENTER, CLASSIFIER, TAGGER)
"""Those that learn from examples alone; a reranker also needs N-best lists in them."""
ONLINE: dict[str, Any] = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1, "passes": 3},
}


def pipeline_with(name: str, **settings: Any) -> Language:
    """The component, after those that it needs; not initialized. settings: of the component."""
    nlp = blank()
    if name == TAGGER:
        nlp.add_pipe(TAGGER, config={"model": {"min_count": 1}, **settings})
        return nlp
    if name == SEGMENTER:
        add_segmenter(nlp, **settings)
        return nlp
    add_segmenter(nlp, n_best=3 if name == RERANKER else 1)
    add_classifier(nlp, **(settings if name == CLASSIFIER else {}))
    if name == RERANKER:
        nlp.add_pipe(RERANKER, config={"model": {"min_count": 1}, **settings})
    return nlp


def tag_of(word: str) -> str:
    """A tag that can be learnt from the word alone, and that no vocabulary knows."""
    if not word[0].isalnum():
        return "MARK"
    return "NAME" if word[0].isupper() else "WORD"


def gold(nlp: Language, sentence: Sentence) -> Doc:
    """A Doc with entities and tags."""
    doc = gold_doc(nlp.vocab, *sentence)
    for token in doc:
        token.tag_ = tag_of(token.text)
    return doc


def examples_for(nlp: Language, sentences: Iterable[Sentence] = SENTENCES) -> list[Example]:
    """Examples of entities and tags."""
    return [Example(make_doc(nlp.vocab, each[0]), gold(nlp, each)) for each in sentences]


def trained(name: str, updates: int = 3, **settings: Any) -> Language:
    """A pipeline that knows the sentences by heart; a reranker stays as it is without training."""
    nlp = pipeline_with(name, **settings)
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    with nlp.select_pipes(disable=[RERANKER] if name == RERANKER else []):
        for _ in range(updates):
            nlp.update(examples)
    return nlp


def found(nlp: Language, name: str, doc: Doc) -> list[Any]:
    """What the component, or the pipeline that ends with it, says of a Doc."""
    doc = nlp(doc)
    if name == TAGGER:
        return [token.tag_ for token in doc]
    return bounds(doc.spans["cascade"] if name == SEGMENTER else doc.ents)


def wanted(name: str, sentence: Sentence) -> list[Any]:
    """What it should say of a sentence that it has learnt."""
    text, spans = sentence
    if name == TAGGER:
        return [tag_of(word) for word in text.split()]
    return [(start, end, "ENT" if name == SEGMENTER else label) for start, end, label in spans]


def knows_all(nlp: Language, name: str) -> bool:
    """Whether it finds what the sentences have."""
    return all(
        found(nlp, name, make_doc(nlp.vocab, each[0])) == wanted(name, each) for each in SENTENCES
    )


def all_found(nlp: Language, name: str) -> list[list[Any]]:
    """What it says of all sentences."""
    return [found(nlp, name, make_doc(nlp.vocab, text)) for text in TEXTS]
