"""Reading column files: one word a line, its annotation in columns beside it.

A blank line ends a sentence. A line that begins with `-DOCSTART-` (CoNLL-2003) or
`###MEDLINE:` (JNLPBA) begins a document and is not a word. There are no comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from spacy_cascade.corpora.tags import LabelledSpan, Scheme, TagError, TaggedSentence, decode_tags
from spacy_cascade.errors import CorpusError

REPLACEMENT = "\ufffd"

_DOCUMENT_MARK = "-DOCSTART-"
_MARK_PREFIXES = (_DOCUMENT_MARK, "###MEDLINE:")
# Bytes that are not UTF-8 are read as lone surrogates (`surrogateescape`).
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_LISTED_WORDS = 10
_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a column file. Columns count from 0, or from the end if negative.

    Columns are separated by a tab, or by one or more spaces; "auto" means by a tab if
    any line has one. `pos_column` and `chunk_column` are read if given; the scheme of
    the chunk column is always told from its own tags. With `tag_column` None no word has
    an entity tag. In a file without document marks
    every `n_sents` sentences are one document (0: all of them). `on_bad_word` says
    whether words that spaCy cannot use (see `word_problem`) are an error or replaced.
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

    `missing` are the words without annotation, neither in a span nor outside of all.
    `pos` and `chunks` are None if those columns were not asked for. `line` is the number
    of the first word's line, from 1; the other words are on the lines after it.
    `replaced` tells of each word that U+FFFD stands in for where it was and what it was.
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
    """One or more sentences, and the scheme that their file's tags were read in, if any."""

    sentences: tuple[Sentence, ...]
    scheme: Scheme | None = Scheme.IOB2


def read_columns(path: str | Path, options: ReadOptions | None = None) -> Iterator[Document]:
    """Read a column file, one `Document` after the other.

    The whole file is read and checked at once, since its scheme and its bad words can
    only be told from all of it. Documents without words are left out.

    Raises `CorpusError` with file, line number and the line itself for a line that does
    not fit the others or a tag that is not valid, and with the first ten bad words
    unless they are to be replaced.
    """
    return iter(_Reader(Path(path), options or ReadOptions()).documents())


def word_problem(word: str) -> str | None:
    """Say why spaCy cannot use `word`, or None if it can.

    A `Doc` refuses the empty string and text that is not valid Unicode. It holds words of
    whitespace only, but to spaCy they are no words: no entity can begin there.
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
        # Not `splitlines`, which also splits at characters that may be part of a word.
        text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
        self.lines = [line.rstrip("\r") for line in text.split("\n")]

    def documents(self) -> list[Document]:
        """Read everything; see `read_columns`."""
        blocks = self.blocks()
        if not blocks:
            raise CorpusError(f"{self.path} has no words. Give a file with one word a line.")
        columns = self.columns(blocks[0])
        tagged = [TaggedSentence((), tuple(range(len(block.rows)))) for block in blocks]
        scheme = None
        if "tag" in columns:
            tagged, scheme = self.tagged(blocks, columns["tag"], self.options.scheme)
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
        """Split the lines into sentences of rows of columns, all equally many."""
        split = self.splitter()
        blocks: list[_Block] = []
        rows: list[list[str]] = []
        marks = 0
        for number, line in enumerate(self.lines, start=1):
            fields = split(line) if line.strip(" \t") else []
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
                problem = f"{len(fields)} columns instead of {width} as in line {blocks[0].line}"
                self.fail(number, problem, "Correct the line, or set --separator tab or space")
        return blocks

    def splitter(self) -> Callable[[str], list[str]]:
        """The function that splits a line of this file into its columns."""
        lines = self.lines if self.options.separator == "auto" else []
        has_tab = any("\t" in line and line.strip(" \t") for line in lines)
        if has_tab or self.options.separator == "tab":
            return lambda line: line.split("\t")
        # Not `line.split()`, which also splits at whitespace that may be a word.
        return lambda line: [field for field in line.split(" ") if field]

    def columns(self, first: _Block) -> dict[str, int]:
        """PaddedTokens, from 0, of the columns that were asked for."""
        asked = {
            "word": self.options.word_column,
            "tag": self.options.tag_column,
            "pos": self.options.pos_column,
            "chunk": self.options.chunk_column,
        }
        width = len(first.rows[0])
        advice = "Columns count from 0, or from the end if negative; see also --separator"
        columns = {}
        for name, column in asked.items():
            if column is not None and not -width <= column < width:
                problem = f"there is no column {column} among {width} for --{name}-column"
                self.fail(first.line, problem, advice)
            if column is not None:
                columns[name] = column % width
        if columns["word"] == columns.get("tag"):
            problem = f"words and tags are in the same column of {width}"
            self.fail(first.line, problem, advice)
        return columns

    def tagged(
        self, blocks: list[_Block], column: int, scheme: Scheme
    ) -> tuple[list[TaggedSentence], Scheme]:
        """Decode a column of tags, and the scheme it turned out to be in."""
        try:
            return decode_tags([[r[column].strip(" ") for r in b.rows] for b in blocks], scheme)
        except TagError as error:
            line = blocks[error.sentence].line + error.word
            self.fail(line, error.problem, error.advice)

    def sentence(
        self,
        block: _Block,
        columns: dict[str, int],
        tags: TaggedSentence,
        chunks: TaggedSentence | None,
    ) -> Sentence:
        """One sentence of words and what its tags say; bad words are replaced."""
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
        """Raise for the words that were replaced, unless that was asked for."""
        bad = [word for sentence in sentences for word in sentence.replaced]
        if bad and self.options.on_bad_word != "replace":
            listed = "".join(f"\n  {word}" for word in bad[:_LISTED_WORDS])
            raise CorpusError(
                f"{self.path} has {len(bad)} words that spaCy cannot use. Correct them, or put "
                f"U+FFFD in their place with --on-bad-word replace. The first are:{listed}"
            )

    def fail(self, line: int, problem: str, advice: str) -> NoReturn:
        """Raise a `CorpusError` about a line, counted from 1."""
        shown = self.lines[line - 1][:_SHOWN_CHARACTERS]
        raise CorpusError(f"{self.path}:{line}: {problem}, in {shown!r}. {advice}.")
