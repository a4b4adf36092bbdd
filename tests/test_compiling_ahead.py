"""A second process compiles kernels of the first training and annotation."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher, cpu_target

from helpers import TEXTS, trained_cascade
from spacy_cascade import compiling_ahead
from spacy_cascade.compiling_ahead import ANNOTATION, TRAINING, compile_kernels, signature_of

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

SUPPORT = Path(__file__).parent / "support"
WORK = """
import sys
import spacy_cascade.kernel_cache as kernel_cache

sys.path.insert(0, sys.argv[1])
from helpers import TEXTS, trained_cascade

compiled = []
save = kernel_cache.KernelCache.save_overload

def note(cache, signature, result):
    compiled.append(cache.file_name(signature))
    save(cache, signature, result)

kernel_cache.KernelCache.save_overload = note
nlp = trained_cascade()
print([[(ent.text, ent.label_, ent._.confidence) for ent in doc.ents] for doc in nlp.pipe(TEXTS)])
print(*compiled)
"""


def kernel_of(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(f"spacy_cascade.{module}"), function)


@pytest.mark.parametrize("name", sorted({*ANNOTATION, *TRAINING}))
def test_kernels_are_compiled_for_the_types_that_they_are_called_with(name: str) -> None:
    list(trained_cascade().pipe(TEXTS))
    kernel = kernel_of(name)
    assert signature_of(kernel.py_func) in kernel.signatures


def test_names_of_files_are_told_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, though the other end of a pipe is no terminal."""
    name, pipe = "numeric.csr:add_to_columns", io.BytesIO()
    compile_one, told = CPUDispatcher.compile, []

    def note(compiled: Any, signature: Any) -> Any:
        told.append(pipe.getvalue().decode().split())
        return compile_one(compiled, signature)

    monkeypatch.setattr(CPUDispatcher, "compile", note)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe))
    compile_kernels([name])
    cache = kernel_of(name)._cache
    assert told == [[cache.file_name(signature_of(kernel_of(name).py_func))]]
    assert Path(cache.cache_path, cache.file_name(signature_of(kernel_of(name).py_func))).exists()


class Begun:
    """In place of a process that makes a file when it is asked for the third time."""

    def __init__(self, path: Path, makes: bool) -> None:
        self.path, self.makes, self.asked = path, makes, 0

    def poll(self) -> int | None:
        self.asked += 1
        if self.asked == 3 and self.makes:
            self.path.touch()
        return 0 if self.asked > 4 else None


@pytest.mark.parametrize(("is_begun", "makes"), [(True, True), (True, False), (False, True)])
def test_only_what_was_begun_is_waited_for(tmp_path: Path, is_begun: bool, makes: bool) -> None:
    """Where the process ends without it, nothing waits any longer."""
    path = tmp_path / "viterbi.kernel"
    process = Begun(path, makes)
    other: Any = object.__new__(compiling_ahead._Other)
    other._process, other._begun = process, {path.name} if is_begun else set()
    assert other.wait(path) == (is_begun and makes)
    assert process.asked == (0 if not is_begun else 3 if makes else 5)


def test_a_process_that_is_not_needed_ends() -> None:
    other = compiling_ahead._Other()
    other.ask(())
    other.ask(ANNOTATION)  # too late
    assert other._process.wait(60) == 0
    assert not other._begun


def test_what_the_other_process_tells_is_heard_until_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This process may end before."""
    script = "import sys, time; print('', sys.stdin.read(), flush=True); time.sleep(600)"
    at_exit: list[Any] = []
    monkeypatch.setattr(compiling_ahead, "_START", script)
    monkeypatch.setattr(compiling_ahead.atexit, "register", at_exit.append)
    before = set(threading.enumerate())
    other = compiling_ahead._Other()
    try:
        (listener,) = set(threading.enumerate()) - before
        assert listener.daemon
        other.ask(("a:viterbi", "b:keys", "a:viterbi"))
        until = time.monotonic() + 30
        while not other._begun and time.monotonic() < until:
            time.sleep(0.005)
        assert other._begun == {"a:viterbi b:keys"}
        assert other._process.poll() is None
    finally:
        at_exit[0]()
    assert other._process.poll() is not None
    listener.join(30)
    assert not listener.is_alive()


class Asked:
    """In place of a process, which makes any file but the missing one."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def ask(self, kernels: tuple[str, ...]) -> None:
        self.asked.append(kernels)

    def wait(self, path: Path) -> bool:
        return path.name != "missing.kernel"


