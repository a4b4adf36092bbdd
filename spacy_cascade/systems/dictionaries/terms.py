"""Term lists: where they come from, and the tokens of their terms.

A list is a text file with a term a line, a TSV file `term TAB id [TAB label]`, a JSONL file of
patterns as spaCy's rulers have them, or terms in the config. Labels become part of the feature, ids
are for linking. Files may be compressed with gzip.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from ...checks import configured
from ...errors import TemplateError
from ...features.resources import Tokenize
from ...features.strings import is_valid
from ...files import UNREADABLE, text_lines
from ...numeric.csr import BinaryCSR
from ...types import Ints1d, Pointers1d

_WORD_KEYS = ("LOWER", "ORTH", "TEXT")


@configured
@dataclass(frozen=True)
class TermList:
    """A term list with options; registered as `spacy_cascade.TermList.v1`.

    source: path of a file, or the terms. leave_out: in training a Doc does not see terms that
    no other Doc has as a gold span, for lists that were made from the training corpus.
    """

    source: str | Sequence[str]
    leave_out: bool = False


TermSource: TypeAlias = str | Sequence[str] | TermList
"""What stands under `lexicons` in the config."""


def list_from(source: TermSource) -> TermList:
    """The settings that stand under `lexicons`. Raises `TemplateError` for anything else."""
    if isinstance(source, TermList):
        return source
    if isinstance(source, str | Path):
        return TermList(str(source))
    if isinstance(source, Sequence) and all(isinstance(term, str) for term in source):
        return TermList(source)
    raise TemplateError(
        "what stands under 'lexicons' is the path of a file, terms or a spacy_cascade.TermList.v1, "
        f"not {source!r}."
    )


class Term(NamedTuple):
    """Words between spaces, the label of the term and its id, "" where the list has none."""

    words: Sequence[str]
    label: str
    id: str = ""


class Spellings(NamedTuple):
    """Terms as tokens: as they are split at spaces and as the tokenizer splits them.

    texts: the distinct tokens. words: the tokens of each term, by number. label: int32 `[N]`,
    number of each term's label, from 1. labels: their names. term: int64 `[N]`, number of the
    term that is spelled, in the order of the list; one that the tokenizer splits further has two
    spellings.
    """

    texts: Sequence[str]
    words: BinaryCSR
    label: Ints1d
    labels: Sequence[str]
    term: Pointers1d


def read_spellings(name: str, source: TermSource, tokenize: Tokenize) -> Spellings:
    """The terms of a lexicon. Raises `TemplateError` for an unreadable, invalid or empty list."""
    spellings = spell(read_terms(name, list_from(source).source), tokenize)
    if spellings.words.n_rows == 0:
        raise TemplateError(f"The lexicon '{name}' has no terms.")
    return spellings


def spell(terms: Iterable[Term], tokenize: Tokenize) -> Spellings:
    """Number the words of terms; the tokenizer sees each distinct word once, by itself."""
    number: dict[str, int] = {}
    labels: dict[str, int] = {}
    words, ends, label = array("i"), array("q", [0]), array("i")
    for term in terms:
        words.extend([number.setdefault(word, len(number)) for word in term.words])
        ends.append(len(words))
        label.append(labels.setdefault(term.label, len(labels) + 1))
    tokens = _tokens_of_words(number, tokenize)
    split = BinaryCSR(np.array(ends), np.array(words, dtype=np.int32), len(number))
    is_cut = np.diff(tokens.indptr) > 1
    cut = np.flatnonzero(np.diff(np.append(0, np.cumsum(is_cut[split.indices]))[split.indptr]))
    of_cut = split.take(cut)
    of_words = tokens.take(of_cut.indices)
    of_terms = BinaryCSR(of_words.indptr[of_cut.indptr], of_words.indices, len(number))
    numbers = np.array(label, dtype=np.int32)
    spelled: Pointers1d = np.append(np.arange(len(numbers)), cut).astype(np.int64)
    both = split.append(of_terms)
    return Spellings(list(number), both, numbers[spelled], list(labels), spelled)


def _tokens_of_words(number: dict[str, int], tokenize: Tokenize) -> BinaryCSR:
    """The tokens of each word; those that are no words themselves get numbers, too."""
    tokens = [
        [number.setdefault(token, len(number)) for token in tokenize(word)] for word in list(number)
    ]
    indptr: Pointers1d = np.cumsum([0, *map(len, tokens)])
    indices = np.fromiter((i for of_word in tokens for i in of_word), np.int32, indptr[-1])
    return BinaryCSR(indptr, indices, len(number))


def read_terms(name: str, source: str | Sequence[str]) -> Iterator[Term]:
    """The terms of a lexicon one after the other, as a path or the terms give them.

    Raises `TemplateError` for a file that cannot be read, and for a line that is no term.
    """
    lines = _read_lines(name, source) if isinstance(source, str) else source
    read = _reader(source) if isinstance(source, str) else _read_phrase
    for n, line in enumerate(lines, start=1):
        if line.strip():
            yield read(name, n, line)


def _reader(path: str) -> Callable[[str, int, str], Term]:
    """What reads a line of the file: name of the lexicon, number of the line, and the line."""
    suffix = Path(path.removesuffix(".gz")).suffix
    return {".jsonl": _read_pattern, ".tsv": _read_columns}.get(suffix, _read_phrase)


def _read_lines(name: str, path: str) -> Iterator[str]:
    try:
        yield from text_lines(path)
    except UNREADABLE as error:
        raise TemplateError(
            f"Cannot read the lexicon '{name}': {error}. Give the path of a UTF-8 text file "
            "with a term a line, of a TSV file, or of a JSONL file of patterns, where the config "
            "names the list."
        ) from None


def _read_phrase(name: str, n: int, line: str) -> Term:
    del name, n  # any line with words is a term
    return Term(line.split(), "")


def _read_columns(name: str, n: int, line: str) -> Term:
    """The term of a line such as `STAT 5 TAB P42229 TAB protein`; id and label may be left out."""
    phrase, *rest = (column.strip() for column in line.split("\t"))
    if not phrase or len(rest) > 2:
        raise TemplateError(
            f"Line {n} of the lexicon '{name}' is no term with an id: {line.strip()[:100]!r}. It "
            "must have a term, and may have an id and a label after it, with tabs between them."
        )
    its_id, label = [*rest, "", ""][:2]
    return Term(phrase.split(), label, its_id)


def _read_pattern(name: str, n: int, line: str) -> Term:
    """The term of a line such as `{"label": "DNA", "pattern": "IL-2 gene"}`."""
    try:
        entry = json.loads(line)
        label, pattern = entry["label"], entry["pattern"]
        words = pattern.split() if isinstance(pattern, str) else [_word(t) for t in pattern]
        its_id = _id(entry.get("id"))
        texts = (*words, label, its_id)
        if not words or not label or not all(map(is_valid, texts)) or "\n" in label + its_id:
            raise ValueError(line)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TemplateError(
            f"Line {n} of the lexicon '{name}' is no term with a label: {line.strip()[:100]!r}. "
            'It must have a "label" and a "pattern", both valid Unicode, and may have an "id", a '
            "line of text or a whole number; the pattern is a phrase or a list of tokens with one "
            "of LOWER, ORTH and TEXT each. For other patterns put a "
            "span_ruler before the component, and look at its spans with 'span(KEY)'."
        ) from None
    return Term(words, label, its_id)


def _id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ValueError(value)
    return "" if value is None else str(value)


def _word(token: dict[str, str]) -> str:
    ((key, word),) = token.items()
    if key.upper() not in _WORD_KEYS or not word or word.split() != [word]:
        raise ValueError(key)
    return word
