"""Templates of conjunctions: what they are called, and that their features are the same."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import add_segmenter, blank, make_examples
from sample_pipelines import with_templates
from spacy_cascade.features.templates import Templates
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.systems.induction.component import (
    NO_TEMPLATE,
    can_join,
    conjunction_keys,
    know,
    space_of,
    template_numbers,
    template_text,
)

PATTERNS = {"number": "^[0-9]+$"}


def expanded(*lines: str):
    return Templates(lines, PATTERNS, {}).expanded()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["lower@-1", "suffix(3)"], "lower@-1 & suffix(3)@0"),
        (["pattern(number)@1", "bias"], "pattern(number)@1 & bias"),
        (["brief_class@last+1", "size"], "brief_class@last+1 & size"),
        (["brief_class@all", "word@first-2"], "brief_class@all & word@-2"),
    ],
)
def test_the_text_of_a_conjunction_is_a_template_with_its_parts(lines, expected):
    templates = expanded(*lines)
    parts = frozenset(part for template in templates for part in template.parts)
    text = template_text(parts, templates)
    assert text == expected
    (parsed,) = expanded(text)
    assert set(parsed.parts) == parts


def test_templates_that_are_there_and_those_that_cannot_join():
    templates = expanded("suffix(2)", "lower@1", "lower@1 & suffix(2)")
    assert template_text(set(templates[2].parts), templates) == "lower@first+1 & suffix(2)@first+0"
    assert [can_join(each) for each in expanded("word@any", "word@-1")] == [False, True]


def test_features_of_conjunctions_hold_where_both_parts_do():
    nlp = blank()
    pipe = add_segmenter(nlp, **with_templates(without=["&"]))
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    space, units = pipe.space, units_of(pipe, examples)
    numbers, templates = template_numbers(space, units), space.templates.expanded()
    assert (numbers != NO_TEMPLATE).all()
    wanted = {text: i for i, text in enumerate(map(str, templates))}
    active = space.design(units).active_features()
    rows = [
        set(active.indices[a:b].tolist())
        for a, b in zip(active.indptr, active.indptr[1:], strict=False)
    ]
    first = np.flatnonzero(numbers == wanted["lower@first+0"])
    other = np.flatnonzero(numbers == wanted["length@first+1"])
    pairs = [
        (a, b, [u for u, row in enumerate(rows) if {a, b} <= row])
        for a in first.tolist()
        for b in other.tolist()
    ]
    pairs = [pair for pair in pairs if pair[2]]
    assert len(pairs) > 10
    text = template_text({templates[numbers[i]].parts[0] for i in pairs[0][:2]}, templates)
    joined = space_of(space, [text])
    pipe.model.attrs["space"] = joined
    units = units_of(pipe, examples)
    having = units.take(np.array([where[0] for _, _, where in pairs]))
    keys, parents = conjunction_keys(joined, having, [text] * len(pairs))
    assert not len(parents)
    none = conjunction_keys(joined, units.take(np.zeros(0, dtype=np.int64)), [])
    assert [each.tolist() for each in none] == [[], []]
    ids = know(joined, keys)
    np.testing.assert_array_equal(ids, np.arange(len(pairs)))
    found = joined.design(units).active_features()
    expected = sorted((u, i) for i, (_, _, where) in enumerate(pairs) for u in where)
    units_of_entries = np.repeat(np.arange(found.n_rows), np.diff(found.indptr)).tolist()
    assert sorted(zip(units_of_entries, found.indices.tolist(), strict=True)) == expected
