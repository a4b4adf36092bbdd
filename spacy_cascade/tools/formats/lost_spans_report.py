"""What `convert` says of spans that are no entities, and what the reason may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ...cli.output import counted, print_info, print_line, print_warning
from ...errors import CorpusError
from ..tokenizers.choosing import CANDIDATES, make_tokenizer
from ..tokenizers.languages import how_to_install, is_usable, language_of_script
from .annotated import TextSummary
from .placing import LostSpan, Misfit

_SHOWN = 3
"""Examples of each kind."""
_AROUND = 15
"""Characters shown on each side of such a span."""
_BAD = "that cannot be read"
_UNITS: dict[str, tuple[Callable[[str], str], str, int]] = {
    "bytes of UTF-8": (str, "utf-8", 1),
    "UTF-16 units, as JavaScript does": (str, "utf-16-le", 2),
    "a line end as two characters": (lambda text: text.replace("\n", "\r\n"), "utf-32-le", 4),
    "a line end as one character": (lambda text: text.replace("\r\n", "\n"), "utf-32-le", 4),
    "from 1, or a byte order mark": (lambda text: f" {text}", "utf-32-le", 4),
}
"""What offsets may count: a change of the text, its encoding, and the bytes of a unit."""


def report_lost(
    summary: TextSummary, nlp: Language, *, spans_key: str | None, accept_loss: bool
) -> None:
    """Show the spans that are no entities, and what may help.

    Raises `CorpusError` where they are more than half of all, unless that is accepted.
    """
    by_kind: dict[str, list[LostSpan]] = {}
    for misfit in Misfit:
        lost = [one for one in summary.lost if one.misfit == misfit]
        if lost:
            by_kind[misfit.value] = lost
            print_warning(f"No entity for {counted(len(lost), 'span')} {misfit.value}:")
            for one in lost[:_SHOWN]:
                print_line(f"  {described(one)}")
    by_kind.pop(Misfit.NEGATIVE.value, None)  # they are no entities by what they say
    if spans_key is not None:
        by_kind.pop(Misfit.OVERLAPS.value, None)
    advice = {kind: _advice(Misfit(kind), lost, nlp) for kind, lost in by_kind.items()}
    counts = Counter({kind: len(lost) for kind, lost in by_kind.items()})
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


def described(lost: LostSpan) -> str:
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
        return "An entity is one piece of the text: spans of several parts cannot be learnt."
    return "The offsets belong to another text than that of the file."


def _unit_of(lost: Sequence[LostSpan]) -> str:
    """What the offsets of spans seem to count, whose own text is not the one at the offsets."""

    def fit(change: Callable[[str], str], encoding: str, width: int) -> int:
        n = 0
        for one in lost:
            data = change(one.text.text).encode(encoding)
            there = data[width * one.mention.start : width * one.mention.end]
            n += there == change(one.mention.found.strip()).strip().encode(encoding)
        return n

    counts = {name: fit(*unit) for name, unit in _UNITS.items()}
    best = max(counts, key=lambda name: counts[name])
    if not counts[best]:
        return "The offsets belong to another text, or the text was changed after the annotation."
    return (
        f"The offsets of {counts[best]:,} of these {counted(len(lost), 'span')} count {best}. They "
        "must count characters from 0."
    )


def _tokenizer_for(cut: Sequence[LostSpan], nlp: Language) -> str:
    """What expresses most of the spans that begin or end inside of tokens."""
    texts = {id(one.text): one.text.text for one in cut}
    code = language_of_script("".join(texts.values()))
    if code is not None and code != nlp.lang and not is_usable(code):
        return how_to_install(code)

    def expressed(tokenize: Callable[[str], Doc]) -> int:
        docs = {key: tokenize(text) for key, text in texts.items()}
        return sum(
            docs[id(one.text)].char_span(one.mention.start, one.mention.end) is not None
            for one in cut
        )

    tried = {
        f"--tokenizer {section['@tokenizers']}": make_tokenizer(section, nlp)
        for section in CANDIDATES
    }
    if code is not None and code != nlp.lang:
        tried = {f"--lang {code}": spacy.blank(code).make_doc}
    counts = {option: expressed(tokenize) for option, tokenize in tried.items()}
    best = max(counts, key=lambda option: counts[option])
    found = "No known tokenizer ends tokens where these spans end: see docs/formats.md."
    if counts[best]:
        spans = counted(len(cut), "span")
        found = f"{best} has token boundaries at {counts[best]:,} of these {spans}."
    return f"The tokenizer ends tokens elsewhere. {found}"
