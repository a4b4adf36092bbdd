"""Disks that get full: a small file system, a limit on the size of files, and failing calls."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FILE_SYSTEM, FILES = "file system", "files"
"""Kinds of disks."""
_PAGE = 4096
_SIZE = 32 * 2**20


class SmallDisk:
    """A file system in memory on which there is as much room as asked for."""

    name = "a file system in memory"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def room(self, n_bytes: int) -> Iterator[None]:
        """So much room, to a page, while the context lasts."""
        disk = os.statvfs(self.folder)
        ballast = self.folder / "ballast"
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - n_bytes)
        try:
            yield
        finally:
            ballast.unlink()

    def needed(self, path: Path) -> int:
        """The room that a file or a folder takes."""
        files = [path, *path.rglob("*")]
        return sum(-(-file.stat().st_size // _PAGE) * _PAGE for file in files if file.is_file())


class SmallFiles:
    """No file can be longer than what is asked for."""

    name = "a limit on the size of files"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def room(self, n_bytes: int) -> Iterator[None]:
        """Files of so many bytes at most while the context lasts; Python ignores the signal."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def needed(self, path: Path) -> int:
        """The size of the longest file."""
        return max(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


@contextmanager
def make_disk(kind: str, folder: Path) -> Iterator[SmallDisk | SmallFiles]:
    """A disk of that kind; a limit on files where no file system can be mounted."""
    options = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
    if kind == FILES or subprocess.run(options, capture_output=True, check=False).returncode:
        yield SmallFiles(folder)
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Calls:
    """Counts calls that write, and does something at one of them.

    Opening a file to write it, each write, making a folder, renaming and flushing to the disk.
    """

    def __init__(self, at: int | None = None, act: Callable[[], object] = lambda: None) -> None:
        self.n = 0
        self._at = at
        self._act = act

    def count(self) -> None:
        self.n += 1
        if self.n == self._at:
            self._act()

    @contextmanager
    def counted(self) -> Iterator[Calls]:
        """While the context lasts."""
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in (
                (os, "fsync"), (os, "replace"), (Path, "mkdir"), (Path, "rename"),
            ):  # fmt: skip
                patch.setattr(owner, name, self._before(getattr(owner, name)))
            patch.setattr(Path, "open", self._opening(Path.open))
            yield self

    def _before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **settings: Any) -> Any:
            self.count()
            return function(*arguments, **settings)

        return call

    def _opening(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Path, mode: str = "r", *arguments: Any, **settings: Any) -> Any:
            if "r" in mode:
                return function(path, mode, *arguments, **settings)
            self.count()
            return _Watched(function(path, mode, *arguments, **settings), self)

        return call


class _Watched:
    """A file whose writes are counted."""

    def __init__(self, file: Any, calls: Calls) -> None:
        self._file = file
        self._calls = calls

    def write(self, data: Any) -> Any:
        self._calls.count()
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def no_room() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stop_here() -> None:
    """End the process as kill -9 does: nothing of Python is tidied up."""
    os._exit(9)
