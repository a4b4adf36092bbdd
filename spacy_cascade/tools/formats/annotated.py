"""Annotated texts of a file as Docs, with account of what cannot be in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...errors import CorpusError
from .discontinuous import Discontinuous, number_of
from .placing import LostSpan, Placed, place
from .texts import AnnotatedText, LeftOut, Record

NOT_ANNOTATED, NO_TEXT, NO_SPAN = (
    "texts that nobody annotated", "empty texts", "texts without a span",
)  # fmt: skip


@dataclass(slots=True)
class TextSummary:
    """Counts of what became of annotated texts.

    entities: by label. left_out: texts or annotations by the reason. lost: spans that are no
    entities. discontinuous: spans of several parts. bad_spans: those that could not be read.
    trimmed: spans that had white space at their ends. has_span: of each document, whether its file
    has a span in it. readings: numbers of texts by how their offsets were understood, if not as
    their format says.
    """

    documents: int = 0
    words: int = 0
    missing: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    lost: list[LostSpan] = field(default_factory=list)
    discontinuous: int = 0
    bad_spans: int = 0
    trimmed: int = 0
    has_span: list[bool] = field(default_factory=list)
    readings: Counter[str] = field(default_factory=Counter)

    @property
    def spans(self) -> int:
        """Number of spans of the file."""
        return self.entities.total() + len(self.lost) + self.bad_spans

    def add(self, text: AnnotatedText, placed: Placed) -> None:
        """Count a text."""
        self.documents += 1
        self.words += len(placed.doc)
        self.missing += sum(token.ent_iob_ == "" for token in placed.doc)
        self.entities.update(span.label_ for span in placed.doc.ents)
        self.lost.extend(placed.lost)
        self.discontinuous += number_of(text.mentions)
        self.bad_spans += text.bad_spans
        self.trimmed += placed.trimmed
        self.has_span.append(has_span(text))
        if text.reading:
            self.readings[text.reading] += 1


def has_span(text: AnnotatedText) -> bool:
    """Whether its file has a span in a text, be it one that cannot be read."""
    return bool(text.mentions or text.bad_spans)


def annotated_only(records: Iterable[Record], left_out: Counter[str]) -> Iterator[AnnotatedText]:
    """The texts that somebody annotated; the others are counted by the reason."""
    for record in records:
        if isinstance(record, LeftOut):
            left_out[record.reason] += 1
        elif not record.text.strip():
            left_out[NO_TEXT] += 1
        elif not record.is_annotated:
            left_out[NOT_ANNOTATED] += 1
        else:
            yield record


def place_texts(
    records: Iterable[Record],
    tokenize: Callable[[str], Doc],
    vocab: Vocab,
    summary: TextSummary,
    *,
    spans_key: str | None = None,
    discontinuous: Discontinuous = Discontinuous.DROP,
    skip_empty: bool = False,
) -> Iterator[tuple[AnnotatedText, Placed]]:
    """The annotated texts with their Docs: `place` says where the spans go. `summary` counts them.

    skip_empty: leave out the texts without a span, which perhaps nobody has annotated yet.
    """
    for text in annotated_only(records, summary.left_out):
        if skip_empty and not has_span(text):
            summary.left_out[NO_SPAN] += 1
            continue
        placed = place(text, tokenize, vocab, spans_key=spans_key, discontinuous=discontinuous)
        summary.add(text, placed)
        yield text, placed


def check_any(summary: TextSummary, output: Path) -> None:
    """Raise `CorpusError` where no text is annotated, with what was left out."""
    if not summary.documents:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in summary.left_out.items())
        raise CorpusError(
            f"There is no annotated text to write to {output}"
            + (f": {reasons}. Annotate some." if reasons else ". Check the input.")
        )
