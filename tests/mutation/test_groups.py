"""Every module is in one group, which has tests."""

from __future__ import annotations

import pytest

from tests.mutation.groups import _MORE_TESTS, _SLOW, GROUPS, LEFT_OUT, PROJECT, group_of
from tests.support.imports import FILES


def test_every_module_is_in_one_group() -> None:
    grouped = [file for group in GROUPS.values() for file in group.modules]
    assert sorted(grouped) == sorted(FILES.values())


def test_every_group_has_tests() -> None:
    for name, group in GROUPS.items():
        assert any(
            path.rglob("test_*.py") if path.is_dir() else [path] for path in group.paths()
        ), name


@pytest.mark.parametrize(
    ("module", "group"),
    [
        ("files", "root"), ("", "root"), ("systems", "root"), ("features.keys", "features"),
        ("pipeline.spans.groups", "pipeline"), ("systems.local", "systems/local"),
        ("systems.local.structure", "systems/local/kernels"),
        ("tools.formats.exchange.brat", "tools/formats"),
    ],
)  # fmt: skip
def test_the_group_of_a_module_is_its_folder(module: str, group: str) -> None:
    assert group_of(module) == group


def test_kernels_are_not_compiled_where_they_change() -> None:
    assert GROUPS["numeric"].environment == {"NUMBA_DISABLE_JIT": "1"}
    assert GROUPS["trainers"].environment == {"NUMBA_BOUNDSCHECK": "1"}
    assert GROUPS["systems/local/kernels"].environment == {"NUMBA_DISABLE_JIT": "1"}
    assert GROUPS["systems/local"].environment == {"NUMBA_BOUNDSCHECK": "1"}
    assert GROUPS["cli"].environment == {}


def test_tests_and_kinds_of_slow_tests_that_are_named_exist() -> None:
    tests = PROJECT / "tests"
    assert _MORE_TESTS.keys() <= GROUPS.keys()
    assert all((tests / name).exists() for names in _MORE_TESTS.values() for name in names)
    source = "".join(file.read_text(encoding="utf8") for file in tests.rglob("test_*.py"))
    assert all(f'slow(kind="{kind}")' in source for kind in _SLOW)
    for name in LEFT_OUT:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (PROJECT / file).read_text(encoding="utf8")
