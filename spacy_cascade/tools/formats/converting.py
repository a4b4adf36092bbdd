"""Annotated texts to Docs for `convert`, with all that is noted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy.language import Language
from spacy.tokens import DocBin

from ..tokenizers.lost_spans import Lost, keep_lost
from .annotated import TextSummary, place_texts
from .columns import Document
from .contradictions import Piece
from .docs import with_progress
from .placing import LostSpan, misfit_of
from .texts import AnnotatedText, Record


@dataclass(frozen=True, slots=True)
class ConvertedTexts:
    """docs: with the spans that were lost noted beside them. pieces: to find contradictions."""

    docs: DocBin = field(default_factory=lambda: DocBin(store_user_data=True))
    summary: TextSummary = field(default_factory=TextSummary)
    pieces: list[Piece] = field(default_factory=list)


def convert_texts(
    records: Iterable[Record], nlp: Language, name: str, spans_key: str | None, skip_empty: bool
) -> ConvertedTexts:
    """Docs of annotated texts, as `place_texts` makes them; name: of the file, for progress."""
    made = ConvertedTexts()
    placed = place_texts(
        records, nlp.make_doc, nlp.vocab, made.summary, spans_key=spans_key, skip_empty=skip_empty
    )
    for text, one in with_progress(placed, name):
        keep_lost(one.doc, map(_noted, one.lost))
        made.docs.add(one.doc)
        made.pieces.extend(_piece_of(text))
    return made


def pieces_in(path: Path, documents: Sequence[Document]) -> Iterator[Piece]:
    """The sentences of a file that are annotated as a whole."""
    for document in documents:
        for sentence in document.sentences:
            if not sentence.missing:
                spans = frozenset((span.start, span.end, span.label) for span in sentence.spans)
                yield Piece(f"{path}:{sentence.line}", " ".join(sentence.words), spans)


def _piece_of(text: AnnotatedText) -> Iterator[Piece]:
    if not (text.is_partial or text.bad_spans):
        spans = frozenset((one.start, one.end, one.label) for one in text.mentions)
        yield Piece(text.where, text.text, spans)


def _noted(lost: LostSpan) -> Lost:
    """Without white space at its ends where it is one piece."""
    _, (start, end) = misfit_of(lost.text.text, lost.mention)
    start, end = (start, end) if start < end else (lost.mention.start, lost.mention.end)
    return Lost(start, end, lost.mention.label, lost.misfit.value)
