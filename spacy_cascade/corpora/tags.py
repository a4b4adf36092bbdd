"""Reading per-word tags (IOB1, IOB2, BILOU) as labelled spans.

The schemes differ in how they mark where a phrase begins and ends:

- IOB1 (CoNLL-2003): `I-` on every word of a phrase; `B-` only on the first word of
  a phrase that directly follows another phrase of the same type.
- IOB2 (CoNLL-2002, JNLPBA): `B-` on the first word of every phrase, `I-` on the rest.
- BILOU (BILUO, IOBES, BIOES): `B-` first, `I-` inside, `L-` or `E-` last, and `U-`
  or `S-` for a phrase of one word.

A word tagged `-` or `?` has no annotation, which is not the same as `O`: nothing is
known about it. A file may use `B`, `I`, `O` without types throughout; its phrases
then all get the label `ENT`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from spacy_cascade.errors import CorpusError

OUTSIDE = "O"
MISSING = ("-", "?")
UNTYPED_LABEL = "ENT"

_SYNONYMS = {"B": "B", "I": "I", "L": "L", "E": "L", "U": "U", "S": "U"}
_BILOU_ONLY = ("L", "U")
_TAG_ADVICE = (
    "Tags are O, - or ? (not annotated), and B-, I-, L-, U-, E- or S- with a type after it; "
    "if this is not the tag column, set --tag-column"
)


class Scheme(str, Enum):
    """How the tags of a file mark phrases; `AUTO` decides from all of its tags."""

    AUTO = "auto"
    IOB1 = "iob1"
    IOB2 = "iob2"
    BILOU = "bilou"


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A phrase: words `start` to `end` (exclusive) of one sentence, and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """What the tags of one sentence say: its phrases in order, and which words
    (positions in the sentence) carry no annotation."""

    spans: tuple[LabelledSpan, ...]
    missing: tuple[int, ...]


class TagError(CorpusError):
    """A tag that is not valid where it stands.

    `sentence` and `word` are positions counted from 0, `problem` says what is wrong
    and `advice` what to do about it.
    """

    def __init__(self, sentence: int, word: int, problem: str, advice: str) -> None:
        super().__init__(f"Sentence {sentence + 1}, word {word + 1}: {problem}. {advice}")
        self.sentence = sentence
        self.word = word
        self.problem = problem
        self.advice = advice


class _Tag(NamedTuple):
    """A tag taken apart. `prefix` is B, I, L, U, O, or "" where annotation is missing."""

    text: str
    prefix: str
    label: str


class _Problem(Exception):
    """Word `word` of the sentence being read breaks its scheme."""

    def __init__(self, word: int, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.word = word
        self.problem = problem
        self.advice = advice


def decode_tags(
    sentences: Sequence[Sequence[str]], scheme: Scheme = Scheme.AUTO
) -> tuple[list[TaggedSentence], Scheme]:
    """Read the tags of a whole file: one sequence of tags for each sentence.

    Returns what each sentence's tags say, and the scheme they were read in, which is
    `scheme` unless that is `AUTO`.

    Raises `TagError` for a tag that is not one, a tag without a type in a file whose
    other tags have types, or a tag that continues or ends a phrase that is not open.
    """
    tags = _parse_all(sentences)
    parsed = [[tags[text] for text in sentence] for sentence in sentences]
    scheme = _detect_scheme(tags.values(), parsed) if scheme == Scheme.AUTO else Scheme(scheme)
    decode = _DECODERS[scheme]
    decoded = []
    for number, sentence in enumerate(parsed):
        try:
            spans = decode(sentence)
        except _Problem as error:
            raise TagError(number, error.word, error.problem, error.advice) from None
        missing = tuple(word for word, tag in enumerate(sentence) if not tag.prefix)
        decoded.append(TaggedSentence(tuple(spans), missing))
    return decoded, scheme


def _parse_all(sentences: Sequence[Sequence[str]]) -> dict[str, _Tag]:
    """Take every distinct tag of a file apart; raises `TagError` at the first bad one."""
    tags: dict[str, _Tag] = {}
    bad: dict[str, tuple[str, str]] = {}
    for text in {text for sentence in sentences for text in sentence}:
        prefix, hyphen, label = text.partition("-")
        if text in MISSING:
            tags[text] = _Tag(text, "", "")
        elif text == OUTSIDE:
            tags[text] = _Tag(text, OUTSIDE, "")
        elif prefix not in _SYNONYMS or (hyphen and not _is_label(label)):
            bad[text] = (f"{text!r} is not a tag", _TAG_ADVICE)
        else:
            tags[text] = _Tag(text, _SYNONYMS[prefix], label or UNTYPED_LABEL)
    if any("-" in text for text, tag in tags.items() if tag.label):
        for text in [text for text, tag in tags.items() if tag.label and "-" not in text]:
            bad[text] = (
                f"tag {text!r} has no type, but other tags of the file have one",
                f"Write it as {text}-TYPE, or remove the types everywhere",
            )
    if bad:
        raise next(
            TagError(number, word, *bad[text])
            for number, sentence in enumerate(sentences)
            for word, text in enumerate(sentence)
            if text in bad
        )
    return tags


def _is_label(text: str) -> bool:
    # Unprintable covers what would make two labels look alike (a trailing no-break
    # space) and bytes that are not UTF-8, which spaCy's string store refuses.
    return bool(text) and text.isprintable() and text == text.strip()


def _detect_scheme(tags: Iterable[_Tag], sentences: Sequence[Sequence[_Tag]]) -> Scheme:
    """Tell the scheme of a file by all of its tags (BILOU also by just one L or U)."""
    if any(tag.prefix in _BILOU_ONLY for tag in tags):
        return Scheme.BILOU
    for sentence in sentences:
        label = ""
        for tag in sentence:
            if tag.prefix == "I" and tag.label != label:
                return Scheme.IOB1
            label = tag.label
    return Scheme.IOB2


def _decode_iob1(tags: Sequence[_Tag]) -> list[LabelledSpan]:
    return _decode_iob(tags, strict=False)


def _decode_iob2(tags: Sequence[_Tag]) -> list[LabelledSpan]:
    return _decode_iob(tags, strict=True)


def _decode_iob(tags: Sequence[_Tag], *, strict: bool) -> list[LabelledSpan]:
    """Both IOB schemes: `strict` refuses an I- that begins a phrase. A B- begins one
    in either, so files that mix the two schemes can still be read as IOB1."""
    spans: list[LabelledSpan] = []
    start, label = 0, ""
    for word, tag in enumerate(tags):
        if tag.prefix in _BILOU_ONLY:
            raise _Problem(
                word, f"tag {tag.text!r} is not an IOB tag", "Use --scheme bilou or auto"
            )
        if tag.prefix == "I" and tag.label == label:
            continue
        if label:
            spans.append(LabelledSpan(start, word, label))
        if strict and tag.prefix == "I":
            raise _Problem(
                word,
                f"tag {tag.text!r} continues no {tag.label} phrase, which IOB2 does not allow",
                "Use --scheme iob1 if phrases of this file begin with I-, or correct the tag",
            )
        start, label = word, tag.label
    if label:
        spans.append(LabelledSpan(start, len(tags), label))
    return spans


def _decode_bilou(tags: Sequence[_Tag]) -> list[LabelledSpan]:
    """BILOU, where every phrase of two or more words must be opened and closed."""
    spans: list[LabelledSpan] = []
    start, label = 0, ""
    for word, tag in enumerate(tags):
        continues = tag.prefix in ("I", "L")
        if label and not (continues and tag.label == label):
            raise _unclosed(word - 1, tags[word - 1].text, label)
        if continues and not label:
            raise _Problem(
                word,
                f"tag {tag.text!r} continues no {tag.label} phrase, which BILOU does not allow",
                "Begin the phrase with B-; set --scheme if the file is not BILOU",
            )
        if tag.prefix == "B":
            start, label = word, tag.label
        elif tag.prefix == "U":
            spans.append(LabelledSpan(word, word + 1, tag.label))
        elif tag.prefix == "L":
            spans.append(LabelledSpan(start, word + 1, label))
            label = ""
    if label:
        raise _unclosed(len(tags) - 1, tags[-1].text, label)
    return spans


def _unclosed(word: int, text: str, label: str) -> _Problem:
    return _Problem(
        word,
        f"the {label} phrase is not closed after tag {text!r}, which BILOU does not allow",
        "End it with L- (or E-), or tag a phrase of one word U- (or S-); "
        "set --scheme if the file is not BILOU",
    )


_DECODERS: dict[Scheme, Callable[[Sequence[_Tag]], list[LabelledSpan]]] = {
    Scheme.IOB1: _decode_iob1,
    Scheme.IOB2: _decode_iob2,
    Scheme.BILOU: _decode_bilou,
}
