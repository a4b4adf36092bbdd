"""The resource behind `lexicon(NAME)`: how a lexicon is read, learns, and is saved.

Arrays: `keys` uint64 `[n]`, of all beginnings of terms; `complete` `[n]`, which of them are whole
terms, bool, or int32 with the number of the term's label where terms have labels; these as a JSON
list of texts in `labels`, uint8; `single` bool `[n]` where own entries are left out.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...features.resources import FlaggedTokens, InvalidArray, Resource, Tokenize
from ...features.tokens import Tokens
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...types import Ints1d, Ints2d, Keys1d, Pointers1d
from .lexicons import MAXIMUM_LABELS, Lexicon
from .terms import TermList, read_spellings

_UNLABELLED = [""]
_LABEL = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")(, |\])')
"""A label in the list, and what comes after it."""
_LONGEST = 1 << 15
"""Bytes of a label; none of `lexicons.LONGEST_LABEL` characters takes more."""


def leaves_out(settings: Any) -> bool:
    """Whether a Doc that is trained on does not see its own entries of a lexicon."""
    return isinstance(settings, TermList) and settings.leave_out


class FromList(Resource):
    """A resource of a term list. leave_out: whether Docs of training do not see own entries."""

    leave_out: bool

    @abstractmethod
    def count_docs(self, tokens: Tokens, flags: Ints2d) -> Ints1d | Pointers1d:
        """In how many Docs each term is a gold span, `[n]`; flags: `span_flags`."""

    @abstractmethod
    def with_docs(self, n_docs: Any) -> Resource:
        """The same, knowing in how many Docs each term is a gold span."""

    def learn(self, tokens: Tokens, flags: Ints2d) -> Resource:
        return self.learn_in_blocks(lambda: iter([(tokens, flags)]))

    def learn_in_blocks(self, blocks: FlaggedTokens) -> Resource:
        if not self.leave_out:
            return self
        n_docs = sum(self.count_docs(tokens, flags) for tokens, flags in blocks())
        return self.with_docs(np.asarray(n_docs))


class ListedTerms(FromList):
    """A lexicon whose terms are compared in lower case."""

    form: ClassVar[Callable[[str], str]] = str.lower
    """What of a token is compared."""
    field: ClassVar[str] = "lower"
    """Where `Tokens` has the hashes of that."""

    def __init__(self, lexicon: Lexicon, leave_out: bool) -> None:
        self.lexicon, self.leave_out = lexicon, leave_out

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> ListedTerms:
        """Terms are known both as the tokenizer splits them and as split at spaces."""
        spellings = read_spellings(name, settings, tokenize)
        return cls(Lexicon.of(spellings, cls.form), leaves_out(settings))

    def count_docs(self, tokens: Tokens, flags: Ints2d) -> Pointers1d:
        return self.lexicon.count_docs(getattr(tokens, self.field), tokens.doc_starts, flags)

    def with_docs(self, n_docs: Pointers1d) -> ListedTerms:
        return type(self)(self.lexicon.with_docs(n_docs), True)

    def values(self, tokens: Tokens, own_flags: Ints2d | None) -> Keys1d:
        """The value of each token, uint64 `[T]`; own_flags: gold flags in training, else None."""
        lexicon, words = self.lexicon, getattr(tokens, self.field)
        if own_flags is None or lexicon.is_single is None:
            return lexicon.values(words, tokens.sequence_starts)
        return lexicon.values_of_others(words, tokens.sequence_starts, tokens.doc_starts, own_flags)

    def arrays(self) -> Arrays:
        lexicon = self.lexicon
        has_labels = list(lexicon.labels) != _UNLABELLED
        complete = lexicon.label if has_labels else lexicon.label > 0
        arrays: Arrays = {"keys": lexicon.keys, "complete": complete}
        if has_labels:
            text = json.dumps(lexicon.labels, ensure_ascii=False).encode("utf8", "surrogatepass")
            arrays["labels"] = np.frombuffer(text, dtype=np.uint8)
        if lexicon.is_single is not None:
            arrays["single"] = lexicon.is_single
        return arrays

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        size = (arrays["keys"].size if "keys" in arrays else 0,)
        complete = "i4" if "labels" in arrays else "b"
        shapes: Shapes = {"keys": (size, "u8"), "complete": (size, complete)}
        if "labels" in arrays:
            shapes["labels"] = ((arrays["labels"].size,), "u1")
        if leaves_out(settings) or "single" in arrays:
            shapes["single"] = (size, "b")
        return shapes

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        try:
            n_labels = _count_labels(arrays["labels"].data) if "labels" in arrays else 1
        except ValueError as error:
            raise InvalidArray("labels", f"is no list of labels ({error})") from None
        if any(block.max(initial=0) > n_labels for block in blocks(arrays["complete"])):
            raise InvalidArray("complete", "has labels beyond its own")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> ListedTerms:
        labels = _UNLABELLED
        if "labels" in arrays:
            labels = json.loads(str(arrays["labels"].data, "utf8"))
        lexicon = Lexicon(
            arrays["keys"].astype(np.uint64),
            arrays["complete"].astype(np.int32),
            labels,
            arrays["single"].astype(np.bool_) if leaves_out(settings) else None,
        )
        return cls(lexicon, leaves_out(settings))


class ExactlyListedTerms(ListedTerms):
    """A lexicon whose terms are compared as they are written."""

    form = str
    field = "words"


def _count_labels(text: memoryview) -> int:
    """How many labels a list of them has. Raises `ValueError` where it is none.

    Reads one label after the other: a list of them all takes many times the memory of its text.
    """
    if bytes(text[:1]) != b"[":
        raise ValueError("it does not begin like a list")
    position = 1
    for n in range(1, MAXIMUM_LABELS + 1):
        found = _LABEL.match(text[position : position + _LONGEST])
        if found is None:
            raise ValueError(f"there is no label at byte {position}")
        label: str = json.loads(str(found[1], "utf8"))
        label.encode()  # lone surrogates raise an error
        position += found.end()
        if found[2] == b"]":
            if position != len(text):
                raise ValueError("it goes on behind its end")
            return n
    raise ValueError(f"it has more than {MAXIMUM_LABELS:,} labels")
