"""One colour a label, on every page about a pipeline."""

from __future__ import annotations

from helpers import blank, trained_cascade
from spacy_cascade.tools.explaining.explain import explain_entities
from spacy_cascade.tools.explaining.page import make_explanation_page
from spacy_cascade.tools.reports.colours import colours_of, label_colours

DARK_TEXT = "#14181f"


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_two_dozen_labels_have_their_own_colours_that_dark_text_can_be_read_on() -> None:
    colours = colours_of([str(i) for i in range(30)])
    assert len(colours) == 30
    assert len(set(colours.values())) == 24
    for colour in colours.values():
        assert (luminance(colour) + 0.05) / (luminance(DARK_TEXT) + 0.05) >= 4.5


def test_a_label_keeps_its_colour_whatever_else_a_page_shows() -> None:
    nlp = trained_cascade()
    known = label_colours(nlp)
    assert {"DNA", "cell", "protein"} <= set(known)
    more = label_colours(nlp, ["AAA", "cell"])
    assert {label: more[label] for label in known} == known
    assert more["AAA"] not in known.values()
    for text in ("STAT5 binds the AP-1 site .", "Jurkat cells ."):
        doc = nlp(text)
        page = make_explanation_page(nlp, doc, explain_entities(nlp, doc), model="m")
        for entity in doc.ents:
            assert f'background: {known[entity.label_]}">{entity.text}' in page


def test_a_pipeline_without_labels() -> None:
    assert list(label_colours(blank(), ["b", "a"])) == ["a", "b"]
