"""Annotated texts of a file to a `.spacy` file, with account of what cannot be in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import CorpusError
from ..files import replace_file
from .docs import check_suffix, with_progress
from .placing import LostSpan, place
from .texts import AnnotatedText, LeftOut, Record

NOT_ANNOTATED, NO_TEXT = "texts that nobody annotated", "empty texts"


@dataclass(slots=True)
class TextSummary:
    """Counts of what was written, and what was not.

    entities: by label. left_out: texts or annotations by the reason. lost: spans that are no
    entities. trimmed: spans that had white space at their ends. readings: numbers of texts by how
    their offsets were understood, if not as their format says.
    """

    documents: int = 0
    words: int = 0
    missing: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    lost: list[LostSpan] = field(default_factory=list)
    trimmed: int = 0
    readings: Counter[str] = field(default_factory=Counter)


def annotated_only(records: Iterable[Record], left_out: Counter[str]) -> Iterable[AnnotatedText]:
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


def write_texts(
    records: Iterable[Record],
    output: Path,
    tokenize: Callable[[str], Doc],
    vocab: Vocab,
    *,
    spans_key: str | None = None,
) -> TextSummary:
    """Write annotated texts to one `.spacy` file; `place` says where the spans go.

    Raises `CorpusError` if `output` does not end in `.spacy`, and if no text is annotated; then
    nothing is written.
    """
    check_suffix(output)
    summary = TextSummary()
    doc_bin = DocBin()
    for text in with_progress(annotated_only(records, summary.left_out), output.name):
        placed = place(text, tokenize, vocab, spans_key=spans_key)
        summary.documents += 1
        summary.words += len(placed.doc)
        summary.missing += sum(token.ent_iob_ == "" for token in placed.doc)
        summary.entities.update(span.label_ for span in placed.doc.ents)
        summary.lost.extend(placed.lost)
        summary.trimmed += placed.trimmed
        if text.reading:
            summary.readings[text.reading] += 1
        doc_bin.add(placed.doc)
    if not summary.documents:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in summary.left_out.items())
        raise CorpusError(
            f"There is no annotated text to write to {output}"
            + (f": {reasons}. Annotate some." if reasons else ". Check the input.")
        )
    replace_file(output, doc_bin.to_bytes())
    return summary
