"""The template set of levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...checks import configured
from ...features.template_sets import named_set
from ...features.templates import Templates
from ...types import Texts

LEVELS = [
    "bias", "lower@-2..2", "word@-1..1", "brief_class", "nested_span(KEY)@-1 & nested_span(KEY)@0",
    "nested_span(KEY)@0 & nested_span(KEY)@1", "lower@-1 & nested_span(KEY)@0",
    "lower@0 & nested_span(KEY)@1", "lower@0 & nested_span(KEY)@-1",
    "span_word(KEY, before) & span_word(KEY, last)",
    "span_word(KEY, after) & span_word(KEY, last)",
    "span_word(KEY, before) & span_word(KEY, after)",
    "lower@0 & span_word(KEY, last)@-1 & span_word(KEY, last)@1",
]  # fmt: skip
"""Words, the spans below, and the words at their edges: what stands before, first, last and after.

KEY: of the group of spans. Affixes and the document gain nothing here: the spans below know them.
"""

_NONE: list[str] = []


@configured
def make_levels(
    key: str = "cascade",
    extra: Texts = _NONE,
    lexicons: Mapping[str, Any] | None = None,
    resources: Mapping[str, Any] | None = None,
    without: Texts = _NONE,
    words: Mapping[str, Any] | None = None,
) -> Templates:
    """The default of `cascade_levels`; key: of the group of spans below, which it looks at.

    The other options are those of all sets (`features.template_sets`).
    """
    of_key = [text.replace("KEY", key) for text in LEVELS]
    return named_set(of_key)(extra, lexicons, resources, without, words)
