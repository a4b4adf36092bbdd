"""Folders and files of compiled kernels. They run as code, so nobody else may have written them.

The places are those of numba: `NUMBA_CACHE_DIR`, `__pycache__` beside the source, the user's cache.
A folder is refused if another user owns it, or if its group or others can write there; so is a
folder below one like that, where it could be exchanged. A folder such as `/tmp`, in which only the
owner of a file may move it (the sticky bit), is no such parent. `__pycache__` is compared with the
folder of the source instead: whoever can change the source needs no cache to run code.

Others may have written into a folder before its mode was mended, so each file is checked as well.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from .files import fill_file

_SHORT = 16
_ROOT = 0
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE = 0o700
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Opens no link in place of a file, and does not wait for the other end of a pipe."""


def kernel_folders(source: Path, named: str, users: Path) -> Iterator[Path]:
    """Folders for the kernels of a source file that can be trusted; only the last is writable.

    named: by `NUMBA_CACHE_DIR`, or empty. users: the cache of this user.
    """
    beside = source.absolute().parent
    own = f"{beside.name}_{hashlib.sha256(str(beside).encode()).hexdigest()[:_SHORT]}"
    pycache = beside / "__pycache__"
    places = [pycache]
    if named:
        places.insert(0, Path(named, own).absolute())
    if users.is_absolute():  # Without a home directory it would be a folder called "~".
        places.append(users / own)
    for place in places:
        writable = is_writable(place)
        danger = _beside(place, beside) if place == pycache else _above(place)
        if danger is not None:
            _warn(danger)
            continue
        yield place
        if writable:
            return


def read_own(path: Path) -> bytes:
    """The content of a file that only this user and root can have written.

    Raises `OSError` for other files, and for what is no file: a link may lead to one that came from
    elsewhere, and a pipe may never end.
    """

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | _AS_IT_IS)

    with open(path, "rb", opener=opened) as file:
        found = os.fstat(file.fileno())
        has_owner = hasattr(os, "geteuid")
        if not stat.S_ISREG(found.st_mode) or (has_owner and _is_open(found, {_ROOT, _user()})):
            raise PermissionError(f"{path} may be another user's.")
        return file.read()


def write_own(path: Path, data: bytes) -> None:
    """Write a file that `read_own` reads, whatever rights new files have."""

    def fill(temporary: Path) -> None:
        temporary.chmod(temporary.stat().st_mode & ~_WRITABLE)
        temporary.write_bytes(data)

    fill_file(path, fill)


@cache
def is_writable(folder: Path) -> bool:
    """Whether files can be made there. Folders that are missing are made, for their owner only."""
    try:
        for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            missing.mkdir(_PRIVATE, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _above(folder: Path) -> Path | None:
    """The first of a folder and its parents that others can change; None if there is none."""
    real = Path(os.path.realpath(folder))
    for path in (real, *real.parents):
        found = _status(path)
        is_shared = path != real and found is not None and found.st_mode & stat.S_ISVTX
        if found is not None and not is_shared and _is_open(found, {_ROOT, _user()}):
            return path
    return None


def _beside(folder: Path, source: Path) -> Path | None:
    """The folder, if more people can change it than the folder of the source; else None."""
    found, of_source = _status(folder), _status(source)
    if found is None or of_source is None:
        return None
    trusted = {_ROOT, _user(), of_source.st_uid}
    is_as_open = not found.st_mode & _WRITABLE & ~of_source.st_mode
    is_open = _is_open(found, trusted) and not (is_as_open and found.st_uid in trusted)
    return folder if is_open else None


def _is_open(found: os.stat_result, trusted: set[int]) -> bool:
    """Whether users that are not trusted can write there."""
    if found.st_uid not in trusted or found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid)


@cache
def _is_private(group: int) -> bool:
    """Whether a group has no member but this user, or root: many systems give each user one."""
    try:
        import grp
        import pwd

        members = set(grp.getgrgid(group).gr_mem)
        members.update(user.pw_name for user in pwd.getpwall() if user.pw_gid == group)
        return members <= {"root", pwd.getpwuid(_user()).pw_name}
    except (ImportError, KeyError):
        return False


def _status(path: Path) -> os.stat_result | None:
    """None where there is no file, and on systems without owners of this kind."""
    try:
        return path.stat() if hasattr(os, "geteuid") else None
    except OSError:
        return None


def _user() -> int:
    return os.geteuid()


@cache
def _warn(folder: Path) -> None:
    """Say once that a folder is not used."""
    warnings.warn(
        f"Compiled kernels are not kept in or below {folder}: another user can write there, and "
        "kernels run as code. Set NUMBA_CACHE_DIR to a folder that only you can write to.",
        stacklevel=2,
    )
