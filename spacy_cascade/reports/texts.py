"""Pieces of Docs with their entities, drawn by displaCy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape
from spacy import displacy
from spacy.tokens import Doc
from spacy.training import Example

from .excerpts import Piece
from .mistakes import Entity
from .reading import confidences_of

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
    html = displacy.render(
        _drawing(doc, text, marks),
        style="ent",
        manual=True,
        page=False,
        jupyter=False,
        options={"template": _ENTITY},
    )
    return Markup(html)


def draw_page(examples: Sequence[Example]) -> str:
    """A page as `spacy evaluate` writes it: each Doc with the entities found, then with gold ones.

    examples: their predicted Docs as the pipeline left them. An entity has its confidence beside
    its label, where it has one.
    """
    docs = [
        (f"Document {number}: {what}", doc)
        for number, example in enumerate(examples, 1)
        for what, doc in (("found", example.predicted), ("gold", example.reference))
    ]
    colours = colours_of(sorted({entity.label_ for _, doc in docs for entity in doc.ents}))
    drawings = [
        {**_drawing(doc, doc.text, _whole_marks(doc, colours)), "title": title}
        for title, doc in docs
    ]
    html: str = displacy.render(drawings, style="ent", manual=True, page=True, jupyter=False)
    return html


def _whole_marks(doc: Doc, colours: Mapping[str, str]) -> list[dict[str, Any]]:
    """The entities of a whole Doc, for displaCy."""
    confidences = confidences_of(doc)
    marks = []
    for entity in doc.ents:
        sure = confidences.get((entity.start, entity.end, entity.label))
        label = entity.label_ if sure is None else f"{entity.label_} {sure:.2f}"
        marks.append(
            {
                "start": entity.start_char,
                "end": entity.end_char,
                "label": str(escape(label)),
                "params": {"bg": colours[entity.label_]},
            }
        )
    return marks


def _drawing(doc: Doc, text: str, marks: list[dict[str, Any]]) -> dict[str, Any]:
    """What displaCy draws without a Doc."""
    direction = doc.vocab.writing_system.get("direction", "ltr")
    return {"text": text, "ents": marks, "settings": {"direction": direction}}
