"""Running measurements in processes of their own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import local
from typing import Any

from .paths import PROJECT
from .variants import config_path

Result = dict[str, Any]

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
_SHOWN_LINES = 30
_FEW_SENTENCES = 20


class ChildError(RuntimeError):
    """A child process failed."""


@dataclass
class TaskRunner:
    """Runs tasks in child processes and remembers their results.

    A task is a function, named `FOLDER.MODULE:FUNCTION` within `benchmarks`. A task runs once for
    the same arguments, no matter how many figures need it. work: folder for models and kernels.
    reuse: also take results of earlier runs from there. kernels: another folder for kernels, which
    several runners share.
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
        """Where child processes keep compiled kernels."""
        return self.kernels or self.work / "kernels"

    def run(
        self,
        task: str,
        arguments: Mapping[str, Any],
        cores: int = 1,
        kernel_cache: Path | None = None,
        repeat: int | str = 0,
    ) -> Result:
        """The result of a task in a process of its own.

        repeat: a task runs again for each value.
        """
        text = json.dumps([task, dict(arguments), cores, repeat], sort_keys=True)
        function = task.partition(":")[2]
        name = f"{function}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        saved = self.work / "results" / f"{name}.json"
        if name not in self._found and self.reuse and saved.exists():
            self._found[name] = json.loads(saved.read_text(encoding="utf8"))
        if name not in self._found:
            environment = child_environment(cores, kernel_cache or self.kernel_cache)
            core = getattr(self._worker, "core", 0)
            command = ["-m", "benchmarks.lib.child", task, str(cores), str(core)]
            output = run_python(command, environment, json.dumps(dict(arguments)))
            self._found[name] = json.loads(output.splitlines()[-1])
            saved.parent.mkdir(parents=True, exist_ok=True)
            saved.write_text(json.dumps(self._found[name]), encoding="utf8")
        return self._found[name]

    def run_in_parallel(self, jobs: Sequence[Callable[[], Any]], at_once: int) -> list[Any]:
        """What jobs return, in their order. at_once: how many run at a time, on a core each."""
        cores: SimpleQueue[int] = SimpleQueue()
        for core in range(at_once):
            cores.put(core)

        def begin() -> None:
            self._worker.core = cores.get()

        with ThreadPoolExecutor(at_once, initializer=begin) as pool:
            return [future.result() for future in [pool.submit(job) for job in jobs]]

    def compile_kernels(self, config: str, corpus: str) -> None:
        """Fill the kernel cache, so that no other task waits for the compiler."""
        self.run("lib.loading:compile_training", few_sentences(config, corpus))


def few_sentences(config: str, corpus: str) -> Result:
    """Arguments of the task that trains on just enough sentences to call every kernel."""
    return {"config": str(config_path(config)), "train": corpus, "sentences": _FEW_SENTENCES}


def child_environment(cores: int, kernel_cache: Path) -> dict[str, str]:
    """Variables that set the number of threads of a child process and its kernel cache.

    It may keep byte code, as a user's processes do: imports take three times as long without.
    """
    threads = {name: str(cores) for name in _THREAD_VARIABLES}
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTE_CODE}
    return {**kept, **threads, "NUMBA_CACHE_DIR": str(kernel_cache)}


def run_python(arguments: Sequence[str], environment: Mapping[str, str], text: str = "") -> str:
    """Standard output of Python with these arguments, in the folder of the project.

    text: standard input. Raises `ChildError` with the last lines of a process that fails.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_SHOWN_LINES:])
        raise ChildError(f"{' '.join(arguments[:3])} ended with {done.returncode}:\n{tail}")
    return done.stdout
