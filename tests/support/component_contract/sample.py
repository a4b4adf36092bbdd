"""A corpus of a few sentences with entities and tags, and how pipelines are trained on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

_SENTENCES = (
    "The [IL-2 gene|DNA] needs [STAT5|protein] in [T cells|cell] .",
    "[STAT5|protein] binds the [AP-1 site|DNA] .",
    "[Jurkat cells|cell] express [AP-1|protein] and [NF-AT|protein] .",
    "Human [lymphocytes|cell] lack the [p53 gene|DNA] .",
    "Nothing else is known here .",
    "Both [IL-2|protein] and [p53|protein] activate [Jurkat cells|cell] .",
    "The [AP-1 site|DNA] of the [IL-2 promoter|DNA] was mutated .",
    "[T cells|cell] without [NF-AT|protein] survive , [B cells|cell] do not .",
)
_PARTS = re.compile(r"\[([^|]+)\|(\w+)\]|(\S+)")

SAMPLE_TEXTS = tuple(
    " ".join(entity or word for entity, _, word in _PARTS.findall(sentence))
    for sentence in _SENTENCES
)
"""The sentences as text."""

Relabel = Callable[[str], "str | None"]


def sample_examples(nlp: Language, relabel: Relabel = str) -> list[Example]:
    """Examples with entities in `doc.ents` and tags in `token.tag`.

    relabel: the name of a label or tag instead of its own; None where there should be none.
    """
    return [_example(nlp, sentence, relabel) for sentence in _SENTENCES]


def train(nlp: Language, examples: Sequence[Example]) -> None:
    """Initialize a pipeline and update it three times on all examples."""
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)


def _example(nlp: Language, sentence: str, relabel: Relabel) -> Example:
    words: list[str] = []
    bounds: list[tuple[int, int, str]] = []
    for entity, label, word in _PARTS.findall(sentence):
        start = len(words)
        words += entity.split() if entity else [word]
        name = relabel(label) if label else None
        if name is not None:
            bounds.append((start, len(words), name))
    reference = Doc(nlp.vocab, words=words, tags=[relabel(_tag(word)) or "" for word in words])
    reference.set_ents([Span(reference, *each) for each in bounds], default="outside")
    return Example(Doc(nlp.vocab, words=words), reference)


def _tag(word: str) -> str:
    if not word[0].isalpha():
        return "mark"
    return "upper" if word[0].isupper() else "lower"
