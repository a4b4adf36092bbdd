"""A colour for each label: the same on every page about one pipeline."""

from collections.abc import Iterable

from spacy.language import Language

_COLOURS = (
    "#a5d8ff", "#ffd8a8", "#b2f2bb", "#eebefa", "#ffec99", "#ffc9c9", "#99e9f2", "#d0bfff",
    "#d8f5a2", "#fcc2d7", "#c3fae8", "#dee2e6", "#4dabf7", "#ffa94d", "#69db7c", "#da77f2",
    "#fcc419", "#ff8787", "#3bc9db", "#a98bfa", "#94d82d", "#f783ac", "#38d9a9", "#adb5bd",
)  # fmt: skip
"""Backgrounds for dark text, a dozen light ones and the same hues once more, stronger."""

PLAIN = "#dee2e6"
"""Of a span without a type."""

_ENTITIES = {"doc.ents", "doc.spans"}


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A background for each label; they repeat after two dozen."""
    return {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(dict.fromkeys(labels))}


def label_colours(nlp: Language, others: Iterable[str] = ()) -> dict[str, str]:
    """Colours of all labels of entities that a pipeline knows, and after them of other labels.

    So a label has its colour whatever else a page shows. others: such as those of gold entities.
    """
    known = {
        label
        for name, labels in nlp.pipe_labels.items()
        if _ENTITIES & set(nlp.get_pipe_meta(name).assigns)
        for label in labels
    }
    return colours_of([*sorted(known), *sorted(others)])
