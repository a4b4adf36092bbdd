"""The template language: what it says, what it does not understand, and how kernels get it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.errors import TemplateError
from spacy_cascade.features import template_sets as sets
from spacy_cascade.features.plan import make_plan
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.templates import (
    ANY,
    FIRST,
    HEAD_RECURRENCE,
    LAST,
    RECURRENCE,
    SENTENCE,
    UNIT,
    Templates,
)

PATTERNS = {"digit": "[0-9]", "dash": "-"}
LEXICONS = {"genes": ["p53"], "cells": ["T cell"]}


def expand(*lines: str) -> list[str]:
    return [template.text for template in Templates(lines, PATTERNS, LEXICONS).expanded()]


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("word", ["word@first+0"]),
        ("word@-1", ["word@first-1"]),
        ("word@+1", ["word@first+1"]),
        ("word@first-1", ["word@first-1"]),
        ("word@last+2", ["word@last+2"]),
        ("word@any", ["word@any"]),
        ("word@recurrence+1", ["word@recurrence+1"]),
        (
            "word@head_recurrence-1..1",
            ["word@head_recurrence-1", "word@head_recurrence+0", "word@head_recurrence+1"],
        ),
        ("word@last-1..0", ["word@last-1", "word@last+0"]),
        ("word@recurrence-1..-1", ["word@recurrence-1"]),
        ("prefix(3)", ["prefix(3)@first+0"]),
        ("suffix(1..2)@last", ["suffix(1)@last+0", "suffix(2)@last+0"]),
        ("pattern(*)@any", ["pattern(digit)@any", "pattern(dash)@any"]),
        ("lexicon(*)", ["lexicon(genes)@first+0", "lexicon(cells)@first+0"]),
        ("tag@1", ["tag@first+1"]),
        ("size & bias", ["size & bias"]),
        ("  word@-1&word  ", ["word@first-1 & word@first+0"]),
        ("size & lower@all & tag@last", ["size & lower@all & tag@last+0"]),
        (
            "prefix(1..2) & word@0..1",
            [
                "prefix(1)@first+0 & word@first+0",
                "prefix(1)@first+0 & word@first+1",
                "prefix(2)@first+0 & word@first+0",
                "prefix(2)@first+0 & word@first+1",
            ],
        ),
        ("word@-16 & word@16", ["word@first-16 & word@first+16"]),
    ],
)
def test_what_a_line_means(line, meaning):
    assert expand(line) == meaning


def test_repeated_templates_count_once():
    names = ["word", "lower", "length", "class", "brief_class"]
    assert expand(*names) == [f"{name}@first+0" for name in names]
    assert expand("word@0", "word", "word@-1..0", "word@first") == ["word@first+0", "word@first-1"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "cannot read ''"),
        ("word@0 &", "cannot read ''"),
        ("word@0 word@1", "cannot read 'word@0 word@1'"),
        ("word@@1", "cannot read"),
        ("word@", "cannot read 'word@'"),
        ("word@..1", "cannot read"),
        ("word@1.5", "cannot read"),
        ("word@middle", "cannot read 'word@middle'. A part looks like 'word@-1'"),
        ("Word", "cannot read"),
        ("prefix(f(1))", "cannot read"),
        ("wrd@0", "unknown attribute 'wrd'. Known: word, lower"),
        ("word(3)", "'word' takes no argument"),
        ("bias()", "'bias' takes no argument"),
        ("size@0", "'size' has no place; remove '@'"),
        ("prefix", "expected a number or a range"),
        ("prefix(x)", "expected a number or a range such as '1..5', not 'x'"),
        ("prefix(1..2..3)", "expected a number or a range"),
        ("prefix(3..1)", "the range '3..1' is empty"),
        ("suffix(0)", "an affix has 1 character or more"),
        ("suffix(-1..2)", "an affix has 1 character or more"),
        ("word@17", "the offset 17 is too far; the furthest is 16"),
        ("word@-999999999..999999999", "has more than 1,000 numbers"),
        ("prefix(1..300000000)", "the range '1..300000000' has more than 1,000 numbers"),
        ("&".join(5 * ["word@-16..16"]), "it stands for more than 10,000 templates"),
        ("pattern", "there is no pattern 'None'. Known: digit, dash; add it under 'patterns'"),
        ("span", "'span' needs the key of a span group"),
        ("span(chunks)@any", "'span' can be seen from '@first' and '@last' only"),
        ("lexicon(drugs)", "there is no lexicon 'drugs'. Known: genes, cells"),
        ("word@any+1", "'@any' takes no offset"),
        ("word@sentence+1", "'@sentence' takes no offset"),
        ("tag@any", "'tag' can be seen from '@first' and '@last' only"),
        ("pos@all", "'pos' can be seen from '@first' and '@last' only"),
        ("word@any & size", "'@any' gives many values and cannot be part of a conjunction"),
        ("bias & lower@recurrence+1", "'@recurrence' gives many values"),
    ],
)
def test_lines_that_make_no_sense(line, complaint):
    with pytest.raises(TemplateError) as caught:
        expand("word@0", line)
    message = str(caught.value)
    assert message.startswith(f"In the template '{line}': ")
    assert complaint in message


@settings(max_examples=60)
@given(st.text("word lsiz&@()-+.01*éany٣", max_size=20))
def test_any_line_is_understood_or_refused(line):
    try:
        templates = expand(line)
    except TemplateError:
        return
    for template in templates:
        assert expand(template) == [template]


def test_no_templates_and_too_many():
    lines = [f"prefix(1..1000)@{n}" for n in range(11)]
    with pytest.raises(TemplateError, match=r"10,000 templates at most.*'prefix\(1..1000\)@10'"):
        expand(*lines)
    assert len(expand("prefix(1..1000)@-4..5")) == 10_000
    with pytest.raises(TemplateError, match="at least one template, such as 'word@0'"):
        Templates((), {}, {})
    with pytest.raises(TemplateError, match="at least one template"):
        Templates(("pattern(*)",), {}, {})


@pytest.mark.parametrize("pattern", ["(", "[a-", "*", "(?P<x>a"])
def test_patterns_that_do_not_compile(pattern):
    with pytest.raises(TemplateError, match=r"The pattern 'mine' .*templates\.patterns"):
        Templates(("word@0",), {"mine": pattern}, {})


@pytest.mark.parametrize("name", ["a)", "a))", "(a", "x y", "ü", "1..2", "*"])
def test_names_of_patterns(name):
    """Whatever a pattern is called, all of them can be asked for."""
    templates = Templates(("pattern(*)",), {name: "[0-9]"}, {})
    (template,) = templates.expanded()
    attribute = template.parts[0].attribute
    assert (attribute.value("p53"), attribute.value("p")) == ("yes", None)


MAKERS = (sets.make_jnlpba, sets.make_segmentation, sets.make_classification, sets.make_tagging,
          sets.make_conll2003_chunks, sets.make_conll2003_entities)  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_named_sets(make):
    plain = [template.text for template in make().expanded()]
    more = [
        template.text for template in make(extra=["tag@-1"], lexicons={"genes": ["p53"]}).expanded()
    ]
    members = [f"lexicon(genes)@first{offset:+d}" for offset in (-1, 0, 1)]
    assert set(more) == {*plain, *members, "tag@first-1"}


def test_jnlpba_set_is_the_one_of_the_thesis():
    """Tables 5.2 and 5.3: words, bigrams, trigrams, affixes, classes, lengths, patterns."""
    templates = {template.text for template in sets.make_jnlpba().expanded()}
    at = [f"@first{offset:+d}" for offset in (-2, -1, 0, 1, 2)]
    expected = {"bias", *(f"word{place}" for place in at)}
    for n in (2, 3):
        for i in range(len(at) - n + 1):
            expected.add(" & ".join(f"word{place}" for place in at[i : i + n]))
    expected |= {f"{name}({n})@first+0" for name in ("prefix", "suffix") for n in range(1, 6)}
    patterns = [f"pattern({name})" for name in sets.JNLPBA_PATTERNS]
    for name in ("class", "brief_class", "length", *patterns):
        expected |= {f"{name}{place}" for place in at[1:4]}
    assert templates == expected
    assert len(sets.JNLPBA_PATTERNS) == 14


def test_recurrences_keep_the_keys_of_their_features() -> None:
    """Keys are salted with other names of these places."""
    for place, salt in (("recurrence-1", "again-1"), ("head_recurrence+2", "head_again+2")):
        (template,) = Templates((f"lower@{place}",), {}, {}).expanded()
        assert template.text == f"lower@{place}"
        assert str(template) == f"lower@{salt}"
        with pytest.raises(TemplateError, match="cannot read"):
            expand(f"lower@{salt}")


def test_templates_of_a_set_can_be_left_out() -> None:
    plain, more = sets.make_segmentation().templates, "lower@recurrence-1"
    found = sets.make_segmentation(extra=[more], without=["recurrence", "seen_inside"])
    kept = [t for t in plain if "recurrence" not in t and "seen_inside" not in t]
    assert found.templates == (*kept, more)
    assert len(kept) < len(plain)


def test_a_named_set_with_what_a_config_adds() -> None:
    """What is left out is not taken from what is added; several tables can have one name."""
    made = sets.named_set(["word@0", "lower@1", "pattern(x)"], {"x": "[0-9]"}, ["cluster(NAME)@1"])
    assert made().templates == ("word@0", "lower@1", "pattern(x)")
    assert (made().patterns, made().lexicons, made().resources) == ({"x": "[0-9]"}, {}, {})
    tables = {"brown": "b.tsv", "more": {"a": "a.tsv", "": "rest.tsv"}}
    found = made(
        extra=["lower@2"], lexicons={"genes": ["p53"]}, resources={"r": 1}, without=["lower", "z"],
        words=tables,
    )  # fmt: skip
    assert found.templates == (
        "word@0", "pattern(x)", "lexicon(genes)@-1..1",
        "cluster(brown)@1", "cluster(more_a)@1", "cluster(more)@1", "lower@2",
    )  # fmt: skip
    assert (found.lexicons, found.resources) == ({"genes": ["p53"]}, {"r": 1})
    assert found.words == {"brown": "b.tsv", "more_a": "a.tsv", "more": "rest.tsv"}


def test_patterns_mean_the_same_after_a_config_was_saved():
    """Saving a config doubles its dollar signs, each time."""
    for saved, meant in (("^[0-9]+$$", "^[0-9]+$"), ("a$$$$", "a$"), (r"a\$$", r"a\$$")):
        made = sets.make_templates(["pattern(*)"], {"end": saved}, {})
        assert made.patterns == {"end": meant}


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("lexicon(own)", {"lexicons": {"own": 5}}),
        ("lexicon(own)", {"lexicons": {"own": [1, 2]}}),
        ("similarity(own)", {"lexicons": {"own": 5}}),
        ("cluster(own)", {"words": {"own": 5}}),
        ("cluster(own)", {"words": {"own": True}}),
    ],
)
def test_settings_of_another_type_are_named(line: str, settings: dict[str, Any]) -> None:
    (section,) = settings
    with pytest.raises(TemplateError, match=f"In the template .*what stands under '{section}' is"):
        Templates((line,), {}, **{"lexicons": {}, **settings})


LINES = [
    *("word@-2..2", "word@any", "lower@recurrence+1", "class@last-1", "suffix(2)@last"),
    *("seen_first@0", "word@-1 & word@0", "word@all", "word@-1 & word@0 & size", "tag@3"),
    *("lexicon(genes) & class@0", "bias", "size", "word@-5", "word@0 & word@-7"),
    "word@head_recurrence+4",
]


def plan_of(*lines: str):
    templates = Templates(lines, {}, {"genes": ["p53"]})
    return templates, make_plan(templates)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(LINES), min_size=1, unique=True))
def test_every_template_has_its_place(lines):
    templates, plan = plan_of(*lines)
    expanded = templates.expanded()
    assert len(plan.lexeme_salt) == sum(template.is_lexeme_level for template in expanded)
    assert len(plan.unit_level.salt) == sum(not template.is_lexeme_level for template in expanded)
    salts = [*plan.lexeme_salt.tolist(), *plan.unit_level.salt.tolist()]
    assert len(set(salts)) == len(expanded)
    assert 0 not in salts
    assert plan.n_slots == len(plan.slot_start) - 1 == len(plan.slots.offset)
    assert plan.slot_start.tolist() == sorted(set(plan.slot_start.tolist()))
    assert plan.slot_start[0] == 0
    assert plan.slot_start[-1] == len(plan.lexeme_salt)
    places = set(zip(plan.slots.anchor.tolist(), plan.slots.offset.tolist(), strict=True))
    assert len(places) == plan.n_slots
    offsets = [part.offset for template in expanded for part in template.parts]
    assert plan.margin == max(1, *map(abs, offsets))
    assert (plan.lexeme_attribute < len(plan.attributes)).all()
    of_unit = plan.unit_level.anchor == UNIT
    n_columns = plan.n_unit_attributes + len(plan.placed)
    assert (plan.unit_level.column[~of_unit] < n_columns).all()
    assert (plan.unit_level.column[of_unit] < len(plan.of_spans) + len(plan.lengths)).all()
    assert plan.unit_level.first_part[-1] == len(plan.unit_level.column)


def test_slots_are_places_of_words() -> None:
    """Those at an edge come first; places where words occur again are numbered by their offsets."""
    _, plan = plan_of(
        "word@any", "lower@recurrence-2", "word@recurrence+1", "class@head_recurrence-2",
        "word@last+1", "word@-1", "class@-1", "word@sentence",
    )  # fmt: skip
    numbers = zip(*map(list, plan.slots[:3]), strict=True)
    found = {(anchor, offset): number for anchor, offset, number in numbers}
    assert found == {
        (FIRST, -1): -1, (LAST, 1): -1, (ANY, 0): -1, (SENTENCE, 0): -1,
        (RECURRENCE, -2): 0, (RECURRENCE, 1): 1, (HEAD_RECURRENCE, -2): 0,
    }  # fmt: skip
    arrays = [*plan.slots, plan.slot_start, *plan.unit_level[1:], *plan.pairs[:3]]
    assert {each.dtype for each in arrays} == {np.dtype(np.int32)}
    assert {*list(found)[:2]} == {(FIRST, -1), (LAST, 1)}
    assert plan.slots.offsets.tolist() == [-2, 1]
    assert (plan.n_slots, plan.n_edge_slots, plan.follows_links) == (7, 2, False)
    (first, *_) = plan.slot_start.tolist()[list(found).index((FIRST, -1)) :]
    at_first = [str(t.parts[0].attribute) for t in plan.lexeme_templates[first : first + 2]]
    assert at_first == ["word", "class"]


@pytest.mark.parametrize("place", ["long_form", "long_form_last"])
def test_links_are_followed_where_a_place_leads_along_them(place: str) -> None:
    assert plan_of("word@any", f"word@{place}")[1].follows_links


def test_templates_of_wholes_have_features_of_their_own() -> None:
    """What they read gets a number, too."""
    (whole,) = Templates(("tag@-3 & lower@0",), {}, {}).expanded()
    plan = make_plan(Templates(("size", "elsewhere & size"), {}, {}), [whole])
    assert plan.units_have_context
    assert not make_plan(Templates(("size",), {}, {}), [whole]).units_have_context
    assert (plan.placed, plan.n_unit_attributes, plan.margin) == (("tag",), 1, 3)
    assert [attribute.name for attribute in plan.all_attributes] == [
        "lower", "tag", "elsewhere", "size"
    ]  # fmt: skip
    kernels = plan.for_kernels([whole], "whole:")
    assert kernels.salt.tolist() == [hash_string(f"whole:{whole}")]
    assert (kernels.column.tolist(), kernels.offset.tolist()) == ([1, 0], [-3, 0])
    assert plan.for_kernels([whole], "").salt.tolist() == [hash_string(str(whole))]


def test_lexeme_level_and_unit_level():
    _, plan = plan_of("word@0", "word@any", "tag@0", "word@0 & word@1", "word@all", "size", "bias")
    assert len(plan.lexeme_salt) == 3  # the bias is a feature of any word
    assert len(plan.unit_level.salt) == 4
    assert plan.placed == ("tag",)


def test_parents_are_templates_with_some_of_the_parts():
    _, plan = plan_of("size & word@0 & tag@0", "tag@0 & size", "word@1 & size", "size", "tag@0")
    sizes = np.diff(plan.unit_level.first_part)
    assert sizes.tolist() == [1, 1, 2, 2, 3]
    parents = np.split(plan.unit_level.parent, plan.unit_level.first_parent[1:-1])
    assert [parent.tolist() for parent in parents] == [[], [], [0, 1], [0], [0, 1, 2]]
