"""Compiled kernels on disk, without mix-ups and with checksums.

Numba's own cache has three faults: if several processes compile at the same time, its index can
point to the code of another signature; a damaged file raises an error or crashes the process; and
it does not notice changed helpers and constants in other modules. Here there is no index. The name
of a file is a digest of everything that its code was compiled from, each file begins with a
checksum, and an unreadable file counts as missing.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba import config, types
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from .caching import cached_property
from .errors import SavingError
from .kernel_folders import kernel_folders, read_own, write_own

_REDUCE: Callable[..., Any] = CompileResult._reduce
_REBUILD: Callable[..., Any] = CompileResult._rebuild
_DIGEST = hashlib.sha256().digest_size
_SHORT = 16


class KernelCache:
    """The cache of a numba dispatcher, which asks it before it compiles a signature.

    compiled: the dispatcher. It holds its lock in all calls, so the cache needs none.
    """

    def __init__(self, compiled: Any) -> None:
        function = compiled.py_func
        self._compiled = compiled
        name = function.__qualname__.replace("<", "").replace(">", "")
        module = function.__module__.rpartition(".")[2]
        self._stem = f"{module}.{name}.{sys.implementation.cache_tag}"

    @cached_property
    def _folders(self) -> list[Path]:
        """Where the kernel may be; looked for at the first use, as most kernels are never used."""
        return list(_folders(Path(self._compiled.py_func.__code__.co_filename)))

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
        for folder in self._folders:
            # An undamaged file may still be unreadable for this process: compile again.
            with suppress(Exception):
                content = read_own(folder / name)
                checksum, data = content[:_DIGEST], content[_DIGEST:]
                if checksum == _digest(key + data):
                    return _REBUILD(target, *pickle.loads(data))
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if result.library.has_dynamic_globals or not self._folders:
            return  # The code contains addresses of this process, or there is no place for it.
        name, key = self._name(signature, result.codegen)
        data = dumps(_REDUCE(result))  # type: ignore[no-untyped-call]
        with suppress(SavingError):
            write_own(self._folders[-1] / name, _digest(key + data) + data)
            self._remove(but=name.rpartition("-")[0])

    def flush(self) -> None:
        self._remove()

    def _name(self, signature: Any, codegen: Any) -> tuple[str, bytes]:
        """Name of the file, and the whole digest; the name has a part of it."""
        source = _digest("\n".join([numba.__version__, *_sources(self._compiled)]))
        processor = codegen.magic_tuple(), _compiler_settings()
        target = _digest(repr((processor, [_layout(part) for part in signature])))
        name = f"{self._stem}.{source.hex()[:_SHORT]}-{target.hex()[:_SHORT]}.kernel"
        return name, source + target

    def _remove(self, but: str = "\0") -> None:
        """Remove the files of this kernel, except those whose names begin with `but`."""
        with suppress(OSError, IndexError):
            for path in self._folders[-1].glob(f"{self._stem}.*.kernel"):
                if not path.name.startswith(but):
                    path.unlink()


def _folders(source: Path) -> Iterator[Path]:
    users = AppDirs("numba", appauthor=False).user_cache_dir  # type: ignore[no-untyped-call]
    return kernel_folders(source, config.CACHE_DIR, Path(users))  # type: ignore[attr-defined]


def _digest(content: str | bytes) -> bytes:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).digest()


_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
"""Of numba's configuration, what machine code depends on besides the processor."""


def _compiler_settings() -> list[str]:
    return [str(getattr(config, name, None)) for name in _SETTINGS]


def _sources(compiled: Any) -> Iterator[str]:
    """What machine code depends on: bytecode, options and values of a kernel and its callees."""
    waiting, seen = [compiled], {compiled}
    for each in waiting:
        yield repr(sorted(each.targetoptions.items()))
        for code, names in _codes(each.py_func):
            constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
            yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
            for name in (*code.co_names, *code.co_freevars):
                if name not in names:
                    continue  # An attribute or a builtin.
                value = names[name]
                if not hasattr(value, "py_func"):
                    yield f"{name} = {_described(value)}"
                elif value not in seen:
                    seen.add(value)
                    waiting.append(value)


def _codes(function: Callable[..., Any]) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """Code of a function and of its inner functions, with the values of the names in it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    waiting = [function.__code__]
    for code in waiting:
        yield code, names
        waiting += [value for value in code.co_consts if isinstance(value, CodeType)]


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
