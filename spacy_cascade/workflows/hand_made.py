"""Examples made by hand: texts with their spans, checked before anything is learnt from them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import TrainingError
from ..pipeline.scripts import tokenizer_for

Annotated: TypeAlias = (
    Example | Doc | tuple[str, Mapping[str, Any] | Sequence[tuple[int, int, str]]]
)
"""An example, a Doc with annotation, or a text with spans as `(first character, end, label)`; or
with a dictionary as `Example.from_dict` takes it."""

Triple: TypeAlias = tuple[int, int, str]

_PAIR = "(text, [(first character, end, label), …])"
_SHOWN = 40
"""Characters of a text in an error."""
_OF_SCHEME = re.compile("[BILU]-.")


def read_examples(nlp: Language, given: Iterable[Annotated], which: str) -> list[Example]:
    """The examples that were given. which: what one of them is called in an error.

    Raises `TrainingError` that says of the first bad one what is wrong and how to mend it, and how
    many others are bad.
    """
    if isinstance(given, str | Doc | Example | Mapping) or not isinstance(given, Iterable):
        raise TrainingError(f"Give {which}s as a list of {_PAIR}, not {shown(given)}.")
    made: list[Example] = []
    faults: list[str] = []
    for number, one in enumerate(given, start=1):
        try:
            made.append(_example(nlp, one))
        except TrainingError as error:
            faults.append(f"{which.capitalize()} {number}, {error}")
    if faults:
        others = f"{len(faults) - 1} more of the {len(made) + len(faults)} {which}s"
        raise TrainingError(faults[0] + (f" {others} have faults." if len(faults) > 1 else ""))
    return made


def _example(nlp: Language, given: Any) -> Example:
    """Raises `TrainingError`, to follow the number of the example."""
    if isinstance(given, Example):
        return given
    if isinstance(given, Doc):
        return Example(nlp.make_doc(given.text), given)
    is_pair = isinstance(given, list | tuple) and len(given) == 2 and isinstance(given[0], str)
    if not is_pair:
        raise TrainingError(f"{shown(given)}, is no pair: give it as {_PAIR}.")
    text, annotation = given
    if not isinstance(annotation, Mapping):
        annotation = {"entities": _triples(annotation, text)}
    try:
        return _of_settings(nlp, text, annotation)
    except TrainingError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise TrainingError(
            f"{shown(text)}, cannot be read ({reason}). Give it as {_PAIR}."
        ) from error


def _of_settings(nlp: Language, text: str, settings: Mapping[str, Any]) -> Example:
    """What `Example.from_dict` makes of settings whose spans are right."""
    predicted = nlp.make_doc(text)
    entities = _listed(settings.get("entities") or (), text)
    are_tags = bool(entities) and all(isinstance(one, str | None) for one in entities)
    spans = [] if are_tags else _triples(entities, text)
    _refuse_overlap(spans, text)
    groups = settings.get("spans")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        for span in _triples(map(_with_label, _listed(group, text)), text):
            _refuse_cut(span, predicted, nlp.lang)
    with warnings.catch_warnings():
        # Spans that cut tokens are an error here.
        warnings.filterwarnings("ignore", message=r"\[W030\]")
        known = {} if settings.get("entities") is None else {"entities": spans or entities}
        example = Example.from_dict(predicted, {**settings, **known})
    for span in spans:
        _refuse_cut(span, example.reference, nlp.lang)
    if are_tags and len(entities) != len(example.reference):
        raise TrainingError(
            f"{shown(text)}, has {len(entities)} tags for {len(example.reference)} tokens. Give it "
            f"as {_PAIR}."
        )
    return example


def _with_label(given: Any) -> Any:
    """A span of a group as one with a label alone, for it may have none, or an identifier too."""
    is_other = isinstance(given, list | tuple) and len(given) in (2, 4)
    return (*given, "ENT")[:3] if is_other else given


def _listed(given: object, text: str) -> list[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        return list(given)
    raise TrainingError(f"{shown(text)}, has {shown(given)} in place of spans: give it as {_PAIR}.")


def _triples(given: object, text: str) -> list[Triple]:
    return list(dict.fromkeys(_triple(one, text) for one in _listed(given, text)))


def _triple(given: Any, text: str) -> Triple:
    """A span whose offsets are in the text, and whose label is one. Raises `TrainingError`."""
    is_triple = isinstance(given, list | tuple) and len(given) == 3
    if not is_triple or not all(_is_offset(one) for one in given[:2]):
        raise TrainingError(
            f"{shown(text)}, has {shown(given)} in place of a span. Give each as (first "
            "character, end, label), in a list."
        )
    start, end, label = given
    problem = None
    if start < 0 or end > len(text):
        problem = f"is not inside the text, which has {len(text)} characters"
    elif start >= end:
        problem = "does not begin before its end"
    elif not text[start:end].strip():
        problem = "has nothing but white space"
    if problem:
        raise TrainingError(
            f"{shown(text)}: the span {(start, end, label)!r} {problem}. Count characters from 0; "
            "the end is the one after the last."
        )
    mend = _mend_of_label(label)
    if mend:
        raise TrainingError(
            f"{shown(text)}: {text[start:end]!r}, the span {(start, end)}, has the label "
            f"{label!r}. {mend}"
        )
    return int(start), int(end), label


def _is_offset(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _mend_of_label(label: object) -> str | None:
    """What to do about a label that is none; None for one that may be learnt."""
    if not isinstance(label, str) or not label.strip():
        return "Give it one that is a text; leave out spans that are no entity."
    if label in ("O", "-"):
        return "Leave the span out: whatever is in no span is outside."
    if _OF_SCHEME.match(label):
        return f"Write {label[2:]!r}: a span is a whole entity, and has no tags."
    return f"Write {label.strip()!r}." if label != label.strip() else None


def _refuse_overlap(spans: Sequence[Triple], text: str) -> None:
    for one, other in pairwise(sorted(spans)):
        if other[0] < one[1]:
            raise TrainingError(
                f"{shown(text)}: the spans {one!r} {text[one[0] : one[1]]!r} and {other!r} "
                f"{text[other[0] : other[1]]!r} overlap. Keep one of them; or, for cascade_levels, "
                "give {'spans': {gold_key: …}}."
            )


def _refuse_cut(span: Triple, doc: Doc, lang: str | None) -> None:
    """Raise `TrainingError` for a span that no tokens can express."""
    start, end, label = span
    if doc.char_span(start, end) is not None:
        return
    text = doc.text[start:end]
    start += len(text) - len(text.lstrip())
    whole = doc.char_span(start, start + len(text.strip()), alignment_mode="expand")
    tokens = (
        ""
        if whole is None
        else (f" Whole tokens are {(whole.start_char, whole.end_char, label)!r} {whole.text!r}.")
    )
    raise TrainingError(
        f"{shown(doc.text)}: the span {span!r} {text!r} does not begin and end where tokens do."
        f"{tokens} Correct it, if it is wrong. {tokenizer_for(text, lang)}"
    )


def shown(value: object) -> str:
    """A value in few characters of one line."""
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…")
    text = repr(value)
    return text if len(text) <= 2 * _SHOWN else f"{text[: 2 * _SHOWN - 1]}…"
