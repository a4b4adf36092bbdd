"""What pages have in common: templates, colours, what they say of themselves, and drawn text."""

import platform
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from spacy import displacy
from spacy.about import __version__ as spacy_version
from spacy.language import Language
from spacy.tokens import Doc, Span

from ..._version import __version__
from .costs import Piece
from .mistakes import Entity, Kind


@dataclass(frozen=True)
class About:
    """Where a page comes from.

    model, data: paths as they were given, "" without one. pipeline: name and version in the meta
    data. components: in order. versions: of the software. made: local time with its zone.
    """

    model: str
    data: str
    pipeline: str
    language: str
    components: tuple[str, ...]
    versions: str
    made: datetime


def about(nlp: Language, model: str | Path, data: str | Path = "") -> About:
    """Describe a page that is made now."""
    meta = nlp.meta
    versions = {
        "spacy_cascade": __version__,
        "spaCy": spacy_version,
        "Python": platform.python_version(),
    }
    return About(
        str(model),
        str(data),
        f"{meta['lang']}_{meta['name']} {meta['version']}",
        meta["lang"],
        tuple(nlp.pipe_names),
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        datetime.now().astimezone(),
    )


def language_tag(language: str) -> str:
    """How HTML names a language of spaCy, whose pipelines of no language have the name `xx`."""
    return "und" if language == "xx" else language


_COLOURS = (
    "#a5d8ff", "#ffd8a8", "#b2f2bb", "#eebefa", "#ffec99", "#ffc9c9", "#99e9f2", "#d0bfff",
    "#d8f5a2", "#fcc2d7", "#c3fae8", "#dee2e6", "#4dabf7", "#ffa94d", "#69db7c", "#da77f2",
    "#fcc419", "#ff8787", "#3bc9db", "#a98bfa", "#94d82d", "#f783ac", "#38d9a9", "#adb5bd",
)  # fmt: skip
"""Backgrounds for dark text, a dozen light ones and the same hues once more, stronger."""

PLAIN = "#dee2e6"
"""Of a span without a type."""

_ENTITIES = {"doc.ents", "doc.spans"}


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A background for each label; they repeat after two dozen."""
    return {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(dict.fromkeys(labels))}


def label_colours(nlp: Language, others: Iterable[str] = ()) -> dict[str, str]:
    """Colours of all labels of entities that a pipeline knows, and after them of other labels.

    So a label has its colour whatever else a page shows. others: such as those of gold entities.
    """
    known = {
        label
        for name, labels in nlp.pipe_labels.items()
        if _ENTITIES & set(nlp.get_pipe_meta(name).assigns)
        for label in labels
    }
    return colours_of([*sorted(known), *sorted(others)])


_ENTITY = (
    '<mark class="entity {state}" style="background: {bg}">{text}\N{NO-BREAK SPACE}'
    '<span class="type">{label}</span>{spoken}</mark>{kb_link}'
)
"""displaCy fills it in, and escapes the text but not the label."""
_SCRIPT = "page.js"
_SPOKEN = '<span class="spoken"> ({})</span>'
"""What a screen reader says of an outline."""


class Mark(NamedTuple):
    """An entity in a text; outlined: why it is, "" if it is not; note: beside its label."""

    entity: Entity
    outlined: str = ""
    note: str = ""


def template(name: str) -> Template:
    """A template of this folder; all values that are filled in are escaped.

    The page that runs the script of this folder lets a browser run that one alone, by its hash.
    """
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.get_template(_SCRIPT).render()
    digest = b64encode(sha256(script.encode()).digest()).decode()
    environment.globals |= {"script": Markup(script), "script_hash": f"sha256-{digest}"}
    return environment


def mark_mistakes(
    entities: Iterable[Entity],
    kinds: Iterable[Kind],
    confidences: Iterable[float | None] = repeat(None),
) -> list[Mark]:
    """Outlines all that are not right, and notes their confidences."""
    return [
        Mark(
            entity,
            "" if kind is Kind.RIGHT else kind.value,
            "" if confidence is None else f"{confidence:.2f}",
        )
        for entity, kind, confidence in zip(entities, kinds, confidences, strict=False)
    ]


def draw(doc: Doc, piece: Piece, marks: Iterable[Mark], colours: Mapping[str, str]) -> Markup:
    """The text of a piece with its entities marked by type, as HTML.

    marks: those that begin in the piece are drawn, of overlapping ones the first alone. colours: by
    type.
    """
    shown = doc[piece[0] : piece[1]]
    drawn: list[dict[str, Any]] = []
    last = 0
    for mark in sorted(marks):
        start, end, label = mark.entity
        if max(last, piece[0]) <= start < piece[1]:
            last = end
            drawn.append(_ent(doc[start:end], mark, colours[label], shown.start_char))
    # Without a Doc displaCy does not know the direction of the text.
    direction = doc.vocab.writing_system.get("direction", "ltr")
    drawing = {"text": shown.text, "ents": drawn, "settings": {"direction": direction}}
    options = {"template": _ENTITY}
    return Markup(displacy.render(drawing, "ent", manual=True, jupyter=False, options=options))


def _ent(span: Span, mark: Mark, colour: str, begin: int) -> dict[str, Any]:
    """An entity as displaCy takes it; begin: first character of the text that is drawn."""
    spoken = _SPOKEN.format(escape(mark.outlined)) if mark.outlined else ""
    state = "outlined" if mark.outlined else "fine"
    return {
        "start": span.start_char - begin,
        "end": span.end_char - begin,
        "label": str(escape(f"{mark.entity[2]} {mark.note}".rstrip())),
        "params": {"bg": colour, "state": state, "spoken": spoken},
    }
