"""A few sentences, and templates that see nothing of them, for tests of encoders."""

from __future__ import annotations

from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

BIAS = {
    "@misc": "spacy_cascade.Templates.v1",
    "templates": ["bias"],
    "patterns": {},
    "lexicons": {},
}
TEXTS = [
    ("Ada Lovelace met Babbage in London", [(0, 2, "PER"), (3, 4, "PER"), (5, 6, "LOC")]),
    ("They left Paris for Rome", [(2, 3, "LOC"), (4, 5, "LOC")]),
    ("Alan Turing wrote to Gödel", [(0, 2, "PER"), (4, 5, "PER")]),
    ("Nothing happened in June", []),
    ("Emmy Noether taught in Göttingen", [(0, 2, "PER"), (4, 5, "LOC")]),
    ("Vienna is where Hilbert spoke", [(0, 1, "LOC"), (3, 4, "PER")]),
]


def examples(nlp: Language) -> list[Example]:
    found = []
    for text, spans in TEXTS:
        reference = nlp.make_doc(text)
        reference.ents = [Span(reference, *span) for span in spans]
        found.append(Example(nlp.make_doc(text), reference))
    return found