@pytest.mark.parametrize("wanted", [None, ("a:viterbi",), ()])
@pytest.mark.parametrize("may_start", [True, False])
def test_one_process_starts_with_the_first_kernel_that_is_missing(
    wanted: tuple[str, ...] | None, may_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked as soon as anybody knows what is wanted; where nothing is, none starts."""
    begun: list[Asked] = []

    def begin() -> Asked:
        begun.append(Asked())
        return begun[-1]

    monkeypatch.setattr(compiling_ahead, "_wanted", wanted)
    monkeypatch.setattr(compiling_ahead, "_other", None)
    monkeypatch.setattr(compiling_ahead, "_Other", begin)
    monkeypatch.setattr(compiling_ahead, "_may_start", lambda: may_start)
    starts = may_start and wanted != ()
    for name in ("viterbi.kernel", "missing.kernel"):
        made = starts and name == "viterbi.kernel"
        assert compiling_ahead.compiled_elsewhere(Path(name)) is made
    asked = [wanted] if wanted else []
    assert [each.asked for each in begun] == [asked] * starts
    compiling_ahead.compile_ahead(("b:keys",))
    assert compiling_ahead._wanted == ("b:keys",)
    assert [each.asked for each in begun] == [[*asked, ("b:keys",)]] * starts


def test_a_process_that_cannot_start_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling_ahead, "_other", None)
    monkeypatch.setattr(compiling_ahead, "_may_start", lambda: True)
    monkeypatch.setattr(sys, "executable", "/no/python")
    assert not compiling_ahead.compiled_elsewhere(Path("viterbi.kernel"))


def test_the_other_process_gets_ready_until_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Any] = []
    load = importlib.import_module

    def note(name: str) -> Any:
        events.append(name)
        return load(name)

    def read() -> str:
        events.append("asked")
        return "a:viterbi b:keys"

    monkeypatch.setattr(importlib, "import_module", note)
    for context in (cpu_target.typing_context, cpu_target.target_context):
        monkeypatch.setattr(context, "refresh", lambda: events.append("refreshed"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(read=read))
    monkeypatch.setattr(compiling_ahead, "compile_kernels", events.append)
    compiling_ahead.serve()
    *ready, asked, kernels = events
    assert ready == ["spacy_cascade.inference.spans", "refreshed", "refreshed"]
    assert (asked, kernels) == ("asked", ["a:viterbi", "b:keys"])


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (compiling_ahead, "available_cores", lambda: 1),
        (compiling_ahead, "parent_process", object),
        (sys, "executable", "/usr/bin/uwsgi"),
        (sys, "executable", ""),
    ],
)
def test_no_process_starts_where_it_is_of_no_use(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, value: Any
) -> None:
    monkeypatch.setattr(compiling_ahead, "available_cores", lambda: 2)
    monkeypatch.setattr(compiling_ahead, "parent_process", lambda: None)
    assert compiling_ahead._may_start()
    monkeypatch.setattr(place, name, value)
    assert not compiling_ahead._may_start()


def work(folder: Path, cores: int) -> list[str]:
    one_core = "import os\nos.cpu_count = lambda: 1\nos.sched_getaffinity = lambda process: {0}\n"
    script = WORK if cores > 1 else one_core + WORK
    done = subprocess.run(
        [sys.executable, "-c", script, str(SUPPORT)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        cwd=SUPPORT.parents[1], capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.slow(kind="compilation")
@pytest.mark.skipif(compiling_ahead.available_cores() < 2, reason="takes two cores")
def test_two_processes_share_the_work(tmp_path: Path) -> None:
    """The results are those of one, and what one compiled the other takes."""
    alone, together = work(tmp_path / "1", 1), work(tmp_path / "2", 2)
    assert alone[0] == together[0]
    of_one, of_first = (set(lines[1].split()) for lines in (alone, together))
    assert of_first < of_one
    kept = {path.name for path in (tmp_path / "2").rglob("*.kernel")}
    assert of_one <= kept
    assert work(tmp_path / "2", 2)[1] == ""
