"""Corpora for tests of benchmarks."""

from __future__ import annotations

from pathlib import Path

from spacy.tokens import DocBin, Span

from helpers import blank, sample_docs


def tagged_sample(path: Path, n_docs: int) -> Path:
    """Sentences with tags that shapes of words give, and each capital a chunk."""
    docs = sample_docs(blank().vocab, n_docs=n_docs)
    for doc in docs:
        for token in doc:
            token.tag_ = "NN" if token.is_alpha else "SYM"
        doc.spans["chunks"] = [Span(doc, t.i, t.i + 1, "NP") for t in doc if t.text.isupper()]
    DocBin(docs=docs).to_disk(path)
    return path
