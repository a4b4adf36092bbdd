"""Corpora, as Docs for spaCy and as columns for python-crfsuite.

Functions that need spaCy import it themselves: the process of python-crfsuite reads columns only,
and its memory is measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span
    from spacy.vocab import Vocab

RAW_SUFFIX = ".raw.spacy"
"""Of Docs with natural spacing."""
_BLOCK = 10
"""Sentences of a block, which is drawn as a whole."""
Sentence = tuple[list[str], list[str]]
"""Words and IOB2 tags."""


def prepare(sources: Mapping[str, str], folder: str, limit: int) -> dict[str, dict[str, int]]:
    """Write the first documents of corpora as Docs and as columns.

    sources: `.spacy` files by the names of their copies. limit: documents of each, 0 for all.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    return {name: _copy(path, Path(folder) / name, limit) for name, path in sources.items()}


def convert(sources: Mapping[str, str], folder: str, lang: str) -> dict[str, dict[str, Any]]:
    """Convert column files to Docs, and write them as columns again, as crfsuite needs them.

    sources: files by the names of what is written: `NAME.spacy` and `NAME.tsv` with the words as
    they are there, and `NAME.raw.spacy` with natural spacing. Returns sizes, and numbers of
    entities by label.
    """
    from .package import convert_columns

    found: dict[str, dict[str, Any]] = {}
    for name, source in sources.items():
        target = Path(folder) / name
        labels = convert_columns(source, target.with_suffix(".spacy"), "words", lang)
        convert_columns(source, target.with_suffix(RAW_SUFFIX), "natural", lang)
        docs = read_docs(str(target.with_suffix(".spacy")))
        found[name] = {**_write_columns(docs, target), "labels": labels}
    return found


def _copy(source: str, target: Path, limit: int) -> dict[str, int]:
    docs = read_docs(source)[: limit or None]
    write_docs(docs, target.with_suffix(".spacy"))
    return _write_columns(docs, target)


def _write_columns(docs: Sequence[Doc], target: Path) -> dict[str, int]:
    sentences = [
        ([token.text for token in sentence], entity_tags(sentence))
        for doc in docs
        for sentence in (doc.sents if doc.has_annotation("SENT_START") else [doc[:]])
    ]
    text = "\n".join(
        "".join(f"{word}\t{tag}\n" for word, tag in zip(*sentence, strict=True))
        for sentence in sentences
    )
    target.with_suffix(".tsv").write_text(text, encoding="utf8", newline="\n")
    return {
        "documents": len(docs),
        "sentences": len(sentences),
        "tokens": sum(len(doc) for doc in docs),
        "entities": sum(len(doc.ents) for doc in docs),
    }


def entity_tags(sentence: Span) -> list[str]:
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type else "O" for t in sentence]


def first_docs(train: str, output: str, share: float, seed: int) -> dict[str, int]:
    """Write a share of a corpus. A larger share with the same seed contains the smaller ones."""
    docs = read_docs(train)
    random.Random(seed).shuffle(docs)
    part = docs[: max(1, round(share * len(docs)))]
    write_docs(part, Path(output))
    return {
        "documents": len(part),
        "sentences": sum(1 for doc in part for t in doc if t.is_sent_start) or len(part),
        "tokens": sum(map(len, part)),
    }


def split_blocks(
    train: str, labelled: str, unlabelled: str, share: float, seed: int, most: int
) -> dict[str, int]:
    """Write a share of the tokens of a corpus, and others without their annotation left out.

    Documents are cut into blocks of `_BLOCK` sentences, which are drawn until they have the share.
    most: tokens of the others at most.
    """
    blocks = [block for doc in read_docs(train) for block in _blocks(doc)]
    random.Random(seed).shuffle(blocks)
    wanted = share * sum(map(len, blocks))
    known = list(_until(iter(blocks), wanted))
    others = list(_until(iter(blocks[len(known) :]), most))
    write_docs(known, Path(labelled))
    write_docs(others, Path(unlabelled))
    return {
        "documents": len(known),
        "tokens": sum(map(len, known)),
        "entities": sum(len(doc.ents) for doc in known),
        "unlabelled_tokens": sum(map(len, others)),
    }


def _blocks(doc: Doc) -> Iterator[Doc]:
    starts = [token.i for token in doc if token.is_sent_start] or [0]
    cuts = [*starts[::_BLOCK], len(doc)]
    return (doc[begin:end].as_doc() for begin, end in pairwise(cuts) if begin < end)


def _until(docs: Iterator[Doc], wanted: float) -> Iterator[Doc]:
    """Docs until they have so many tokens."""
    n_tokens = 0
    while n_tokens < wanted:
        doc = next(docs, None)
        if doc is None:
            return
        n_tokens += len(doc)
        yield doc


def keep_labels(source: str, target: str, labels: Sequence[str]) -> dict[str, int]:
    """Write a corpus again with the entities of some labels only."""
    docs = read_docs(source)
    for doc in docs:
        doc.ents = [entity for entity in doc.ents if entity.label_ in labels]
    write_docs(docs, Path(target))
    return {"documents": len(docs), "entities": sum(len(doc.ents) for doc in docs)}


def join(sources: Sequence[str], target: str) -> dict[str, int]:
    """Write the Docs of several corpora as one."""
    docs = [doc for source in sources for doc in read_docs(source)]
    write_docs(docs, Path(target))
    return {"documents": len(docs)}


def every_second_doc(source: str, targets: Sequence[str]) -> dict[str, int]:
    """Write the Docs of a corpus to two others in turn."""
    docs = read_docs(source)
    for first, target in enumerate(targets):
        write_docs(docs[first::2], Path(target))
    return {"documents": len(docs)}


def read_columns(path: str) -> list[Sentence]:
    """The sentences of a file that `prepare` wrote."""
    sentences: list[Sentence] = [([], [])]
    with open(path, encoding="utf8", newline="\n") as file:
        for line in file:
            word, tab, tag = line.rstrip("\n").partition("\t")
            if tab:
                sentences[-1][0].append(word)
                sentences[-1][1].append(tag)
            else:
                sentences.append(([], []))
    return [sentence for sentence in sentences if sentence[0]]


def read_docs(path: str, vocab: Vocab | None = None) -> list[Doc]:
    """The annotated Docs of a `.spacy` file. vocab: without it they get a new English one."""
    import spacy
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(path).get_docs(vocab or spacy.blank("en").vocab))


def write_docs(docs: Iterable[Doc], path: Path) -> None:
    from spacy.tokens import DocBin

    DocBin(docs=docs, store_user_data=True).to_disk(path)


def read_texts(data: str, part: int = 0, parts: int = 1) -> list[str]:
    """The texts of a corpus, or of one of several parts that take turns with its Docs."""
    return [doc.text for doc in read_docs(data)[part::parts]]


def without_entities(docs: Sequence[Doc], vocab: Vocab) -> list[Doc]:
    """New Docs with the same words and sentence starts, and nothing else."""
    from spacy.tokens import Doc

    return [
        Doc(
            vocab,
            words=[token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            sent_starts=[bool(token.is_sent_start) for token in doc],
        )
        for doc in docs
    ]


def annotate_words(nlp: Language, docs: Sequence[Doc]) -> Iterator[Doc]:
    """Make Docs of the same words, and return an iterator that annotates them."""
    return nlp.pipe(without_entities(docs, nlp.vocab))
