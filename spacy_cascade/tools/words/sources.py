"""What the sources of `words make` are: text, a file of vectors, a pipeline, or a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import spacy
from spacy.util import is_package
from spacy.vocab import Vocab

from ...errors import ConfigError, CorpusError
from ...pipeline.vocabulary_vectors import VocabularyVectors
from ...text_sources import SUFFIXES
from .vector_files import seems_to_have_vectors
from .word_vectors import WordVectors


class Kind(Enum):
    """What a source is, as messages name it."""

    TEXT = "text"
    FILE = "a file of word vectors"
    PIPELINE = "a pipeline with word vectors"
    TRANSFORMER = "a transformer"


@dataclass(frozen=True)
class Sources:
    """Text, and at most one source of another kind.

    knowledge: its path or name, "" where there is only text, which then is the `kind`.
    """

    texts: list[Path]
    kind: Kind
    knowledge: str = ""


def understand(sources: Sequence[str]) -> Sources:
    """What the sources are. Raises `ConfigError` for what is none of them, and for two tables."""
    kinds = {source: kind_of(source) for source in sources}
    others = [source for source, kind in kinds.items() if kind is not Kind.TEXT]
    texts = [Path(source) for source, kind in kinds.items() if kind is Kind.TEXT]
    if len(others) > 1:
        found = " and ".join(f"{source} as {kinds[source].value}" for source in others[:2])
        raise ConfigError(
            f"A table is made of one source, with or without text. {found} are two: make two "
            "tables, and give both to 'init --words'."
        )
    if not others:
        return Sources(texts, Kind.TEXT)
    if texts and kinds[others[0]] is Kind.FILE:
        raise ConfigError(
            f"{texts[0]} was understood as text, and {others[0]} as a file of word vectors, which "
            "needs none. Give one of them."
        )
    return Sources(texts, kinds[others[0]], others[0])


def kind_of(source: str) -> Kind:
    """What a source is. Raises `ConfigError` for what is none of the kinds."""
    path = Path(source)
    if path.is_dir():
        if (path / "config.json").exists():
            return Kind.TRANSFORMER
        is_pipeline = (path / "config.cfg").exists() or (path / "vocab").is_dir()
        return Kind.PIPELINE if is_pipeline else Kind.TEXT
    if path.is_file():
        has_vectors = not path.name.lower().endswith(".spacy") and seems_to_have_vectors(path)
        return Kind.FILE if has_vectors else Kind.TEXT
    if is_package(source):
        return Kind.PIPELINE
    if source.lower().endswith((*SUFFIXES, ".vec", ".gz", ".bin")):
        raise CorpusError(f"There is no text or file of vectors at {source}. Check the path.")
    if source.isidentifier():
        raise ConfigError(
            f"The package {source} is not installed, and there is no file or folder of this name. "
            "Install it. A transformer is given by its folder, or as OWNER/NAME."
        )
    return Kind.TRANSFORMER


def vectors_of_pipeline(source: str, words: Sequence[str], max_words: int) -> WordVectors:
    """The first words of a pipeline that have vectors; its own ones, or else those given.

    words: for a table of floret's, which has no words of its own. Raises `ConfigError` where there
    are no vectors or no words.
    """
    try:
        vocab = _vocabulary_of(source)
    except (OSError, ImportError, ValueError, KeyError) as error:
        raise ConfigError(f"Cannot load the pipeline {source}: {error}") from error
    vectors = VocabularyVectors.of_vocabulary(vocab)
    if vectors is None:
        raise ConfigError(
            f"The pipeline {source} has no word vectors. Give one that has, such as those whose "
            "names end in _md or _lg."
        )
    listed = vectors.first_words(max_words) or list(words)[:max_words]
    if not listed:
        raise ConfigError(
            f"The vectors of {source} are a table of floret's, which has no list of words. Give "
            "text beside it, whose words are taken, or a list of words with --vocabulary."
        )
    return WordVectors.of(listed, vectors.of(listed))


def _vocabulary_of(source: str) -> Vocab:
    """Of a pipeline, or of a folder that has a vocabulary alone."""
    if (Path(source) / "vocab").is_dir():
        return Vocab().from_disk(Path(source) / "vocab")
    return spacy.load(source).vocab
