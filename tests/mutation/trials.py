"""Runs tests on mutants, each in a forked process.

All tests run once, which tells what lines each of them executes. Then a process is forked for each
mutant: it takes the code of the changed function, and runs the tests of its line, the fast ones
first, until one fails. Neither files nor imported modules are written to, so nothing has to be put
back.
"""

from __future__ import annotations

import ast
import functools
import gc
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple, NoReturn

import coverage
import pytest
from hypothesis import Phase, settings

from tests.mutation.operators import Mutant

PROJECT = Path(__file__).parents[2]
_CHILDREN = Path(__file__).parent / "children"
LONGEST_SUM = 10.0
"""Seconds of tests on one mutant; slower tests of its line are left out."""
_TIMES = 2.0
_PATIENCE = 2.0
"""A mutant may take twice the processor time that its tests took before, and so much more."""
_ASLEEP = 20.0
"""A mutant may take ten times that by the clock, and so many seconds: it may wait for a lock."""
_LONGEST = 1200.0
"""Seconds of processor time that tests may take without a mutant."""
_OUT_OF_TIME = signal.SIGPROF, signal.SIGALRM
"""What ends a process that takes too much time of the processor, or by the clock."""
_MEMORY = 3 << 30
"""Bytes that a mutant may take above what the tests took."""
KILLED, SURVIVED, UNTESTED = "killed", "survived", "untested"


Place = tuple[str, int, str]
"""The file, the first line and the name of a function."""


class Trial(NamedTuple):
    """What came of a mutant, and of how many tests."""

    mutant: Mutant
    outcome: str
    n_tests: int


class Attempt(NamedTuple):
    """A mutant, its tests, and the seconds of processor time that they may take."""

    mutant: Mutant
    tests: list[pytest.Item]
    limit: float


class Trials:
    """A plugin of pytest that tries mutants in place of running its tests once.

    modules: files of the mutants. jobs: mutants that are tried at the same time. seconds: of
    tests on one mutant; slower tests of its line are left out. tell: is called with each trial
    when it ends. `failed`: tests that fail without a mutant; then none is tried. `learning`,
    `trying`: the seconds of all tests once, and of all mutants.
    """

    def __init__(
        self,
        modules: list[Path],
        mutants: list[Mutant],
        jobs: int,
        tell: Callable[[Trial], object],
        seconds: float = LONGEST_SUM,
    ) -> None:
        self.modules, self.mutants, self.jobs, self.tell = modules, mutants, jobs, tell
        self.seconds = seconds
        self.failed: list[str] = []
        self.learning = self.trying = 0.0
        self._in_child = False
        self._functions: dict[Place, list[FunctionType]] = {}
        self._limits: dict[tuple[str, ...], float] = {}

    def pytest_sessionstart(self) -> None:
        """A failing example counts as it is: Hypothesis need not make it smaller."""
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutation", settings.default, phases=phases)  # type: ignore[arg-type]
        settings.load_profile("mutation")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._in_child:
            os._exit(1)
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        begin = time.monotonic()
        guards = self._learn(session.items)
        self.learning = time.monotonic() - begin
        if not self.failed:
            for cached in _caches():
                cached.cache_clear()
            with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
                tempfile.tempdir = folder  # Processes that are killed leave files there.
                self._try_all(guards)
            tempfile.tempdir = None
        self.trying = time.monotonic() - begin - self.learning
        return True

    def _learn(self, items: list[pytest.Item]) -> Guards:
        """Run all tests once."""
        measured = coverage.Coverage(
            data_file=None, include=[str(path) for path in self.modules], config_file=False
        )
        seconds = {}
        measured.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            measured.switch_context(item.nodeid)
            begin = _processor_time()
            _run(item, following)
            seconds[item] = _processor_time() - begin
        measured.stop()
        data = measured.get_data()
        lines = {str(path): data.contexts_by_lineno(str(path)) for path in self.modules}
        return Guards({item.nodeid: item for item in items}, seconds, lines, self.seconds)

    def _try_all(self, guards: Guards) -> None:
        self._functions = functions_by_place()
        running: dict[int, Attempt] = {}
        for mutant in self.mutants:
            tests = guards.of(mutant)
            if not tests:
                self.tell(Trial(mutant, UNTESTED, 0))
                continue
            if len(running) >= self.jobs:
                self._wait(running)
            limit = _limit(sum(guards.seconds[test] for test in tests))
            attempt = Attempt(mutant, tests, max(limit, self._limits.get(_names(tests), 0.0)))
            running[self._start(attempt)] = attempt
        while running:
            self._wait(running)

    def _start(self, attempt: Attempt) -> int:
        process = os.fork()
        if not process:
            self._in_child = True
            _try(attempt, self._functions)
        return process

    def _wait(self, running: dict[int, Attempt]) -> None:
        process, status = os.wait()
        while process not in running:  # Tests may leave processes behind, which end now.
            process, status = os.wait()
        attempt = running.pop(process)
        _end_others(process)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _OUT_OF_TIME:
            limit = self._fair_limit(attempt)
            if limit > attempt.limit:
                again = attempt._replace(limit=limit)
                running[self._start(again)] = again
                return
        outcome = KILLED if status else SURVIVED
        self.tell(Trial(attempt.mutant, outcome, len(attempt.tests)))

    def _fair_limit(self, attempt: Attempt) -> float:
        """By the time that its tests take in a process of their own, without a mutant.

        What tests share, such as a trained pipeline, counted for the first of them all before.
        """
        names = _names(attempt.tests)
        if names not in self._limits:
            process = self._start(Attempt(attempt.mutant.undone(), attempt.tests, _LONGEST))
            _, status, used = os.wait4(process, 0)
            _end_others(process)
            if status:
                self.failed.append(f"{len(names)} tests from {names[0]} on, in their own process")
            self._limits[names] = _limit(used.ru_utime + used.ru_stime)
        return self._limits[names]


