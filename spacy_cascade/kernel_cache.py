"""Compiled kernels on disk, without mix-ups, with checksums, where nobody else can write.

Numba's own cache has three faults: if several processes compile at the same time, its index can
point to the code of another signature; a damaged file raises an error or crashes the process; and
it does not notice changed helpers and constants in other modules. Here there is no index. The name
of a file is a digest of everything that its code was compiled from, each file begins with a
checksum, and an unreadable file counts as missing.

The places are numba's: `NUMBA_CACHE_DIR`, `__pycache__` beside the source, the user's cache.
Kernels run as code. So a folder is refused if it, or one above it, has another owner than this user
and root, or if others can write there. In a folder such as `/tmp` only the owner of a file may move
it (the sticky bit): such a one may lie above. Files are checked in the same way, as a folder may
have been open before. `__pycache__` may be as open as the folder of the source: whoever can change
the source needs no cache to run code.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np
from numba import config, types
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, _rebuild_env
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from .caching import cached_property
from .compiling_ahead import compiled_elsewhere
from .errors import SavingError
from .files import fill_file

_REDUCE: Callable[..., Any] = CompileResult._reduce
_REBUILD: Callable[..., Any] = CompileResult._rebuild
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
"""Of numba's configuration, what machine code depends on besides the processor."""
_DIGEST, _SHORT, _ROOT = hashlib.sha256().digest_size, 16, 0
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Opens no link in place of a file, and does not wait for the other end of a pipe."""


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """What a kernel reads of the interpreter, its constants, as numba makes it again.

    Numba imports the module that the code comes from, too. Kernels have code of a dozen of numba's
    modules, whose import takes as long as all the rest; only code of another kind reads names of
    them.
    """
    known = Environment._memo.get(name)
    if known is not None:
        return known
    found = sys.modules.get(module)
    made: Any = Environment({"__name__": module} if found is None else vars(found))
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        is_environment = (module, name) == (_rebuild_env.__module__, _rebuild_env.__name__)
        return _environment if is_environment else super().find_class(module, name)


class KernelCache:
    """The cache of a numba dispatcher, which asks it before it compiles a signature.

    compiled: the dispatcher. It holds its lock in all calls, so the cache needs none.
    """

    def __init__(self, compiled: Any) -> None:
        function = compiled.py_func
        self._compiled = compiled
        name = function.__qualname__.replace("<", "").replace(">", "")
        module = function.__module__.rpartition(".")[2]
        within = ".within" if compiled.targetoptions.get("no_cpython_wrapper") else ""
        self._stem = f"{module}.{name}{within}.{sys.implementation.cache_tag}"

    @cached_property
    def _folders(self) -> tuple[Path, ...]:
        """Where the kernel may be; looked for at the first use, as most kernels are never used."""
        users = AppDirs("numba", appauthor=False).user_cache_dir  # type: ignore[no-untyped-call]
        source = Path(self._compiled.py_func.__code__.co_filename).absolute()
        named: str = config.CACHE_DIR  # type: ignore[attr-defined]
        return kernel_folders(source.parent, named, Path(users))

    @property
    def cache_path(self) -> str:
        """The folder that kernels are written to; empty where there is none."""
        return str(self._folders[-1]) if self._folders else ""

    def load_overload(self, signature: Any, target: Any) -> Any | None:
        """Machine code for a signature, or None if no undamaged file has it.

        Numba's own cache reads all that its compiler knows first, and SciPy's linear algebra with
        it, which takes a third of a second. The code needs the memory manager only. A file imports
        whatever else it needs, and the compiler reads the rest where something is compiled.
        """
        rtsys.initialize(target)
        name, key = self._name(signature, target.codegen())
        found = self._read(name, key, target)
        if found is None and self._folders and compiled_elsewhere(self._folders[-1] / name):
            found = self._read(name, key, target)
        return found

    def _read(self, name: str, key: bytes, target: Any) -> Any | None:
        for folder in self._folders:
            # An undamaged file may still be unreadable for this process: compile again.
            with suppress(Exception):
                content = read_own(folder / name)
                checksum, data = content[:_DIGEST], content[_DIGEST:]
                if checksum == _digest(key + data):
                    return _REBUILD(target, *_Unpickler(BytesIO(data)).load())
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the machine code of a signature, where a folder can be written."""
        if result.library.has_dynamic_globals or not self._folders:
            return  # The code contains addresses of this process, or there is no place for it.
        name, key = self._name(signature, result.codegen)
        data = dumps(_REDUCE(result))  # type: ignore[no-untyped-call]
        with suppress(SavingError):
            write_own(self._folders[-1] / name, _digest(key + data) + data)
            self.flush(but=name.rpartition("-")[0])

    def flush(self, but: str = "\0") -> None:
        """Remove the files of this kernel, except those whose names begin with `but`."""
        with suppress(OSError, IndexError):
            for path in self._folders[-1].glob(f"{self._stem}.*.kernel"):
                if not path.name.startswith(but):
                    path.unlink()

    def file_name(self, signature: Any) -> str:
        """Name of the file of a signature on this machine."""
        return self._name(signature, self._compiled.targetctx.codegen())[0]

    def _name(self, signature: Any, codegen: Any) -> tuple[str, bytes]:
        """Name of the file, and the whole digest; the name has a part of it."""
        source = _digest("\n".join([numba.__version__, *_sources(self._compiled)]))
        processor = codegen.magic_tuple(), [str(getattr(config, name, None)) for name in _SETTINGS]
        target = _digest(repr((processor, [_layout(part) for part in signature])))
        name = f"{self._stem}.{source.hex()[:_SHORT]}-{target.hex()[:_SHORT]}.kernel"
        return name, source + target


