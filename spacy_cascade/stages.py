"""Results of the stages of long work, kept in a folder so that a stopped run can continue."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from .files import fill_file, remove_leftovers


class Stages:
    """Stages that follow each other; the result of each is a file.

    folder: of the files, made if it is missing. The name of a file has a digest of all that the
    result depends on: what its own stage and those before it were given.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digest = hashlib.sha256()

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
