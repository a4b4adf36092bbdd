"""Pages that show why entities were found, and the other hypotheses for their sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from spacy.tokens import Doc

from ..explaining.explanations import EntityExplanation
from ..explaining.hypotheses import Hypotheses, Hypothesis
from ..explaining.top_features import ComponentFeatures
from .texts import colours_of, draw, template


def make_explanation_page(
    doc: Doc,
    explained: Sequence[EntityExplanation],
    tops: Sequence[ComponentFeatures] = (),
    *,
    model: str,
    data: str = "",
    n_features: int = 10,
) -> str:
    """The HTML of the explained entities of a Doc, and of the top features of components.

    doc: empty if only top features are shown. model, data: names of the pipeline and of the
    corpus that the names of features come from. n_features: features for each stage of an entity.
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


def make_hypotheses_page(doc: Doc, sentences: Sequence[Hypotheses], *, model: str) -> str:
    """The HTML of the hypotheses for each sentence of a Doc, side by side."""
    every = [hypothesis for sentence in sentences for hypothesis in sentence.hypotheses]
    colours = colours_of(sorted({label for one in every for _, _, label in one.entities}))
    return template("hypotheses.html.jinja").render(
        model=model,
        language=doc.lang_,
        sentences=[
            [_show(doc, sentence, hypothesis, colours) for hypothesis in sentence.hypotheses]
            for sentence in sentences
        ],
    )


def _show(
    doc: Doc, sentence: Hypotheses, one: Hypothesis, colours: Mapping[str, str]
) -> dict[str, Any]:
    """A hypothesis as the page shows it; lacking: texts and labels that only the first one has."""
    first = sentence.hypotheses[0].entities
    marked = [(entity, entity not in first) for entity in one.entities]
    lacking = [entity for entity in first if entity not in one.entities]
    return {
        "probability": one.probability,
        "text": draw(doc, (sentence.start, sentence.end), marked, colours),
        "lacking": [(doc[start:end].text, label) for start, end, label in lacking],
    }
