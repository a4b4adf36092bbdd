"""A sample of the slow cases leaves out no test, and the seed alone says which cases it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import PROJECT, run_python
from sampling import chosen

TESTS = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("i", range(20))
def test_slow(i):
    pass

@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "another"])
def test_kinds(kind):
    pass

@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize("i", range(6))
def test_one_command(i):
    pass

@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize("i", range(6))
def test_another_command(i):
    pass

@pytest.mark.slow(kind="pages")
@pytest.mark.parametrize("i", range(2))
def test_page(i):
    pass

@pytest.mark.parametrize("i", range(20))
def test_fast(i):
    pass
"""


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


def run(folder: Path, *arguments: str) -> list[str]:
    (folder / "test_made.py").write_text(TESTS, encoding="utf8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: of a test\n", encoding="utf8")
    result = run_python(
        "-m", "pytest", "-v", "-p", "sampling", "-p", "no:cacheprovider", "--rootdir", str(folder),
        str(folder), *arguments, PYTHONPATH=str(PROJECT / "tests" / "support"),
    )  # fmt: skip
    assert result.returncode == 0, result.stdout
    return re.findall(r"(test_\w+\[\w+\]) PASSED", result.stdout)


def test_only_slow_tests_of_many_cases_are_sampled(tmp_path: Path) -> None:
    found = run(tmp_path, "--sample", "4", "--sample-seed", "x")
    wanted = {"test_slow": 5, "test_kinds": 2, "command": 3, "test_page": 1, "test_fast": 20}
    assert {name: sum(f"{name}[" in each for each in found) for name in wanted} == wanted
    assert run(tmp_path, "--sample", "4", "--sample-seed", "x") == found
    assert len(run(tmp_path)) == 56
