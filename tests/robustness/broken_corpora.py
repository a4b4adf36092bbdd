"""Small corpora that are odd in one way each."""

from __future__ import annotations

from collections.abc import Callable

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from helpers import SENTENCES, gold_doc

Corpus = Callable[[Vocab], list[Doc]]

TAGS = ("DT", "NN", "VB")


def common(vocab: Vocab) -> list[Doc]:
    """Nothing is odd: six sentences with entities of three labels, and tags."""
    return [_tagged(gold_doc(vocab, *sentence)) for sentence in SENTENCES]


def _tagged(doc: Doc) -> Doc:
    for token in doc:
        token.tag_ = TAGS[len(token.text) % len(TAGS)]
    return doc


def no_docs(vocab: Vocab) -> list[Doc]:
    return []


def empty_docs(vocab: Vocab) -> list[Doc]:
    return [Doc(vocab), Doc(vocab)]


def some_empty_docs(vocab: Vocab) -> list[Doc]:
    return [Doc(vocab), *common(vocab), Doc(vocab)]


def no_entity(vocab: Vocab) -> list[Doc]:
    return [_tagged(gold_doc(vocab, text, [])) for text, _ in SENTENCES]


def one_label(vocab: Vocab) -> list[Doc]:
    return [
        gold_doc(vocab, text, [(start, end, "protein") for start, end, _ in spans])
        for text, spans in SENTENCES
    ]


def one_sentence(vocab: Vocab) -> list[Doc]:
    return common(vocab)[:1]


def only_entities(vocab: Vocab) -> list[Doc]:
    """Each token is an entity."""
    return [
        gold_doc(vocab, text, [(i, i + 1, TAGS[i % 3]) for i in range(len(text.split()))])
        for text, _ in SENTENCES
    ]


def whole_docs(vocab: Vocab) -> list[Doc]:
    """Each Doc is an entity."""
    return [gold_doc(vocab, text, [(0, len(text.split()), "text")]) for text, _ in SENTENCES]


def duplicates(vocab: Vocab) -> list[Doc]:
    return common(vocab)[:1] * 200


def contradictions(vocab: Vocab) -> list[Doc]:
    """The same texts with other bounds, with other labels, and without entities."""
    docs = common(vocab) + no_entity(vocab)
    for text, spans in SENTENCES:
        docs.append(gold_doc(vocab, text, [(start, end, "other") for start, end, _ in spans]))
        docs.append(gold_doc(vocab, text, [(0, 2, "DNA")]))
    return docs


def all_missing(vocab: Vocab) -> list[Doc]:
    """Nobody has said of any token what it is."""
    docs = [Doc(vocab, text.split()) for text, _ in SENTENCES]
    for doc in docs:
        doc.set_ents([], default="missing")
    return docs


def no_annotation(vocab: Vocab) -> list[Doc]:
    return [Doc(vocab, text.split()) for text, _ in SENTENCES]


def mostly_missing(vocab: Vocab) -> list[Doc]:
    """All but one entity of one Doc."""
    docs = all_missing(vocab)
    docs[0].set_ents([Span(docs[0], 1, 3, "DNA")], default="missing")
    return docs


def across_sentences(vocab: Vocab) -> list[Doc]:
    """A sentence begins in the middle of each entity."""
    return [
        _tagged(
            gold_doc(vocab, text, spans, sentence_starts=[0, *(end - 1 for _, end, _ in spans)])
        )
        for text, spans in SENTENCES
    ]


def single_tokens(vocab: Vocab) -> list[Doc]:
    words = ["STAT5", "binds", "cells", "p53"] * 5
    return [gold_doc(vocab, word, [(0, 1, "protein")] * (word != "binds")) for word in words]


def long_token(vocab: Vocab) -> list[Doc]:
    return [*common(vocab), gold_doc(vocab, "x" * 10_000 + " binds", [(0, 1, "protein")])]


def long_doc(vocab: Vocab) -> list[Doc]:
    """20,000 tokens without sentences."""
    text, spans = SENTENCES[0]
    size = len(text.split())
    n = 20_000 // size
    moved = [(size * i + s, size * i + e, label) for i in range(n) for s, e, label in spans]
    return [gold_doc(vocab, " ".join([text] * n), moved)]


def many_labels(vocab: Vocab) -> list[Doc]:
    """500 of them, each of which is there once."""
    words = "It binds {} here ."
    return [gold_doc(vocab, words.format(f"w{i}"), [(2, 3, f"L{i}")]) for i in range(500)]


def odd_labels(vocab: Vocab) -> list[Doc]:
    labels = ["a b", "B-DNA", "O", "日本", "a|b", "\u202e", "🧬", "x" * 300, "%s", "${paths}", "\n"]
    return [gold_doc(vocab, f"It binds {label} .", [(2, 3, label)]) for label in labels if label]


def empty_label(vocab: Vocab) -> list[Doc]:
    doc = gold_doc(vocab, "STAT5 binds .", [])
    doc.spans["gold"] = [Span(doc, 0, 1)]
    return [doc]


def whitespace_in_entities(vocab: Vocab) -> list[Doc]:
    """Tokens of nothing but spaces in entities, before and after them."""
    docs = []
    for _ in range(3):
        doc = Doc(vocab, ["The", "IL-2", " ", "\n\n", "gene", "\t", "binds", " "])
        doc.set_ents([Span(doc, 1, 5, "DNA")], default="outside")
        docs.append(doc)
    return docs


def only_whitespace(vocab: Vocab) -> list[Doc]:
    return [Doc(vocab, [" ", "\n", "\t"]) for _ in range(3)]


def in_group(vocab: Vocab) -> list[Doc]:
    """Gold spans in `doc.spans["gold"]`, and no word on entities."""
    return [gold_doc(vocab, *sentence, key="gold") for sentence in SENTENCES]


def overlapping(vocab: Vocab) -> list[Doc]:
    docs = in_group(vocab)
    docs[0].spans["gold"] = [Span(docs[0], 0, 3, "DNA"), Span(docs[0], 2, 4, "cell")]
    return docs


def no_tags(vocab: Vocab) -> list[Doc]:
    return [gold_doc(vocab, *sentence) for sentence in SENTENCES]


def one_tag(vocab: Vocab) -> list[Doc]:
    docs = common(vocab)
    for doc in docs:
        for token in doc:
            token.tag_ = "NN"
    return docs


def some_tags(vocab: Vocab) -> list[Doc]:
    """One token of each Doc has a tag."""
    docs = no_tags(vocab)
    for doc in docs:
        doc[0].tag_ = "NN"
    return docs
