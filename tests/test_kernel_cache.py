"""Compiled kernels on disk: found again, never taken for others, never a reason to fail."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest
from numba.core.codegen import CPUCodegen

from spacy_cascade import jit, kernel_cache

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

OTHER = """
from typing import NamedTuple
from spacy_cascade.jit import inlined

FACTOR = 2
TABLE = np.array([1, 2, 3])

class Pair(NamedTuple):
    first: int
    second: int

@inlined
def twice(x):
    return FACTOR * x
"""
KERNELS = """
from cache_other import TABLE, twice
from spacy_cascade.jit import helper, kernel

@helper
def total():
    size = 0
    for i in range(len(TABLE)):
        size += TABLE[i]
    return size

@kernel
def count(x):
    return twice(x) + total()

@kernel
def difference(pair):
    return pair.first - pair.second
"""


class Start:
    """Two modules of kernels, read as in a fresh process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts = {"cache_other": OTHER, "cache_kernels": KERNELS}

    def edit(self, name: str, before: str, after: str) -> None:
        assert before in self.texts[name]
        self.texts[name] = self.texts[name].replace(before, after)

    def __call__(self) -> ModuleType:
        getattr(kernel_cache.kernel_folders, "cache_clear", bool)()
        for name, text in self.texts.items():
            path = self.folder / f"{name}.py"
            text = "import numpy as np\n" + text
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            sys.modules.pop(name, None)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            # Not by the loader, which would take an edit within a second for the file it knows.
            exec(compile(text, str(path), "exec"), module.__dict__)
        return sys.modules["cache_kernels"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where kernels are kept."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def start(tmp_path: Path, kept: Path) -> Iterator[Start]:
    yield Start(tmp_path)
    for name in ("cache_other", "cache_kernels"):
        sys.modules.pop(name, None)


def found(kernel: Any) -> bool:
    """Whether a kernel that was called once came from the cache."""
    hits, misses = kernel.stats.cache_hits, kernel.stats.cache_misses
    assert sum(hits.values()) + sum(misses.values()) == 1
    return bool(hits)


def files(folder: Path, name: str = ".") -> list[Path]:
    return sorted(path for path in folder.rglob(f"*{name}*") if not path.is_dir())


def test_a_second_start_compiles_nothing(start: Start, kept: Path) -> None:
    first = start()
    assert first.count(5) == 16
    assert not found(first.count)
    second = start()
    assert second.count(5) == 16
    assert found(second.count)
    assert not second.total.stats.cache_misses
    assert second.count.stats.cache_path == str(files(kept, "count")[0].parent)
    assert [path.suffix for path in files(kept)] == [".kernel", ".kernel"]


@pytest.mark.parametrize("is_made", [True, False])
def test_what_another_process_makes_is_taken(
    start: Start, kept: Path, is_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for a file that is missing, and for no other."""
    assert start().count(5) == 16
    (path,) = files(kept, "count")
    content, asked = path.read_bytes(), []
    path.unlink()

    def make(missing: Path) -> bool:
        asked.append(missing)
        path.write_bytes(content if is_made else b"")
        return is_made

    monkeypatch.setattr(kernel_cache, "compiled_elsewhere", make)
    for expected in (is_made, True):
        again = start()
        assert again.count(5) == 16
        assert found(again.count) is expected
    assert asked == [path]


@pytest.mark.slow
def test_kernels_of_the_cache_are_read_without_the_compiler(tmp_path: Path) -> None:
    """They make arrays without it; what is compiled later has all that it needs."""
    (tmp_path / "kept_kernels.py").write_text(
        "import math\nimport numpy as np\nfrom spacy_cascade.jit import kernel\n\n"
        "@kernel\ndef kept(x):\n"
        "    y = np.zeros(len(x))\n"
        "    for i in range(len(x)):\n        y[i] = math.exp(x[i])\n"
        "    return y, y[:1].copy()\n\n"
        "@kernel\ndef later(x):\n    return x @ x\n",
        encoding="utf8",
    )
    script = (
        "import sys, numpy as np\nfrom kept_kernels import kept, later\n"
        "print([part.tolist() for part in kept(np.array([0.5, -1.0]))])\n"
        "print(sum(kept.stats.cache_hits.values()), 'numba.np.linalg' in sys.modules)\n"
        "print(later(np.eye(2)).tolist() if len(sys.argv) > 1 else '')\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    printed = []
    for further in ([], [], ["later"]):
        process = subprocess.run(
            [sys.executable, "-c", script, *further], env=environment, cwd=tmp_path,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert process.returncode == 0, process.stderr
        printed.append(process.stdout.splitlines())
    assert [lines[1] for lines in printed] == ["0 True", "1 False", "1 False"]
    assert printed[0][0] == printed[1][0] == printed[2][0]
    assert printed[2][2] == "[[1.0, 0.0], [0.0, 1.0]]"


def test_an_edit_of_anything_compiled_in_is_noticed(start: Start, kept: Path) -> None:
    assert start().count(5) == 16
    for name, before, after, result in (
        ("cache_other", "FACTOR * x", "FACTOR * x + 1", 17),
        ("cache_other", "FACTOR = 2", "FACTOR = 3", 22),
        ("cache_other", "np.array([1, 2, 3])", "np.array([1, 2, 4])", 23),
        ("cache_kernels", "size = 0", "size = 10", 33),
        ("cache_kernels", "twice(x) + total()", "twice(x) - total()", -1),
    ):
        start.edit(name, before, after)
        edited = start()
        assert edited.count(5) == result
        assert not found(edited.count)
        assert len(files(kept, "count")) == 1, "the earlier file is of no use any more"


def test_other_edits_change_nothing(start: Start) -> None:
    start().count(5)
    start.edit("cache_kernels", "pair.first - pair.second", "pair.second - pair.first")
    start.edit("cache_other", "class Pair", "\n\nclass Pair")
    again = start()
    again.count(5)
    assert found(again.count)


def test_settings_of_the_compiler_are_noticed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start().count(5)
    for setting in ("OPT", "BOUNDSCHECK", "SLP_VECTORIZE"):
        before = getattr(numba.config, setting)
        monkeypatch.setattr(numba.config, setting, type(before)(0) if before else 1)
        changed = start()
        changed.count(5)
        assert not found(changed.count), setting


def test_another_processor_or_numba_is_noticed(
    start: Start, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start().count(5)
    monkeypatch.setattr(CPUCodegen, "magic_tuple", lambda self: ("another", "processor"))
    moved = start()
    moved.count(5)
    assert not found(moved.count)
    assert len(files(kept, "count")) == 2
    monkeypatch.setattr(numba, "__version__", "0.0.1")
    updated = start()
    updated.count(5)
    assert not found(updated.count)


def test_names_of_fields_are_noticed(start: Start) -> None:
    first = start()
    assert first.difference(sys.modules["cache_other"].Pair(5, 3)) == 2
    start.edit("cache_other", "first: int\n    second: int", "second: int\n    first: int")
    assert start().difference(sys.modules["cache_other"].Pair(5, 3)) == -2


def test_each_signature_has_its_file(start: Start, kept: Path) -> None:
    first = start()
    assert (first.count(5), first.count(0.5)) == (16, 7.0)
    assert len(files(kept, "count")) == 2
    again = start()
    assert (again.count(5), again.count(0.5)) == (16, 7.0)
    assert not again.count.stats.cache_misses


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "shorter than its checksum": lambda content: content[:20],
    "longer": lambda content: content + b"\0",
    "garbage": lambda content: bytes(range(256)) * 10,
    "last bit": lambda content: content[:-1] + bytes([content[-1] ^ 128]),
}


def test_a_damaged_file_is_written_anew(start: Start, kept: Path) -> None:
    start().count(5)
    for what, damage in DAMAGES.items():
        [path] = files(kept, "count")
        path.write_bytes(damage(path.read_bytes()))
        mending = start()
        assert mending.count(5) == 16
        assert not found(mending.count), what
        again = start()
        assert again.count(5) == 16
        assert found(again.count), what


def test_a_file_is_only_good_under_its_name(start: Start, kept: Path) -> None:
    first = start()
    first.count(5), first.count(0.5)
    one, other = files(kept, "count")
    for path, to in itertools.permutations([one, other]):
        content = path.read_bytes()
        to.write_bytes(content)
        again = start()
        assert (again.count(5), again.count(0.5)) == (16, 7.0)
        assert sum(again.count.stats.cache_misses.values()) == 1


def test_whole_files_that_cannot_be_used_are_no_obstacle(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start().count(5)

    def refuse(*_: Any) -> None:
        raise AttributeError("a class that is no more")

    monkeypatch.setattr("spacy_cascade.kernel_cache._REBUILD", refuse)
    again = start()
    assert again.count(5) == 16
    assert not found(again.count)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
def test_a_file_that_another_user_planted_is_written_anew(start: Start, kept: Path) -> None:
    """Before the mode of the folder was mended."""
    start().count(5)
    [path] = files(kept, "count")
    nobody = 65534
    os.chown(path, nobody, nobody)
    mending = start()
    assert mending.count(5) == 16
    assert not found(mending.count)
    assert files(kept, "count")[0].stat().st_uid == os.geteuid()
    again = start()
    again.count(5)
    assert found(again.count)


def test_a_folder_in_place_of_a_file_is_no_obstacle(start: Start, kept: Path) -> None:
    start().count(5)
    [path] = files(kept, "count")
    path.unlink()
    path.mkdir()
    assert start().count(5) == 16
    assert not files(kept, "count"), "what was begun is removed"


def block(path: Path) -> None:
    """No folder can be made here, not even by root."""
    path.write_text("a file")


@pytest.fixture
def blocked(start: Start, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no folder in which kernels could be kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    for path in (kept, start.folder / "__pycache__"):
        block(path)


def test_the_next_folder_is_taken_where_one_cannot_be_written(start: Start, kept: Path) -> None:
    block(kept)
    start().count(5)
    assert files(start.folder / "__pycache__", "count")
    again = start()
    again.count(5)
    assert found(again.count)


def test_a_folder_that_cannot_be_written_is_read(
    start: Start, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start().count(5)
    monkeypatch.setattr(kernel_cache, "is_writable", lambda folder: kept not in folder.parents)
    again = start()
    assert again.count(5) == 16
    assert found(again.count)
    [path] = files(kept, "count")
    path.unlink()
    (start.folder / "__pycache__").mkdir()
    start().count(5)
    assert not files(kept, "count")
    assert files(start.folder / "__pycache__", "count")


def test_a_folder_that_can_be_written_is_the_only_one(start: Start, kept: Path) -> None:
    start().count(5)
    next(kept.iterdir()).rename(start.folder / "__pycache__")
    assert files(start.folder / "__pycache__")
    again = start()
    again.count(5)
    assert not found(again.count), "an empty cache of one's own stays empty"


@pytest.mark.usefixtures("blocked")
def test_without_any_folder_each_start_compiles(start: Start) -> None:
    for _ in range(2):
        module = start()
        assert module.count(5) == 16
        assert not found(module.count)


def test_without_any_folder_that_can_be_trusted_each_start_compiles(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "kernel_folders", lambda beside, named, users: ())
    for _ in range(2):
        module = start()
        assert module.count(5) == 16
        assert not found(module.count)
        assert module.count.stats.cache_path == ""
        module.count._cache.flush()


def test_a_kernel_may_call_itself(start: Start) -> None:
    start.edit(
        "cache_kernels", "def count(x):\n", "def count(x):\n    if x < 0:\n        return 0\n"
    )
    start.edit("cache_kernels", "twice(x) + total()", "count(x - 3) + twice(x) + total()")
    for is_kept in (False, True):
        module = start()
        assert module.count(5) == 26
        assert found(module.count) is is_kept


@pytest.mark.usefixtures("blocked")
def test_a_user_without_a_home_has_no_folder_of_a_strange_name(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(start.folder)
    assert start().count(5) == 16
    assert not (start.folder / "~").exists()


def test_kernels_are_forgotten_on_demand(start: Start, kept: Path) -> None:
    module = start()
    module.count(5)
    module.count.recompile()
    assert len(files(kept, "count")) == 1
    module.count._cache.flush()
    assert not files(kept, "count")
    assert files(kept, "total")


def test_with_an_unknown_numba_its_own_cache_serves(
    start: Start, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "KernelCache", None)
    assert start().count(5) == 16
    assert {path.suffix for path in files(kept)} == {".nbi", ".nbc"}
    again = start()
    assert again.count(5) == 16
    assert found(again.count)


@pytest.mark.usefixtures("blocked")
def test_an_unknown_numba_needs_no_folder_either(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "KernelCache", None)
    assert start().count(5) == 16


def test_code_with_addresses_of_this_process_is_not_kept(
    start: Start, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = start()
    module.difference(sys.modules["cache_other"].Pair(5, 3))
    (overload,) = module.difference.overloads.values()
    for path in files(kept, "difference"):
        path.unlink()
    monkeypatch.setattr(type(overload.library), "has_dynamic_globals", True)
    (signature,) = module.difference.overloads
    module.difference._cache.save_overload(signature, overload)
    assert not files(kept, "difference")
    monkeypatch.undo()
