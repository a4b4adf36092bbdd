"""The internal and the external view of template sets."""

from __future__ import annotations

import pytest

from spacy_cascade.errors import TemplateError
from spacy_cascade.features.template_sets import (
    make_classification,
    make_segmentation,
    make_segments,
    make_templates,
)
from spacy_cascade.features.templates import Templates
from spacy_cascade.systems.unlabelled.views import View, make_view

INTERNAL_OF_TOKENS = (
    "word@0", "suffix(3)", "brief_class@recurrence", "word & length", "lexicon(names)",
    "lower@long_form", "seen_inside",
)  # fmt: skip
EXTERNAL_OF_TOKENS = (
    "word@-1", "lower@2", "lower@recurrence-1", "lower@sentence", "word@-2 & word@-1",
)  # fmt: skip
NEITHER_OF_TOKENS = (
    "bias", "word@-1 & word@0", "seen_inside@1", "lexicon(names)@1", "lower@-1 & seen_inside@0",
)  # fmt: skip


def set_of(*templates: str) -> Templates:
    return make_templates(templates, {}, {"names": ["Ann"]})  # type: ignore[dict-item]


def texts(templates: Templates) -> set[str]:
    return {template.text for template in templates.expanded()}


def test_templates_of_tokens_by_where_they_look() -> None:
    every = set_of(*INTERNAL_OF_TOKENS, *EXTERNAL_OF_TOKENS, *NEITHER_OF_TOKENS)
    for view, expected in (("internal", INTERNAL_OF_TOKENS), ("external", EXTERNAL_OF_TOKENS)):
        assert texts(make_view(every, [view])) == texts(set_of("bias", *expected))


def test_the_second_token_of_a_span_is_in_no_view() -> None:
    inside = ("size", "word@any", "lower@all", "word@first", "word@last", "lower@first & size")
    outside = ("word@first-1", "word@last+1", "lower@head_recurrence-1", "type_before")
    unclear = ("word@first+1", "word@last-1", "word@first-1 & word@first")
    every = set_of(*inside, *outside, *unclear)
    assert texts(make_view(every, ["internal"], of_spans=True)) == texts(set_of(*inside))
    assert texts(make_view(every, ["external"], of_spans=True)) == texts(set_of(*outside))


@pytest.mark.parametrize(
    ("every", "of_spans"),
    [(make_segmentation(), False), (make_classification(), True), (make_segments(), True)],
)
def test_the_views_of_a_set_share_nothing_but_the_bias(every: Templates, of_spans: bool) -> None:
    internal, external = (texts(make_view(every, [view.value], of_spans)) for view in View)
    assert internal & external == texts(every) & {"bias"}
    both = make_view(every, ["internal", "external"], of_spans)
    assert texts(both) == internal | external <= texts(every)
    assert both.patterns == every.patterns


def test_a_view_without_templates_is_an_error() -> None:
    with pytest.raises(TemplateError, match=r"no external view.*what stands around"):
        make_view(set_of("bias", "word@0"), ["external"])
    with pytest.raises(TemplateError, match=r"no internal view.*the phrase itself"):
        make_view(set_of("bias", "word@1"), ["internal"])
    for wrong in (["outside"], []):
        with pytest.raises(TemplateError, match="There is no view"):
            make_view(set_of("word"), wrong)
