"""Attributes by the names that templates use: built-in ones and those of other packages."""

from __future__ import annotations

from typing import Any

import catalogue

from ..errors import TemplateError
from . import placed_attributes, word_attributes
from .attributes import Attribute
from .word_counts import SHARES

attributes: Any = catalogue.create("spacy_cascade", "attributes", entry_points=True)
"""Further attributes; also read from the entry points of the group `spacy_cascade_attributes`."""

BUILT_IN: dict[str, type[Attribute]] = {
    "word": word_attributes.Word,
    "lower": word_attributes.Lower,
    "length": word_attributes.Length,
    "class": word_attributes.Class,
    "brief_class": word_attributes.BriefClass,
    "prefix": word_attributes.Affix,
    "suffix": word_attributes.Affix,
    "pattern": word_attributes.Pattern,
    **dict.fromkeys(SHARES, word_attributes.Share),
    "tag": placed_attributes.Tag,
    "pos": placed_attributes.PartOfSpeech,
    "lexicon": placed_attributes.Membership,
    "lexicon_exact": placed_attributes.ExactMembership,
    "span": placed_attributes.SpanTag,
    "size": placed_attributes.Size,
    "bias": word_attributes.Bias,
    **dict.fromkeys(placed_attributes.CONTEXT, placed_attributes.Surroundings),
}


def attribute_class(name: str) -> type[Attribute]:
    """The class behind a name. Raises `TemplateError` for a name that nobody has registered."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in attributes:
        found: type[Attribute] = attributes.get(name)
        return found
    known = ", ".join([*BUILT_IN, *sorted(attributes.get_all())])
    raise TemplateError(
        f"unknown attribute '{name}'. Known: {known}. Mend the name, or install the package that "
        "has it, or import it with '--code'."
    )
