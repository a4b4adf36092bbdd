"""Templates, texts and units for tests of linear models."""

from __future__ import annotations

from spacy.tokens import Doc
from thinc.api import Model

from helpers import blank
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.features.units import Units

VOCAB = blank().vocab
LINES = ("word@-1..1", "suffix(1)", "word@any", "word@0 & word@1", "bias")
TEXTS = ["p53 binds DNA .", "IL-2 binds p53 and STAT5 .", "DNA"]


def units_of(model: Model, texts: list[str]) -> Units:
    docs = [Doc(VOCAB, words=text.split()) for text in texts]
    space = model.attrs["space"]
    positions = space.positions(read_tokens(docs), VOCAB.strings.__getitem__)
    return Units(positions, positions.of_token, positions.of_token)
