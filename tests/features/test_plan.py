"""Templates sorted for kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.features.plan import make_plan
from spacy_cascade.features.templates import UNIT, Templates

LINES = [
    "word@-2..2",
    "word@any",
    "lower@recurrence+1",
    "class@last-1",
    "suffix(2)@last",
    "seen_first@0",
    "word@-1 & word@0",
    "word@all",
    "word@-1 & word@0 & size",
    "tag@3",
    "lexicon(genes) & class@0",
    "bias",
    "size",
]


def plan_of(*lines: str):
    templates = Templates(lines, {}, {"genes": ["p53"]})
    return templates, make_plan(templates)


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


def test_margin_reaches_as_far_as_any_part():
    assert plan_of("word@-5", "word@2 & word@3")[1].margin == 5
    assert plan_of("word@0 & word@-7")[1].margin == 7
    assert plan_of("word@head_recurrence+4")[1].margin == 4
    assert plan_of("bias")[1].margin == 1
