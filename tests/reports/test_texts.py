"""displaCy's page of whole Docs."""

from __future__ import annotations

from spacy.training import Example

from helpers import blank, gold_doc
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.reports.texts import draw_page


def test_predicted_entities_stand_before_gold_ones() -> None:
    vocab = blank().vocab
    text = "a < b & <i>c</i>"
    found, gold = (gold_doc(vocab, text, [span]) for span in ((0, 2, "<x>"), (2, 3, "y")))
    write_group(found, "cascade", list(found.ents), [0.875])
    page = draw_page([Example(found, gold)])
    before, after = page.split("Document 1: gold")
    assert "Document 1: predicted" in before
    assert "&lt;x&gt; 0.88" in before
    assert ">y</span>" not in before
    assert ">y</span>" in after
    assert "0.88" not in after
    assert "<x>" not in page
    assert "<i>" not in page


def test_each_type_has_its_colour() -> None:
    vocab = blank().vocab
    spans = [(0, 1, "x"), (1, 2, "y"), (2, 3, "x")]
    docs = [gold_doc(vocab, "a b c", spans) for _ in range(2)]
    page = draw_page([Example(*docs)])
    colours = [part.split(";")[0] for part in page.split("background: ")[1:]]
    assert colours[:3] == colours[3:]
    assert colours[0] == colours[2] != colours[1]


def test_no_documents() -> None:
    assert "<figure" not in draw_page([])
