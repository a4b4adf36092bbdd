"""A sample of the slow cases leaves out no test, and the seed alone says which cases it has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import sampling
from sampling import chosen


@pytest.mark.parametrize("one_in", [1, 2, 3, 100])
def test_a_share_of_the_cases_is_chosen(one_in: int) -> None:
    names = [f"case {i}" for i in range(20)]
    samples = [chosen(names, one_in, seed) for seed in "abcdefghij"]
    assert {len(sample) for sample in samples} == {-(-20 // one_in)}
    assert chosen(names[::-1], one_in, "a") == samples[0]
    assert one_in == 1 or len(set(map(frozenset, samples))) > 1
    assert len(chosen(names[:2], one_in, "a")) == -(-2 // one_in)


def test_all_cases_come_up_in_the_long_run() -> None:
    names = [f"case {i}" for i in range(20)]
    assert set[str]().union(*(chosen(names, 3, str(seed)) for seed in range(30))) == set(names)


def cases(name: str, n: int, *marks: pytest.Mark) -> list[Any]:
    """A test of so many cases, as pytest has collected them."""
    by_name = {mark.name: mark for mark in marks}
    return [
        SimpleNamespace(nodeid=f"test_made.py::{name}[{i}]", get_closest_marker=by_name.get)
        for i in range(n)
    ]


def sample(one_in: int, seed: str = "x") -> list[str]:
    """The cases that are run."""
    slow, commands, pages = (
        pytest.mark.slow(**kind).mark for kind in ({}, {"kind": "commands"}, {"kind": "pages"})
    )
    items = [
        *cases("slow", 20, slow), *cases("few", 2, slow), *cases("one_command", 6, commands),
        *cases("other_command", 6, commands), *cases("page", 2, pages), *cases("fast", 20),
    ]  # fmt: skip
    left_out: list[Any] = []
    options = {"--sample": one_in, "--sample-seed": seed}
    config: Any = SimpleNamespace(
        getoption=options.__getitem__,
        hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)),
    )
    n_items = len(items)
    sampling.pytest_collection_modifyitems(config, items)
    assert len(items) + len(left_out) == n_items
    return [item.nodeid for item in items]


def test_only_slow_tests_of_many_cases_are_sampled() -> None:
    found = sample(4)
    wanted = {"slow": 5, "few": 2, "command": 3, "page": 1, "fast": 20}
    assert {name: sum(f"{name}[" in each for each in found) for name in wanted} == wanted
    assert sample(4) == found != sample(4, "y")
    assert len(sample(1)) == 56
