"""Results of the stages of long work, kept in a folder so that a stopped run can continue."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .files import fill_file, remove_leftovers
from .locking import LOCK, lock_folder


class Stages:
    """Stages that follow each other; the result of each is a file.

    folder: of the files, made if it is missing. The name of a file has a digest of all that the
    result depends on: what its own stage and those before it were given.

    `with Stages(folder) as stages:` has the folder for this process alone, and removes it if there
    is no result in it at the end. Raises `ConfigError` if another process has the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digest = hashlib.sha256()

    def __enter__(self) -> Stages:
        self._lock = lock_folder(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        is_empty = all(path.name == LOCK for path in self._folder.glob("*"))
        if is_empty:
            self.remove()
        self._lock.lock.release()
        if is_empty and os.name == "nt":  # There no file is removed that is open.
            with suppress(OSError):
                (self._folder / LOCK).unlink()
                self._folder.rmdir()

    def file(self, name: str, given: object, fill: Callable[[Path], object]) -> Path:
        """The result of the next stage: that of an earlier run, or a new one.

        given: what the result depends on beside earlier stages, for JSON. fill: writes the
        result to a file. Results of the stage that depend on something else are removed.
        """
        self._digest.update(json.dumps([name, given], sort_keys=True).encode())
        path = self._folder / f"{name}-{self._digest.hexdigest()[:16]}"
        if not path.exists():
            if self._folder.is_dir():
                for old in self._folder.glob(f"{name}-*"):
                    old.unlink()
            remove_leftovers(path)
            fill_file(path, fill)
        return path

    def remove(self) -> None:
        """Remove the results of all stages."""
        shutil.rmtree(self._folder, ignore_errors=True)
