"""Calls in processes that begin at once, with all that they need compiled, and can be killed."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
SUPPORT = PROJECT / "tests" / "support"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(map(str, (PROJECT, SUPPORT, *filter(None, sys.path)))),
}
"""Of processes that import what is here, wherever they begin."""


class Call(NamedTuple):
    """What a process does; function: `MODULE:FUNCTION`, as that process imports it."""

    function: str
    arguments: tuple[str, ...]


def spacy_command(*arguments: object) -> Call:
    """`python -m spacy ARGUMENTS`."""
    return Call("run_forked:spacy_command", tuple(map(str, arguments)))


class Forked:
    """Copies of one process, one at a time (`run_forked.py`).

    first: calls that this process makes itself, before it is copied. log: what the calls print.
    pause: seconds around each step of writing, so that calls are killed there, too. path: folders
    of modules that are imported before all others.
    """

    def __init__(self, first: list[Call], log: Path, pause: float, path: str = "") -> None:
        self._log, self._pause = log, pause
        with log.open("a", encoding="utf8") as complaints:
            self._process = subprocess.Popen(
                [sys.executable, str(SUPPORT / "run_forked.py"), *map(json.dumps, first)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                env={
                    **ENVIRONMENT,
                    "PYTHONPATH": os.pathsep.join([path, ENVIRONMENT["PYTHONPATH"]]),
                },
            )
        self._answer()

    def __enter__(self) -> Forked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """End the process that is copied."""
        self._process.communicate()

    def begin(self, call: Call) -> int:
        """Make a call; the number of its process, which `wait` waits for."""
        assert self._process.stdin is not None
        print(json.dumps([call, str(self._log), self._pause]), file=self._process.stdin, flush=True)
        return int(self._answer())

    def wait(self) -> int:
        """The exit status of the call; negative: the signal that ended it."""
        return os.waitstatus_to_exitcode(int(self._answer()))

    def has_ended(self, seconds: float) -> bool:
        """Whether the call ends within so many seconds."""
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def run(
        self, call: Call, after: float | None = None, how: signal.Signals = signal.SIGKILL
    ) -> tuple[int, float]:
        """Make a call, and send a signal after so many seconds, if it then still runs.

        Returns the exit status, and the seconds to the end from the signal, or from the beginning
        where there was none.
        """
        number, begin = self.begin(call), time.monotonic()
        if after is not None and not self.has_ended(after):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(number, how)
            begin = time.monotonic()
        return self.wait(), time.monotonic() - begin

    def said(self) -> str:
        """The end of what the calls have printed."""
        return self._log.read_text(encoding="utf8")[-2000:] if self._log.exists() else ""

    def last(self) -> str:
        """The last line of it."""
        return self.said().strip().rpartition("\n")[2]

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"run_forked.py has ended: {self.said()}"
        return line
