"""Pages that show why entities were found, and how else their sentences can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from spacy.tokens import Doc

from ..explaining.explanations import EntityExplanation
from ..explaining.hypotheses import Hypotheses, Hypothesis
from ..explaining.top_features import ComponentFeatures
from .templates import template
from .texts import colours_of, draw


def make_explanation_page(
    doc: Doc,
    explained: Sequence[EntityExplanation],
    tops: Sequence[ComponentFeatures] = (),
    *,
    model: str,
    data: str = "",
    n_features: int = 10,
) -> str:
    """The HTML of explained entities of a Doc, and of the top features of components.

    doc: without tokens where there are top features only. model, data: what to call the pipeline
    and the corpus that names are from. n_features: shown for each stage of an entity.
    """
    spans = [entity.span for entity in explained]
    colours = colours_of(sorted({label for _, _, label in spans}))
    text = draw(doc, (0, len(doc)), [(span, False) for span in spans], colours) if len(doc) else ""
    return template("explanation.html.jinja").render(
        model=model,
        data=data,
        language=doc.lang_,
        doc=doc,
        text=text,
        explained=explained,
        tops=tops,
        n_features=n_features,
    )


@dataclass(frozen=True)
class Shown:
    """A reading as the page shows it; missing: texts and labels that only the first one has."""

    probability: float
    text: Markup
    missing: list[tuple[str, str]]


def make_readings_page(doc: Doc, sentences: Sequence[Hypotheses], *, model: str) -> str:
    """The HTML of the readings of each sentence of a Doc, side by side."""
    readings = [reading for sentence in sentences for reading in sentence.hypotheses]
    colours = colours_of(sorted({label for r in readings for _, _, label in r.entities}))
    return template("readings.html.jinja").render(
        model=model,
        language=doc.lang_,
        sentences=[
            [_show(doc, sentence, reading, colours) for reading in sentence.hypotheses]
            for sentence in sentences
        ],
    )


def _show(doc: Doc, sentence: Hypotheses, reading: Hypothesis, colours: Mapping[str, str]) -> Shown:
    first = sentence.hypotheses[0].entities
    marked = [(entity, entity not in first) for entity in reading.entities]
    return Shown(
        reading.probability,
        draw(doc, (sentence.start, sentence.end), marked, colours),
        [(doc[s:e].text, label) for s, e, label in first if (s, e, label) not in reading.entities],
    )
