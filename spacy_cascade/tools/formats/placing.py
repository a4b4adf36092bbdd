"""Annotated texts as Docs, and back: spans of characters on the tokens of a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, chain, count
from math import isnan
from typing import Any

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans
from spacy.vocab import Vocab

from ...features.strings import is_valid
from ...pipeline.spans import left_out
from ...pipeline.spans.confidences import scores_of
from ...pipeline.spans.parts import annotations_of, part_id
from .discontinuous import Discontinuous, covering
from .tags import NEGATIVE
from .texts import AnnotatedText, Mention, Pair, same_text


class Misfit(str, Enum):
    """Why a span is no entity of a Doc."""

    CUTS = left_out.CUTS
    OVERLAPS = left_out.OVERLAPS
    PARTS = left_out.PARTS
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
    text: AnnotatedText,
    tokenize: Callable[[str], Doc],
    vocab: Vocab,
    *,
    spans_key: str | None,
    discontinuous: Discontinuous = Discontinuous.DROP,
) -> Placed:
    """A Doc of the text, with the words that its file has, or those of the tokenizer.

    Of spans that overlap the longest become entities, the first of the same length; with
    `spans_key` all that fit the tokens are in `doc.spans` too, with the parts of discontinuous ones
    if these are to be kept. Words that a lost span touches are not annotated: training takes them
    neither as entities nor as outside. White space at the ends of a span is left out of it.
    """
    doc = _with_words(text, vocab) if text.words else tokenize(text.text)
    possible = {None, Misfit.PARTS} if discontinuous is Discontinuous.PARTS else {None}
    group, candidates = list[Span](), list[tuple[Span, Mention]]()
    lost, names = list[LostSpan](), set[str]()
    trimmed = 0
    for mention in dict.fromkeys(_chosen(text, discontinuous)):
        misfit, pairs = misfit_of(text.text, mention)
        if mention.label.startswith(NEGATIVE):
            misfit = Misfit.NEGATIVE
        spans = _spans_of(doc, pairs, mention, names) if misfit in possible else []
        if misfit in possible and not spans:
            misfit = Misfit.CUTS
        group += spans
        if misfit is None:
            candidates.append((spans[0], mention))
            trimmed += pairs != mention.parts
        else:
            lost.append(LostSpan(misfit, mention, text))
    entities = filter_spans(span for span, _ in candidates)
    kept = set(entities)
    lost += [LostSpan(Misfit.OVERLAPS, of, text) for span, of in candidates if span not in kept]
    _annotate(doc, text, entities, lost)
    if spans_key is not None:
        doc.spans[spans_key] = group
    return Placed(doc, tuple(lost), trimmed)


def _chosen(text: AnnotatedText, discontinuous: Discontinuous) -> Iterator[Mention]:
    """The spans; those of several parts are covered by one if it is so chosen."""
    for mention in text.mentions:
        is_covered = discontinuous is Discontinuous.COVERING and len(mention.parts) > 1
        yield covering(mention) if is_covered else mention


def misfit_of(text: str, mention: Mention) -> tuple[Misfit | None, tuple[Pair, ...]]:
    """Why no tokens can express a span as an entity, if so; its parts without white space around.

    There are parts only where tokens may express them.
    """
    is_whole = len(mention.parts) == 1
    if is_whole and mention.found and not same_text(mention.found, mention.text_in(text)):
        return Misfit.DIFFERS, ()
    found = [(end, text[start:end]) for start, end in mention.parts]
    firsts = [(end - len(part.lstrip()), part.strip()) for end, part in found if part.strip()]
    if not firsts:
        return Misfit.EMPTY, ()
    pairs = tuple((start, start + len(part)) for start, part in firsts)
    return None if is_whole else Misfit.PARTS, pairs


def _spans_of(doc: Doc, pairs: Sequence[Pair], mention: Mention, names: set[str]) -> list[Span]:
    """The parts of a span on the tokens; none if one of them cuts a token.

    names: those of discontinuous spans of the Doc so far. This one gets its own, or a number where
    it has none or another span has the same.
    """
    own = ""
    if len(pairs) > 1:
        given = mention.name if is_valid(mention.name) else ""
        numbered = (f"{given}-{n}".lstrip("-") for n in count(len(names) + 1))
        possible = chain([given] if given else [], numbered)
        name = next(name for name in possible if name not in names)
        own = part_id(name)
        names.add(name)
    found = (doc.char_span(*pair, label=mention.label, span_id=own) for pair in pairs)
    spans = [span for span in found if span is not None]
    return spans if len(spans) == len(pairs) else []


def _annotate(doc: Doc, text: AnnotatedText, entities: list[Span], lost: list[LostSpan]) -> None:
    unexpressed = [part for one in lost for part in one.mention.parts]
    touched = _touched(text.text, [*unexpressed, *text.unknown])
    is_partial = text.is_partial or text.bad_spans > 0
    open_words = {
        token.i for token in doc if is_partial or any(touched[token.idx : token.idx + len(token)])
    }
    if text.is_annotated:
        set_entities(doc, entities, open_words)
    if text.sentences:
        starts = set(text.sentences)
        # `token.is_sent_start` looks at all tokens of the Doc each time.
        codes = [1 if token.idx in starts else -1 for token in doc]
        values: Any = np.asarray(codes, dtype=np.int64).astype(np.uint64)
        doc.from_array([SENT_START], values)


def set_entities(doc: Doc, entities: list[Span], open_words: Set[int]) -> None:
    """Make spans that do not overlap the entities of a Doc; the words of others are outside.

    open_words: those that are not annotated unless an entity has them. A Doc with nothing else
    stays without annotation.
    """
    missing = open_words - {i for span in entities for i in range(span.start, span.end)}
    if len(missing) < len(doc):
        doc.set_ents(entities, missing=[doc[i : i + 1] for i in sorted(missing)])


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
    doc: Doc,
    confidence: Callable[[Span], float | None],
    *,
    spans_key: str | None = None,
    name: str = "",
    where: str = "",
) -> AnnotatedText:
    """The text of a Doc with its spans and their scores, to be written in another format.

    spans_key: of the group with the spans; without it they are the entities. Spans that are parts
    of one annotation are one span.
    """
    mentions = (
        tuple(_mention([span], confidence(span)) for span in doc.ents)
        if spans_key is None
        else tuple(_mentions_in(doc.spans.get(spans_key, SpanGroup(doc))))
    )
    words = tuple((token.idx, token.idx + len(token)) for token in doc)
    has_sentences = doc.has_annotation("SENT_START")
    starts = tuple(sent.start_char for sent in doc.sents) if has_sentences else ()
    missing = [] if spans_key else [i for i, token in enumerate(doc) if not token.ent_iob]
    unknown = tuple(words[i] for i in missing)
    return AnnotatedText(doc.text, mentions, name, where, words, sentences=starts, unknown=unknown)


def _mentions_in(group: SpanGroup) -> Iterator[Mention]:
    """The annotations of a group. The score of one of several parts is the lowest of theirs."""
    scores = scores_of(group)
    known = {} if scores is None else dict(zip(map(_key, group), scores.tolist(), strict=True))
    for parts in annotations_of(group):
        found = [score for span in parts if (score := known.get(_key(span))) is not None]
        usable = [score for score in found if not isnan(score)]
        yield _mention(parts, min(usable, default=None))


def _key(span: Span) -> tuple[int, int, int, int]:
    return span.start, span.end, span.label, span.id


def _mention(parts: Sequence[Span], score: float | None) -> Mention:
    pairs = tuple((span.start_char, span.end_char) for span in parts)
    return Mention(pairs, parts[0].label_, score=score)
