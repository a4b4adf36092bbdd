"""Text to words, as the tokenizer of a pipeline makes them.

A tokenizer of spaCy takes a second for some 100,000 words of new text. Nearly all of them it
has met before: it looks only at what stands between two spaces, so each such piece is split once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import DocBin
from spacy.util import load_config, registry
from spacy.vocab import Vocab

from ...errors import ConfigError, CorpusError
from ..tokenizers.corpus_words import cuts_of, pieces_of

_LONGEST = 1000
"""A longer piece between two spaces is data, not words, and takes quadratic time to split."""
_MOST_KNOWN = 1_000_000
"""Pieces that a process remembers, some 200 MB."""


@dataclass(frozen=True)
class TokenizerChoice:
    """The tokenizer of a language, one that is registered, or that of a config or pipeline.

    lang: spaCy's code. source: a name such as `spacy_cascade.WholeNamesTokenizer.v1`; or a training
    config, whose name ends in `.cfg`, or the folder or package of a pipeline, where lang does not
    count.
    """

    lang: str = "en"
    source: str | None = None

    def load(self) -> Language:
        """A pipeline with the tokenizer; raises `ConfigError` where there is none."""
        try:
            if self.source is None:
                return spacy.blank(self.lang)
            if registry.has("tokenizers", self.source):
                registered = {"nlp": {"tokenizer": {"@tokenizers": self.source}}}
                return spacy.blank(self.lang, config=registered)
            if not self.source.endswith(".cfg"):
                return spacy.load(self.source)
            section = load_config(Path(self.source), interpolate=False)["nlp"]
            chosen = {"nlp": {"tokenizer": section["tokenizer"]}}
            return spacy.blank(section["lang"], config=chosen)
        except (OSError, ImportError, ValueError, KeyError) as error:
            what = f"--lang {self.lang}" if self.source is None else f"--tokenizer {self.source}"
            raise ConfigError(
                f"There is no tokenizer with {what}: {error} Give spaCy's code of the language, or "
                "a pipeline, training config or registered tokenizer that spaCy can load."
            ) from error

    def describe(self) -> list[object]:
        """What tells tokenizers apart, for JSON."""
        nlp = self.load()
        pipeline = [nlp.meta["name"], nlp.meta["version"]] if self.source else []
        return [nlp.lang, nlp.config["nlp"]["tokenizer"], *pipeline]


def split_texts(choice: TokenizerChoice, texts: Sequence[str]) -> bytes:
    """The words of texts: a line for each, with a space between words, in UTF-8."""
    return _splitter(choice).lines(texts)


def read_words(path: Path) -> bytes:
    """The tokens of the Docs of a `.spacy` file, in the form of `split_texts`."""
    try:
        docs = DocBin().from_disk(path).get_docs(Vocab())
        lines = [" ".join(_without_spaces(token.text for token in doc)) for doc in docs]
    except (ValueError, KeyError, EOFError, OSError) as error:
        raise CorpusError(
            f"{path} cannot be read as a .spacy file: {error}. Make it with spacy cascade convert."
        ) from error
    return "".join(f"{line}\n" for line in lines).encode()


def _without_spaces(words: Iterable[str]) -> Iterator[str]:
    """Those that a line of words can hold."""
    return (word for word in words if word.split() == [word])


@cache
def _splitter(choice: TokenizerChoice) -> Splitter:
    """One for each process, which remembers the pieces."""
    return Splitter(choice.load())


class Splitter:
    """Splits text into words as the tokenizer of a pipeline does."""

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self._known: dict[str, str] = {}
        # Others, such as those of Japanese, look across spaces.
        self._splits_pieces = isinstance(nlp.tokenizer, Tokenizer)

    def lines(self, texts: Sequence[str]) -> bytes:
        """The lines of a file, cut into words."""
        with self._nlp.memory_zone():
            lines = self._by_pieces(texts) if self._splits_pieces else self._whole(texts)
        return "".join(f"{line}\n" for line in lines).encode()

    def _whole(self, texts: Sequence[str]) -> list[str]:
        docs = map(self._nlp.make_doc, texts)
        return [" ".join(_without_spaces(token.text for token in doc)) for doc in docs]

    def _by_pieces(self, texts: Sequence[str]) -> list[str]:
        rows = [text.split() for text in texts]
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        new = {piece for row in rows for piece in row} - self._known.keys()
        self._known.update((piece, piece) for piece in new if len(piece) > _LONGEST)
        short = sorted(new - self._known.keys())
        for piece, cuts in cuts_of(self._nlp.tokenizer, short).items():
            self._known[piece] = " ".join(pieces_of(piece, cuts))
        return [" ".join(map(self._known.__getitem__, row)) for row in rows]
