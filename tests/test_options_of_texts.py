"""Options of a config that take several texts: one text alone is an error, not its characters."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.metadata import distribution
from typing import Any, get_type_hints

import pytest
from confection import ConfigValidationError
from confection.typechecker import check_type

from helpers import add_segmenter, blank

NO_CONFIGS = {"spacy_cli", "spacy_cascade_commands", "spacy_cascade_kernels"}
"""Groups whose members no config names."""
PATHS = {("spacy_cascade.TermList.v1", "source")}
"""Where one text has a meaning of its own."""


def options() -> Iterator[tuple[str, str, Any]]:
    """Of all functions that the package registers: name, option and type."""
    for entry in distribution("spacy-cascade").entry_points:
        if entry.value.startswith("spacy_cascade") and entry.group not in NO_CONFIGS:
            made = entry.load()
            hints = get_type_hints(made.__init__ if inspect.isclass(made) else made)
            yield from ((entry.name, name, hint) for name, hint in hints.items() if hint != Any)


def test_no_option_takes_a_text_for_a_list_of_characters() -> None:
    of_texts = [
        (name, option, hint)
        for name, option, hint in options()
        if option != "return" and check_type(["one", "two"], hint)
    ]
    assert len(of_texts) > 20
    alone = {(name, option) for name, option, hint in of_texts if check_type("one", hint)}
    assert alone == PATHS
    assert all(check_type(("one", "two"), hint) for _, _, hint in of_texts)


@pytest.mark.parametrize("without", ["recurrence", "x" * 1_000_000], ids=["short", "long"])
def test_without_takes_words_and_not_the_letters_of_one(without: str) -> None:
    templates = {"@misc": "spacy_cascade.SegmentationTemplates.v1", "without": without}
    with pytest.raises(ConfigValidationError, match="without"):
        add_segmenter(blank(), model={"templates": templates})
    templates["without"] = [without]  # type: ignore[assignment]
    pipe = add_segmenter(blank(), model={"templates": templates})
    has_recurrences = any("recurrence" in one for one in pipe.space.templates.templates)
    assert has_recurrences is (without != "recurrence")
