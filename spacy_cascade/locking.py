"""Folders that one process has for itself."""

from __future__ import annotations

from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout

from .errors import ConfigError

LOCK = "_lock"
"""The file that is locked, in the folder."""


def lock_folder(folder: Path) -> AcquireReturnProxy[FileLock]:
    """Have a folder, which is made if it is missing: `with lock_folder(folder):`.

    The system frees the lock if the process is killed. Raises `ConfigError` if another process has
    the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder / LOCK, timeout=0, thread_local=False).acquire()
    except Timeout as error:
        raise ConfigError(
            f"Another run is at work in {folder}. Wait for its end, or write to another folder."
        ) from error
