"""The five tasks: entities of one kind, and a list of similar names from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass


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
