"""Texts as words with tags: a level of tags for each level of nesting."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import NamedTuple

from ....errors import CorpusError
from ..tags import OUTSIDE
from ..texts import AnnotatedText, Mention, Pair


class WordSpan(NamedTuple):
    """A span of words; parts: first word and end (exclusive) of each. name: in its file."""

    parts: tuple[Pair, ...]
    label: str
    name: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """Spans stand in the order of the text, an outer one before those in it."""
        return self.parts[0][0], -self.parts[-1][1]


class Words(NamedTuple):
    """The words of a text that are no white space, and its spans.

    pairs: characters of each word. sentences: the number of the sentence of each word; a span is
    in one sentence, so sentences that a span goes through are one.
    """

    pairs: list[Pair]
    sentences: list[int]
    spans: list[WordSpan]

    def levels(self) -> list[list[str]]:
        """The IOB2 tags of the words, outermost spans first: at least one level.

        There are as many levels as spans over one word. A span stands on the first level that has
        place for it. Raises `CorpusError` for a span of several parts.
        """
        found = [[OUTSIDE] * len(self.pairs)]
        for parts, label, _ in self.spans:
            if len(parts) > 1:
                raise CorpusError(
                    f"A span [{label}] has several parts, which no tags express. Choose another "
                    "format, or write them by --discontinuous covering."
                )
            ((start, end),) = parts
            level = next((one for one in found if set(one[start:end]) == {OUTSIDE}), None)
            if level is None:
                level = [OUTSIDE] * len(self.pairs)
                found.append(level)
            level[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        return found

    def overlap(self) -> WordSpan | None:
        """The first span that shares a word with one before it, None if there is none."""
        taken: set[int] = set()
        for span in self.spans:
            words = {word for part in span.parts for word in range(*part)}
            if taken & words:
                return span
            taken |= words
        return None


def words_of(text: AnnotatedText) -> Words:
    """The words of a text. Raises `CorpusError` where a span does not begin and end with words."""
    pairs = [pair for pair in text.words if text.text[slice(*pair)].strip()]
    starts = {start: i for i, (start, _) in enumerate(pairs)}
    ends = {end: i + 1 for i, (_, end) in enumerate(pairs)}

    def span(mention: Mention) -> WordSpan:
        found = [(starts.get(start), ends.get(end)) for start, end in mention.parts]
        parts = tuple((a, b) for a, b in found if a is not None and b is not None)
        if len(parts) < len(found):
            raise CorpusError(
                f"{place_of(text, mention)} has no tags: the document has no tokens that fit it. "
                "Make a .spacy file with `spacy cascade convert` first, or choose another format."
            )
        return WordSpan(parts, mention.label)

    spans = sorted(map(span, text.mentions), key=lambda one: one.order)
    breaks = _breaks(text.sentences, [start for start, _ in pairs], spans)
    return Words(pairs, [bisect(breaks, word) for word in range(len(pairs))], spans)


def place_of(text: AnnotatedText, mention: Mention) -> str:
    """A span and where it is, for messages."""
    return f"{text.where or text.name}: {mention.text_in(text.text)!r} [{mention.label}]"


def _breaks(
    sentences: Sequence[int], starts: Sequence[int], spans: Sequence[WordSpan]
) -> list[int]:
    """The first word of each sentence but the first, without those within a span."""
    inside = {word for span in spans for word in range(span.parts[0][0] + 1, span.parts[-1][1])}
    firsts = {bisect(starts, sentence - 1) for sentence in sentences}
    return sorted(firsts - inside - {0, len(starts)})
