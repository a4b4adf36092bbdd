"""Files and folders that are written completely or not at all.

Neither Python's standard library nor spaCy offers this for a folder, and a pipeline is a folder:
`replace_folder` therefore builds the new one beside the old one and swaps the two.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import secrets
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from .errors import SavingError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_RANDOM_BYTES = 8
"""Number of random bytes in the name of a temporary file."""
_PATIENCE = (0.05, 0.2, 0.8)
"""Seconds between the attempts to rename."""


UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)
"""What `text_lines` raises where a file is missing, damaged or no UTF-8."""


def text_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 text, compressed with gzip if its name ends in `.gz`."""
    opened: Any = gzip.open if str(path).lower().endswith(".gz") else open
    with opened(Path(path), "rt", encoding="utf-8-sig") as file:
        yield from file


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file, replacing an old one; missing folders are created.

    The data reach the disk in a temporary file before that takes the name, so a crash leaves either
    the old file or the new one. Raises `SavingError` if it cannot; the old file is then unchanged.
    """
    fill_file(path, lambda temporary: temporary.write_bytes(data))


def append_to_file(path: str | Path, data: bytes) -> None:
    """Add to the end of a file, which is made if it is missing; the data reach the disk.

    Raises `SavingError` if it cannot; the file then ends where it did.
    """
    path = Path(path)
    try:
        with path.open("ab", buffering=0) as file:
            end = file.tell()
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(end)
                raise
        if not end:
            _sync_folder(path.parent)
    except OSError as error:
        raise _not_saved(path, error) from error


def fill_file(path: str | Path, fill: Callable[[Path], object]) -> None:
    """Write a file as `replace_file` does, without having all of its data in memory.

    fill: writes into an empty file, which takes the name at the end. What it raises is not changed,
    except errors of the system, which become a `SavingError`.
    """
    path = Path(path)
    temporary = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.open("xb").close()
        fill(temporary)
        with temporary.open("r+b") as file:
            os.fsync(file.fileno())
        _rename(partial(os.replace, temporary, path))
        _sync_folder(path.parent)
    except OSError as error:
        raise _not_saved(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def replace_folder(path: str | Path, fill: Callable[[Path], object]) -> None:
    """Write a folder, replacing an old one; files that only the old folder has are kept.

    fill: writes into an empty temporary folder, whose files reach the disk before it takes the
    name. A crash leaves either the old folder or the new one, except between two renames: the old
    folder is then called `.NAME.replaced`, and the next call puts it back. A folder that cannot be
    moved (a mounted one, the working directory) gets its new files one by one, so a crash can leave
    some old ones, in a hidden folder of it. Raises `SavingError` as `replace_file` does.
    """
    path = Path(path).resolve()
    replace = _replace_entries if _has_to_stay(path) else _replace_whole
    try:
        replace(path, fill)
    except (OSError, SavingError) as error:
        raise _not_saved(path, error) from error


def _has_to_stay(path: Path) -> bool:
    """Whether a folder cannot be exchanged: a mounted one, or one that the process works in.

    So it is if nothing can be made beside it, as where a container may write to a volume alone.
    """
    if not path.is_dir():
        return False
    works_there = False
    with suppress(OSError):
        works_there = Path.cwd().is_relative_to(path)
    return works_there or os.path.ismount(path) or not os.access(path.parent, os.W_OK | os.X_OK)


def _replace_whole(path: Path, fill: Callable[[Path], object]) -> None:
    temporary, replaced = _beside(path), path.with_name(f".{path.name}.replaced")
    try:
        _tidy(path, replaced)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        fill(temporary)
        _sync(temporary)
        if path.is_dir():
            shutil.copymode(path, temporary)
            _rename(partial(path.rename, replaced))
        _rename(partial(temporary.rename, path))
        _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            _tidy(path, replaced)
        shutil.rmtree(temporary, ignore_errors=True)


def _rename(rename: Callable[[], object]) -> None:
    """Windows refuses it while a program has the file open, as virus scanners do for a moment."""
    for seconds in _PATIENCE:
        with suppress(PermissionError):
            rename()
            return
        time.sleep(seconds)
    rename()


def _replace_entries(path: Path, fill: Callable[[Path], object]) -> None:
    """The same, one file or folder of the folder at a time; nothing is touched before all is there.

    Old entries are set aside until all new ones are in place, and put back if one cannot be.
    """
    new, old = _inside(path), _inside(path)
    try:
        new.mkdir()
        fill(new)
        _sync(new)
        old.mkdir()
        _exchange(path, new, old)
        _sync_folder(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _exchange(path: Path, new: Path, old: Path) -> None:
    """Move the entries of `new` into the folder, by way of `old`, which is then removed."""
    moved: list[Path] = []
    try:
        for entry in sorted(new.iterdir()):
            place = path / entry.name
            if os.path.lexists(place):
                place.rename(old / entry.name)
            moved.append(place)
            entry.rename(place)
    except BaseException:
        for place in moved:
            _remove(place)
            if os.path.lexists(old / place.name):
                (old / place.name).rename(place)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder until the context ends; raises `SavingError` if the disk is full."""
    with temporary_files(), tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def temporary_files() -> Iterator[None]:
    """Temporary files are written; raises `SavingError` if the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise SavingError(
            f"There is no space for temporary files in {tempfile.gettempdir()}: {_reason(error)}. "
            "Make room, or set the environment variable TMPDIR to another folder."
        ) from error


def _tidy(path: Path, replaced: Path) -> None:
    """Put the old folder back if there is no new one; else move what the new one lacks into it."""
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


def _inside(path: Path) -> Path:
    return path / f".{secrets.token_hex(_RANDOM_BYTES)}"


def _not_saved(path: Path, error: OSError | SavingError) -> SavingError:
    # The message of a component is about a temporary file, which no longer exists.
    cause = error.__cause__ if isinstance(error, SavingError) else error
    advice = "Make room"
    if isinstance(cause, PermissionError):
        advice = "Close programs that have it open, check its permissions"
    return SavingError(
        f"Cannot save {path}: {_reason(cause)}. What was there before is unchanged. "
        f"{advice}, or choose another place."
    )


def _reason(error: BaseException | None) -> str:
    return getattr(error, "strerror", None) or str(error)


def _sync(folder: Path) -> None:
    """Make sure that all files of a folder reach the disk."""
    for entry in folder.rglob("*"):
        if entry.is_dir():
            _sync_folder(entry)
        else:
            with entry.open("r+b") as file:
                os.fsync(file.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Make sure that a new name reaches the disk, on systems that can open folders."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(handle)
    os.close(handle)


def remove_leftovers(path: str | Path) -> None:
    """Remove the temporary files beside a file: what killed processes left, and any in use."""
    path = Path(path)
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}")
    if path.parent.is_dir():
        for file in path.parent.iterdir():
            if name.fullmatch(file.name):
                with suppress(OSError):
                    file.unlink()


def remove_leftovers_in(folder: str | Path) -> None:
    """Remove all temporary files that killed processes left in a folder and those inside it."""
    name = re.compile(rf"\..+\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}")
    for file in Path(folder).rglob(".*"):
        if name.fullmatch(file.name):
            with suppress(OSError):
                file.unlink()
