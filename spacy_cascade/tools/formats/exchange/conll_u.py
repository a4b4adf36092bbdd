"""CoNLL-U: ten columns, with the entities in MISC as IOB tags or in brackets.

Format: https://universaldependencies.org/format.html. Tags: `NER=B-PER`, `Entity=B-PER`,
`name=B-PER`, `ner=S-PER`. Brackets: `Entity=(1-person … 1)`, as in GUM and CorefUD
(https://universaldependencies.org/misc.html and https://ufal.mff.cuni.cz/corefud); so are spans
written that overlap or have several parts. Read here and not by the library `conllu`, which also
splits columns at two blanks, and cuts values of MISC.
"""

from __future__ import annotations

import re
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
from .levels import Words, WordSpan, words_of
from .source import Source

_KEYS = ("entity", "ner", "ne", "name")
_COLUMNS = 10
_NUMBER = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
"""Of a word; of a token of several words, as in `1-2`; of an empty node, as in `1.1`."""
_TAG = re.compile("[BILUES](-|$)|[O?-]$")
_GLOBAL = "global.Entity"
_ESCAPES = {"\\": "\\\\", "|": "\\p", " ": "\\s", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""Of UDPipe's `SpacesAfter`, and of labels."""
_IN_BRACKETS = {**_ESCAPES, "-": "\\h", "(": "\\o", ")": "\\c"}
"""Of labels in brackets."""
_ESCAPED = {escaped: character for character, escaped in _IN_BRACKETS.items()}
_BETWEEN = "\t"
"""Stands between the brackets of the parts of a word."""
_PIECE = re.compile(r"[()]|[^()\t]+")
_PART = re.compile(r"(?P<id>.*)\[(?P<part>\d+)/(?P<n>\d+)\]")
_DEFAULT_FIELDS = "eid-etype"


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
    keeps_parts: ClassVar[bool] = True

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
        found = [words_of(text) for text in texts]
        is_flat = all(
            words.overlap() is None and all(len(span.parts) == 1 for span in words.spans)
            for words in found
        )
        values_of = _tags_of if is_flat else _brackets_of
        made = (
            line
            for number, (text, words) in enumerate(zip(texts, found, strict=True), start=1)
            for line in _written(text, words, values_of(words), one_line(text.name) or str(number))
        )
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
        if found is None or (int(found[1]) == 0 and found[2] != "."):
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
        return one + _BETWEEN + other
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
        [WordSpan(((s.start, s.end),), _unescaped(s.label)) for s in one.spans] for one in decoded
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


@dataclass(slots=True)
class _Bracket:
    """A span, or a part of one; end: 0 while it is open."""

    name: str
    label: str
    start: int
    end: int = 0


def _bracketed(values: Sequence[str], fields: str | None, fail: Fail) -> list[WordSpan]:
    """The spans of a sentence, in the order in which they begin.

    values: the brackets of each word. fields: what stands between the hyphens of an opening
    bracket, as `# global.Entity` says. Raises `CorpusError` for brackets without a partner.
    """
    names = (fields or _DEFAULT_FIELDS).strip().split("-")
    place = names.index("etype") if "etype" in names else 1
    found: list[_Bracket] = []
    open_at: dict[str, list[_Bracket]] = {}
    for word, value in enumerate(values):
        pieces = _PIECE.findall(value)
        for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
            if piece in ("(", ")"):
                continue
            name, parts = piece, piece.split("-")
            if before == "(":
                if len(parts) <= place:
                    fail(f"the bracket '({piece}' has no type", "Check # global.Entity")
                name = parts[0]
                found.append(_Bracket(name, _unescaped(parts[place]), word))
                open_at.setdefault(name, []).append(found[-1])
            if after == ")":
                if not open_at.get(name):
                    fail(f"the bracket {piece!r}) was not opened", "Correct it")
                open_at[name].pop().end = word + 1
    unclosed = next((one.name for one in found if not one.end), None)
    if unclosed is not None:
        fail(f"the bracket ({unclosed} is not closed in its sentence", "Correct it")
    return list(_whole(found))


def _whole(brackets: Sequence[_Bracket]) -> Iterator[WordSpan]:
    """The spans, one of several parts where its first part begins, if it has its last one."""
    spans: dict[int, WordSpan] = {}
    unfinished: dict[str, int] = {}
    for number, one in enumerate(brackets):
        part, name, place = _PART.fullmatch(one.name), one.name, number
        if part is not None:
            name = part["id"]
            place = unfinished.setdefault(name, number)
            if part["part"] == part["n"]:
                del unfinished[name]
        before = spans[place].parts if place in spans else ()
        spans[place] = WordSpan((*before, (one.start, one.end)), one.label, name)
    for place in unfinished.values():
        del spans[place]
    return iter(spans.values())


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
            Mention(tuple((placed[a][0], placed[b - 1][1]) for a, b in parts), label, name=name)
            for parts, label, name in found
        )
    meta = sentences[0].meta
    name = meta.get("newdoc id") or meta.get("sent_id") or ""
    where = f"{source.path}:{sentences[0].line}"
    text = "".join(pieces)
    # Blanks after the last word are no text; a word may end in one, too.
    ends = len(text.rstrip(" ")), *(end for _, end in words[-1:])
    return AnnotatedText(
        text[: max(ends)], tuple(mentions), name, where, tuple(words), sentences=tuple(starts)
    )


