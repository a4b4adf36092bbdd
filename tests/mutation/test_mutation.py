"""Mutants are what they should be."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from tests.mutation.groups import GROUPS, PROJECT
from tests.mutation.operators import Mutant, mutants
from tests.mutation.run import choose, equivalent, survivors
from tests.mutation.trials import functions_by_place, take

SOURCE = '''
"""A module."""
LIMIT = 3

class Table:
    size: int = 0

    def key(self, a: int, b: int = 1) -> tuple:
        """Text 1."""
        if a < b and b != LIMIT:
            self.size += 1
        with lock:
            print(f"{a + 1} is a key")
        return a, min(a, b), -b

def outer():
    def inner(x):
        return x * 2.0
    return inner
'''
EXPECTED = {
    "if a < b and b != LIMIT:": {
        "if a < b and b != LIMIT: -> if True:", "if a < b and b != LIMIT: -> if False:",
        "a < b and b != LIMIT -> a < b or b != LIMIT", "a < b and b != LIMIT -> b != LIMIT",
        "a < b and b != LIMIT -> a < b", "a < b -> a <= b", "b != LIMIT -> b == LIMIT",
    },
    "self.size += 1": {
        "self.size += 1 -> self.size -= 1", "self.size += 1 -> pass", "1 -> 2",
    },
    "with lock:": {"with lock: -> if True:"},
    'print(f"{a + 1} is a key")': {"print(f'{a + 1} is a key') -> pass"},
    "return a, min(a, b), -b": {
        "return (a, min(a, b), -b) -> return None", "(a, min(a, b), -b) -> (min(a, b), -b)",
        "(a, min(a, b), -b) -> (a, -b)", "(a, min(a, b), -b) -> (a, min(a, b))", "min -> max",
        "-b -> b",
    },
    "return x * 2.0": {
        "return x * 2.0 -> return None", "x * 2.0 -> x / 2.0", "2.0 -> 4.0",
    },
    "return inner": {"return inner -> return None"},
}  # fmt: skip


@cache
def mutants_of(file: Path) -> list[Mutant]:
    """All mutants of a module of the package."""
    return list(mutants(str(file.relative_to(PROJECT)), file.read_text(encoding="utf8")))


def test_what_is_changed() -> None:
    found: dict[str, set[str]] = {}
    for mutant in mutants("a.py", SOURCE):
        where, _, change = mutant.name.partition(": ")
        assert where in ("a.py Table.key", "a.py outer", "a.py outer.inner")
        line = SOURCE.splitlines()[mutant.line - 1].strip()
        assert change.startswith(f"{line}: ")
        found.setdefault(line, set()).add(change.removeprefix(f"{line}: "))
    assert found == EXPECTED


def test_each_mutant_is_another_module_and_the_module_stays() -> None:
    original = ast.unparse(ast.parse(SOURCE))
    made = list(mutants("a.py", SOURCE))
    texts = {ast.unparse(mutant.tree()) for mutant in made}
    assert len(texts) == len({mutant.name for mutant in made}) == len(made)
    assert original not in texts
    assert ast.unparse(made[0].module) == original


@pytest.mark.slow(kind="mutants")
@pytest.mark.parametrize("group", GROUPS)
def test_mutants_of_the_package_can_be_compiled(group: str) -> None:
    """Of each module the first and the last; all have names of their own."""
    for file in GROUPS[group].modules:
        made = mutants_of(file)
        assert len({mutant.name for mutant in made}) == len(made)
        for mutant in {id(mutant): mutant for mutant in (made[:1] + made[-1:])}.values():
            compile(mutant.tree(), str(file), "exec")


@pytest.mark.slow
def test_equivalent_mutants_exist_and_have_a_reason() -> None:
    """If not: the code has changed, and the list has to be looked through."""
    known = equivalent()
    changed = {PROJECT / name.partition(" ")[0] for name in known}
    assert changed <= {file for group in GROUPS.values() for file in group.modules}
    assert known.keys() <= {mutant.name for file in changed for mutant in mutants_of(file)}
    assert all(len(reason) > 10 for reason in known.values())


def mutant_of(path: str, change: str) -> Mutant:
    (found,) = (
        mutant
        for mutant in mutants(path, (PROJECT / path).read_text(encoding="utf8"))
        if mutant.name.endswith(change)
    )
    return found


@pytest.fixture
def taking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process that takes a mutant leaves behind goes away."""
    for name in ("MUTATED_MODULE", "MUTATED_SOURCE", "PYTHONPATH"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))


