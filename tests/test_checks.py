"""Settings at the ends of what they may be, and beyond."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from spacy import registry
from thinc.api import ConfigValidationError

from spacy_cascade.checks import check_counts, check_positive, configured
from spacy_cascade.errors import ConfigError


def test_what_is_in_range_is_accepted() -> None:
    check_positive("penalty", sigma=1e-100, kappa=1e100, miss=1)
    check_counts("trainer", seed=0, parts=2**32 - 1)
    check_counts("trainer")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf, 1.1e100, 0.9e-100])
def test_numbers_out_of_range_are_named(value: float) -> None:
    """Also behind others that are in range."""
    message = (
        f"sigma must be a finite number above 0 (from 1e-100 to 1e+100), not {value}. "
        "Change it in the [penalty] block."
    )
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_positive("penalty", kappa=1.0, sigma=value)


@pytest.mark.parametrize("value", [-1, 2**32, math.nan])
def test_counts_out_of_range_are_named(value: int) -> None:
    with pytest.raises(ConfigError, match=rf"seed .* 0 to 4,294,967,295, not {value}.*\[trainer\]"):
        check_counts("trainer", parts=1, seed=value)


# What stands in a config where something else belongs


def example(
    number: float = 1,
    whole: int = 1,
    flag: bool = False,
    text: str | None = None,
    path: Path | None = None,
    several: list[str] | tuple[str, ...] = (),
    named: Mapping[str, int] | None = None,
    anything: Any = None,
    choice: Literal["first", "last"] = "first",
    function: Callable[[int], int] | None = None,
) -> str:
    return f"{number} {whole}"


@pytest.mark.parametrize(
    "given",
    [
        {"number": 2}, {"number": np.float32(2)}, {"number": math.nan}, {"whole": np.int64(3)},
        {"flag": True}, {"flag": 1}, {"text": "a"}, {"text": None}, {"text": Path("a")},
        {"path": "a"}, {"several": ["a"]}, {"several": ("a", "b")}, {"several": {"a"}},
        {"named": {"a": 1}}, {"anything": object()}, {"choice": "first"}, {"choice": "last"},
        {"whole": int(1e100)}, {"function": len},
    ],
)  # fmt: skip
def test_values_of_their_types_are_taken(given: dict[str, Any]) -> None:
    assert configured(example)(**given) == f"{given.get('number', 1)} {given.get('whole', 1)}"


@pytest.mark.parametrize(
    "given",
    [
        {"number": "2"}, {"number": None}, {"number": 10**400}, {"number": example},
        {"whole": [1]}, {"flag": "no"}, {"text": 1}, {"path": {}}, {"several": "abc"},
        {"several": {"a": 1}}, {"several": ["a", 1]}, {"several": 3}, {"named": ["a"]},
        {"named": {"a": "b"}}, {"choice": "both"}, {"choice": 1},
        {"named": {"a": 1, "b": "c"}}, {"function": 1},
    ],
)  # fmt: skip
def test_values_of_other_types_are_named(given: dict[str, Any]) -> None:
    ((name, value),) = given.items()
    with pytest.raises(ConfigError, match=f"^{name} of example must be .*, not ") as raised:
        configured(example)(**given)
    assert repr(value)[:100] in str(raised.value)


def test_the_type_is_named() -> None:
    for given, kind in (
        ({"number": "2"}, "float"),
        ({"named": 3}, r".*Mapping\[str, int\].*"),
        ({"choice": 3}, r"typing\.Literal\['first', 'last'\]"),
    ):
        with pytest.raises(ConfigError, match=f"must be {kind}, not "):
            configured(example)(**given)  # type: ignore[arg-type]


def test_a_class_stays_that_class() -> None:
    class Example:
        def __init__(self, number: float) -> None:
            self.number = number

    checked = configured(Example)
    assert checked is Example
    assert checked(number=2).number == 2
    with pytest.raises(ConfigError, match="number of Example must be float, not '2'"):
        checked("2")  # type: ignore[arg-type]


def test_too_many_arguments_are_an_error_of_the_call() -> None:
    with pytest.raises(TypeError, match="colour"):
        configured(example)(colour="red")  # type: ignore[call-arg]


REGISTRIES = (
    "architectures", "misc", "batchers", "loggers", "readers", "augmenters", "tokenizers",
    "scorers", "callbacks",
)  # fmt: skip
OTHERS: list[Any] = [
    {}, "a", {"@misc": "spacy_cascade.Gaussian.v1"}, {"@misc": "spacy_cascade.TaggingTemplates.v1"},
    {"@scorers": "spacy_cascade.types_scorer.v1"},
]  # fmt: skip
"""What stands in place of a parameter, each of another kind."""


def registered() -> Iterator[tuple[str, EntryPoint, str]]:
    """All that a config can call, by registry and entry point, with each of its parameters."""
    for name in REGISTRIES:
        for point in entry_points(group=f"spacy_{name}"):
            if point.name.startswith("spacy_cascade."):
                for parameter in signature(point.load()).parameters:
                    yield name, point, parameter


@pytest.mark.parametrize(
    ("name", "point", "parameter"), list(registered()), ids=lambda each: getattr(each, "name", each)
)
def test_blocks_of_another_kind_are_errors_of_ours_or_of_spacy(
    name: str, point: EntryPoint, parameter: str
) -> None:
    """None of Python's, and none is taken that only later fails."""
    made = point.load()
    block: dict[str, Any] = {f"@{name}": point.name}
    for other, stated in signature(made).parameters.items():
        if stated.default is stated.empty:
            block[other] = {"@misc": "spacy_cascade.SegmentTemplates.v1"}
    n_taken = 0
    for each in OTHERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                registry.resolve({"made": {**block, parameter: each}})
            except (ConfigError, ConfigValidationError):
                continue
        n_taken += 1
    assert n_taken <= 1
