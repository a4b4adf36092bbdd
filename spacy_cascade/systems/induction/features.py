"""Templates and keys of conjunctions that induction has chosen among known features.

A conjunction of features is an instance of a template: the one whose parts are those of all their
templates. So induced features are features like others, under another template set.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from ...features.space import FeatureSpace
from ...features.templates import FIRST, MULTIPLE, UNIT, Part, Template
from ...features.units import Units
from ...numeric.index import KeyIndex
from ...types import Ints1d, Keys1d

NO_TEMPLATE = -1


def template_numbers(space: FeatureSpace, units: Units) -> Ints1d:
    """Number, among the expanded templates, of the one that each known feature is of, `[K]`.

    `NO_TEMPLATE` where the units have no such feature, as for those of segments.
    """
    number = {template: i for i, template in enumerate(space.templates.expanded())}
    attributes = units.positions.table.attributes
    found = np.full(len(space), NO_TEMPLATE, dtype=np.int32)
    for templates, keys in (
        (space.plan.lexeme_templates, space.lexeme_keys(attributes)),
        (space.plan.unit_templates, space.unit_keys(units)),
    ):
        for j, template in enumerate(templates):
            ids = space.index.lookup(np.ascontiguousarray(keys[:, j]))
            found[ids[ids >= 0]] = number[template]
    return found


def can_join(template: Template) -> bool:
    """Whether features of it can be part of a conjunction."""
    return not any(part.anchor in MULTIPLE for part in template.parts)


def template_text(parts: Set[Part], templates: Sequence[Template]) -> str:
    """A template with these parts, in the order in which templates have them."""
    for template in templates:
        if set(template.parts) == parts:
            return template.text
    ordered = dict.fromkeys(part for template in templates for part in template.parts)
    return " & ".join(_part_text(part) for part in ordered if part in parts)


def _part_text(part: Part) -> str:
    """The part as one would write it: the first token needs no name."""
    if part.anchor != FIRST or part.anchor == UNIT:
        return part.text
    return f"{part.attribute}@{part.offset}"


def space_of(space: FeatureSpace, texts: Sequence[str]) -> FeatureSpace:
    """A feature space of other templates with the same resources, and no known features.

    texts: templates, whose attributes the space has, too.
    """
    other = space.with_templates(replace(space.templates, templates=tuple(texts)))
    made = space.resources.made
    other.resources.made = {key: made[key] for key in other.resources.specs if key in made}
    return other


def conjunction_keys(
    space: FeatureSpace, units: Units, texts: Sequence[str]
) -> tuple[Keys1d, Keys1d]:
    """Keys of conjunctions, of which unit `i` has one of the template `texts[i]`, uint64 `[U]`.

    And those of their parents, the features of templates with some of the parts: a conjunction is
    looked up only where its parents are known (`known.unit_level_features`).
    """
    place = {template: j for j, template in enumerate(space.plan.unit_templates)}
    parsed = [replace(space.templates, templates=(text,)).expanded()[0] for text in texts]
    columns = np.array([place[template] for template in parsed], dtype=np.int64)
    keys, level = space.unit_keys(units), space.plan.unit_level
    of_parents = [
        keys[i, level.parent[level.first_parent[j] : level.first_parent[j + 1]]]
        for i, j in enumerate(columns.tolist())
    ]
    nothing = np.zeros(0, dtype=np.uint64)
    return keys[np.arange(len(texts)), columns], np.concatenate([nothing, *of_parents])


def know(space: FeatureSpace, keys: Keys1d) -> Ints1d:
    """Make keys the known features, each once; the number of each, int32 `[n]`."""
    _, first = np.unique(keys, return_index=True)
    space.index = KeyIndex(keys[np.sort(first)])
    return space.index.lookup(keys)
