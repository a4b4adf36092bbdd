"""Annotated texts as Docs, and back: spans of characters on the tokens of a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from .tags import NEGATIVE
from .texts import AnnotatedText, Mention, Pair, same_text


class Misfit(str, Enum):
    """Why a span is no entity of a Doc."""

    CUTS = "that cut a token"
    OVERLAPS = "overlapping another span"
    PARTS = "of several parts"
    DIFFERS = "whose own text is not the one at the offsets"
    EMPTY = "of nothing but white space"
    NEGATIVE = "whose label begins with '!': they say what is no entity of a type"


@dataclass(frozen=True, slots=True)
class LostSpan:
    """A span that is no entity, and the text that it is in."""

    misfit: Misfit
    mention: Mention
    text: AnnotatedText


@dataclass(frozen=True, slots=True)
class Placed:
    """A Doc; the spans that are no entities of it; how many lost white space at their ends."""

    doc: Doc
    lost: tuple[LostSpan, ...]
    trimmed: int


def place(
    text: AnnotatedText, tokenize: Callable[[str], Doc], vocab: Vocab, *, spans_key: str | None
) -> Placed:
    """A Doc of the text, with the words that its file has, or those of the tokenizer.

    Of spans that overlap the longest become entities, the first of the same length; with
    `spans_key` all that fit the tokens are in `doc.spans` too. Words that a lost span touches are
    not annotated: training takes them neither as entities nor as outside. White space at the ends
    of a span is left out of it.
    """
    doc = _with_words(text, vocab) if text.words else tokenize(text.text)
    spans: list[tuple[Span, Mention]] = []
    lost: list[LostSpan] = []
    trimmed = 0
    for mention in dict.fromkeys(text.mentions):
        misfit, pair = misfit_of(text.text, mention)
        if mention.label.startswith(NEGATIVE):
            misfit = Misfit.NEGATIVE
        span = None if misfit else doc.char_span(*pair, label=mention.label)
        if span is None:
            lost.append(LostSpan(misfit or Misfit.CUTS, mention, text))
        else:
            spans.append((span, mention))
            trimmed += pair != (mention.start, mention.end)
    entities: dict[Span, None] = {}
    taken: set[int] = set()
    for span, mention in sorted(spans, key=lambda one: (one[0].start - one[0].end, one[0].start)):
        # A longer span cannot be inside of this one, so the ends tell.
        if span.start not in taken and span.end - 1 not in taken:
            entities[span] = None
            taken.update(range(span.start, span.end))
        elif span not in entities:
            lost.append(LostSpan(Misfit.OVERLAPS, mention, text))
    _annotate(doc, text, list(entities), taken, lost)
    if spans_key is not None:
        doc.spans[spans_key] = [span for span, _ in spans]
    return Placed(doc, tuple(lost), trimmed)


def misfit_of(text: str, mention: Mention) -> tuple[Misfit | None, Pair]:
    """Why no tokens can express a span, if so; and its characters without white space around."""
    if len(mention.parts) > 1:
        return Misfit.PARTS, (0, 0)
    found = text[mention.start : mention.end]
    if mention.found and not same_text(mention.found, found):
        return Misfit.DIFFERS, (0, 0)
    if not found.strip():
        return Misfit.EMPTY, (0, 0)
    start = mention.end - len(found.lstrip())
    return None, (start, start + len(found.strip()))


def _annotate(
    doc: Doc, text: AnnotatedText, entities: list[Span], taken: set[int], lost: list[LostSpan]
) -> None:
    touched = _touched(text.text, [part for one in lost for part in one.mention.parts])
    is_partial = text.is_partial or text.bad_spans > 0
    missing = [
        doc[token.i : token.i + 1]
        for token in doc
        if token.i not in taken and (is_partial or any(touched[token.idx : token.idx + len(token)]))
    ]
    if text.is_annotated and len(missing) < len(doc):
        doc.set_ents(entities, missing=missing)
    starts = set(text.sentences)
    for token in doc if starts else ():
        token.is_sent_start = token.idx in starts


def _touched(text: str, parts: Sequence[Pair]) -> list[bool]:
    """For each character whether it is in a part; empty if there are no parts."""
    if not parts:
        return []
    steps = [0] * (len(text) + 1)
    for start, end in parts:
        steps[start] += 1
        steps[end] -= 1
    return [depth > 0 for depth in accumulate(steps)]


def _with_words(text: AnnotatedText, vocab: Vocab) -> Doc:
    """A Doc of the words of the file; what stands between them beyond a space is a token, too."""
    words, spaces = [], []
    for start, end, is_last in _pieces(text):
        words.append(text.text[start:end])
        spaces.append(text.text[end : end + 1] == " " and not is_last)
    return Doc(vocab, words=words, spaces=spaces)


def _pieces(text: AnnotatedText) -> Iterator[tuple[int, int, bool]]:
    at, whole = 0, text.text
    for start, end in sorted({pair for pair in text.words if pair[0] < pair[1]}):
        if start < at:
            continue
        yield from _gap(whole, at, start)
        yield start, end, False
        at = end + (whole[end : end + 1] == " ")
    yield from _gap(whole, at, len(whole))


def _gap(whole: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """The characters between two words as a token; a space at its end belongs to it."""
    if start < end:
        keeps = whole[end - 1] == " " and end - start > 1
        yield start, end - keeps, not keeps


def text_of(
    doc: Doc, confidence: Callable[[Span], float | None], *, name: str = "", where: str = ""
) -> AnnotatedText:
    """The text of a Doc with its entities and their scores, to be written in another format."""
    mentions = tuple(
        Mention(((span.start_char, span.end_char),), span.label_, score=confidence(span))
        for span in doc.ents
    )
    words = tuple((token.idx, token.idx + len(token)) for token in doc)
    has_sentences = doc.has_annotation("SENT_START")
    starts = tuple(sent.start_char for sent in doc.sents) if has_sentences else ()
    return AnnotatedText(doc.text, mentions, name, where, words, sentences=starts)
