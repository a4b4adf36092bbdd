"""All checks of a component, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from spacy.language import Language

from .annotating import CHECKS as _ANNOTATING
from .case import Case, Examples, Train
from .sample import sample_examples, train
from .saving import CHECKS as _SAVING
from .setting import CHECKS as _SETTING
from .training import CHECKS as _TRAINING

Check = Callable[[Case], None]

CHECKS: Mapping[str, Check] = MappingProxyType(
    {check.__name__: check for check in (*_SETTING, *_TRAINING, *_ANNOTATING, *_SAVING)}
)
"""The checks by name; the docstring of each says what it asks."""


def check_component(
    nlp: Language,
    name: str,
    *,
    examples: Examples = sample_examples,
    train: Train = train,
    without: Collection[str] = (),
) -> tuple[str, ...]:
    """Check that a component keeps the contract of this package's components.

    nlp: a pipeline with the component and those that it needs, not trained; it is not changed.
    name: of the component in the pipeline. examples: makes training examples for a pipeline. train:
    initializes and trains a pipeline on examples. without: names of checks that are left out.

    Returns the names of the checks that were made (`CHECKS`). Raises `CheckFailed`, an
    `AssertionError`, which says which check failed, on what, and what was expected; `ValueError`
    for a name in `without` that is no check.
    """
    unknown = sorted(set(without) - CHECKS.keys())
    if unknown:
        raise ValueError(f"There is no check '{unknown[0]}'. The checks: {', '.join(CHECKS)}.")
    made = tuple(check for check in CHECKS if check not in without)
    case = Case(nlp, name, "", examples, train)
    for check in made:
        case.check = check
        with case.no_error("the whole check"):
            CHECKS[check](case)
    return made
