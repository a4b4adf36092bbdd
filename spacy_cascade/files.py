"""Files and folders that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import SavingError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_RANDOM_BYTES = 8
"""In the name of a temporary file."""


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file in place of what is there; folders are made where there are none.

    Whenever the process or the machine stops, the file is the old one or the new one: the
    data go to a temporary file beside it, reach the disk, and only then take its name.
    Raises `SavingError` where they cannot be written; the old file is then still there.
    """
    path = Path(path)
    temporary = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _not_saved(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def replace_folder(path: str | Path, fill: Callable[[Path], object]) -> None:
    """Make a folder in place of what is there; what only the old folder has stays in it.

    fill: writes into an empty folder beside it, whose files reach the disk before it takes its
    name. Whenever the process or the machine stops, the old folder or the new one is there, but
    for a moment between two renames, for which the old one has the name `.NAME.replaced` beside
    its place: the next call puts it back. Raises `SavingError` as `replace_file` does.
    """
    path = Path(path).resolve()
    temporary, replaced = _beside(path), path.with_name(f".{path.name}.replaced")
    try:
        _tidy(path, replaced)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        fill(temporary)
        _sync(temporary)
        if path.is_dir():
            shutil.copymode(path, temporary)
            path.rename(replaced)
        temporary.rename(path)
        _sync_folder(path.parent)
    except (OSError, SavingError) as error:
        raise _not_saved(path, error) from error
    finally:
        with suppress(OSError):
            _tidy(path, replaced)
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for as long as the context lasts. Raises `SavingError` where there is no room."""
    try:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise SavingError(
            f"There is no room for temporary files in {tempfile.gettempdir()}: {_reason(error)}. "
            "Make room, or name another folder in the environment variable TMPDIR."
        ) from error


def _tidy(path: Path, replaced: Path) -> None:
    """Put a folder back where none has taken its place, else leave only what the new one lacks."""
    if not replaced.is_dir():
        return
    if not path.exists():
        replaced.rename(path)
        return
    for entry in list(replaced.iterdir()):
        if not (path / entry.name).exists():
            entry.rename(path / entry.name)
    shutil.rmtree(replaced)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(_RANDOM_BYTES)}")


def _not_saved(path: Path, error: OSError | SavingError) -> SavingError:
    # In a folder a component may have said so of its own file, which is not there any more.
    reason = _reason(error.__cause__ if isinstance(error, SavingError) else error)
    return SavingError(
        f"Cannot save {path}: {reason}. What was there before is still there. "
        "Make room, or choose another place."
    )


def _reason(error: BaseException | None) -> str:
    return getattr(error, "strerror", None) or str(error)


def _sync(folder: Path) -> None:
    """Make all files of a folder reach the disk."""
    for entry in folder.rglob("*"):
        if entry.is_dir():
            _sync_folder(entry)
        else:
            with entry.open("r+b") as file:
                os.fsync(file.fileno())
    _sync_folder(folder)


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
