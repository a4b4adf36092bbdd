"""Reads column files, which have one word on each line and its annotation in further columns.

A blank line ends a sentence. A line that begins with `-DOCSTART-` (CoNLL-2003) or `###MEDLINE:`
(JNLPBA) begins a document and is not a word. There are no comments.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from ..errors import CorpusError
from .tags import LabelledSpan, Scheme, TagError, TaggedSentence, decode_tags, find_slips

REPLACEMENT = "\ufffd"

_DOCUMENT_MARK = "-DOCSTART-"
_MARK_PREFIXES = (_DOCUMENT_MARK, "###MEDLINE:")
# Bytes that are not UTF-8 are read as lone surrogates (`surrogateescape`).
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_LISTED_WORDS = 10
_SHOWN_CHARACTERS = 120
_SHORTEST_INDEX = 3
"""Shorter sentences of numbers may be text."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a column file. Columns count from 0, or from the end if negative.

    scheme: of the entity tags; the scheme of the chunk column is always detected. separator:
    "auto" means a tab if any line has one, otherwise one or more spaces. tag_column: None if no
    word has an entity tag. pos_column, chunk_column: read if given. n_sents: sentences per
    document in a file without document marks (0: all of them). on_bad_word: whether a word that
    spaCy cannot use (see `word_problem`) is an error or is replaced.
    """

    scheme: Scheme = Scheme.AUTO
    separator: Literal["auto", "tab", "space"] = "auto"
    word_column: int = 0
    tag_column: int | None = -1
    pos_column: int | None = None
    chunk_column: int | None = None
    n_sents: int = 10
    on_bad_word: Literal["error", "replace"] = "error"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with their annotation; spans and positions count words of this sentence.

    missing: words without annotation, neither in a span nor outside. pos, chunks: None if these
    columns were not read. line: number of the line of the first word, from 1; the other words are
    on the following lines. replaced: place and text of each word that U+FFFD has replaced.
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


def read_columns(path: str | Path, options: ReadOptions | None = None) -> Iterator[Document]:
    """Read a column file; documents without words are left out.

    The whole file is read and checked at once, because its scheme depends on all of its tags.

    Raises `CorpusError` for a line that does not match the others and for an invalid tag, with
    the file, the line number and the line; and for bad words, unless they are to be replaced,
    with the first ten of them.
    """
    return iter(_Reader(Path(path), options or ReadOptions()).documents())


def word_problem(word: str) -> str | None:
    """Why spaCy cannot use `word`, or None if it can.

    A `Doc` refuses the empty string and invalid Unicode. It accepts a word of whitespace, but no
    entity can begin there.
    """
    if word and not word.isspace():
        return _encoding_problem(word)
    return "is only whitespace" if word else "is empty"


def _encoding_problem(text: str) -> str | None:
    return "is not valid UTF-8" if _NOT_UTF8.search(text) else None


class _Block(NamedTuple):
    """The rows of one sentence, and the number of document marks before it."""

    rows: list[list[str]]
    line: int
    marks: int


class _Reader:
    """Reads one file; holds what its error messages need."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        # `splitlines` would also split at characters that may be part of a word.
        data = path.read_bytes()
        if path.suffix == ".spacy":
            raise CorpusError(f"{path} is a .spacy file already: use it as it is.")
        text = data.decode("utf-8-sig", errors="surrogateescape")
        if "\0" in text and _NOT_UTF8.search(text):
            raise CorpusError(f"{path} is no text. Give a UTF-8 file with one word a line.")
        self.lines = [line.rstrip("\r") for line in text.split("\n")]

    def documents(self) -> list[Document]:
        blocks = self.blocks()
        if not blocks:
            raise CorpusError(f"{self.path} has no words. Give a file with one word a line.")
        columns = self.columns(blocks[0])
        self.check_index(blocks, columns["word"])
        tagged = [TaggedSentence((), tuple(range(len(block.rows)))) for block in blocks]
        scheme = None
        if "tag" in columns:
            tagged, scheme = self.tagged(blocks, columns["tag"], self.options.scheme)
            self.note_slip(blocks, columns["tag"], scheme)
        chunked: list[TaggedSentence] | list[None] = [None] * len(blocks)
        if "chunk" in columns:
            chunked, _ = self.tagged(blocks, columns["chunk"], Scheme.AUTO)
        sentences = [
            self.sentence(block, columns, tags, chunks)
            for block, tags, chunks in zip(blocks, tagged, chunked, strict=True)
        ]
        self.check_words(sentences)

        size = max(self.options.n_sents, 0) or len(blocks)
        documents: dict[int, list[Sentence]] = {}
        for position, (block, sentence) in enumerate(zip(blocks, sentences, strict=True)):
            number = block.marks if blocks[-1].marks else position // size
            documents.setdefault(number, []).append(sentence)
        return [Document(tuple(group), scheme) for group in documents.values()]

    def blocks(self) -> list[_Block]:
        """The sentences as rows of columns; all rows have the same number of columns."""
        split = self.splitter()
        blocks: list[_Block] = []
        rows: list[list[str]] = []
        marks = 0
        for number, line in enumerate(self.lines, start=1):
            # A byte order mark stands between files that were joined.
            fields = split(line) if line.strip(" \t\ufeff") else []
            is_mark = line.startswith(_MARK_PREFIXES) or _DOCUMENT_MARK in fields
            if is_mark or not fields:
                marks += is_mark
                rows = []
                continue
            if not rows:
                blocks.append(_Block(rows, number, marks))
            rows.append(fields)
            width = len(blocks[0].rows[0])
            if len(fields) != width:
                first = blocks[0].line
                problem = f"expected {width} columns as in line {first}, but found {len(fields)}"
                self.fail(number, problem, "Correct the line, or set --separator tab or space")
        return blocks

    def splitter(self) -> Callable[[str], list[str]]:
        lines = self.lines if self.options.separator == "auto" else []
        has_tab = any("\t" in line and line.strip(" \t") for line in lines)
        if has_tab or self.options.separator == "tab":
            return lambda line: line.split("\t")
        # `line.split()` would also split at whitespace that may be a word.
        return lambda line: [field for field in line.split(" ") if field]

    def columns(self, first: _Block) -> dict[str, int]:
        """Positions, from 0, of the columns to read."""
        names = ("word", "tag", "pos", "chunk")
        asked = {name: getattr(self.options, f"{name}_column") for name in names}
        width = len(first.rows[0])
        advice = "Columns count from 0, or from the end if negative. See also --separator"
        columns = {}
        for name, column in asked.items():
            if column is not None and not -width <= column < width:
                problem = f"--{name}-column is {column}, but the line has {width} columns"
                self.fail(first.line, problem, advice)
            if column is not None:
                columns[name] = column % width
        if columns["word"] == columns.get("tag"):
            problem = f"words and tags are both in column {columns['word']} of {width}"
            self.fail(first.line, problem, advice)
        return columns

    def tagged(
        self, blocks: list[_Block], column: int, scheme: Scheme
    ) -> tuple[list[TaggedSentence], Scheme]:
        try:
            return decode_tags([[r[column].strip(" ") for r in b.rows] for b in blocks], scheme)
        except TagError as error:
            line = blocks[error.sentence].line + error.word
            is_first = (error.sentence, error.word) == (0, 0)
            header = ". If the line is a header, delete it" if is_first else ""
            self.fail(line, error.problem, error.advice + header)

    def check_index(self, blocks: list[_Block], column: int) -> None:
        """Raise `CorpusError` where the words of every sentence are 0, 1, 2 … or 1, 2, 3 …."""
        if max(len(block.rows) for block in blocks) < _SHORTEST_INDEX:
            return
        for block in blocks:
            words = [row[column] for row in block.rows]
            if not any(words == [str(i + first) for i in range(len(words))] for first in (0, 1)):
                return
        problem = f"column {column} only numbers the words of each sentence"
        advice = f"Give the column of the words, as in --word-column {column + 1}"
        self.fail(blocks[0].line, problem, advice)

    def note_slip(self, blocks: list[_Block], column: int, scheme: Scheme) -> None:
        """Warn where a file was taken for IOB1 though most of its phrases begin as in IOB2."""
        if self.options.scheme != Scheme.AUTO or scheme != Scheme.IOB1:
            return
        tags = [[row[column].strip(" ") for row in block.rows] for block in blocks]
        slips, n_as_iob2 = find_slips(tags)
        if len(slips) < n_as_iob2:
            line = blocks[slips[0][0]].line + slips[0][1]
            warnings.warn(
                f"{self.path}:{line}: a phrase begins with I-, in {self.lines[line - 1]!r} ("
                f"{len(slips)} in all), but {n_as_iob2} begin with B- as in IOB2. I- is read as "
                "the beginning there. Correct the tags, or state --scheme iob1.",
                stacklevel=2,
            )

    def sentence(
        self,
        block: _Block,
        columns: dict[str, int],
        tags: TaggedSentence,
        chunks: TaggedSentence | None,
    ) -> Sentence:
        replaced: list[str] = []

        def texts(column: int, problem_of: Callable[[str], str | None]) -> Iterator[str]:
            for line, row in enumerate(block.rows, start=block.line):
                text = row[column]
                if problem := problem_of(text):
                    replaced.append(f"{self.path}:{line}: {text!r} {problem}")
                    text = _NOT_UTF8.sub(REPLACEMENT, text) if text.strip() else REPLACEMENT
                yield text

        return Sentence(
            words=tuple(texts(columns["word"], word_problem)),
            spans=tags.spans,
            missing=tags.missing,
            pos=tuple(texts(columns["pos"], _encoding_problem)) if "pos" in columns else None,
            chunks=chunks.spans if chunks else None,
            line=block.line,
            replaced=tuple(replaced),
        )

    def check_words(self, sentences: list[Sentence]) -> None:
        bad = [word for sentence in sentences for word in sentence.replaced]
        if bad and self.options.on_bad_word != "replace":
            listed = "".join(f"\n  {word}" for word in bad[:_LISTED_WORDS])
            raise CorpusError(
                f"{self.path} has words that spaCy cannot use: {len(bad)} in all. Correct them, or "
                f"replace them with U+FFFD by --on-bad-word replace. The first are:{listed}"
            )

    def fail(self, line: int, problem: str, advice: str) -> NoReturn:
        """Raise a `CorpusError` about a line, counted from 1."""
        shown = self.lines[line - 1][:_SHOWN_CHARACTERS]
        raise CorpusError(f"{self.path}:{line}: {problem}, in {shown!r}. {advice}.")
