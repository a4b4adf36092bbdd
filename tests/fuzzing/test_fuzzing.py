"""A few mutated inputs for each target, others in every run; `run.py` makes a million."""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random

import pytest

from spacy_cascade.errors import TemplateError
from tests.fuzzing import run
from tests.fuzzing.mutations import mutated
from tests.fuzzing.run import fuzz
from tests.fuzzing.targets import TARGETS, Fuzzed

INPUTS = int(os.environ.get("FUZZING_INPUTS", "1000"))
SEED = int(os.environ.get("FUZZING_SEED", time.time_ns() % 2**31))
"""Another one in each run; an error names it."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_errors_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    if name == "service":
        pytest.importorskip("fastapi")
    counts = fuzz(name, INPUTS, SEED, tmp_path)
    assert counts["refused"] > INPUTS // 20
    assert counts["kept"] == len(list((tmp_path / name).iterdir()))


@pytest.mark.parametrize("name", ["templates", "columns", "lexicon"])
def test_seeds_are_accepted(name: str) -> None:
    target = TARGETS[name]
    for seed in target.seeds():
        target.run(seed)


def made(run_input: object) -> Fuzzed:
    return Fuzzed(run_input, lambda: [b"abc"], (b"x",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "found"), [(KeyError("x"), "KeyError"), (MemoryError(), "MemoryError")]
)
def test_a_foreign_error_is_found_and_its_input_kept(
    error: Exception, found: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(data: bytes) -> None:
        if b"x" in data:
            raise error

    monkeypatch.setitem(TARGETS, "made", made(fail))
    with pytest.raises(AssertionError, match=rf"made, seed 7: {found}"):
        fuzz("made", 100, 7, tmp_path)
    (kept,) = (tmp_path / "made-found").iterdir()
    assert b"x" in kept.read_bytes()


def test_what_takes_too_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(data: bytes) -> None:
        if data != b"abc":
            time.sleep(3)

    monkeypatch.setattr(run, "LONGEST", 0.05)
    monkeypatch.setitem(TARGETS, "made", made(hang))
    with pytest.raises(AssertionError, match="Hang"):
        fuzz("made", 100, 7)


def test_errors_of_the_package_are_counted_and_new_ones_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(data: bytes) -> None:
        if b"x" in data:
            raise TemplateError(f"'{len(data)}' is too much")

    monkeypatch.setitem(TARGETS, "made", made(refuse))
    counts = fuzz("made", 200, 7)
    assert counts["refused"] > 10
    assert counts["accepted"] > 10
    assert counts["kept"] == 2


def test_inputs_differ_by_seed_only() -> None:
    first, again, other = (
        [mutated(Random(seed), [b"IL-2 gene", b"p53"], [b"x"]) for seed in seeds]
        for seeds in (range(50), range(50), range(50, 100))
    )
    assert first == again != other
    assert len(set(first)) > 40
