"""Lines of a column file as rows: which are words, and which are comments or marks of documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from .tags import MISSING

Rows = list[list[str]]
"""Of one sentence: the fields of each word."""

_DOCUMENT_MARK = "-DOCSTART-"
_MARK_PREFIXES = (_DOCUMENT_MARK, "###MEDLINE:")
_COMMENTED_MARK = re.compile(r"#\s*(newdoc\b|begin document\b|-?DOCSTART\b|\S*doc(ument)?_id\b)")
"""Of CoNLL-U, CoNLL-2012 and HIPE."""
_HASH = "#"
_LIKE_A_WORD = re.compile(r"#\S(?!nd document\b)")
"""CoNLL-2012 ends documents by `#end document`."""


class Row(NamedTuple):
    """A line with its number, from 1; fields: none if it is blank."""

    number: int
    text: str
    fields: list[str]

    @property
    def is_mark(self) -> bool:
        return self.text.startswith(_MARK_PREFIXES) or _DOCUMENT_MARK in self.fields

    @property
    def has_hash(self) -> bool:
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
