"""CoNLL-U: ten columns, with the entities in MISC as IOB tags or in brackets.

Format: https://universaldependencies.org/format.html. Tags: `NER=B-PER`, `Entity=B-PER`,
`name=B-PER`, `ner=S-PER`. Brackets: `Entity=(1-person … 1)`, as in GUM and CorefUD
(https://universaldependencies.org/misc.html and https://ufal.mff.cuni.cz/corefud). Read here and
not by the library `conllu`, which also splits columns at two blanks, and cuts values of MISC.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from ....files import replace_file
from ..bad_records import OnBad, each
from ..tags import OUTSIDE, TagError, decode_tags
from ..texts import AnnotatedText, Fail, Mention, Pair, Record, checked_text
from .base import FormatOptions, TextFormat, one_line
from .columns import iob2_tags
from .source import Source

_KEYS = ("entity", "ner", "ne", "name")
_COLUMNS = 10
_NUMBER = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
"""Of a word; of a token of several words, as in `1-2`; of an empty node, as in `1.1`."""
_TAG = re.compile("[BILUES](-|$)|[O?-]$")
_GLOBAL = "global.Entity"
_ESCAPES = {"\\": "\\\\", "|": "\\p", " ": "\\s", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""Of UDPipe's `SpacesAfter`, and of labels."""
_ESCAPED = {escaped: character for character, escaped in _ESCAPES.items()}
_PIECE = re.compile(r"[()]|[^()]+")
_PART = re.compile(r"(?P<id>.*)\[(?P<part>\d+)/(?P<n>\d+)\]")
_DEFAULT_FIELDS = "eid-etype"

WordSpan = tuple[tuple[Pair, ...], str]
"""Parts of a span, each its first word and its end (exclusive), and the label."""


@dataclass(slots=True)
class _Sentence:
    """words, spaces: of the surface. values: of MISC, for each word. line: of its first line."""

    line: int
    meta: dict[str, str]
    words: list[str] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


class ConllU(TextFormat):
    """Sentences of ten columns, with the entities in the last."""

    name: ClassVar[str] = "conllu"
    suffixes: ClassVar[tuple[str, ...]] = (".conllu",)

    def recognises(self, source: Source) -> bool:
        lines = (line.rstrip("\r") for line in source.start.split("\n"))
        first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
        number, *fields = first.lstrip().split("\t")
        is_row = len(fields) == _COLUMNS - 1 and all(fields)
        is_first = number == "1" or number.startswith("1-")
        return is_row and is_first and (fields[-1] == "_" or "=" in fields[-1])

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        found = list(each(source.blocks(), lambda block: [_sentence(source, block)], on_bad))
        tagged = _tagged(source, found, on_bad)
        sentences, spans = [one for one, _ in tagged], [spans for _, spans in tagged]
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
        made = (part for n, text in enumerate(texts, 1) for part in _written(text, n))
        replace_file(path, "".join(made).encode())


def _sentence(source: Source, block: Sequence[tuple[int, str]]) -> _Sentence:
    sentence = _Sentence(block[0][0], {})
    covered = 0
    for number, row in block:
        if row.startswith("#"):
            key, _, comment = row[1:].partition("=")
            sentence.meta[key.strip()] = comment.strip()
            continue
        fields = row.split("\t")
        if len(fields) != _COLUMNS:
            source.fail(number, f"a line has {len(fields)} columns, not {_COLUMNS}", "Correct it")
        found = _NUMBER.fullmatch(fields[0])
        if found is None:
            source.fail(number, f"{fields[0]!r} is no number of a word", "Number them from 1")
        first, kind, last = found.groups()
        if kind == ".":
            continue
        misc = _misc(fields[-1])
        value = next((v for k, v in misc.items() if k.lower() in _KEYS and v not in ("", "_")), "")
        if kind is None and int(first) <= covered:
            # A part of a word such as `au` = `à le`: its annotation is that of the whole.
            sentence.values[-1] = _merged(sentence.values[-1], value)
            continue
        covered = int(last or first)
        sentence.words.append(checked_text(fields[1], partial(source.fail, number)))
        sentence.spaces.append(_space_after(misc))
        sentence.values.append(value)
    return sentence


def _misc(text: str) -> dict[str, str]:
    """Keys and values of MISC, which `|` separates, and in some files blanks.

    What has no `=` belongs to the tag before it, since labels may have these marks.
    """
    found: dict[str, list[str]] = {}
    key = ""
    for part in re.split(r"(?=[| ])", text):
        name, equals, value = part.lstrip("| ").partition("=")
        if equals:
            key = name
            found[key] = [value]
        elif name and key.lower() in _KEYS:
            found[key].append(part)
    return {key: "".join(parts) for key, parts in found.items()}


def _merged(one: str, other: str) -> str:
    if _is_bracket(other):
        return one + other
    return other if one in ("", OUTSIDE) else one


def _is_bracket(value: str) -> bool:
    return ("(" in value or ")" in value) and not _TAG.match(value)


def _is_new(sentence: _Sentence) -> bool:
    return any(name.startswith("newdoc") for name in sentence.meta)


_Tagged = tuple[_Sentence, list[WordSpan]]


