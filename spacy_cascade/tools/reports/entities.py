"""The page of whole Docs: the gold entities of each sentence over those that were found."""

from collections.abc import Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.training import Example

from .costs import Choice
from .drawing import about, draw, label_colours, language_tag, mark_mistakes, template
from .mistakes import Comparison, Kind
from .reading import compare_example, cut_pieces, find_choices, is_annotated


def make_entities_page(nlp: Language, examples: Sequence[Example], *, model: str, data: str) -> str:
    """The HTML of the entities of each example.

    examples: their predicted Docs as the pipeline left them, their references with gold entities.
    The confidence of an entity, if it has one, is shown beside its label.
    """
    found = [find_choices(example, example.predicted.ents) for example in examples]
    comparisons = list(map(compare_example, examples, found))
    labels = {e[2] for both in comparisons for side in (both.gold, both.predicted) for e in side}
    colours = label_colours(nlp, labels)
    present = [label for label in colours if label in labels]
    return template("entities.html.jinja").render(
        about=about(nlp, model, data),
        language=language_tag(str(nlp.lang)),
        colours={label: colours[label] for label in present},
        docs=[
            _show(example, comparison, choices, colours)
            for example, comparison, choices in zip(examples, comparisons, found, strict=True)
        ],
    )


def _show(
    example: Example, found: Comparison, choices: Sequence[Choice], colours: Mapping[str, str]
) -> dict[str, Any]:
    """A Doc as the page shows it; what is drawn for gold is None without annotation."""
    doc, has_gold = example.reference, is_annotated(example)
    kinds = found.predicted_kinds if has_gold else [Kind.RIGHT] * len(choices)
    gold = mark_mistakes(found.gold, found.gold_kinds)
    predicted = mark_mistakes(found.predicted, kinds, [sure for _, sure in choices])
    wrong = [mark.entity[0] for mark in (*gold, *predicted) if mark.outlined]
    return {
        "has_gold": has_gold,
        "n_wrong": len(wrong),
        "pieces": [
            {
                "gold": draw(doc, piece, gold, colours) if has_gold else None,
                "found": draw(doc, piece, predicted, colours),
                "is_right": not any(piece[0] <= start < piece[1] for start in wrong),
            }
            for piece in cut_pieces(doc, found)
        ],
    }
