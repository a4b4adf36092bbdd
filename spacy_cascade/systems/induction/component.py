"""Feature induction in a component: its trainer finds features, which become its templates.

The features of the component are the tests. Afterwards it has the induced ones, under templates of
their own. The config of the pipeline, which is saved with it, then states these templates and no
induction, so that what was trained is an ordinary model.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.util import logger
from thinc.api import Config

from ...features.space import FeatureSpace
from ...features.units import Units
from ...losses.base import LabelledSequences
from ...penalties.base import Penalty
from ...pipeline.learning import ExampleSource
from ...scorers.linear import set_weights
from ...trainers.base import Task
from ...types import Ints1d, Pointers1d
from .candidates import AtomicTests
from .features import (
    NO_TEMPLATE,
    can_join,
    conjunction_keys,
    know,
    space_of,
    template_numbers,
    template_text,
)
from .results import Induced, Round

_OF_ALL_SETS = ("lexicons", "resources", "clusters", "vectors")
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
        penalty: Penalty = self._pipe.penalty
        return penalty

    def _units(self) -> tuple[Units, Ints1d, Pointers1d]:
        examples = self._source.examples
        gold = [self._pipe.gold.read(example) for example in examples]
        fitted: tuple[Units, Ints1d, Pointers1d] = self._pipe.fitted(examples, gold)
        return fitted

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
