"""Templates of the pages, and pieces of Docs with their entities, drawn by displaCy."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from spacy import displacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..pipeline.spans.confidences import confidences_of, key_of
from .costs import Piece
from .mistakes import Entity

_COLOURS = (
    "#a5d8ff", "#ffd8a8", "#b2f2bb", "#eebefa", "#ffec99", "#ffc9c9", "#99e9f2", "#d0bfff",
    "#d8f5a2", "#fcc2d7", "#c5f6fa", "#dee2e6",
)  # fmt: skip
"""Light backgrounds for dark text."""

_ENTITY = (
    '<mark class="entity {state}" style="background: {bg}">{text}\N{NO-BREAK SPACE}'
    '<span class="type">{label}</span></mark>{kb_link}'
)
"""displaCy fills it in, and escapes the text but not the label."""


def template(name: str) -> Template:
    """A template of this folder; all values that are filled in are escaped."""
    environment = Environment(
        loader=PackageLoader("spacy_cascade", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def colours_of(types: Sequence[str]) -> dict[str, str]:
    """A background for each type; they repeat after a dozen."""
    return {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(types)}


def draw(
    doc: Doc, piece: Piece, entities: Iterable[tuple[Entity, bool]], colours: Mapping[str, str]
) -> Markup:
    """The text of a piece with its entities marked by type, as HTML.

    entities: those inside the piece, and whether each is a mistake; of overlapping entities only
    the first is drawn. colours: by type.
    """
    shown = doc[piece[0] : piece[1]]
    marks: list[dict[str, Any]] = []
    drawn = 0
    for (start, end, label), is_mistake in sorted(entities):
        if start >= drawn:
            drawn = end
            state = "mistake" if is_mistake else "fine"
            params = {"bg": colours[label], "state": state}
            marks.append(_mark(doc[start:end], label, params, shown.start_char))
    drawing = _drawing(doc, shown.text, marks)
    options = {"template": _ENTITY}
    return Markup(displacy.render(drawing, "ent", manual=True, jupyter=False, options=options))


def draw_page(examples: Sequence[Example]) -> str:
    """A page like that of `spacy evaluate`: the predicted, then the gold entities of each Doc.

    examples: their predicted Docs as the pipeline left them. The confidence of an entity, if it
    has one, is shown beside its label.
    """
    docs = [
        (f"Document {number}: {what}", doc)
        for number, example in enumerate(examples, 1)
        for what, doc in (("predicted", example.predicted), ("gold", example.reference))
    ]
    colours = colours_of(sorted({entity.label_ for _, doc in docs for entity in doc.ents}))
    drawings = [
        {**_drawing(doc, doc.text, _whole_marks(doc, colours)), "title": title}
        for title, doc in docs
    ]
    return displacy.render(drawings, "ent", manual=True, page=True, jupyter=False)


def _whole_marks(doc: Doc, colours: Mapping[str, str]) -> list[dict[str, Any]]:
    confidences = confidences_of(doc)
    marks = []
    for entity in doc.ents:
        sure = confidences.get(key_of(entity))
        label = entity.label_ if sure is None else f"{entity.label_} {sure:.2f}"
        marks.append(_mark(entity, label, {"bg": colours[entity.label_]}))
    return marks


def _mark(span: Span, label: str, params: dict[str, str], begin: int = 0) -> dict[str, Any]:
    start, end = span.start_char - begin, span.end_char - begin
    return {"start": start, "end": end, "label": str(escape(label)), "params": params}


def _drawing(doc: Doc, text: str, marks: list[dict[str, Any]]) -> dict[str, Any]:
    """What displaCy draws without a Doc."""
    direction = doc.vocab.writing_system.get("direction", "ltr")
    return {"text": text, "ents": marks, "settings": {"direction": direction}}
