"""The page of whole Docs: gold entities beside those found, sentence by sentence."""

from __future__ import annotations

import re

from spacy.tokens import Doc
from spacy.training import Example

from helpers import blank, gold_doc
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.tables import table_of
from spacy_cascade.tools.reports.entities import make_entities_page


def page_of(*examples: Example) -> str:
    return make_entities_page(blank(), examples, model="OUT/model", data="dev.spacy")


def test_gold_entities_stand_beside_those_found() -> None:
    vocab = blank().vocab
    text = "a < b & <i>c</i>"
    found, gold = (gold_doc(vocab, text, [span]) for span in ((0, 2, "<x>"), (2, 3, "y")))
    write_group(found, "cascade", table_of(found.ents), [0.875])
    page = page_of(Example(found, gold))
    body = page.split("<main>")[1]
    before, after = body.split('class="found')
    assert ">y</span>" in before
    assert "0.88" not in before
    assert "&lt;x&gt; 0.88" in after
    assert ">y</span>" not in after
    assert "(missed)" in before
    assert "(spurious)" in after
    assert "2 entities outlined" in body
    assert "Entities of OUT/model in dev.spacy" in page
    assert "<x>" not in page
    assert "<i>" not in page


def test_sentences_stand_one_under_the_other() -> None:
    vocab = blank().vocab
    reference = Doc(vocab, words=list("abcdef"), sent_starts=[True, False, False] * 2)
    predicted = reference.copy()
    for doc, label in ((reference, "x"), (predicted, "y")):
        doc.set_ents([doc.char_span(6, 7, label)], default="outside")
    page = page_of(Example(predicted, reference))
    sides = re.findall(r'<div class="(gold|found)( wrong)?">', page)
    assert sides == [("gold", ""), ("found", ""), ("gold", " wrong"), ("found", " wrong")]


def test_a_doc_without_annotation_shows_what_was_found() -> None:
    vocab = blank().vocab
    bare = Doc(vocab, words=["a", "b"])
    page = page_of(Example(gold_doc(vocab, "a b", [(0, 1, "x")]), bare))
    assert "not annotated" in page
    assert 'class="gold' not in page
    assert page.count("<mark") == 1
    assert "outlined" not in page.split("<main>")[1]


def test_no_documents() -> None:
    assert "There are no documents" in page_of()