@pytest.mark.usefixtures("taking")
def test_a_method_is_taken_without_its_only_super(monkeypatch: pytest.MonkeyPatch) -> None:
    from spacy_cascade.pipeline.corpus import _Pickler

    mutant = mutant_of("spacy_cascade/pipeline/corpus.py", "HIGHEST_PROTOCOL) -> pass")
    monkeypatch.setattr(_Pickler.__init__, "__code__", _Pickler.__init__.__code__)
    take(mutant, functions_by_place())
    with pytest.raises(pickle.PicklingError, match="not called"):
        _Pickler(BytesIO(), {}).dump(1)


@pytest.mark.slow(kind="mutants")
@pytest.mark.usefixtures("taking")
def test_a_mutant_is_taken_by_this_process_and_by_those_that_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from spacy_cascade import files

    mutant = mutant_of("spacy_cascade/files.py", "or str(error) -> return None")
    monkeypatch.setattr(files._reason, "__code__", files._reason.__code__)
    assert files._reason(OSError("no")) == "no"
    take(mutant, functions_by_place())
    assert files._reason(OSError("no")) is None
    command = "from spacy_cascade.files import _reason; print(_reason(OSError('no')))"
    answer = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert answer.stdout.strip() == "None", answer.stderr


def test_survivors_are_tried_again(tmp_path: Path) -> None:
    """The latest outcome counts."""
    file = PROJECT / "spacy_cascade/files.py"
    names = [mutant.name for mutant in mutants(str(file.relative_to(PROJECT)), file.read_text())]
    kept = [name for name in names if name not in equivalent()][:4]
    outcomes = ["killed", "survived", "untested", "survived", "killed"]
    lines = zip([*kept, kept[-1]], outcomes, strict=True)
    text = "".join(json.dumps({"mutant": m, "outcome": o}) + "\n" for m, o in lines)
    (tmp_path / "mutation.jsonl").write_text(text)
    again = survivors(tmp_path / "mutation.jsonl")
    assert again == {kept[1], kept[2]}
    assert {mutant.name for mutant in choose([file], 0, again=again)} == again
    assert len(choose([file], 0, n=1, again=again)) == 1


SHARED = """
import time
import pytest
import changed

@pytest.fixture(scope="module")
def shared():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass

def test_first(shared):
    assert changed.next_of(1) == 2

def test_second(shared):
    assert changed.next_of(2) == 3
"""
TRIED = """
import sys
from pathlib import Path
import pytest
from tests.mutation import trials
from tests.mutation.operators import mutants

trials._PATIENCE = 0.05
file = Path(sys.argv[1]) / "changed.py"
found = list(mutants(str(file), file.read_text()))
def tell(trial):
    print(trial.outcome, trial.n_tests, trial.mutant.name.rpartition(": ")[2])
plugin = trials.Trials([file], found, 1, tell, seconds=0.1)
pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]], [plugin])
print(plugin.failed)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are tried in forked processes")
def test_what_tests_share_takes_no_mutant_its_time(tmp_path: Path) -> None:
    """The second test alone is quick: the first one has made what both use."""
    (tmp_path / "changed.py").write_text("def next_of(x):\n    unused = 3\n    return x + 1\n")
    (tmp_path / "test_shared.py").write_text(SHARED)
    ran = subprocess.run(
        [sys.executable, "-c", TRIED, str(tmp_path)], cwd=PROJECT, capture_output=True, text=True
    )
    lines = ran.stdout.splitlines()
    assert "survived 1 3 -> 4" in " ".join(lines), ran.stdout + ran.stderr
    assert "killed 1 x + 1 -> x - 1" in " ".join(lines)
    assert lines[-1] == "[]"
