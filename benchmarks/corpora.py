"""The corpora, for spaCy and for the peer that reads columns.

spaCy is imported inside the functions that need it: the peer's process reads columns
only, and its memory is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

Sentence = tuple[list[str], list[str]]
"""Words and IOB2 tags."""


def prepare(sources: Mapping[str, str], folder: str, limit: int) -> dict[str, Any]:
    """Write the first `limit` documents (0: all) of corpora as Docs and as columns.

    sources: `.spacy` files by the names that their copies get.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    return {name: _copy(path, Path(folder) / name, limit) for name, path in sources.items()}


def _copy(source: str, target: Path, limit: int) -> dict[str, int]:
    import spacy
    from spacy.tokens import DocBin

    docs = list(islice(DocBin().from_disk(source).get_docs(spacy.blank("en").vocab), limit or None))
    DocBin(store_user_data=True, docs=docs).to_disk(target.with_suffix(".spacy"))
    sentences = [sentence for doc in docs for sentence in _sentences(doc)]
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


def _sentences(doc: Doc) -> Iterator[Sentence]:
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        words = [token.text for token in sentence]
        yield words, [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type else "O" for t in sentence]


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


def read_docs(path: str, vocab: Vocab) -> list[Doc]:
    """The annotated Docs of a `.spacy` file."""
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(path).get_docs(vocab))


def read_examples(path: str, nlp: Language) -> list[Example]:
    """The examples of a `.spacy` file, as the config of the pipeline has them read for training."""
    from spacy_cascade.pipeline.readers import examples_for

    return list(examples_for(nlp, Path(path)))


def read_sentences(path: str, nlp: Language, limit: int = 0) -> list[Example]:
    """An example for each of the first `limit` sentences (0: all), whatever Docs they stand in."""
    from spacy.training import Corpus

    return list(islice(Corpus(path, gold_preproc=True)(nlp), limit or None))


def without_entities(docs: list[Doc], vocab: Vocab) -> list[Doc]:
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
