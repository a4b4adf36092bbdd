"""Reads column files, which have one word on each line and its annotation in further columns.

A blank line ends a sentence. A line that begins with `-DOCSTART-` (CoNLL-2003) or `###MEDLINE:`
(JNLPBA) begins a document and is not a word. A line that begins with `#` is a word if it has the
columns of one, and a tag among them; else it is a comment.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ...errors import CorpusError
from .bad_records import OnBad, raised
from .encodings import (
    NOT_UTF8,
    REPLACEMENT,
    decoded,
    encoding_problem,
    other_encoding,
    word_problem,
)
from .table import (
    Block,
    Row,
    Table,
    have_languages,
    is_index,
    levels_among,
    levels_as_told,
    one_as_told,
    tag_columns,
    without_language,
    word_column,
)  # fmt: skip
from .tags import (
    NO_SPAN,
    LabelledSpan,
    Scheme,
    TagError,
    TaggedSentence,
    decode_tags,
    find_slips,
    split_tag,
)  # fmt: skip

_LISTED_WORDS = 10
_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a column file. Columns count from 0, or from the end if negative.

    scheme: of the entity tags; the scheme of the chunk column is always detected. separator:
    "auto" means a tab if any word has one on its line, otherwise one or more spaces. word_column:
    "auto" means the first one that does not number the words. tag_column: one, or several that are
    levels of nesting; "auto" means the one that looks like tags of entities and has the most of
    them, else the last; None if no word has an entity tag. has_levels: whether "auto" also means
    the columns that look like further levels of nesting (`table.levels_among`). pos_column,
    chunk_column: read if given. n_sents: sentences per document in a file without document marks
    (0: all of them). on_bad_word: whether a word that spaCy cannot use (see `word_problem`) is an
    error or is replaced.
    """

    scheme: Scheme = Scheme.AUTO
    separator: Literal["auto", "tab", "space"] = "auto"
    word_column: int | Literal["auto"] = "auto"
    tag_column: int | tuple[int, ...] | Literal["auto"] | None = "auto"
    has_levels: bool = False
    pos_column: int | None = None
    chunk_column: int | None = None
    n_sents: int = 10
    on_bad_word: Literal["error", "replace"] = "error"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with their annotation; spans and positions count words of this sentence.

    spans: in the order of the text, an outer one before those in it; equal ones as their columns.
    missing: words without annotation, neither in a span nor outside. pos, chunks: None if these
    columns were not read. line: number of the line of the first word, from 1. replaced: place and
    text of each word that U+FFFD has replaced.
    """

    words: tuple[str, ...]
    spans: tuple[LabelledSpan, ...]
    missing: tuple[int, ...] = ()
    pos: tuple[str, ...] | None = None
    chunks: tuple[LabelledSpan, ...] | None = None
    line: int = 1
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One or more sentences, and the scheme of the tags in their file, if it has any."""

    sentences: tuple[Sentence, ...]
    scheme: Scheme | None = Scheme.IOB2


def read_columns(
    path: str | Path,
    options: ReadOptions | None = None,
    encoding: str | None = None,
    on_bad: OnBad = raised,
) -> Iterator[Document]:
    """Read a column file; documents without words are left out.

    The whole file is read and checked at once, because its scheme depends on all of its tags.
    encoding: None for the one that a byte order mark tells, or UTF-8. Warns of what was chosen, or
    read in another way than it stands there: columns, comments, prefixes of languages.

    on_bad: takes the error of a sentence that has a line that does not match the others, or an
    invalid tag, with the file, the line number and the line; the sentence is left out.

    Raises `CorpusError` for bad words, unless they are to be replaced, with the first ten of them.
    """
    path, options = Path(path), options or ReadOptions()
    data = path.read_bytes()
    if path.suffix == ".spacy":
        raise CorpusError(f"{path} is a .spacy file already: use it as it is.")
    text = decoded(path, data, encoding, errors="surrogateescape")
    if "\0" in text and NOT_UTF8.search(text):
        raise CorpusError(f"{path} is no text. Give a UTF-8 file with one word a line.")
    # `splitlines` would also split at characters that may be part of a word.
    lines = [line.rstrip("\r") for line in text.split("\n")]
    table = Table.of_lines(lines, options.separator)
    return iter(_Reader(path, lines, options, on_bad, data).documents(table))


def read_table(
    path: Path, table: Table, lines: list[str], options: ReadOptions, on_bad: OnBad
) -> list[Document]:
    """The documents of a table that another kind of file has, as `read_columns` reads them.

    lines: those of the file, to show in errors.
    """
    return _Reader(path, lines, options, on_bad).documents(table)


class _Columns(NamedTuple):
    """Positions, from 0, of the columns to read. tags: one for each level of nesting."""

    word: int
    tags: tuple[int, ...]
    pos: int | None
    chunk: int | None