class Guards(NamedTuple):
    """Tests by their names, how long each took, and the names by file and line."""

    tests: dict[str, pytest.Item]
    seconds: dict[pytest.Item, float]
    lines: dict[str, dict[int, list[str]]]
    longest: float

    def of(self, mutant: Mutant) -> list[pytest.Item]:
        """The tests that execute the line of a mutant, the fast ones first.

        Of a condition that begins on the next line, as after `if (`, that line is executed.
        """
        lines = self.lines[str(PROJECT / mutant.path)]
        names = lines.get(mutant.line) or lines.get(mutant.line + 1, [])
        tests = [self.tests[name] for name in set(names) & self.tests.keys()]
        tests.sort(key=lambda test: (self.seconds[test], test.nodeid))
        total, chosen = 0.0, []
        for test in tests:
            total += self.seconds[test]
            if chosen and total > self.longest:
                break
            chosen.append(test)
        return chosen


def _names(tests: list[pytest.Item]) -> tuple[str, ...]:
    return tuple(test.nodeid for test in tests)


def _limit(seconds: float) -> float:
    """Of the processor time of a mutant; seconds: what its tests take without it."""
    return _PATIENCE + _TIMES * seconds


def _end_others(process: int) -> None:
    """Processes that the tests of this one have started."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _processor_time() -> float:
    """Of this process and of those that it has started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _run(test: pytest.Item, following: pytest.Item | None) -> None:
    test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)


def _try(attempt: Attempt, functions: dict[Place, list[FunctionType]]) -> NoReturn:
    """End the process, with 0 if all tests pass."""
    try:
        os.setsid()
        mutant, tests, limit = attempt
        tests[0].config.pluginmanager.unregister(name="terminalreporter")
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        for timer, number, seconds in (
            (signal.ITIMER_PROF, _OUT_OF_TIME[0], limit),
            (signal.ITIMER_REAL, _OUT_OF_TIME[1], _ASLEEP + 10 * limit),
        ):
            signal.signal(number, signal.SIG_DFL)  # It ends the process.
            signal.setitimer(timer, seconds)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        resource.setrlimit(resource.RLIMIT_DATA, (used + _MEMORY, used + _MEMORY))
        take(mutant, functions)
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            _run(test, following)
    except BaseException:
        os._exit(2)
    os._exit(0)


def take(mutant: Mutant, functions: dict[Place, list[FunctionType]]) -> None:
    """Give the functions of this process, and of those that it starts, the code of the mutant."""
    path, tree = PROJECT / mutant.path, mutant.tree()
    for code in _outer_functions(compile(tree, str(path), "exec", dont_inherit=True)):
        for function in functions.get(_place(code), []):
            # A method without its only `super()` still gets the class, as it did before.
            function.__code__ = code.replace(co_freevars=function.__code__.co_freevars)
    source = Path(tempfile.mkdtemp(prefix="mutant-")) / path.name
    source.write_text(ast.unparse(tree), encoding="utf8")
    module = ".".join(Path(mutant.path).with_suffix("").parts).removesuffix(".__init__")
    paths = [str(_CHILDREN), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ.update(
        MUTATED_MODULE=module, MUTATED_SOURCE=str(source), PYTHONPATH=os.pathsep.join(paths)
    )


def _outer_functions(code: CodeType) -> Iterator[CodeType]:
    """The code of functions and methods in the order of the file, without functions within them."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x2:  # CO_NEWLOCALS: a function, not the body of a class
                yield constant
            else:
                yield from _outer_functions(constant)


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_name


def _objects() -> list[object]:
    """Of the whole process, with those that `conftest.py` keeps out of the collection."""
    gc.unfreeze()
    return gc.get_objects()


def functions_by_place() -> dict[Place, list[FunctionType]]:
    """All functions of the process."""
    found: dict[Place, list[FunctionType]] = {}
    for thing in _objects():
        if type(thing) is FunctionType:  # `isinstance` would ask a proxy, of what may be gone
            found.setdefault(_place(thing.__code__), []).append(thing)
    return found


def _caches() -> Iterable[functools._lru_cache_wrapper[object]]:
    """What functions of this project have kept, which mutants must compute anew."""
    return [
        thing
        for thing in _objects()
        if type(thing) is functools._lru_cache_wrapper
        and str(getattr(sys.modules.get(thing.__module__), "__file__", "")).startswith(str(PROJECT))
    ]
