"""Pages that show why entities were found, and the other hypotheses for their sentences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...pipeline.spans.placing import REJECTED, LabelledSpan
from ..reports.drawing import PLAIN, Mark, about, draw, label_colours, language_tag, template
from .explanations import EntityExplanation
from .hypotheses import Hypotheses, Hypothesis
from .top_features import ComponentFeatures


def make_explanation_page(
    nlp: Language,
    doc: Doc,
    explained: Sequence[EntityExplanation],
    tops: Sequence[ComponentFeatures] = (),
    *,
    model: str,
    data: str = "",
    n_features: int = 10,
) -> str:
    """The HTML of the explained entities of a Doc, and of the top features of components.

    doc: empty if only top features are shown. model, data: paths of the pipeline and of the
    corpus that the names of features come from. n_features: features for each stage of an entity.
    """
    colours = _colours(nlp, (entity.span for entity in explained))
    marks = [Mark(entity.span) for entity in explained]
    return template("explanation.html.jinja").render(
        about=about(nlp, model, data),
        language=language_tag(doc.lang_),
        doc=doc,
        text=draw(doc, (0, len(doc)), marks, colours) if len(doc) else "",
        colours=colours,
        explained=explained,
        tops=tops,
        n_features=n_features,
    )


def make_hypotheses_page(
    nlp: Language, doc: Doc, sentences: Sequence[Hypotheses], *, model: str
) -> str:
    """The HTML of the hypotheses for each sentence of a Doc, one under the other."""
    every = [hypothesis for sentence in sentences for hypothesis in sentence.hypotheses]
    colours = _colours(nlp, (span for one in every for span in one.entities))
    return template("hypotheses.html.jinja").render(
        about=about(nlp, model),
        language=language_tag(doc.lang_),
        colours=colours,
        sentences=[
            [_show(doc, sentence, hypothesis, colours) for hypothesis in sentence.hypotheses]
            for sentence in sentences
        ],
    )


def _colours(nlp: Language, spans: Iterable[LabelledSpan]) -> dict[str, str]:
    return {**label_colours(nlp, {label for _, _, label in spans}), REJECTED: PLAIN}


def _show(
    doc: Doc, sentence: Hypotheses, one: Hypothesis, colours: Mapping[str, str]
) -> dict[str, Any]:
    """A hypothesis as the page shows it; lacking: texts and labels that only the first one has."""
    first = sentence.hypotheses[0].entities
    marks = [Mark(entity, "" if entity in first else "not in the first") for entity in one.entities]
    lacking = [entity for entity in first if entity not in one.entities]
    return {
        "probability": one.probability,
        "text": draw(doc, (sentence.start, sentence.end), marks, colours),
        "lacking": [(doc[start:end].text, label) for start, end, label in lacking],
    }
