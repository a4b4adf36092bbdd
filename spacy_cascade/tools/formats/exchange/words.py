"""Spans of characters as tags of words."""

from __future__ import annotations

from ....errors import CorpusError
from ..tags import OUTSIDE
from ..texts import AnnotatedText, Pair


def iob2_tags(text: AnnotatedText) -> list[tuple[Pair, str]]:
    """The words that are no white space, and the IOB2 tag of each.

    Raises `CorpusError` where a span does not fit the words.
    """
    words = [pair for pair in text.words if text.text[slice(*pair)].strip()]
    starts = {start: i for i, (start, _) in enumerate(words)}
    ends = {end: i + 1 for i, (_, end) in enumerate(words)}
    tags = [OUTSIDE] * len(words)
    for mention in text.mentions:
        first, last = starts.get(mention.start), ends.get(mention.end)
        inside = tags[first:last] if first is not None and last is not None else []
        if not inside or set(inside) != {OUTSIDE} or len(mention.parts) > 1:
            raise CorpusError(
                f"{text.where or text.name}: {mention.text_in(text.text)!r} [{mention.label}] has "
                "no tags: the document has no tokens that fit it, or it overlaps another span. "
                "Make a .spacy file with `spacy cascade convert` first, or choose another format."
            )
        tags[first:last] = [f"B-{mention.label}", *[f"I-{mention.label}"] * (len(inside) - 1)]
    return list(zip(words, tags, strict=True))
