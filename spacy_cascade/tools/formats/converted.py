"""What `convert` says of what it made, and of what it could not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from pathlib import Path

from ...cli.output import counted, print_good, print_info, print_warning
from ...errors import CorpusError
from .annotated import TextSummary
from .contradictions import Piece, find_contradictions
from .docs import ConversionSummary
from .spacing import Spacing

_LISTED = 10
_SELDOM = 0.01
"""A chance below which it is no chance that documents without a span stand at the end."""


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


def print_texts(summary: TextSummary) -> None:
    """What was left out of annotated texts."""
    print_left_out(summary.left_out)
    for reading, n in summary.readings.items():
        print_info(f"Read with {reading}: {counted(n, 'document')}")
    if summary.trimmed:
        spans = counted(summary.trimmed, "span")
        print_info(f"{spans} had white space at an end, which is left out of the entity")
    _print_empty(summary.has_span)


def print_written(summary: TextSummary, output: Path) -> None:
    parts = [
        counted(summary.documents, "document"), counted(summary.words, "word"),
        *_entities(summary),
    ]  # fmt: skip
    print_good(f"{', '.join(parts)} -> {output}")


def print_left_out(left_out: Counter[str]) -> None:
    for reason, n in sorted(left_out.items()):
        print_warning(f"Left out, {reason}: {n:,}")


def print_contradictions(pieces: Iterable[Piece]) -> None:
    for text in find_contradictions(pieces):
        print_warning(text)


def print_bad(bad: Sequence[CorpusError], n_spans: int) -> None:
    """The records and spans that were skipped, each with its line and the reason."""
    for error in bad:
        print_warning(str(error), to_stderr=True)
    parts = {"record": len(bad) - n_spans, "span": n_spans}
    found = " and ".join(counted(n, noun) for noun, n in parts.items() if n)
    if found:
        print_warning(f"Left out, because it cannot be read: {found}")


def _print_empty(has_span: Sequence[bool]) -> None:
    """How many texts have no span, and a warning where perhaps nobody has annotated them."""
    n, n_empty = len(has_span), has_span.count(False)
    if not n_empty:
        return
    n_last = next((i for i, has in enumerate(reversed(has_span)) if has), n)
    at_end = f", {n_last:,} of them at the end" if 1 < n_last < n else ""
    text = f"Texts without a span: {n_empty:,} of {n:,}{at_end}."
    # How likely so many stand at the end if the order is random.
    chance = prod((n_empty - i) / (n - i) for i in range(n_last))
    if 2 * n_empty > n or chance < _SELDOM:
        print_warning(
            f"{text} Training takes all of their words as outside of entities. If nobody has "
            "annotated them yet, leave them out: --skip-empty"
        )
    else:
        print_info(f"{text} To leave them out: --skip-empty")