def _tagged(source: Source, sentences: Sequence[_Sentence], on_bad: OnBad) -> list[_Tagged]:
    """The sentences with their spans, in words; without those whose tags or brackets are bad."""
    if any(_is_bracket(value) for sentence in sentences for value in sentence.values):
        return list(_from_brackets(source, sentences, on_bad))
    bad: set[int] = set()

    def note(error: TagError) -> None:
        bad.add(error.sentence)
        line, problem = sentences[error.sentence].line, f"word {error.word + 1}: {error.problem}"
        on_bad(source.error(line, problem, error.advice))

    tags = [[value or OUTSIDE for value in sentence.values] for sentence in sentences]
    decoded, _ = decode_tags(tags, on_bad=note)
    spans: list[list[WordSpan]] = [
        [(((s.start, s.end),), _unescaped(s.label)) for s in one.spans] for one in decoded
    ]
    pairs = zip(sentences, spans, strict=True)
    return [pair for number, pair in enumerate(pairs) if number not in bad]


def _from_brackets(
    source: Source, sentences: Sequence[_Sentence], on_bad: OnBad
) -> Iterator[_Tagged]:
    fields = None

    def tagged(sentence: _Sentence) -> Iterator[_Tagged]:
        nonlocal fields
        fields = sentence.meta.get(_GLOBAL, fields)
        fail = partial(source.fail, sentence.line)
        yield sentence, _bracketed(sentence.values, fields, fail)

    yield from each(sentences, tagged, on_bad)


def _bracketed(values: Sequence[str], fields: str | None, fail: Fail) -> list[WordSpan]:
    """The spans of a sentence, in the order in which they end.

    values: the brackets of each word. fields: what stands between the hyphens of an opening
    bracket, as `# global.Entity` says. Raises `CorpusError` for brackets without a partner.
    """
    names = (fields or _DEFAULT_FIELDS).strip().split("-")
    place = names.index("etype") if "etype" in names else 1
    spans: list[WordSpan] = []
    unfinished: dict[str, list[Pair]] = {}
    open_at: dict[str, list[tuple[str, int]]] = {}

    def close(name: str, label: str, start: int, end: int) -> None:
        part = _PART.fullmatch(name)
        if part is None:
            spans.append((((start, end),), label))
            return
        parts = unfinished.setdefault(part["id"], [])
        parts.append((start, end))
        if part["part"] == part["n"]:
            spans.append((tuple(unfinished.pop(part["id"])), label))

    for word, value in enumerate(values):
        pieces = _PIECE.findall(value)
        for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
            if piece in ("(", ")"):
                continue
            if before == "(":
                parts = piece.split("-")
                if len(parts) <= place:
                    fail(f"the bracket '({piece}' has no type", "Check # global.Entity")
                if after == ")":
                    close(parts[0], parts[place], word, word + 1)
                else:
                    open_at.setdefault(parts[0], []).append((parts[place], word))
            elif after == ")":
                if piece not in open_at:
                    fail(f"the bracket {piece!r}) was not opened", "Correct it")
                label, start = open_at[piece].pop()
                close(piece, label, start, word + 1)
                if not open_at[piece]:
                    del open_at[piece]
    if open_at:
        fail(f"the bracket ({next(iter(open_at))} is not closed in its sentence", "Correct it")
    return spans


def _document(
    source: Source, sentences: Sequence[_Sentence], spans: Sequence[list[WordSpan]]
) -> AnnotatedText:
    pieces: list[str] = []
    length = 0
    words: list[Pair] = []
    starts: list[int] = []
    mentions: list[Mention] = []
    for sentence, found in zip(sentences, spans, strict=True):
        starts.append(length)
        placed: list[Pair] = []
        for word, space in zip(sentence.words, sentence.spaces, strict=True):
            placed.append((length, length + len(word)))
            pieces += (word, space)
            length += len(word) + len(space)
        words.extend(placed)
        mentions.extend(
            Mention(tuple((placed[a][0], placed[b - 1][1]) for a, b in parts), label)
            for parts, label in found
        )
    meta = sentences[0].meta
    name = meta.get("newdoc id") or meta.get("sent_id") or ""
    where = f"{source.path}:{sentences[0].line}"
    return AnnotatedText(
        "".join(pieces).rstrip(" "), tuple(mentions), name, where, tuple(words),
        sentences=tuple(starts),
    )  # fmt: skip


def _written(text: AnnotatedText, number: int) -> Iterator[str]:
    """The lines of a document; all of it is one sentence where it has none."""
    tagged = iob2_tags(text)
    starts = [start for start in text.sentences if start > 0]
    after = [start for (start, _), _ in tagged[1:]] + [len(text.text)]
    sentences = [bisect(starts, start) for (start, _), _ in tagged]
    place = 0
    for i, ((start, end), tag) in enumerate(tagged):
        if i == 0:
            yield f"# newdoc id = {one_line(text.name) or number}\n"
        elif sentences[i] > sentences[i - 1]:
            yield "\n"
            place = 0
        place += 1
        form = one_line(text.text[start:end])
        misc = f"{_spaces(text.text[end : after[i]])}NER={_escaped(tag)}"
        yield "\t".join([str(place), form, *["_"] * (_COLUMNS - 3), misc]) + "\n"
    if tagged:
        yield "\n"


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: _ESCAPED.get(found[0], found[0]), text)


def _spaces(gap: str) -> str:
    """What MISC says of the space after a word; as UDPipe does if it is more than one space."""
    if gap == " ":
        return ""
    return f"SpacesAfter={_escaped(gap)}|" if gap else "SpaceAfter=No|"


def _space_after(misc: Mapping[str, str]) -> str:
    spaces = misc.get("SpacesAfter")
    if spaces is None:
        return "" if misc.get("SpaceAfter") == "No" else " "
    return _unescaped(spaces)