def _digest(content: str | bytes) -> bytes:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).digest()


def _sources(compiled: Any) -> Iterator[str]:
    """What machine code depends on: bytecode, options and values of a kernel and its callees."""
    waiting, seen = [compiled], {compiled}
    for each in waiting:
        yield repr(sorted(getattr(each, "targetoptions", {}).items()))
        function = _written(each)
        assert function is not None
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        values = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
        codes = [function.__code__]
        for code in codes:
            inner = [value for value in code.co_consts if isinstance(value, CodeType)]
            codes += inner
            constants = [value for value in code.co_consts if value not in inner]
            yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
            for name in (*code.co_names, *code.co_freevars):
                if name not in values:
                    continue  # An attribute or a builtin.
                value = values[name]
                if _written(value) is None:
                    yield f"{name} = {_described(value)}"
                elif value not in seen:
                    seen.add(value)
                    waiting.append(value)


def _written(value: Any) -> FunctionType | None:
    """The Python function of a kernel or an intrinsic function, or a function that they call."""
    function = getattr(value, "py_func", getattr(value, "_defn", value))
    return function if isinstance(function, FunctionType) else None


def _described(value: object) -> str:
    """A text that is the same in all processes, and differs between different values."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if hasattr(value, "__name__"):
        fields = getattr(value, "_fields", ())
        return f"{getattr(value, '__module__', '')}.{value.__name__} {fields}"
    return repr(value)


def _layout(part: Any) -> Any:
    """The type of an argument, including the field names of named tuples."""
    if not isinstance(part, types.BaseTuple):
        return repr(part)
    members = [_layout(member) for member in part]  # type: ignore[attr-defined]
    return repr(part), getattr(part, "fields", ()), members


@cache
def kernel_folders(beside: Path, named: str, users: Path) -> tuple[Path, ...]:
    """Folders for the kernels of a folder of sources; only the last is writable.

    named: by `NUMBA_CACHE_DIR`, or empty. users: the cache of this user.
    """
    own = f"{beside.name}_{hashlib.sha256(str(beside).encode()).hexdigest()[:_SHORT]}"
    places = [Path(named, own).absolute()] if named else []
    places.append(beside / "__pycache__")
    if users.is_absolute():  # Without a home directory it would be a folder called "~".
        places.append(users / own)
    trusted = []
    for place in places:
        can_write = is_writable(place)
        danger = _danger(place, beside)
        if danger is not None:
            warnings.warn(
                f"Compiled kernels are not kept in or below {danger}: another user can write "
                "there, and kernels run as code. Set NUMBA_CACHE_DIR to a folder that only you "
                "can write to.",
                stacklevel=2,
            )
            continue
        trusted.append(place)
        if can_write:
            break
    return tuple(trusted)


def is_writable(folder: Path) -> bool:
    """Whether files can be made there. A folder that is missing is made, for its owner only."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def read_own(path: Path) -> bytes:
    """The content of a file that only this user and root can have written.

    Raises `OSError` for other files, and for what is no file: a link may lead to one that came from
    elsewhere, and a pipe may never end.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AS_IT_IS)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or _is_open(found):
            raise PermissionError(f"{path} may be another user's.")
        return file.read()


def write_own(path: Path, data: bytes) -> None:
    """Write a file that `read_own` reads, whatever rights new files have."""

    def fill(temporary: Path) -> None:
        temporary.chmod(temporary.stat().st_mode & ~_WRITABLE)
        temporary.write_bytes(data)

    fill_file(path, fill)


def _danger(place: Path, beside: Path) -> Path | None:
    """The folder by which others can change a place; None if there is none."""
    if place == beside / "__pycache__":
        source = beside.stat()
        is_open = place.exists() and _is_open(place.stat(), source.st_uid, source.st_mode)
        return place if is_open else None
    real = Path(os.path.realpath(place))
    for path in (real, *real.parents):
        with suppress(OSError):
            found = path.stat()
            is_shared = path != real and found.st_mode & stat.S_ISVTX
            if not is_shared and _is_open(found):
                return path
    return None


def _is_open(found: os.stat_result, owner: int | None = None, allowed: int = 0) -> bool:
    """Whether others than this user, root and an owner can write there.

    allowed: the mode of something that may be as open. Systems without owners say no.
    """
    if not hasattr(os, "geteuid"):
        return False
    mode = found.st_mode & ~allowed
    if found.st_uid not in {_ROOT, _user(), owner} or mode & stat.S_IWOTH:
        return True
    return bool(mode & stat.S_IWGRP) and not _is_private(found.st_gid)


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


def _user() -> int:
    return os.geteuid()
