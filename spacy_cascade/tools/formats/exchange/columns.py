"""Formats of words and tags: column files, and the token lists of Hugging Face's `datasets`.

Token lists are JSON with `tokens` and `ner_tags`, written by `Dataset.to_json`; the tags are
strings, or numbers whose names the dataset has under `features["ner_tags"].feature.names`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ....cli.output import write_json_lines
from ....errors import CorpusError
from ....files import replace_file
from ..bad_records import each
from ..columns import Document, Sentence, read_columns
from ..docs import SUFFIXES
from ..encodings import REPLACEMENT, word_problem
from ..table import DOCUMENT_MARK
from ..tags import OUTSIDE, TagError, decode_tags
from ..texts import AnnotatedText, Mention, checked_text
from .base import FormatOptions, WordFormat, name_of, one_line, scores_of
from .levels import Words, place_of, words_of
from .source import Row, Source

_WORDS, _TAGS = ("tokens", "words"), ("ner_tags", "tags", "ner", "labels")
_IGNORED, _MISSING = -100, "-"
"""The label that training with PyTorch leaves out of a loss."""


class Columns(WordFormat):
    """What no other format recognises and is no JSON, XML or folder."""

    name: ClassVar[str] = "columns"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def recognises(self, source: Source) -> bool:
        return False

    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        found = read_columns(source.path, options.columns, source.encoding, options.on_bad)
        return list(found)

    def written_label(self, label: str) -> str:
        return _label(label)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        documents = [(text, words) for text in texts if (words := words_of(text)).pairs]
        if not documents:
            raise CorpusError(
                "The texts have no words, so there is nothing to write to columns. Make a .spacy "
                "file with `spacy cascade convert` first."
            )
        n_levels = max(len(words.levels()) for _, words in documents)
        lines = (line for text, words in documents for line in _lines(text, words, n_levels))
        replace_file(path, "".join(lines).encode())


def _lines(text: AnnotatedText, words: Words, n_levels: int) -> Iterator[str]:
    """A document with a column of tags for each level, and its mark before it."""
    yield "\t".join([DOCUMENT_MARK, *[OUTSIDE] * n_levels]) + "\n"
    levels = words.levels()
    levels += [[OUTSIDE] * len(words.pairs)] * (n_levels - len(levels))
    before = -1
    for pair, sentence, *tags in zip(words.pairs, words.sentences, *levels, strict=True):
        yield "\n" * (sentence != before)
        yield (
            "\t".join([one_line(text.text[slice(*pair)]), *map(Columns().written_label, tags)])
            + "\n"
        )
        before = sentence
    yield "\n"


def _label(label: str) -> str:
    return " ".join(label.split())


class TokenLists(WordFormat):
    """JSON with lists of words and of their tags."""

    name: ClassVar[str] = "huggingface"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".json")

    def recognises(self, source: Source) -> bool:
        first = source.first
        tokens = next((first[key] for key in _WORDS if key in first), None)
        is_words = isinstance(tokens, list) and all(isinstance(word, str) for word in tokens)
        return is_words and any(isinstance(first.get(key), list) for key in _TAGS)

    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        on_bad, bad = options.on_bad, set[int]()

        def tagged_words(row: Row) -> Iterator[_TaggedWords]:
            words = next((row.list_of(key) for key in _WORDS if key in row.value), [])
            tags = _tags(row, words, options.tag_names)
            yield _TaggedWords(row, *usable_words(row, words, options), tags)

        found = list(each(source.rows(on_bad), tagged_words, on_bad))

        def note(error: TagError) -> None:
            bad.add(error.sentence)
            problem = f"word {error.word + 1}: {error.problem}"
            on_bad(found[error.sentence].row.error(problem, error.advice))

        decoded, scheme = decode_tags([one.tags for one in found], options.columns.scheme, note)
        sentences = [
            Sentence(one.words, its.spans, its.missing, line=one.row.line, replaced=one.replaced)
            for one, its in zip(found, decoded, strict=True)
        ]
        return [Document((one,), scheme) for i, one in enumerate(sentences) if i not in bad]

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_json_lines(path, map(_record, texts))


class _TaggedWords(NamedTuple):
    row: Row
    words: tuple[str, ...]
    replaced: tuple[str, ...]
    tags: list[str]


def _tags(row: Row, words: Sequence[Any], names: Sequence[str]) -> list[str]:
    """The tags of a row by their names. Raises `CorpusError` for numbers without names."""
    if not words:
        row.fail("there are no tokens", "Give each text a list of words")
    key = next((key for key in _TAGS if key in row.value), None)
    if key is None:
        row.fail("there are no ner_tags", "Give a list of tags for each list of tokens")
    tags = row.list_of(key)
    if len(tags) != len(words):
        row.fail(f"{len(words)} tokens have {len(tags)} {key}", "Give each token one tag")
    return list(_named(row, tags, names))


def _named(row: Row, tags: list[Any], names: Sequence[str]) -> Iterator[str]:
    for tag in tags:
        if isinstance(tag, str):
            yield tag
        elif tag == _IGNORED:
            yield _MISSING
        elif type(tag) is int and 0 <= tag < len(names):
            yield names[tag]
        else:
            row.fail(
                f"the tag {tag!r} has no name",
                "Name the tags from 0 by --tag-names, as in --tag-names O,B-PER,I-PER",
            )


def usable_words(
    row: Row, tokens: list[Any], options: FormatOptions
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words, and what was replaced in them. Raises `CorpusError` where nothing may be."""
    words, replaced = [], []
    for token in tokens:
        word = checked_text(token, row.fail)
        problem = word_problem(word)
        if problem and options.columns.on_bad_word != "replace":
            row.fail(f"the word {word!r} {problem}", "Correct it, or set --on-bad-word replace")
        if problem:
            replaced.append(f"{row.where}: {word!r} {problem}")
        words.append(REPLACEMENT if problem else word)
    return tuple(words), tuple(replaced)


def _record(text: AnnotatedText) -> dict[str, Any]:
    words = words_of(text)
    if (twice := words.overlap()) is not None:
        start, end = words.pairs[twice.parts[0][0]][0], words.pairs[twice.parts[-1][1] - 1][1]
        raise CorpusError(
            f"{place_of(text, Mention(((start, end),), twice.label))} overlaps another span, and "
            "token lists have one tag a word. Choose another format, such as columns; or leave "
            "--spans-key out, to write the entities alone."
        )
    tokens = [text.text[start:end] for start, end in words.pairs]
    return {**name_of(text), "tokens": tokens, "ner_tags": words.levels()[0], **scores_of(text)}
