"""Annotated corpora: column files in, spaCy training data out.

`columns` reads the files, `tags` reads IOB and BILOU tags as spans, and `docs` turns
the result into `Doc`s and `.spacy` files.
"""

from spacy_cascade.corpora.columns import Document, ReadOptions, Sentence, read_columns
from spacy_cascade.corpora.docs import ConversionSummary, convert, to_docs
from spacy_cascade.corpora.tags import LabelledSpan, Scheme

__all__ = [
    "ConversionSummary",
    "Document",
    "LabelledSpan",
    "ReadOptions",
    "Scheme",
    "Sentence",
    "convert",
    "read_columns",
    "to_docs",
]
