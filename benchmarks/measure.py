"""Running measurements in processes of their own, and describing the machine.

Only the standard library is imported here, so that the process which starts the others
stays small: a child's peak memory is counted from that of its parent.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import SimpleQueue
from threading import local
from time import perf_counter, process_time, thread_time
from typing import Any

Result = dict[str, Any]

HERE = Path(__file__).parent
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_PACKAGES = ("spacy-cascade", "spacy", "thinc", "numpy", "numba", "python-crfsuite")
_SHOWN_LINES = 30


class ChildError(RuntimeError):
    """A measurement did not come to its end."""


class Stopwatch:
    """Seconds that passed, and seconds that this process computed, while it was running.

    The second number is the steadier one on a machine that has other work to do. A third one,
    `serial`, has what the calling thread computed of it.
    """

    def __init__(self) -> None:
        self.passed = 0.0
        self.computed = 0.0
        self.serial = 0.0

    def __enter__(self) -> Stopwatch:
        self._begin = (perf_counter(), process_time(), thread_time())
        return self

    def __exit__(self, *_: object) -> None:
        self.passed += perf_counter() - self._begin[0]
        self.computed += process_time() - self._begin[1]
        self.serial += thread_time() - self._begin[2]

    def elapsed(self) -> float:
        """Seconds that passed until now, while it is running."""
        return self.passed + perf_counter() - self._begin[0]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stand still for a while, though in the midst of what is timed."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


def speed_ups(slow: Sequence[float], fast: Sequence[float]) -> list[float]:
    """Times as fast in each update, of two trainings that took turns.

    The first two entries, `initialize` and the update that encodes the corpus, do not count.
    """
    return [a / b for a, b in zip(slow[2:], fast[2:], strict=True)]


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_installed(package: str) -> bool:
    """Whether a distribution of that name is there; nothing is imported."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def describe_machine() -> Result:
    """What the figures were measured on, without anything that names the machine."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gigabytes": _memory_gigabytes(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES if is_installed(name)},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gigabytes() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def load_average() -> float | None:
    """Processes that wanted to run in the last minute, ours included."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def circumstances() -> Result:
    """The machine, and what else it had to do when this was asked: at the beginning."""
    return {"machine": describe_machine(), "load_average_before": load_average()}


def print_results(results: Result, output: Path | None) -> None:
    """Print results as JSON, and write them where asked."""
    text = json.dumps(results, indent=1)
    print(text)
    if output:
        output.write_text(text + "\n", encoding="utf8")


def write_results(
    results: Result, output: Path, report: str, picture: tuple[str, str], kernels: Path
) -> None:
    """Write results as JSON, and their report beside it, with a picture where there is matplotlib.

    picture: the script that draws it from the JSON file, and what it shows.
    """
    script, shows = picture
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    drawn = output.with_suffix(".png")
    drawn.unlink(missing_ok=True)  # an earlier one would not show these results
    if is_installed("matplotlib"):
        command = [sys.executable, str(HERE / script), str(output), str(drawn)]
        run_command(command, child_environment(1, kernels))
        report += f"\n![{shows}]({drawn.name})\n"
    else:
        print('  no picture: add matplotlib with pip install "spacy-cascade[viz]"')
    output.with_suffix(".md").write_text(report, encoding="utf8")
    print(report)


def child_environment(cores: int, kernel_cache: Path) -> dict[str, str]:
    """The variables that hold a child to so many threads and to one place for kernels."""
    threads = {name: str(cores) for name in _THREAD_VARIABLES}
    return {**os.environ, **threads, "NUMBA_CACHE_DIR": str(kernel_cache)}


@dataclass
class Laboratory:
    """Runs tasks in child processes and remembers what they found.

    work: folder for models and kernels. reuse: also take results of earlier runs from
    there. kernels: folder for kernels, where others share them. A task with the same
    arguments runs once, however many figures ask for it.
    """

    work: Path
    reuse: bool = False
    kernels: Path | None = None
    _found: dict[str, Result] = field(default_factory=dict)
    _worker: local = field(default_factory=local)

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)

    @property
    def kernel_cache(self) -> Path:
        """Where compiled kernels are kept between children."""
        return self.kernels or self.work / "kernels"

    def run(
        self,
        task: str,
        arguments: Mapping[str, Any],
        cores: int = 1,
        kernel_cache: Path | None = None,
        repeat: int | str = 0,
    ) -> Result:
        """The result of a task of `tasks.py`, from a process of its own.

        repeat: tells repeats apart; a task is run again for each.
        """
        text = json.dumps([task, dict(arguments), cores, repeat], sort_keys=True)
        name = f"{task}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        saved = self.work / "results" / f"{name}.json"
        if name not in self._found and self.reuse and saved.exists():
            self._found[name] = json.loads(saved.read_text(encoding="utf8"))
        if name not in self._found:
            environment = child_environment(cores, kernel_cache or self.kernel_cache)
            core = getattr(self._worker, "core", 0)
            command = [sys.executable, str(HERE / "tasks.py"), task, str(cores), str(core)]
            output = run_command(command, environment, json.dumps(dict(arguments)))
            self._found[name] = json.loads(output.splitlines()[-1])
            saved.parent.mkdir(parents=True, exist_ok=True)
            saved.write_text(json.dumps(self._found[name]), encoding="utf8")
        return self._found[name]

    def side_by_side(self, jobs: Sequence[Callable[[], Any]], at_once: int) -> list[Any]:
        """What jobs return that run tasks, so many at once, each with a core of its own."""
        cores: SimpleQueue[int] = SimpleQueue()
        for core in range(at_once):
            cores.put(core)

        def begin() -> None:
            self._worker.core = cores.get()

        with ThreadPoolExecutor(at_once, initializer=begin) as pool:
            return [future.result() for future in [pool.submit(job) for job in jobs]]


def run_command(command: Sequence[str], environment: Mapping[str, str], text: str = "") -> str:
    """Standard output of a command. Raises `ChildError` with its last lines where it fails."""
    done = subprocess.run(
        command, env=environment, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_SHOWN_LINES:])
        raise ChildError(f"{' '.join(command[1:3])} ended with {done.returncode}:\n{tail}")
    return done.stdout
