"""CoNLL-U: ten columns, with the entities in MISC as IOB tags or in brackets.

Format: https://universaldependencies.org/format.html. Tags: `NER=B-PER`, `Entity=B-PER`,
`name=B-PER`, `ner=S-PER`. Brackets: `Entity=(1-person … 1)`, as in GUM and CorefUD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from ...files import replace_file
from ..tags import OUTSIDE, TagError, decode_tags
from ..texts import AnnotatedText, Mention, Pair, Record, checked_text
from .base import FormatOptions, TextFormat
from .brackets import WordSpan, bracketed
from .extra import library
from .source import Source
from .words import iob2_tags

_KEYS = ("entity", "ner", "ne", "name")
_FIRST_WORD = re.compile(r"1(-\d+)?\t(?:[^\t\n]+\t){8}(_|[^\t\n]*=[^\t\n]*)\r?(\n|$)")
_COLUMNS = 10
_GLOBAL = "global.Entity"
_ESCAPES = {" ": "\\s", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""Of UDPipe's `SpacesAfter`."""


@dataclass(slots=True)
class _Sentence:
    """words, spaces: of the surface. values: of MISC, for each word. line: of its first line."""

    line: int
    meta: dict[str, Any]
    words: list[str] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


class ConllU(TextFormat):
    name: ClassVar[str] = "conllu"
    suffixes: ClassVar[tuple[str, ...]] = (".conllu",)

    def recognises(self, source: Source) -> bool:
        lines = source.start.lstrip().splitlines(keepends=True)
        first = next((line for line in lines if not line.startswith("#")), "")
        return _FIRST_WORD.match(first) is not None

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        conllu = library("conllu", self.name)
        sentences = [_sentence(conllu, source, *block) for block in _blocks(source)]
        spans = _spans(source, sentences)
        has_marks = any(map(_is_new, sentences))
        size = max(options.columns.n_sents, 0) or max(1, len(sentences))
        starts = [
            number
            for number, sentence in enumerate(sentences)
            if (_is_new(sentence) if has_marks else number % size == 0)
        ]
        is_annotated = any(value for sentence in sentences for value in sentence.values)
        for start, end in pairwise(sorted({0, *starts, len(sentences)})):
            made = _document(source, sentences[start:end], spans[start:end])
            yield replace(made, is_annotated=is_annotated)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        conllu = library("conllu", self.name)
        made = (part for n, text in enumerate(texts, 1) for part in _written(conllu, text, n))
        replace_file(path, "".join(made).encode())


def _blocks(source: Source) -> Iterator[tuple[int, str]]:
    """The sentences as texts, each with the number of its first line."""
    lines: list[str] = []
    for number, line in enumerate([*source.lines, ""], start=1):
        if line.strip():
            lines.append(line)
        elif lines:
            yield number - len(lines), "\n".join(lines)
            lines = []


def _sentence(conllu: Any, source: Source, line: int, block: str) -> _Sentence:
    for number, row in enumerate(block.split("\n"), start=line):
        if not row.startswith("#") and row.count("\t") != _COLUMNS - 1:
            n = row.count("\t") + 1
            source.fail(number, f"a line has {n} columns, not {_COLUMNS}", "Correct it")
    try:
        (tokens,) = conllu.parse(block + "\n\n")
    except (conllu.exceptions.ParseException, ValueError) as error:
        source.fail(line, f"this is no sentence in CoNLL-U ({error})", "Correct it")
    sentence = _Sentence(line, tokens.metadata)
    covered = 0
    for token in tokens:
        number, misc = token["id"], token["misc"] or {}
        value = next((str(v) for k, v in misc.items() if k.lower() in _KEYS and v), "")
        if isinstance(number, tuple) and number[1] == ".":
            continue
        if isinstance(number, int) and number <= covered:
            # A part of a word such as `au` = `à le`: its annotation is that of the whole.
            sentence.values[-1] = _merged(sentence.values[-1], value)
            continue
        covered = number[2] if isinstance(number, tuple) else number
        sentence.words.append(checked_text(token["form"], partial(source.fail, line)))
        sentence.spaces.append(_space_after(misc))
        sentence.values.append(value)
    return sentence


