"""What `convert` says of what it made, and of what it could not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.language import Language

from ..corpora.annotated import TextSummary
from ..corpora.docs import ConversionSummary
from ..corpora.placing import LostSpan, Misfit
from ..corpora.spacing import Spacing
from ..workflows.tokenizers import CANDIDATES, Section, make_tokenizer
from .output import counted, print_good, print_info, print_line, print_warning

_LISTED = 10
_SHOWN = 3
"""Examples of spans that are no entities, of each kind."""
_AROUND = 15
"""Characters shown on each side of such a span."""


def print_words(summary: ConversionSummary, wanted: Spacing, output: Path) -> None:
    """What was made of words without spaces."""
    _print_spacing(summary, wanted)
    _print_summary(summary, output)


def _print_spacing(summary: ConversionSummary, wanted: Spacing) -> None:
    style = summary.style
    if summary.spacing != wanted:
        print_warning(
            "Spaces are not restored: the words are pieces of words, such as ##ing. Training takes "
            "them as tokens."
        )
    elif wanted != Spacing.WORDS:
        inside = " ".join(sorted({place[0] for place in style.split_off}))
        joined = f" The corpus splits words at {inside}, so these are joined." if inside else ""
        print_info(f"Spaces restored as in running text.{joined} To keep words: --spacing words")
        if summary.line_breaks:
            n = counted(summary.line_breaks, "sentence")
            print_info(
                f"Line breaks follow {n} without a final mark. Without them: --spacing one-line"
            )
    if summary.spacing != Spacing.WORDS and style.escaped:
        words = counted(style.escaped, "word stands for a mark", "words stand for marks")
        print_warning(
            f"{words}, such as -LRB- or ``. Raw text has the marks: replace the words before "
            "training."
        )


def _print_summary(summary: ConversionSummary, output: Path) -> None:
    if summary.replaced:
        for word in summary.replaced[:_LISTED]:
            print_warning(word, to_stderr=True)
        words = counted(len(summary.replaced), "word")
        print_warning(f"Replaced {words} that spaCy cannot use with U+FFFD", to_stderr=True)
    parts = [
        counted(summary.documents, "document"),
        counted(summary.sentences, "sentence"),
        counted(summary.words, "word"),
        *_entities(summary),
    ]
    print_good(f"{', '.join(parts)} -> {output}")


def _entities(summary: ConversionSummary | TextSummary) -> Iterator[str]:
    """Entities by label, and words without annotation."""
    labels = [f"{label} {n}" for label, n in summary.entities.most_common(_LISTED)]
    if len(summary.entities) > _LISTED:
        labels.append("…")
    n_entities = counted(summary.entities.total(), "entity", "entities")
    yield n_entities + (f" ({', '.join(labels)})" if labels else "")
    if summary.missing:
        yield f"{counted(summary.missing, 'word')} not annotated"


def print_texts(summary: TextSummary, output: Path, nlp: Language, spans_key: str | None) -> None:
    """What was made of annotated texts, and what could not be."""
    print_left_out(summary.left_out)
    for reading, n in summary.readings.items():
        print_info(f"Read with {reading}: {counted(n, 'document')}")
    if summary.trimmed:
        spans = counted(summary.trimmed, "span")
        print_info(f"{spans} had white space at an end, which is left out of the entity")
    for misfit in Misfit:
        lost = [one for one in summary.lost if one.misfit == misfit]
        if lost:
            spans = counted(len(lost), "span")
            print_warning(f"No entity for {spans} {misfit.value}:")
            for one in lost[:_SHOWN]:
                print_line(f"  {described(one)}")
    if cut := [one for one in summary.lost if one.misfit == Misfit.CUTS]:
        print_info(_advice(cut, nlp))
    if not spans_key and any(one.misfit == Misfit.OVERLAPS for one in summary.lost):
        print_info("Spans that overlap can be kept in doc.spans: --spans-key sc")
    parts = [
        counted(summary.documents, "document"), counted(summary.words, "word"),
        *_entities(summary),
    ]  # fmt: skip
    print_good(f"{', '.join(parts)} -> {output}")


def print_left_out(left_out: Counter[str]) -> None:
    for reason, n in sorted(left_out.items()):
        print_warning(f"Left out, {reason}: {n:,}")


def described(lost: LostSpan) -> str:
    """A span with its document, its offsets, its text and what stands around it."""
    text, mention = lost.text.text, lost.mention
    name = f" (document {lost.text.name})" if lost.text.name else ""
    parts = ", ".join(f"{start}-{end}" for start, end in mention.parts)
    start, end = mention.start, mention.end
    around = text[max(0, start - _AROUND) : start] + "[" + text[start:end]
    around += "]" + text[end : end + _AROUND]
    return f"{lost.text.where}{name}, characters {parts}: {mention.label} in {around!r}"


def _advice(cut: Sequence[LostSpan], nlp: Language) -> str:
    """Which tokenizer expresses most of the spans that begin or end inside of tokens."""

    def expressed(section: Section) -> int:
        docs = {}
        tokenize = make_tokenizer(section, nlp)
        for one in cut:
            if id(one.text) not in docs:
                docs[id(one.text)] = tokenize(one.text.text)
        return sum(
            docs[id(one.text)].char_span(one.mention.start, one.mention.end) is not None
            for one in cut
        )

    counts = {str(section["@tokenizers"]): expressed(section) for section in CANDIDATES}
    best = max(counts, key=lambda name: counts[name])
    if not counts[best]:
        return "None of the known tokenizers ends tokens where these spans end: see docs/formats.md"
    return (
        f"--tokenizer {best} has token boundaries at {counts[best]:,} of these {len(cut):,} spans. "
        "`init --train` then measures which tokenizer suits the corpus as a whole."
    )
