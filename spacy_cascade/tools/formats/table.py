"""Lines of a column file as rows, and which columns have the words and the tags of entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from .tags import MISSING, NO_SPAN, is_io, split_tag

Rows = list[list[str]]
"""Of one sentence: the fields of each word."""

DOCUMENT_MARK = "-DOCSTART-"
_MARK_PREFIXES = (DOCUMENT_MARK, "###MEDLINE:")
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
        return self.text.startswith(_MARK_PREFIXES) or DOCUMENT_MARK in self.fields

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

    def __init__(self, rows: Sequence[Row], *, is_spaced: bool = False) -> None:
        """is_spaced: whether spaces separate the fields, so that a word with one has more."""
        self.rows, self.is_spaced = rows, is_spaced
        found = [row for row in self.rows if row.fields and not row.is_mark]
        found = [row for row in found if not row.has_hash] or found
        widths = Counter(len(row.fields) for row in found)
        self.width = max(widths, key=lambda width: widths[width], default=0)
        self.sure = [row for row in found if len(row.fields) == self.width]
        # A tab at the end of every line is no column.
        while self.width > 1 and not any(row.fields[self.width - 1] for row in self.sure):
            self.width -= 1

    @classmethod
    def of_lines(cls, lines: Iterable[str], separator: Literal["auto", "tab", "space"]) -> Table:
        """The table of a column file."""
        # A byte order mark stands between files that were joined.
        texts = [line if line.strip(" \t\ufeff") else "" for line in lines]
        words = [text for text in texts if text and not text.startswith(_HASH)] or texts
        has_tab = any("\t" in text for text in words)
        is_spaced = separator == "space" or (separator == "auto" and not has_tab)

        def fields(text: str) -> list[str]:
            # `split()` would also split at white space that may be a word.
            return [part for part in text.split(" ") if part] if is_spaced else text.split("\t")

        rows = [Row(n, text, fields(text) if text else []) for n, text in enumerate(texts, start=1)]
        return cls(rows, is_spaced=is_spaced)

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
            elif self.is_spaced and len(fields) < len(row.fields):
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
        if not self.is_spaced:
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


class Phrase(NamedTuple):
    """A phrase of tags: the number of its sentence, its first word, its end (exclusive), label."""

    sentence: int
    start: int
    end: int
    label: str

    @property
    def words(self) -> set[tuple[int, int]]:
        """Its words, each by its sentence and its place there."""
        return {(self.sentence, word) for word in range(self.start, self.end)}


class TagColumn(NamedTuple):
    """A column that looks like tags of entities; place: of the column.

    has_prefixes: whether tags have B, I and such.
    """

    has_prefixes: bool
    phrases: Sequence[Phrase]
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


def tag_columns(sample: Sequence[Rows], others: Collection[int], width: int) -> list[TagColumn]:
    """The columns that look like tags of entities, the best one first; chunks are no entities.

    That is the one with the most phrases, the last of several such. Tags with prefixes are better.
    others: columns with something else.
    """
    found = []
    for column in range(width):
        tags = [[row[column].strip(" ") for row in rows] for rows in sample]
        is_types = is_io({text for row in tags for text in row})
        phrases = _phrases(tags, is_types=is_types)
        n_chunks = sum(phrase.label in _CHUNKS for phrase in phrases)
        if column not in others and 2 * n_chunks < len(phrases):
            found.append(TagColumn(not is_types, phrases, column))
    return sorted(found, key=lambda one: (one[0], len(one.phrases), one.place), reverse=True)


def levels_among(found: Sequence[TagColumn]) -> list[TagColumn]:
    """The best column and its further levels of nesting, in the order of the file.

    A further level has tags with prefixes. Most of its phrases share a word with a phrase of the
    best column, have a label that it has, too, and are not the same phrase again. So the tags of
    chunks, of roles, of finer types and of predictions are no levels.
    """
    best, *others = found
    labels, same = {phrase.label for phrase in best.phrases}, set(best.phrases)
    taken = {word for phrase in best.phrases for word in phrase.words}

    def is_level(column: TagColumn) -> bool:
        n = sum(
            one.label in labels and one not in same and not taken.isdisjoint(one.words)
            for one in column.phrases
        )
        return best.has_prefixes and column.has_prefixes and 2 * n > len(column.phrases)

    return sorted([best, *filter(is_level, others)], key=lambda one: one.place)


def one_as_told(found: Sequence[TagColumn]) -> str:
    """Which of several columns is read, and how to read another one, or all of them."""
    best, *others = found
    texts = [_read_as_told(best)]
    texts += [f"{_other_as_told(one)}: --tag-column {one.place} reads it" for one in others]
    if others:
        verb = "column with tags is" if len(others) == 1 else "columns with tags are"
        texts.append(
            f"{len(others)} further {verb} left out: --spans-key sc --tag-column {_listed(found)} "
            "keeps the spans of all"
        )
    return "; ".join(texts)


def levels_as_told(found: Sequence[TagColumn], levels: Sequence[TagColumn]) -> str:
    """Which columns are read as levels of nesting, and how to read the other ones, too."""
    texts = [_read_as_told(levels[0])]
    texts += [
        f"column {one.place}, which has {len(one.phrases):,}, is a further level of nesting"
        for one in levels[1:]
    ]
    texts += [
        f"{_other_as_told(one)}, but not like a level of nesting: --tag-column "
        f"{_listed([*levels, one])} reads it, too" for one in found if one not in levels
    ]  # fmt: skip
    return "; ".join(texts)


def _read_as_told(one: TagColumn) -> str:
    n = len(one.phrases)
    return f"entity tags are read from column {one.place}, which has {n:,} phrases"


def _other_as_told(one: TagColumn) -> str:
    return f"column {one.place} looks like tags, too, and has {len(one.phrases):,}"


def _listed(columns: Iterable[TagColumn]) -> str:
    return ",".join(str(place) for place in sorted(one.place for one in columns))


def _phrases(sentences: Sequence[Sequence[str]], *, is_types: bool) -> list[Phrase]:
    """The phrases of a column; none if the values are no tags."""
    phrases: list[Phrase] = []
    n, n_bad = 0, 0
    for number, tags in enumerate(sentences):
        before = ""
        n += len(tags)
        for word, text in enumerate(tags):
            prefix, label = ("I", text) if is_types else split_tag(text)
            if text in NO_SPAN or not prefix:
                n_bad += text not in NO_SPAN
                label = ""
            elif prefix in ("B", "U") or label != before:
                phrases.append(Phrase(number, word, word + 1, label))
            else:
                phrases[-1] = phrases[-1]._replace(end=word + 1)
            before = label
    return phrases if n - n_bad >= _SHARE * n else []


def have_languages(words: Sequence[str]) -> bool:
    """Whether all words have a language in front, as in `fr:Mira` of WikiANN."""
    return len(words) >= _SHORTEST_INDEX and all(map(_LANGUAGE.match, words))


def without_language(word: str) -> str:
    """The word behind its language."""
    return _LANGUAGE.sub("", word, count=1)