def _tags_of(words: Words) -> list[str]:
    """What MISC says of each word where no spans overlap and none has several parts."""
    (tags,) = words.levels()
    return [f"NER={_escaped(tag)}" for tag in tags]


def _brackets_of(words: Words) -> list[str]:
    """What MISC says of each word, where brackets hold the spans: "" where none begins or ends.

    Brackets that close stand first, so that nothing comes between a name and its bracket.
    """
    closing, opening = [[""] * len(words.pairs) for _ in range(2)]
    for number, (parts, label, _) in enumerate(words.spans, start=1):
        for part, (start, end) in enumerate(parts, start=1):
            name = f"e{number}" + (f"[{part}/{len(parts)}]" if len(parts) > 1 else "")
            closes_here = end == start + 1
            opening[start] += f"({name}-{_escaped(label, _IN_BRACKETS)}" + ")" * closes_here
            if not closes_here:
                closing[end - 1] = f"{name}){closing[end - 1]}"
    values = [closed + opened for closed, opened in zip(closing, opening, strict=True)]
    return [f"Entity={value}" if value else "" for value in values]


def _written(text: AnnotatedText, words: Words, values: Sequence[str], name: str) -> Iterator[str]:
    """The lines of a document; all of it is one sentence where it has none."""
    after = [start for start, _ in words.pairs[1:]] + [len(text.text)]
    place = 0
    for i, ((start, end), sentence) in enumerate(zip(words.pairs, words.sentences, strict=True)):
        if i == 0:
            yield f"# newdoc id = {name}\n"
            yield f"# {_GLOBAL} = {_DEFAULT_FIELDS}\n" * any("(" in value for value in values)
        elif sentence > words.sentences[i - 1]:
            yield "\n"
            place = 0
        place += 1
        form = one_line(text.text[start:end])
        misc = "|".join(filter(None, [_spaces(text.text[end : after[i]]), values[i]])) or "_"
        yield "\t".join([str(place), form, *["_"] * (_COLUMNS - 3), misc]) + "\n"
    if words.pairs:
        yield "\n"


def _escaped(text: str, escapes: Mapping[str, str] = _ESCAPES) -> str:
    return "".join(escapes.get(character, character) for character in text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: _ESCAPED.get(found[0], found[0]), text)


def _spaces(gap: str) -> str:
    """What MISC says of the space after a word; as UDPipe does if it is more than one space."""
    if gap == " ":
        return ""
    return f"SpacesAfter={_escaped(gap)}" if gap else "SpaceAfter=No"


def _space_after(misc: Mapping[str, str]) -> str:
    spaces = misc.get("SpacesAfter")
    if spaces is None:
        return "" if misc.get("SpaceAfter") == "No" else " "
    return _unescaped(spaces)
