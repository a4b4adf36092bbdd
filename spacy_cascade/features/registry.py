"""Attributes by the names that templates use: built-in ones and those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TypeVar

from ..errors import TemplateError
from . import group_attributes, placed_attributes, word_attributes
from .attributes import Attribute, LinkingAttribute
from .resources import SHARES, ResourceSpec

GROUP = "spacy_cascade_attributes"
"""Group of entry points, one for each attribute of another package."""
LINKING = "abbreviation"
"""The attribute whose links the places `@long_form` and `@long_form_last` follow."""
AttributeClass = TypeVar("AttributeClass", bound=type[Attribute])

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
    "span": group_attributes.SpanTag,
    "size": placed_attributes.Size,
    "bias": word_attributes.Bias,
    **dict.fromkeys(placed_attributes.CONTEXT, placed_attributes.AroundSpan),
}


_registered: dict[str, type[Attribute]] = {}


def register_attribute(name: str) -> Callable[[AttributeClass], AttributeClass]:
    """A decorator: templates know the class by this name, as if it had an entry point."""

    def register(attribute: AttributeClass) -> AttributeClass:
        _registered[name] = attribute
        return attribute

    return register


def attribute_class(name: str) -> type[Attribute]:
    """The class behind a name. Raises `TemplateError` for a name that nobody has registered."""
    found = BUILT_IN.get(name) or _registered.get(name)
    if found is not None:
        return found
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name in points:
        loaded: type[Attribute] = points[name].load()
        return register_attribute(name)(loaded)
    known = ", ".join([*BUILT_IN, *sorted({*_registered, *points})])
    raise TemplateError(
        f"unknown attribute '{name}'. Known: {known}. Mend the name, or install the package that "
        "has it, or import it with '--code'."
    )


def linking_resource() -> ResourceSpec:
    """The resource behind the links that places such as `@long_form` follow."""
    attribute = attribute_class(LINKING)
    assert issubclass(attribute, LinkingAttribute)
    return attribute.links