class _Reader:
    """Reads one file; holds what its error messages need."""

    def __init__(
        self, path: Path, lines: list[str], options: ReadOptions, on_bad: OnBad, data: bytes = b""
    ) -> None:
        self.path = path
        self.lines = lines
        self.options = options
        self.on_bad = on_bad
        self.data = data
        self.bad: set[int] = set()  # first lines of sentences with bad tags

    def documents(self, table: Table) -> list[Document]:
        if not table.sure:
            raise CorpusError(f"{self.path} has no words. Give a file with one word a line.")
        columns = self.columns(table)
        blocks = self.blocks(table, columns)
        tagged = [TaggedSentence((), tuple(range(len(block.rows)))) for block in blocks]
        scheme = None
        if columns.tags:
            tagged, scheme = self.tagged(blocks, columns.tags, self.options.scheme)
            self.note_slip(blocks, columns.tags, scheme)
        chunked: list[TaggedSentence] | list[None] = [None] * len(blocks)
        if columns.chunk is not None:
            chunked, _ = self.tagged(blocks, (columns.chunk,), Scheme.AUTO)
        found = zip(blocks, tagged, chunked, strict=True)
        whole = [one for one in found if one[0].lines[0] not in self.bad]
        blocks = [block for block, *_ in whole]
        sentences = [self.sentence(block, columns, tags, chunks) for block, tags, chunks in whole]
        self.check_words(sentences)

        size = max(self.options.n_sents, 0) or len(blocks)
        documents: dict[int, list[Sentence]] = {}
        for position, (block, sentence) in enumerate(zip(blocks, sentences, strict=True)):
            number = block.marks if blocks[-1].marks else position // size
            documents.setdefault(number, []).append(sentence)
        return [Document(tuple(group), scheme) for group in documents.values()]

    def columns(self, table: Table) -> _Columns:
        """Where the columns to read are."""
        first, sample, options = table.sure[0].number, table.sample(), self.options

        def place(name: str, column: int) -> int:
            if not -table.width <= column < table.width:
                problem = f"--{name}-column is {column}, but the line has {table.width} columns"
                advice = "Columns count from 0, or from the end if negative. See also --separator"
                raise self.error(first, problem, advice)
            return column % table.width

        if options.word_column == "auto":
            word = word_column(sample, table.width)
            if word:
                self.warn(f"words are read from column {word}: those before are numbers")
        else:
            word = place("word", options.word_column)
        pos, chunk = (
            None if column is None else place(name, column)
            for name, column in (("pos", options.pos_column), ("chunk", options.chunk_column))
        )
        asked = options.tag_column
        if asked == "auto":
            tags = self.tag_columns(table, [one for one in (word, pos, chunk) if one is not None])
        else:
            given = asked if isinstance(asked, tuple) else () if asked is None else (asked,)
            tags = tuple(place("tag", column) for column in given)
        self.check_columns(table, _Columns(word, tags, pos, chunk))
        return _Columns(word, tags, pos, chunk)

    def check_columns(self, table: Table, columns: _Columns) -> None:
        """Raise `CorpusError` for columns that cannot be what they are taken for."""
        first, (word, tags, pos, chunk) = table.sure[0].number, columns
        if word in tags:
            problem = f"words and tags are both in column {word} of {table.width}"
            advice = "Columns count from 0, or from the end if negative. See also --separator"
            if table.width == 1:
                advice = "A column file has a word and its tag on each line. Is this another format"
                advice += "? --format names it. Texts without annotation: spacy cascade annotate"
            raise self.error(first, problem, advice)
        twice = [column for column in tags if tags.count(column) > 1]
        if twice:
            problem = f"--tag-column names column {twice[0]} twice"
            raise self.error(first, problem, "Name each level of nesting once")
        other = next((one for one in (pos, chunk) if one in tags), None)
        if len(tags) > 1 and other is not None:
            problem = f"column {other} cannot have tags of entities and of something else"
            raise self.error(first, problem, "Take it out of --tag-column, or of the other option")
        if is_index(table.sample(), word):
            problem = f"column {word} only numbers the words of each sentence"
            advice = f"Give the column of the words, as in --word-column {word + 1}"
            raise self.error(first, problem, advice)

    def tag_columns(self, table: Table, others: Collection[int]) -> tuple[int, ...]:
        """The best column of tags, with its levels where they are wanted; and a warning.

        others: columns with something else. The warning says what else is as likely.
        """
        last = table.width - 1
        found = tag_columns(table.sample(), others, table.width)
        if not found:
            return (last,)
        if self.options.has_levels:
            levels = levels_among(found)
            told = levels_as_told(found, levels)
        else:
            levels, told = found[:1], one_as_told(found)
        if len(found) > 1 or found[0].place != last:
            self.warn(told)
        return tuple(one.place for one in levels)

    def blocks(self, table: Table, columns: _Columns) -> list[Block]:
        """The sentences, whose words have no prefixes of languages."""
        word, tag = columns.word, next(iter(columns.tags), None)
        known = {row.fields[tag].strip(" ") for row in table.sure} if tag is not None else set()

        def is_tag(text: str) -> bool:
            # A lone B or I is more likely a word, unless it is a tag of the file.
            return text in known or text in NO_SPAN or ("-" in text and bool(split_tag(text)[0]))

        blocks, comments, with_blanks = table.blocks(word, tag, is_tag, self.leave_out)
        self.note(comments, "lines that begin with # and have no tag are read as comments")
        self.note(with_blanks, "words are read with blanks inside, as lines have more columns")
        rows = [row for block in blocks for row in block.rows]
        if have_languages([row[word] for row in rows]):
            self.warn(f"the languages before the words are left out, as in {rows[0][word]!r}")
            for row in rows:
                row[word] = without_language(row[word])
        return blocks

    def warn(self, text: str) -> None:
        warnings.warn(f"{self.path}: {text}.", stacklevel=2)

    def note(self, rows: Sequence[Row], what: str) -> None:
        """Warn of lines, and show the first."""
        if rows:
            shown = f"{rows[0].text[:_SHOWN_CHARACTERS]!r} on line {rows[0].number}"
            self.warn(f"{what}: {len(rows):,}, the first is {shown}")

    def tagged(
        self, blocks: list[Block], columns: Sequence[int], scheme: Scheme
    ) -> tuple[list[TaggedSentence], Scheme]:
        """The phrases of each sentence in columns of tags that have one scheme."""
        n = len(blocks)

        def note(error: TagError) -> None:
            number = error.sentence % n
            lines = blocks[number].lines
            if lines[0] in self.bad:  # one error of a sentence is enough
                return
            self.bad.add(lines[0])
            header = ". If the line is a header, delete it" if number == error.word == 0 else ""
            self.leave_out(lines[error.word], error.problem, error.advice + header)

        decoded, scheme = decode_tags(_tags_in(blocks, columns), scheme, note)
        return [_joined(decoded[number::n]) for number in range(n)], scheme

    def note_slip(self, blocks: list[Block], columns: Sequence[int], scheme: Scheme) -> None:
        """Warn where a file was taken for IOB1 though most of its phrases begin as in IOB2."""
        if self.options.scheme != Scheme.AUTO or scheme != Scheme.IOB1:
            return
        slips, n_as_iob2 = find_slips(_tags_in(blocks, columns))
        if len(slips) < n_as_iob2:
            number, word = slips[0]
            line = blocks[number % len(blocks)].lines[word]
            warnings.warn(
                f"{self.path}:{line}: a phrase begins with I-, in {self.lines[line - 1]!r} ("
                f"{len(slips)} in all), but {n_as_iob2} begin with B- as in IOB2. I- is read as "
                "the beginning there. Correct the tags, or state --scheme iob1.",
                stacklevel=2,
            )

    def sentence(
        self,
        block: Block,
        columns: _Columns,
        tags: TaggedSentence,
        chunks: TaggedSentence | None,
    ) -> Sentence:
        replaced: list[str] = []

        def texts(column: int, problem_of: Callable[[str], str | None]) -> Iterator[str]:
            for line, row in zip(block.lines, block.rows, strict=True):
                text = row[column]
                if problem := problem_of(text):
                    replaced.append(f"{self.path}:{line}: {text!r} {problem}")
                    text = NOT_UTF8.sub(REPLACEMENT, text) if text.strip() else REPLACEMENT
                yield text

        return Sentence(
            words=tuple(texts(columns.word, word_problem)),
            spans=tags.spans,
            missing=tags.missing,
            pos=None if columns.pos is None else tuple(texts(columns.pos, encoding_problem)),
            chunks=chunks.spans if chunks else None,
            line=block.lines[0],
            replaced=tuple(replaced),
        )

    def check_words(self, sentences: list[Sentence]) -> None:
        bad = [word for sentence in sentences for word in sentence.replaced]
        if bad and self.options.on_bad_word != "replace":
            listed = "".join(f"\n  {word}" for word in bad[:_LISTED_WORDS])
            advice = "Correct them, or replace them with U+FFFD by --on-bad-word replace."
            raise CorpusError(
                f"{self.path} has words that spaCy cannot use: {len(bad)} in all. "
                f"{other_encoding(self.data, self.lines) or advice} The first are:{listed}"
            )

    def leave_out(self, line: int, problem: str, advice: str) -> None:
        """Hand on the error of a line whose sentence is left out."""
        self.on_bad(self.error(line, problem, advice))

    def error(self, line: int, problem: str, advice: str) -> CorpusError:
        shown = self.lines[line - 1][:_SHOWN_CHARACTERS]
        return CorpusError(f"{self.path}:{line}: {problem}, in {shown!r}. {advice}.")


def _tags_in(blocks: Sequence[Block], columns: Sequence[int]) -> list[list[str]]:
    """The tags of all sentences in the first column, then those in the second, and so on."""
    return [
        [row[column].strip(" ") for row in block.rows] for column in columns for block in blocks
    ]


def _joined(levels: Sequence[TaggedSentence]) -> TaggedSentence:
    """The phrases of all levels of a sentence; a word that one of them leaves open is open."""
    spans = sorted(
        (span for level in levels for span in level.spans), key=lambda one: (one.start, -one.end)
    )
    missing = {word for level in levels for word in level.missing}
    return TaggedSentence(tuple(spans), tuple(sorted(missing)))
