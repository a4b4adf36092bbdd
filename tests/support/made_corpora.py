"""Small corpora of each kind: token styles, sentences or none, natural spacing or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

Words = list[str]
Bounds = tuple[int, int, str]

ENGLISH = "The man who was in the house said that it is not his , and they were there with us ."
NAMES = [["Ada"], ["Ada", "Lovelace"], ["New", "York"], ["IBM"]]
LABELS = ("PER", "PER", "LOC", "ORG")


def made_doc(
    vocab: Vocab,
    sentences: Sequence[Words],
    entities: Sequence[Bounds] = (),
    *,
    is_marked: bool = True,
    spaces: Sequence[bool] | None = None,
) -> Doc:
    """A Doc of sentences; is_marked: with sentence starts. spaces: None if they are unknown."""
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    doc = Doc(vocab, words=words, spaces=spaces, sent_starts=starts if is_marked else None)
    doc.set_ents([Span(doc, *entity) for entity in entities], default="outside")
    if spaces is None:
        doc.has_unknown_spaces = True
    return doc


def named_docs(
    vocab: Vocab,
    n_docs: int = 4,
    n_sentences: int = 3,
    *,
    extra: Sequence[str] = (),
    labels: Sequence[str] = LABELS,
    is_marked: bool = True,
    text: str = ENGLISH,
) -> list[Doc]:
    """Docs whose sentences end with a name; extra: words that stand in each first sentence."""
    docs = []
    for d in range(n_docs):
        sentences: list[Words] = []
        entities: list[Bounds] = []
        for s in range(n_sentences):
            number = (d + s) % len(NAMES)
            words = [*text.split(), *(extra if s == 0 else ())]
            start = sum(map(len, sentences)) + len(words)
            entities.append((start, start + len(NAMES[number]), labels[number % len(labels)]))
            sentences.append([*words, *NAMES[number], "."])
        docs.append(made_doc(vocab, sentences, entities, is_marked=is_marked))
    return docs


def write_docs(path: Path, docs: Sequence[Doc]) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path
