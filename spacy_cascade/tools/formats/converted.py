"""What `convert` says of what it made, and of what it could not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ...cli.output import (
    counted,
    print_good,
    print_info,
    print_line,
    print_warning,
    write_rows,
)
from ...errors import CorpusError
from ...pipeline.scripts import is_usable, language_of_script
from ...pipeline.spans.left_out import LeftOutSpan
from ..tokenizers.choosing import candidates, make_tokenizer
from ..tokenizers.languages import how_to_install
from .annotated import TextSummary
from .contradictions import Piece, find_contradictions
from .discontinuous import Discontinuous
from .docs import ConversionSummary
from .exchange.base import AnyFormat
from .exchange.offsets import Span, likely_counting
from .placing import LostSpan, Misfit
from .spacing import Spacing
from .texts import AnnotatedText

_LISTED = 10
_SHOWN = 3
"""Examples of spans of each kind that are no entities."""
_AROUND = 15
"""Characters shown on each side of such a span."""
_BAD = "that cannot be read"
AS_ONE = "each as one piece, from its first to its last character"
_SELDOM = 0.01
"""A chance below which it is no chance that documents without a span stand at the end."""


def print_words(summary: ConversionSummary, wanted: Spacing, output: Path) -> None:
    """What was made of words without spaces."""
    _print_spacing(summary, wanted)
    if summary.overlapping:
        spans = counted(summary.overlapping, "span")
        kept = "--spans-key sc keeps them" if summary.lost else "doc.spans has them"
        print_warning(f"No entity for {spans} {Misfit.OVERLAPS.value}; {kept}")
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
    """Say what was written where."""
    parts = [
        counted(summary.documents, "document"), counted(summary.words, "word"),
        *_entities(summary),
    ]  # fmt: skip
    print_good(f"{', '.join(parts)} -> {output}")


def print_left_out(left_out: Counter[str]) -> None:
    """Say what was left out, and why."""
    for reason, n in sorted(left_out.items()):
        print_warning(f"Left out, {reason}: {n:,}")


def print_contradictions(pieces: Iterable[Piece]) -> None:
    """Say which texts are annotated in several ways."""
    for text in find_contradictions(pieces):
        print_warning(text)


def print_discontinuous(n: int, what: str) -> None:
    """Say what became of discontinuous spans."""
    if n:
        print_info(f"{counted(n, 'discontinuous span')}: {what}")


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


def print_exported(writer: AnyFormat, texts: Sequence[AnnotatedText], output: Path) -> None:
    """What was written in another format, and the labels that it cannot have."""
    mentions = [mention for text in texts for mention in text.mentions]
    written: dict[str, list[str]] = {}
    for label in sorted({mention.label for mention in mentions}):
        written.setdefault(writer.written_label(label), []).append(label)
    for name, given in written.items():
        if given != [name]:
            listed = " and ".join(map(repr, given))
            verb = "is" if len(given) == 1 else "are"
            print_warning(f"The format {writer.name}: {listed} {verb} written as {name!r}")
    n_scored = sum(mention.score is not None for mention in mentions)
    print_good(
        f"{counted(len(texts), 'document')}, {counted(len(mentions), 'entity', 'entities')}, "
        f"{n_scored:,} of them with a score, as {writer.name} -> {output}"
    )


def report_lost(
    summary: TextSummary,
    nlp: Language,
    *,
    spans_key: str | None,
    discontinuous: Discontinuous,
    accept_loss: bool,
) -> None:
    """Show the spans that are no entities, and what may help; say what became of parts.

    Raises `CorpusError` where they are more than half of all, unless that is accepted.
    """
    by_kind: dict[Misfit, list[LostSpan]] = {}
    for misfit in Misfit:
        lost = [one for one in summary.lost if one.misfit == misfit]
        if lost and misfit == Misfit.OVERLAPS and spans_key is not None:
            spans = counted(len(lost), "span")
            print_info(f"{spans} {misfit.value}: in doc.spans[{spans_key!r}] alone, no entity.")
        elif lost:
            by_kind[misfit] = lost
            print_warning(f"No entity for {counted(len(lost), 'span')} {misfit.value}:")
            _print_spans(lost)
    by_kind.pop(Misfit.NEGATIVE, None)  # they are no entities by what they say
    if discontinuous is Discontinuous.PARTS:
        kept = by_kind.pop(Misfit.PARTS, [])
        what = f"in doc.spans[{spans_key!r}], as parts with a common id"
        print_discontinuous(len(kept), what)
    if discontinuous is Discontinuous.COVERING:
        print_discontinuous(summary.discontinuous, AS_ONE)
    advice = {kind.value: _advice(kind, lost, nlp) for kind, lost in by_kind.items()}
    counts = Counter({kind.value: len(lost) for kind, lost in by_kind.items()})
    if summary.bad_spans:
        counts[_BAD] = summary.bad_spans
    if 2 * counts.total() > summary.spans and not accept_loss:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts.most_common())
        most = counts.most_common(1)[0][0]
        cause = advice.get(most, "The offsets belong to another text, or do not count characters.")
        raise CorpusError(
            f"{counts.total():,} of {counted(summary.spans, 'span')} would be lost ({kinds}), so "
            f"nothing is written. The likely cause: {cause} To go on all the same: --accept-loss."
        )
    for text in advice.values():
        print_info(text)


def write_lost(path: Path | None, spans: Sequence[LeftOutSpan]) -> None:
    """Write the spans to the file of `--lost`, if there is one; also where there are none."""
    if path is not None:
        write_rows(path, (span._asdict() for span in spans), LeftOutSpan._fields)
        print_info(f"{counted(len(spans), 'span')} left out -> {path}")


def print_without_place(lost: Sequence[LostSpan]) -> None:
    """The spans that are no entities, where that needs no advice."""
    if lost:
        spans = counted(len(lost), "span")
        print_warning(f"No entity for {spans}. Their words count as not annotated:")
        _print_spans(lost)


def _print_spans(lost: Sequence[LostSpan]) -> None:
    for one in lost[:_SHOWN]:
        print_line(f"  {_described(one)}")


def _described(lost: LostSpan) -> str:
    """A span with its document, its offsets, its text and what stands around it."""
    text, mention = lost.text.text, lost.mention
    name = f" (document {lost.text.name})" if lost.text.name else ""
    parts = ", ".join(f"{start}-{end}" for start, end in mention.parts)
    start, end = mention.start, mention.end
    around = text[max(0, start - _AROUND) : start] + "[" + text[start:end]
    around += "]" + text[end : end + _AROUND]
    return f"{lost.text.where}{name}, characters {parts}: {mention.label} in {around!r}"


def _advice(misfit: Misfit, lost: Sequence[LostSpan], nlp: Language) -> str:
    """Why spans of a kind are lost, as far as that can be told, and what to do."""
    if misfit == Misfit.CUTS:
        return _tokenizer_for(lost, nlp)
    if misfit == Misfit.DIFFERS:
        return _unit_of(lost)
    if misfit == Misfit.OVERLAPS:
        return "Spans that overlap can be kept in doc.spans: --spans-key sc."
    if misfit == Misfit.PARTS:
        return (
            "An entity is one piece of the text. --discontinuous covering takes spans of several "
            "parts from the first to the last character; --discontinuous parts --spans-key sc "
            "keeps the parts."
        )
    return "The offsets belong to another text than that of the file."


def _unit_of(lost: Sequence[LostSpan]) -> str:
    """What the offsets of spans seem to count, whose own text is not the one at the offsets."""

    spans = [(one.text.text, Span(one.mention.parts, one.mention.found)) for one in lost]
    counting, n = likely_counting(spans)
    if not n:
        return "The offsets belong to another text, or the text was changed after the annotation."
    return (
        f"{n:,} of these {counted(len(lost), 'span')} have {counting.name}. They must count "
        "characters from 0."
    )


def _tokenizer_for(cut: Sequence[LostSpan], nlp: Language) -> str:
    """What expresses most of the spans that begin or end inside of tokens."""
    texts = {id(one.text): one.text.text for one in cut}
    code = language_of_script("".join(texts.values()))
    other = None if code == nlp.lang else code

    def expressed(tokenize: Callable[[str], Doc]) -> int:
        docs = {key: tokenize(text) for key, text in texts.items()}
        return sum(
            all(docs[id(one.text)].char_span(*part) is not None for part in one.mention.parts)
            for one in cut
        )

    tried: dict[str, Callable[[str], Doc]] = {}
    if other is not None and is_usable(other):
        tried[f"--lang {other}"] = spacy.blank(other).make_doc
    for section in candidates(texts.values()):
        tried[f"--tokenizer {section['@tokenizers']}"] = make_tokenizer(section, nlp)
    counts = {option: expressed(tokenize) for option, tokenize in tried.items()}
    best = max(counts, key=lambda option: counts[option])
    found = "No known tokenizer ends tokens where these spans end: see docs/formats.md."
    if counts[best]:
        spans = counted(len(cut), "span")
        found = f"{best} has token boundaries at {counts[best]:,} of these {spans}."
    if other is not None and not is_usable(other):
        return f"{how_to_install(other)} Without it: {found}"
    return f"The tokenizer ends tokens elsewhere. {found}"
