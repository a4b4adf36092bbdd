"""The five tasks: entities of one kind, and a list of similar names from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Task:
    """Entities of one label in a corpus of the suite. terms: file of the external dictionary."""

    name: str
    corpus: str
    label: str
    terms: str
    in_figure: bool = False


TASKS = (
    Task("person", "conll2003", "PER", "first_names.txt", in_figure=True),
    Task("location", "conll2003", "LOC", "places.txt"),
    Task("gene", "bionlp13cg", "Gene_or_gene_product", "genes.txt", in_figure=True),
    Task("cell type", "jnlpba", "cell_type", "cells.txt", in_figure=True),
    Task("anatomy", "anatem", "Anatomy", "cells.txt"),
)
"""`in_figure`: those of the learning curves; the paper draws three, too."""


def only(source: str, target: str, label: str) -> dict[str, int]:
    """Write a corpus again with the entities of one label."""
    from ...lib.corpora import read_docs, write_docs

    docs = read_docs(source)
    for doc in docs:
        doc.ents = [entity for entity in doc.ents if entity.label_ == label]
    write_docs(docs, Path(target))
    return {"documents": len(docs), "entities": sum(len(doc.ents) for doc in docs)}
