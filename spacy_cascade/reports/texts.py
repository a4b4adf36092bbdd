"""Pieces of Docs with their entities, drawn by displaCy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup, escape
from spacy import displacy
from spacy.tokens import Doc

from .excerpts import Piece
from .mistakes import Entity

_COLOURS = (
    "#a5d8ff", "#ffd8a8", "#b2f2bb", "#eebefa", "#ffec99", "#ffc9c9", "#99e9f2", "#d0bfff",
    "#d8f5a2", "#fcc2d7", "#c5f6fa", "#dee2e6",
)  # fmt: skip
"""Light ones, for dark text."""

_ENTITY = (
    '<mark class="entity {state}" style="background: {bg}">{text}\N{NO-BREAK SPACE}'
    '<span class="type">{label}</span></mark>{kb_link}'
)
"""displaCy fills it in: text is escaped by it, label is not."""


def colours_of(types: Sequence[str]) -> dict[str, str]:
    """A background for each type; after a dozen they come again."""
    return {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(types)}


def draw(
    doc: Doc,
    piece: Piece,
    entities: Iterable[tuple[Entity, bool]],
    colours: Mapping[str, str],
) -> Markup:
    """The text of a piece with entities marked by type, as HTML.

    entities: those inside the piece, and whether each is a mistake; of those that overlap the
    first is drawn. colours: by type.
    """
    text = doc[piece[0] : piece[1]].text
    offset = doc[piece[0]].idx
    marks = []
    drawn = 0
    for (start, end, label), is_mistake in sorted(entities):
        if start < drawn:
            continue
        drawn = end
        last = doc[end - 1]
        marks.append(
            {
                "start": doc[start].idx - offset,
                "end": last.idx + len(last) - offset,
                "label": str(escape(label)),
                "params": {
                    "bg": colours[label],
                    "state": "mistake" if is_mistake else "fine",
                },
            }
        )
    direction = doc.vocab.writing_system.get("direction", "ltr")
    drawing = {"text": text, "ents": marks, "settings": {"direction": direction}}
    html = displacy.render(
        drawing,
        style="ent",
        manual=True,
        page=False,
        jupyter=False,
        options={"template": _ENTITY},
    )
    return Markup(html)
