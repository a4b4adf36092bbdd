"""A sample of the slow cases: a plugin of pytest.

    python -m pytest -m slow --sample 3 --sample-seed "$(git rev-parse HEAD)"

Of the cases of each slow test one in three is run. A test of a few cases is run whole: its cases
may be different kinds of check. Tests with `pytest.mark.slow(kind="…")` count as cases of one test:
each of them has fast tests beside it, too. The seed alone says which cases: a commit has always the
same sample, the next commit has another one.
"""

from __future__ import annotations

import hashlib

import pytest

FEW = 3
"""Cases of a test that is always run whole."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample", type=int, default=1, metavar="N",
        help=f"run one in N cases of each slow test that has more than {FEW}",
    )  # fmt: skip
    parser.addoption("--sample-seed", default="", help="which ones: any text, such as a commit")


def chosen(names: list[str], one_in: int, seed: str) -> set[str]:
    """One in so many names, and at least one; the seed says which."""
    if len(names) <= FEW:
        return set(names)
    shuffled = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return set(shuffled[: -(-len(names) // one_in)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests: dict[str, list[str]] = {}
    for item in items:
        if (mark := item.get_closest_marker("slow")) is not None:
            kind = mark.kwargs.get("kind", item.nodeid.partition("[")[0])
            tests.setdefault(kind, []).append(item.nodeid)
    one_in, seed = config.getoption("--sample"), config.getoption("--sample-seed")
    left_out = {
        name for names in tests.values() for name in set(names) - chosen(names, one_in, seed)
    }
    if left_out:
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
