"""A sample of the slow cases: a plugin of pytest.

    python -m pytest -m slow --sample 3 --sample-seed "$(git rev-parse HEAD)"

Of the cases of each slow test one in three is run. A test of a few cases is run whole: its cases
may be different kinds of check. Tests with `pytest.mark.slow(kind="…")` count as cases of one test,
even a few of them, of which at least one is run: each has fast tests beside it, too. The seed alone
says which cases: a commit has always the same sample, the next commit has another one.
"""

from __future__ import annotations

import hashlib

import pytest

FEW = 3
"""Cases of a test that is always run whole."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample", type=int, default=1, metavar="N",
        help=f"run one in N cases of each kind of slow test, and of each that has more than {FEW}",
    )  # fmt: skip
    parser.addoption("--sample-seed", default="", help="which ones: any text, such as a commit")


def chosen(names: list[str], one_in: int, seed: str) -> set[str]:
    """One in so many names, and at least one; the seed says which."""
    shuffled = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return set(shuffled[: -(-len(names) // one_in)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kinds: dict[str, list[str]] = {}
    tests: dict[str, list[str]] = {}
    for item in items:
        if (mark := item.get_closest_marker("slow")) is None:
            continue
        if (kind := mark.kwargs.get("kind")) is not None:
            kinds.setdefault(kind, []).append(item.nodeid)
        else:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item.nodeid)
    sampled = [*kinds.values(), *(names for names in tests.values() if len(names) > FEW)]
    one_in, seed = config.getoption("--sample"), config.getoption("--sample-seed")
    left_out = {name for names in sampled for name in set(names) - chosen(names, one_in, seed)}
    if left_out:
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
