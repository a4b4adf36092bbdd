"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from .errors import SavingError

_RANDOM_BYTES = 8
"""In the name of a temporary file."""


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file in place of what is there; folders are made where there are none.

    Whenever the process or the machine stops, the file is the old one or the new one: the
    data go to a temporary file beside it, reach the disk, and only then take its name.
    Raises `SavingError` where they cannot be written; the old file is then still there.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(_RANDOM_BYTES)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise SavingError(
            f"Cannot save {path}: {error.strerror or error}. What was there before is still there. "
            "Make room, or choose another place."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make a new name reach the disk, where folders can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(handle)
    os.close(handle)


def remove_leftovers(path: str | Path) -> None:
    """Remove temporary files of this one that a killed process has left behind.

    One that another process is writing right now goes, too.
    """
    path = Path(path)
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}")
    if path.parent.is_dir():
        for file in path.parent.iterdir():
            if name.fullmatch(file.name):
                with suppress(OSError):
                    file.unlink()
