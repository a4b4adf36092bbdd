"""Sentence boundaries: a `sentencizer` is added where a pipeline needs one and has none."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import add_segmenter, blank
from spacy_cascade.workflows.sentences import split_sentences


@pytest.mark.parametrize(
    ("before", "of_sentences", "is_needed"),
    [
        ([], None, True),
        ([], True, True),
        ([], False, False),
        (["attribute_ruler"], True, True),
        (["sentencizer"], True, False),
        (["attribute_ruler", "sentencizer", "entity_ruler"], True, False),
    ],
)
def test_boundaries_are_set_where_nothing_else_sets_them(
    before: list[str], of_sentences: bool | None, is_needed: bool
) -> None:
    """None: there is no segmenter."""
    nlp = blank()
    for name in before:
        nlp.add_pipe(name)
    if of_sentences is not None:
        segmenter: Any = add_segmenter(nlp, set_ents=True)
        segmenter.model.attrs["sentences"] = of_sentences
    names = list(nlp.pipe_names)
    assert split_sentences(nlp) is is_needed
    assert nlp.pipe_names == [*["sentencizer"] * is_needed, *names]
