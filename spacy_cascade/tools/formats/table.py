"""Lines of a column file as rows, and which columns have the words and the tags of entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from .tags import MISSING, NO_SPAN, is_io, split_tag

Rows = list[list[str]]
"""Of one sentence: the fields of each word."""

_DOCUMENT_MARK = "-DOCSTART-"
_MARK_PREFIXES = (_DOCUMENT_MARK, "###MEDLINE:")
_COMMENTED_MARK = re.compile(r"#\s*(newdoc\b|begin document\b|-?DOCSTART\b|\S*doc(ument)?_id\b)")
"""Of CoNLL-U, CoNLL-2012 and HIPE."""
_HASH = "#"
_LIKE_A_WORD = re.compile(r"#\S(?!nd document\b)")
"""CoNLL-2012 ends documents by `#end document`."""
_SHORTEST_INDEX = 3
"""Shorter sentences of numbers may be text."""
_SHARE = 0.9
"""Of the values of a column of tags that are tags; the others are errors."""
_CHUNKS = frozenset(
    ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC",
     "PC", "AP", "MWP")
)  # fmt: skip
"""Labels of phrases, which tools for chunks write into a column of tags."""
_LANGUAGE = re.compile(r"([a-z]{2,3}(-[a-z-]+)?|simple):")


class Row(NamedTuple):
    """A line with its number, from 1; fields: none if it is blank."""

    number: int
    text: str
    fields: list[str]

    @property
    def is_mark(self) -> bool:
        """Whether it is no word but a mark, such as that of a document."""
        return self.text.startswith(_MARK_PREFIXES) or _DOCUMENT_MARK in self.fields

    @property
    def has_hash(self) -> bool:
        """Whether it begins with `#`."""
        return self.text.startswith(_HASH)


class Block(NamedTuple):
    """The words of one sentence, the numbers of their lines, and of the marks before it."""

    rows: Rows
    lines: list[int]
    marks: int


class Table:
    """The rows of a file, and the number of columns that most words have.

    sure: rows that are surely words, as they have all columns and do not begin with `#`; first:
    the first of them. A row that begins with `#` may be a word, as of a tweet, or a comment; one
    with more columns may have a word with blanks: which, `blocks` decides by the tags.
    """

    def __init__(self, lines: Iterable[str], separator: Literal["auto", "tab", "space"]) -> None:
        # A byte order mark stands between files that were joined.
        texts = [line if line.strip(" \t\ufeff") else "" for line in lines]
        words = [text for text in texts if text and not text.startswith(_HASH)] or texts
        has_tab = any("\t" in text for text in words)
        self.is_tabbed = separator == "tab" or (separator == "auto" and has_tab)
        self.rows = [Row(n, text, self._split(text)) for n, text in enumerate(texts, start=1)]
        found = [row for row in self.rows if row.fields and not row.is_mark]
        found = [row for row in found if not row.has_hash] or found
        widths = Counter(len(row.fields) for row in found)
        self.width = max(widths, key=lambda width: widths[width], default=0)
        self.sure = [row for row in found if len(row.fields) == self.width]
        # A tab at the end of every line is no column.
        while self.width > 1 and not any(row.fields[self.width - 1] for row in self.sure):
            self.width -= 1

    def _split(self, text: str) -> list[str]:
        if not text:
            return []
        # `split()` would also split at white space that may be a word.
        return text.split("\t") if self.is_tabbed else [part for part in text.split(" ") if part]

    def sample(self) -> list[Rows]:
        """The sure words of each sentence, to see what the columns have."""
        sure = {row.number for row in self.sure}
        blocks: list[Rows] = [[]]
        for row in self.rows:
            if not row.fields or row.is_mark:
                blocks.append([])
            elif row.number in sure:
                blocks[-1].append(row.fields[: self.width])
        return [block for block in blocks if block]

    def blocks(
        self,
        word: int,
        tag: int | None,
        is_tag: Callable[[str], bool],
        leave_out: Callable[[int, str, str], None],
    ) -> tuple[list[Block], list[Row], list[Row]]:
        """The sentences, the comments, and the rows whose word has blanks.

        word, tag: the columns. leave_out: called with the number of a line that is no row as the
        others are, the problem and the advice; if it returns, the sentence is left out.
        """
        blocks: list[Block] = []
        comments: list[Row] = []
        with_blanks: list[Row] = []
        rows: Rows = []
        marks = 0
        for row in self.rows:
            fields = self._fitted(row.fields, word, tag, is_tag)
            fits = len(fields) == self.width and (tag is None or is_tag(fields[tag].strip(" ")))
            is_comment = row.has_hash and not fits
            is_mark = row.is_mark or (is_comment and _COMMENTED_MARK.match(row.text) is not None)
            if is_mark or not fields:
                marks += is_mark
                rows = []
                continue
            # Within a sentence, `#word` is one, and an error if its columns are wrong.
            if is_comment and not (rows and _LIKE_A_WORD.match(row.text)):
                comments.append(row)
                continue
            if len(fields) != self.width:
                problem = f"expected {self.width} columns as in line {self.sure[0].number}"
                problem += f", but found {len(fields)}"
                advice = "Correct the line, or set --separator tab or space"
                leave_out(row.number, problem, advice)
                fields = []
            elif not self.is_tabbed and len(fields) < len(row.fields):
                with_blanks.append(row)
            if not rows:
                blocks.append(Block(rows, [], marks))
            rows.append(fields)
            blocks[-1].lines.append(row.number)
        whole = [block for block in blocks if all(block.rows)]
        return whole, comments, with_blanks

    def _fitted(
        self, fields: list[str], word: int, tag: int | None, is_tag: Callable[[str], bool]
    ) -> list[str]:
        """Fields without empty ones at the end, or with one word of those beyond the columns."""
        more = len(fields) - self.width
        if more <= 0:
            return fields
        if self.is_tabbed:
            return fields if any(fields[self.width :]) else fields[: self.width]
        end = word + more + 1
        joined = [*fields[:word], " ".join(fields[word:end]), *fields[end:]]
        if (
            tag is None
            or not is_tag(joined[tag])
            or any(is_tag(part) and part not in MISSING for part in fields[word + 1 : end])
        ):
            return fields
        return joined


class TagColumn(NamedTuple):
    """A column that looks like tags of entities.

    has_prefixes: whether tags have B, I and such. phrases: their number. place: of the column.
    """

    has_prefixes: bool
    phrases: int
    place: int


def is_index(sample: Sequence[Rows], column: int) -> bool:
    """Whether the values of every sentence are 0, 1, 2 … or 1, 2, 3 …."""
    if max(map(len, sample), default=0) < _SHORTEST_INDEX:
        return False
    values = ([row[column] for row in rows] for rows in sample)
    return all(
        any(found == [str(i + first) for i in range(len(found))] for first in (0, 1))
        for found in values
    )


def word_column(sample: Sequence[Rows], width: int) -> int:
    """The first column that does not only number the words."""
    return next((column for column in range(width) if not is_index(sample, column)), 0)


def tag_columns(sample: Sequence[Rows], word: int, width: int) -> list[TagColumn]:
    """The columns that look like tags of entities, the best one first; chunks are no entities.

    That is the one with the most phrases, the last of several such. Tags with prefixes are better.
    """
    found = []
    for column in range(width):
        tags = [[row[column].strip(" ") for row in rows] for rows in sample]
        is_types = is_io({text for row in tags for text in row})
        labels = _labels(tags, is_types=is_types)
        if column != word and labels and not set(labels) <= _CHUNKS:
            found.append(TagColumn(not is_types, len(labels), column))
    return sorted(found, reverse=True)


def as_told(found: Sequence[TagColumn]) -> str:
    """Which of several columns is read, and how to read another one."""
    best, *others = found
    texts = [f"entity tags are read from column {best.place}, which has {best.phrases:,} phrases"]
    texts += [
        f"column {one.place} looks like tags, too, and has {one.phrases:,}: "
        f"--tag-column {one.place} reads it" for one in others
    ]  # fmt: skip
    return "; ".join(texts)


def _labels(sentences: Sequence[Sequence[str]], *, is_types: bool) -> list[str]:
    """The label of each phrase; none if the values are no tags."""
    phrases = []
    n, n_bad = 0, 0
    for tags in sentences:
        before = ""
        n += len(tags)
        for text in tags:
            prefix, label = ("I", text) if is_types else split_tag(text)
            if text in NO_SPAN or not prefix:
                n_bad += text not in NO_SPAN
                label = ""
            elif prefix in ("B", "U") or label != before:
                phrases.append(label)
            before = label
    return phrases if n_bad <= (1 - _SHARE) * n else []


def have_languages(words: Sequence[str]) -> bool:
    """Whether all words have a language in front, as in `fr:Mira` of WikiANN."""
    return len(words) >= _SHORTEST_INDEX and all(map(_LANGUAGE.match, words))


def without_language(word: str) -> str:
    """The word behind its language."""
    return _LANGUAGE.sub("", word, count=1)