def _merged(one: str, other: str) -> str:
    if "(" in other or ")" in other:
        return one + other
    return other if one in ("", OUTSIDE) else one


def _is_new(sentence: _Sentence) -> bool:
    return any(name.startswith("newdoc") for name in sentence.meta)


def _spans(source: Source, sentences: Sequence[_Sentence]) -> list[list[WordSpan]]:
    """The spans of each sentence, in words."""
    if any(re.search(r"[()]", value) for sentence in sentences for value in sentence.values):
        return list(_from_brackets(source, sentences))
    tags = [[value or OUTSIDE for value in sentence.values] for sentence in sentences]
    try:
        tagged, _ = decode_tags(tags)
    except TagError as error:
        sentence = sentences[error.sentence]
        source.fail(sentence.line, f"word {error.word + 1}: {error.problem}", error.advice)
    return [[(((s.start, s.end),), s.label) for s in found.spans] for found in tagged]


def _from_brackets(source: Source, sentences: Sequence[_Sentence]) -> Iterator[list[WordSpan]]:
    fields = None
    for sentence in sentences:
        fields = sentence.meta.get(_GLOBAL, fields)
        yield bracketed(sentence.values, fields, partial(source.fail, sentence.line))


def _document(
    source: Source, sentences: Sequence[_Sentence], spans: Sequence[list[WordSpan]]
) -> AnnotatedText:
    text = ""
    words: list[Pair] = []
    starts: list[int] = []
    mentions: list[Mention] = []
    for sentence, found in zip(sentences, spans, strict=True):
        starts.append(len(text))
        placed: list[Pair] = []
        for word, space in zip(sentence.words, sentence.spaces, strict=True):
            placed.append((len(text), len(text) + len(word)))
            text += word + space
        words.extend(placed)
        mentions.extend(
            Mention(tuple((placed[a][0], placed[b - 1][1]) for a, b in parts), label)
            for parts, label in found
        )
    meta = sentences[0].meta
    name = meta.get("newdoc id") or meta.get("sent_id") or ""
    where = f"{source.path}:{sentences[0].line}"
    return AnnotatedText(
        text.rstrip(" "), tuple(mentions), name, where, tuple(words), sentences=tuple(starts)
    )


def _written(conllu: Any, text: AnnotatedText, number: int) -> Iterator[str]:
    """The sentences of a document; all of it is one where it has none."""
    tagged = iob2_tags(text)
    starts = [start for start in text.sentences if start > 0]
    sentence: list[Any] = []
    meta = {"newdoc id": text.name or str(number)}
    after = [start for (start, _), _ in tagged[1:]] + [len(text.text)]
    for ((start, end), tag), following in zip(tagged, after, strict=True):
        if sentence and starts and start >= starts[0]:
            yield conllu.TokenList(sentence, meta).serialize()
            sentence, meta = [], {}
        starts = [one for one in starts if one > start]
        misc = {**_spaces(text.text[end:following]), "NER": tag}
        unknown: dict[str, str | None] = dict.fromkeys(("lemma", "upos", "xpos", "deprel"), "_")
        unknown |= dict.fromkeys(("feats", "head", "deps"))
        form = text.text[start:end]
        sentence.append(conllu.Token(id=len(sentence) + 1, form=form, **unknown, misc=misc))
    if sentence:
        yield conllu.TokenList(sentence, meta).serialize()


def _spaces(gap: str) -> dict[str, str]:
    """What MISC says of the space after a word; as UDPipe does if it is more than one space."""
    if gap in ("", " "):
        return {} if gap else {"SpaceAfter": "No"}
    for character, escaped in _ESCAPES.items():
        gap = gap.replace(character, escaped)
    return {"SpacesAfter": gap}


def _space_after(misc: Mapping[str, str]) -> str:
    spaces = misc.get("SpacesAfter")
    if spaces is None:
        return "" if misc.get("SpaceAfter") == "No" else " "
    for character, escaped in _ESCAPES.items():
        spaces = spaces.replace(escaped, character)
    return spaces
