"""Runs functions in processes of their own, which begin at once: see `forked.py`.

A call is JSON, `["MODULE:FUNCTION", ARGUMENTS]`. Those of the command line are made here first, so
that all that they import, compile and keep is there later. Then comes a line. Each line
`[CALL, LOG, PAUSE]` on standard input makes a call in a copy of this process, which pauses for so
many seconds around each step of writing a file. The answers are the number of that process, and
when it has ended its exit status.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from spacy.cli import setup_cli

import spacy_cascade.cli  # noqa: F401 - as spaCy imports it before it reads its command line


def spacy_command(*arguments: str) -> None:
    """`python -m spacy ARGUMENTS`."""
    sys.argv = ["spacy", *arguments]
    try:
        setup_cli()
    except SystemExit as ended:
        if ended.code:
            raise


def make(function: str, arguments: list[str]) -> None:
    """Make a call."""
    module, _, name = function.partition(":")
    getattr(import_module(module), name)(*arguments)


def slow(function: Callable[..., Any], pause: float) -> Callable[..., Any]:
    def paused(*arguments: Any, **settings: Any) -> Any:
        time.sleep(pause)
        result = function(*arguments, **settings)
        time.sleep(pause)
        return result

    return paused


class HalfByHalf:
    """A file that is written in two parts."""

    def __init__(self, file: Any, pause: float) -> None:
        self._file, self._pause = file, pause

    def __enter__(self) -> HalfByHalf:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> None:
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        time.sleep(self._pause)
        self._file.write(data[len(data) // 2 :])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def write_slowly(pause: float) -> None:
    """Pause within everything that `files.replace_file` does."""
    open_file = Path.open

    def open_slowly(path: Path, mode: str = "r", *arguments: Any, **settings: Any) -> Any:
        file = open_file(path, mode, *arguments, **settings)
        return HalfByHalf(file, pause) if mode == "wb" else file

    Path.open = open_slowly  # type: ignore[method-assign,assignment]
    os.fsync, os.replace = slow(os.fsync, pause), slow(os.replace, pause)


def main(*first: str) -> None:
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        for call in first:
            make(*json.loads(call))
    print("ready", flush=True)
    for line in sys.stdin:
        call, log, pause = json.loads(line)
        number = os.fork()
        if number == 0:
            # A shell that runs tests in the background has its processes ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(file, 1)
            os.dup2(file, 2)
            write_slowly(pause)
            make(*call)
            return
        print(number, flush=True)
        print(os.waitpid(number, 0)[1], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
