"""Reads the tags of words (IOB1, IOB2, BILOU, IO) as labelled spans.

The schemes differ in how they mark where a phrase begins and ends:

- IOB1 (CoNLL-2003): `I-` on every word of a phrase; `B-` only on the first word of one that
  directly follows another phrase of the same type.
- IOB2 (CoNLL-2002, JNLPBA): `B-` on the first word of every phrase, `I-` on the rest.
- BILOU (BILUO, IOBES, BIOES): `B-` first, `I-` inside, `L-` or `E-` last, `U-` or `S-` alone.
- IO: types alone; neighbouring words of the same type are one phrase.

A word tagged `-` or `?` has no annotation: unlike a word tagged `O`, it may be in a phrase. Nor
has a word tagged `B-!PER`, which only says what it is not. A file may use `B`, `I`, `O` without
types throughout; then all phrases get the label `ENT`.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple

from ...errors import CorpusError
from .bad_records import raised

OUTSIDE = "O"
MISSING = ("-", "?")
NO_SPAN = (OUTSIDE, *MISSING)
NEGATIVE = "!"
"""What begins a label that says what a span is not."""
UNTYPED_LABEL = "ENT"

_SYNONYMS = {"B": "B", "I": "I", "L": "L", "E": "L", "U": "U", "S": "U"}
_BILOU_ONLY = ("L", "U")
_TAG_ADVICE = (
    "A tag is O, - or ? (not annotated), or B-, I-, L-, U-, E- or S- followed by a type. If this "
    "is not the tag column, set --tag-column; if tags are types without a prefix, --scheme io"
)
_SHOWN = 60  # characters of a tag
_LIKE_PREFIX = re.compile(r"[^\W\d][-_:.]")
_SHORTEST_TYPE = 3
"""Letters of a type without a prefix; shorter ones need a scheme that is stated."""
_HEADERS = {"tag", "tags", "label", "labels", "ner", "ne", "ner_tag", "ner_tags", "entity"}
"""What stands above a column of tags."""


class Scheme(str, Enum):
    """How the tags of a file mark phrases; `AUTO` detects it from all tags."""

    AUTO = "auto"
    IOB1 = "iob1"
    IOB2 = "iob2"
    BILOU = "bilou"
    IO = "io"


_ALIASES = {
    "bio": Scheme.IOB2, "bio2": Scheme.IOB2, "bio1": Scheme.IOB1, "biluo": Scheme.BILOU,
    "bioes": Scheme.BILOU, "iobes": Scheme.BILOU, "biolu": Scheme.BILOU,
}  # fmt: skip


def scheme_named(name: str) -> Scheme:
    """The scheme by one of its names, in any case. Raises `CorpusError` for other names."""
    known: dict[str, Scheme] = {**{scheme.value: scheme for scheme in Scheme}, **_ALIASES}
    if name.lower() not in known:
        raise CorpusError(f"There is no scheme {name!r}. Choose one of: {', '.join(known)}.")
    return known[name.lower()]


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A phrase: words `start` to `end` (exclusive) of one sentence, and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """The phrases of one sentence, in order, and the positions of words without annotation."""

    spans: tuple[LabelledSpan, ...]
    missing: tuple[int, ...]


class TagError(CorpusError):
    """A tag that is invalid in its place; sentence, word: positions, counted from 0."""

    def __init__(self, sentence: int, word: int, problem: str, advice: str) -> None:
        super().__init__(f"Sentence {sentence + 1}, word {word + 1}: {problem}. {advice}")
        self.sentence = sentence
        self.word = word
        self.problem = problem
        self.advice = advice


class _Tag(NamedTuple):
    """A tag in parts; prefix: B, I, L, U, O, or "" if annotation is missing."""

    text: str
    prefix: str
    label: str


Error = Callable[[int, str, str], TagError]
"""Makes the error for a word of a sentence, from the problem and the advice."""


def decode_tags(
    sentences: Sequence[Sequence[str]],
    scheme: Scheme = Scheme.AUTO,
    on_bad: Callable[[TagError], None] = raised,
) -> tuple[list[TaggedSentence], Scheme]:
    """Read the tags of a whole file: one sequence of tags for each sentence.

    Returns the phrases of each sentence, and the scheme of the file. on_bad: takes the first error
    of each sentence that is bad, which then has no phrases: an invalid tag, a tag without a type in
    a file whose other tags have types, or a tag that continues or ends a phrase that is not open.
    """
    kinds = {text for sentence in sentences for text in sentence}
    if scheme == Scheme.AUTO and is_io(kinds):
        scheme = Scheme.IO
    tags, bad = _parse_all(sentences, kinds, is_types=scheme == Scheme.IO)
    parsed: list[list[_Tag]] = []
    for number, sentence in enumerate(sentences):
        if bad and (words := [word for word, text in enumerate(sentence) if text in bad]):
            on_bad(TagError(number, words[0], *bad[sentence[words[0]]]))
            sentence = []
        parsed.append([tags[text] for text in sentence])
    scheme = _detect_scheme(tags.values(), parsed) if scheme == Scheme.AUTO else Scheme(scheme)
    decoded = []
    for number, found in enumerate(parsed):
        try:
            spans = _decode(found, scheme, partial(TagError, number))
        except TagError as error:
            on_bad(error)
            spans, found = [], []
        missing = tuple(word for word, tag in enumerate(found) if not tag.prefix)
        decoded.append(TaggedSentence(tuple(spans), missing))
    return decoded, scheme


def split_tag(text: str) -> tuple[str, str]:
    """The prefix B, I, L or U and the label; both are empty for what has no such prefix."""
    prefix, hyphen, label = text.partition("-")
    if prefix not in _SYNONYMS or (hyphen and not _is_label(label)):
        return "", ""
    return _SYNONYMS[prefix], label or UNTYPED_LABEL


def is_io(tags: Set[str]) -> bool:
    """Whether the tags of a file are types without a prefix, beside `O`."""
    types = tags - {*NO_SPAN}
    return bool(types) and OUTSIDE in tags and all(map(_is_type, types))


def _is_type(text: str) -> bool:
    """Whether a tag is a type, and no wrong prefix (`X-PER`, `B_PER`) or part of speech (`NN`)."""
    n_letters = sum(map(str.isalpha, text))
    return n_letters >= _SHORTEST_TYPE and not _LIKE_PREFIX.match(text) and _is_label(text)


def _parse_all(
    sentences: Sequence[Sequence[str]], kinds: Set[str], *, is_types: bool
) -> tuple[dict[str, _Tag], dict[str, tuple[str, str]]]:
    """Split every distinct tag of a file; those that are bad have a problem and an advice.

    is_types: whether tags are types without a prefix.
    """
    tags: dict[str, _Tag] = {}
    bad: dict[str, tuple[str, str]] = {}
    for text in kinds:
        prefix, label = ("I" * _is_label(text), text) if is_types else split_tag(text)
        if text in MISSING or (prefix and label.startswith(NEGATIVE)):
            tags[text] = _Tag(text, "", "")
        elif text == OUTSIDE:
            tags[text] = _Tag(text, OUTSIDE, "")
        elif prefix and (text.lower() not in _HEADERS or text not in sentences[0][:1]):
            tags[text] = _Tag(text, prefix, label)
        else:
            bad[text] = (f"{text[:_SHOWN]!r} is not a tag", _TAG_ADVICE)
    if not is_types and any("-" in text for text, tag in tags.items() if tag.label):
        for text in [text for text, tag in tags.items() if tag.label and "-" not in text]:
            bad[text] = (
                f"tag {text!r} has no type, but other tags in the file have types",
                f"Write it as {text}-TYPE, or remove the types everywhere",
            )
    return {text: tag for text, tag in tags.items() if text not in bad}, bad


def _is_label(text: str) -> bool:
    # Two labels must not look alike (trailing no-break space), and spaCy's string store refuses
    # bytes that are not UTF-8; both are unprintable.
    return bool(text) and text.isprintable() and text == text.strip()


def _detect_scheme(tags: Iterable[_Tag], sentences: Sequence[Sequence[_Tag]]) -> Scheme:
    """Detect the scheme of a file; a single L or U is enough for BILOU."""
    if any(tag.prefix in _BILOU_ONLY for tag in tags):
        return Scheme.BILOU
    for sentence in sentences:
        label = ""
        for tag in sentence:
            if tag.prefix == "I" and tag.label != label:
                return Scheme.IOB1
            label = tag.label
    return Scheme.IOB2


def find_slips(sentences: Iterable[Sequence[str]]) -> tuple[list[tuple[int, int]], int]:
    """Where phrases begin with `I-`, as (sentence, word), and how many begin as only IOB2 has it.

    That is with `B-`, and not right after a phrase of the same type.
    """
    slips: list[tuple[int, int]] = []
    n_as_iob2 = 0
    for number, sentence in enumerate(sentences):
        before = ""
        for word, text in enumerate(sentence):
            prefix, _, label = text.partition("-")
            inside = prefix in ("B", "I")
            if inside and label != before:
                if prefix == "B":
                    n_as_iob2 += 1
                else:
                    slips.append((number, word))
            before = label if inside else ""
    return slips, n_as_iob2


_NO_TAG = _Tag("", OUTSIDE, "")
_FIRST_TAGS = {
    Scheme.IOB2: (
        "IOB2",
        "Use --scheme iob1 if phrases in this file begin with I-, or correct the tag",
    ),
    Scheme.BILOU: ("BILOU", "Begin the phrase with B-, or set --scheme if the file is not BILOU"),
}
"""Schemes in which I- and L- never begin a phrase, and what to do where they do."""


def _decode(tags: Sequence[_Tag], scheme: Scheme, error: Error) -> list[LabelledSpan]:
    """The phrases of one sentence.

    In BILOU a phrase of two or more words ends with L-; in the others the next tag ends it. B-
    always begins a phrase, so IOB1 also reads files that mix it with IOB2.
    """
    is_bilou = scheme == Scheme.BILOU
    spans: list[LabelledSpan] = []
    start, label = 0, ""
    for word, (text, prefix, own) in enumerate([*tags, _NO_TAG]):
        if not is_bilou and prefix in _BILOU_ONLY:
            raise error(word, f"tag {text!r} is not an IOB tag", "Use --scheme bilou or auto")
        continues = prefix in ("I", "L")
        if continues and label and own == label:
            if prefix == "L":
                spans.append(LabelledSpan(start, word + 1, label))
                label = ""
            continue
        if label and is_bilou:
            raise error(
                word - 1,
                f"the {label} phrase is not closed after tag {tags[word - 1].text!r}, as BILOU "
                "requires",
                "End it with L- (or E-), tag a phrase of one word U- (or S-), or set --scheme if "
                "the file is not BILOU",
            )
        if label:
            spans.append(LabelledSpan(start, word, label))
        if continues and scheme in _FIRST_TAGS:
            name, advice = _FIRST_TAGS[scheme]
            problem = f"tag {text!r} does not continue a {own} phrase, as {name} requires"
            raise error(word, problem, advice)
        start, label = word, own
        if prefix == "U":
            spans.append(LabelledSpan(word, word + 1, label))
            label = ""
    return spans
