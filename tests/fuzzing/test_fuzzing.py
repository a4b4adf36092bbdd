"""What was found before is no defect any more; how targets are run and what is kept of inputs.

The proof of a release makes millions of inputs; its short form, in the gate, a few of each target.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from spacy_cascade.errors import TemplateError
from spacy_cascade.tools.formats.exchange.registry import formats
from tests.fuzzing import limits, lines, run
from tests.fuzzing.limits import limited
from tests.fuzzing.lines import ReachedLines
from tests.fuzzing.mutations import mutated
from tests.fuzzing.run import fuzz, keep
from tests.fuzzing.target import Fuzzed, packed, refusing, unpacked
from tests.fuzzing.targets import targets

FOUND = Path(__file__).with_name("found")
READERS = [name for name in targets() if name.startswith("format-")] + [
    "templates", "lexicon", "words", "vectors", "texts", "docs", "journal", "workbook",
]  # fmt: skip
"""Targets that need no trained pipeline, so that their seeds take no time."""


@pytest.mark.parametrize(
    "path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_what_was_found_once(path: Path) -> None:
    """An error of the package or none, within the bounds."""
    target = targets()[path.parent.name]
    try:
        refusing(target.seeds()[0], target.run)  # loads what is needed, in no measured time
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name}, of an extra, is not installed")
    with limited():
        refusing(path.read_bytes(), target.run)


def test_each_format_is_a_target() -> None:
    assert {f"format-{name}" for name in formats()} <= targets().keys()


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_accepted(name: str) -> None:
    target = targets()[name]
    assert not all(refusing(seed, target.run) for seed in target.seeds())


Make = Callable[[Callable[[bytes], None]], None]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a target that is called `made`."""

    def make(run_input: Callable[[bytes], None]) -> None:
        fuzzed = Fuzzed(run_input, lambda: [b"abc"], (b"x", b"y", b"z"))
        monkeypatch.setattr(run, "targets", lambda: {"made": fuzzed})

    return make


@pytest.mark.parametrize(
    ("error", "found"), [(KeyError("x"), "KeyError"), (MemoryError(), "MemoryError")]
)
def test_a_foreign_error_is_found_and_its_input_kept(
    error: Exception, found: str, made: Make, tmp_path: Path
) -> None:
    def fail(data: bytes) -> None:
        if b"x" in data:
            raise error

    made(fail)
    outcome = fuzz("made", 100, 7, tmp_path)
    assert list(outcome.found) == [f"{found} at outside of the package"]
    assert outcome.inputs - outcome.accepted > 5
    kept = [path.read_bytes() for path in (tmp_path / "made-found").iterdir()]
    assert kept
    assert all(b"x" in data for data in kept)


def test_what_takes_too_long_is_found(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(data: bytes) -> None:
        if b"x" in data:
            time.sleep(3)

    monkeypatch.setattr(limits, "LONGEST", 0.02)
    made(hang)
    assert "Hang at outside of the package" in fuzz("made", 20, 7).found


def test_what_takes_too_much_memory_is_found(made: Make) -> None:
    def fill(data: bytes) -> None:
        if b"x" in data:
            _ = b"\1" * (3 * limits.MOST_MEMORY)

    made(fill)
    assert "Bloat at outside of the package" in fuzz("made", 20, 7).found


def test_errors_of_the_package_are_counted_and_new_ones_kept(made: Make, tmp_path: Path) -> None:
    def refuse(data: bytes) -> None:
        if b"x" in data:
            raise TemplateError(f"'{len(data)}' is too much")

    made(refuse)
    outcome = fuzz("made", 200, 7, tmp_path)
    assert outcome.inputs == outcome.accepted + outcome.refused == 200
    assert min(outcome.accepted, outcome.refused) > 10
    assert outcome.kept == len(list((tmp_path / "made").iterdir())) == 2


def test_what_reaches_a_new_line_is_changed_further(
    made: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Three signs in a row are found one by one, and a later run goes on from there."""
    monkeypatch.setattr(lines, "_TRACED", (__file__,))
    depth = [0]

    def search(data: bytes) -> None:
        if data[:1] == b"x":
            depth[0] = max(depth[0], 1)
            if data[1:2] == b"y":
                depth[0] = max(depth[0], 2)
                if data[2:3] == b"z":
                    depth[0] = 3

    made(search)
    first = fuzz("made", 3000, 7, tmp_path)
    assert depth[0] == 3
    again = fuzz("made", 1, 8, tmp_path)
    assert again.lines == first.lines > 0
    assert (first.kept, again.kept) == (4, 1)


def test_lines_are_counted_once_and_those_of_the_package_only() -> None:
    from spacy_cascade.checks import check_positive

    reached = ReachedLines()
    counts = []
    for value in (1.0, 2.0):
        with reached:
            check_positive("a", b=value)
        counts.append(reached.n)
    with reached:
        refusing(b"", lambda data: check_positive("a", b=-1.0))
    assert counts[0] == counts[1] > 0
    assert reached.n > counts[1]


def test_the_input_that_ended_the_process_is_known(made: Make, tmp_path: Path) -> None:
    def end(data: bytes) -> None:
        if b"x" in data:
            raise KeyboardInterrupt

    made(end)
    with pytest.raises(KeyboardInterrupt):
        fuzz("made", 100, 7, tmp_path)
    assert b"x" in run.present(tmp_path, "made")


def test_several_files_are_one_input() -> None:
    files = {"a.txt": b"a\nb", "b/c.txt": b""}
    assert unpacked(packed(files.items())) == files
    assert unpacked(packed([("../a", b"x")])) == {"x": b"x"}


def test_kept_inputs_have_a_name_of_their_own(tmp_path: Path) -> None:
    for data in (b"a", b"b", b"a"):
        keep(data, tmp_path)
    assert sorted(run.numbered(tmp_path)) == [b"a", b"b"]


def test_inputs_differ_by_seed_only() -> None:
    inputs = [b"IL-2 gene", b"p53", b'name\n{"a": [1]}']
    first, again, other = (
        [mutated(Random(seed), inputs, [b"x"]) for seed in seeds]
        for seeds in (range(50), range(50), range(50, 100))
    )
    assert first == again != other
    assert len(set(first)) > 40
    assert any(each.startswith(b"name\n{") for each in first)
