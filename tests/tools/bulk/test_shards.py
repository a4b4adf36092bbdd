"""The text of a record, as it is written beside its entities."""

from __future__ import annotations

from spacy.tokens import Doc

from helpers import blank
from spacy_cascade.tools.bulk.shards import text_of


def test_the_text_of_a_doc_is_what_it_was_made_of_if_the_tokens_cover_that() -> None:
    nlp = blank()
    texts = ["", " ", "Two  words ", "two"]
    for i, text in enumerate(texts):
        assert text_of(nlp.make_doc(text), texts, i) is text, "and is not made again"
    shorter = Doc(nlp.vocab, words=["Two", "words"])
    assert text_of(shorter, texts, 2) == "Two words "
    assert text_of(shorter, [shorter], 0) == "Two words "
    assert text_of(shorter, lambda _: [shorter], 0) == "Two words "
