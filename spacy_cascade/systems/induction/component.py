"""Feature induction in a component: its trainer finds features, which become its templates.

The features of the component are the tests. A conjunction of features is an instance of a template:
the one whose parts are those of all their templates. So afterwards the component has the induced
features, which are features like others, under templates of their own. The config of the pipeline,
which is saved with it, then states these templates and no induction, so that what was trained is an
ordinary model.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from spacy.util import logger
from thinc.api import Config

from ...features.space import FeatureSpace
from ...features.templates import FIRST, MULTIPLE, UNIT, Part, Template
from ...features.units import Units
from ...inference.structure import Weights
from ...losses.base import LabelledSequences
from ...numeric.index import KeyIndex
from ...penalties.base import Penalty
from ...pipeline.learning import ExampleSource, fitted
from ...scorers.linear import set_weights
from ...trainers.base import Task
from ...types import Ints1d, Keys1d, Pointers1d
from .candidates import AtomicTests, Candidate, Conjunction


@dataclass(frozen=True)
class Round:
    """What a round added; n_hard: how many units were wrong before it. loss: after it."""

    n_hard: int
    added: tuple[Candidate, ...]
    loss: float


@dataclass(frozen=True)
class Induced:
    """What induction found.

    kept: features of segments, which all stay. features: the others, in the order in which they
    were added. units: the first unit that has each of those. weights: of both, in this order.
    """

    kept: Pointers1d
    features: tuple[Conjunction, ...]
    units: Pointers1d
    rounds: tuple[Round, ...]
    weights: Weights


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
    looked up only where its parents are known (`keys.unit_level_features`).
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


_OF_ALL_SETS = ("lexicons", "resources", "words")
"""Settings that all template sets have, besides patterns."""


@dataclass(frozen=True)
class BeforeInduction:
    """Features and config of a component whose features have been induced since."""

    space: FeatureSpace
    block: Config | None

    def restore(self, pipe: Any) -> None:
        """The templates of the component are those of its config again."""
        pipe.model.attrs["space"], pipe.before_induction = self.space, None
        _write_block(pipe, self.block)


def tests_of(space: FeatureSpace, units: Units) -> AtomicTests:
    """The known features of a space as tests."""
    templates, numbers = space.templates.expanded(), template_numbers(space, units)
    joins = np.array([can_join(template) for template in templates])[numbers]
    parts = [frozenset(template.parts) for template in templates]
    return AtomicTests(numbers, joins & (numbers != NO_TEMPLATE), parts)


class TestedSource:
    """A source whose features can be chosen, for `Induction`."""

    def __init__(self, source: ExampleSource) -> None:
        self._source, self._pipe = source, source.component
        self._tests: AtomicTests | None = None

    @property
    def penalty(self) -> Penalty:
        """The component's penalty. Raises `ConfigError` where it has none."""
        penalty: Penalty = self._pipe.penalty
        return penalty

    def _units(self) -> tuple[Units, Ints1d, Pointers1d]:
        examples = self._source.examples
        gold = [self._pipe.gold.read(example) for example in examples]
        return fitted(self._pipe, examples, gold)

    def tests(self) -> tuple[Task, AtomicTests]:
        """As `task`, and what its features are, which others are made of."""
        units, observed, starts = self._units()
        space = self._pipe.space
        data = LabelledSequences(space.encode(units), self._pipe.structure, observed, starts)
        self._tests = tests_of(space, units)
        return self._source.task_on(data), self._tests

    def adopt(self, found: Induced) -> None:
        """Have these features in place of all, with their weights, from now on."""
        pipe, tests, space = self._pipe, self._tests, self._pipe.space
        assert tests is not None
        templates = space.templates.expanded()
        parts = [tests.template_of(each) for each in found.features]
        text_of = {each: template_text(each, templates) for each in dict.fromkeys(parts)}
        texts = [text_of[each] for each in parts]
        pipe.model.attrs["space"] = space_of(space, list(dict.fromkeys(texts)))
        rows = _give_features(space, pipe.space, found, self._units()[0], texts)
        weights = np.zeros((len(pipe.space), found.weights.features.shape[1]))
        np.add.at(weights, rows, found.weights.features)
        set_weights(pipe.model, weights, found.weights.transitions)
        pipe.before_induction = BeforeInduction(space, _block(pipe))
        _write_block(pipe, _with_templates(pipe.before_induction.block, pipe.space))

    def tell(self, number: int, done: Round) -> None:
        """Say what a round did; number: from 0."""
        logger.info(
            "'%s', round %d of induction: %d units are wrong, %d features added, loss %.1f",
            self._pipe.name, number, done.n_hard, len(done.added), done.loss,
        )  # fmt: skip


def _give_features(
    space: FeatureSpace, other: FeatureSpace, found: Induced, units: Units, texts: Sequence[str]
) -> Ints1d:
    """Make the induced features, and parents of theirs, the known ones of another space.

    Returns the rows of the kept and of the induced ones; those of parents come after them.
    units: under the other space. texts: the template of each induced feature.
    """
    keys = np.zeros(len(texts), dtype=np.uint64)
    unit_level = {template.text for template in other.plan.unit_templates}
    pairs = list(zip(found.features, texts, strict=True))
    is_joined = np.array([len(tests) > 1 or text in unit_level for tests, text in pairs])
    single = [found.features[i][0] for i in np.flatnonzero(~is_joined).tolist()]
    keys[~is_joined] = space.index.keys[single]
    joined = np.flatnonzero(is_joined)
    having = units.take(found.units[joined])
    keys[joined], parents = conjunction_keys(other, having, [texts[i] for i in joined.tolist()])
    rows = know(other, np.concatenate([space.index.keys[found.kept], keys, parents]))
    return rows[: len(found.kept) + len(keys)]


def _block(pipe: Any) -> Config | None:
    """The component's block of the config of its pipeline; None where it stands in none."""
    nlp = pipe.pipeline
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
    found = [key for key, each in components if each is pipe]
    return deepcopy(nlp._pipe_configs[found[0]]) if nlp is not None and found else None


def _write_block(pipe: Any, block: Config | None) -> None:
    nlp = pipe.pipeline
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
    for key, each in components:
        if each is pipe and block is not None:
            nlp._pipe_configs[key] = block


def _with_templates(block: Config | None, space: FeatureSpace) -> Config | None:
    """A block that states the templates of a space, and no induction."""
    if block is None:
        return None
    changed = deepcopy(block)
    stated = changed["model"]["templates"]
    same = {name: stated[name] for name in _OF_ALL_SETS if stated.get(name) is not None}
    changed["model"]["templates"] = {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": list(space.templates.templates),
        "patterns": dict(space.templates.patterns),
        "lexicons": {},
        **same,
    }
    changed["trainer"] = changed["trainer"]["trainer"]
    return changed
