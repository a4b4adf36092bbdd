"""A second process that compiles kernels which are used later, while this one compiles the first.

Numba compiles one kernel at a time in a process. So the first training or annotation with a new
installation starts another process. It begins with the kernels that are used last, says which one
it compiles, and leaves them in the cache of kernels. This process takes them as they come, and
compiles itself what the other one has not begun.
"""

from __future__ import annotations

import atexit
import importlib
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from .parallel import available_cores

ANNOTATION = (
    "inference.spans:_scaled_posteriors", "inference.viterbi:viterbi",
    "features.pair_scores:add_pair_scores", "features.keys:unit_level_features",
    "features.slots:slot_rows", "features.slots:find_occurrences",
)  # fmt: skip
"""The large kernels of a cascade of linear chains as it annotates, the last ones first."""
TRAINING = (
    "inference.chain_losses:_scaled_losses", "numeric.csr:scale_and_mix",
    "numeric.csr:add_to_columns", "features.keys:unit_level_features",
    "features.keys:unit_level_keys", "features.slots:slot_rows", "features.slots:find_occurrences",
)  # fmt: skip
"""As it learns. Then come those of annotation, for scores on other Docs."""
_START = """
import sys, types
package = types.ModuleType("spacy_cascade")
package.__path__ = [sys.argv[1]]
sys.modules["spacy_cascade"] = package
sys.modules["scipy"] = None
from spacy_cascade.compiling_ahead import serve
serve()
"""
"""The package without its first module, which imports spaCy: kernels do without; and no SciPy,
whose linear algebra numba would import."""
_PAUSE_SECONDS = 0.005
_ARRAYS = {
    "Bools": "bool_", "Floats": "float64", "Ints": "int32", "Keys": "uint64", "Pointers": "int64",
    "Reals": "float32", "Singles": "float32",
}  # fmt: skip
"""Names of `types` and what they hold; weights that annotate are single."""

_wanted: tuple[str, ...] | None = None
_other: _Other | None = None


class _Other:
    """The process, and the names of files that it has begun to make."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _START, str(Path(__file__).parent)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self._begun: set[str] = set()
        Thread(target=self._listen, daemon=True).start()
        atexit.register(self.end)

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            self._begun.add(line.strip())
        self._process.wait()

    def ask(self, kernels: Sequence[str]) -> None:
        """Have it compile these kernels and end; only what is asked first counts."""
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            with suppress(OSError):  # It may have ended.
                pipe.write(" ".join(dict.fromkeys(kernels)))
                pipe.close()

    def wait(self, path: Path) -> bool:
        """Whether the file is there, if need be after a while in which the process makes it."""
        while path.name in self._begun and self._process.poll() is None and not path.exists():
            time.sleep(_PAUSE_SECONDS)
        return path.exists()

    def end(self) -> None:
        """End the process, which nothing waits for any more."""
        self._process.terminate()
        self._process.wait()


def compile_ahead(kernels: tuple[str, ...]) -> None:
    """Have the other process compile these kernels, if any kernel is missing.

    kernels: `MODULE:FUNCTION` within the package.
    """
    global _wanted
    _wanted = kernels
    if _other is not None:
        _other.ask(kernels)


def compiled_elsewhere(path: Path) -> bool:
    """Whether the other process has made the file of a kernel that is missing, or makes it now.

    It starts with the first one that is missing, and gets ready until it knows what is wanted.
    """
    global _other
    if _other is None and _wanted != () and _may_start():
        with suppress(OSError):
            _other = _Other()
            if _wanted is not None:
                _other.ask(_wanted)
    return _other is not None and _other.wait(path)


def _may_start() -> bool:
    """Whether there is a core for it, and an interpreter that can be started.

    Worker processes start none: each would, for the same kernels.
    """
    is_python = re.match(r"python|pypy", Path(sys.executable or "").name.lower())
    return bool(is_python) and available_cores() > 1 and parent_process() is None


def serve() -> None:
    """Compile the kernels that standard input names; meanwhile import what compilers need."""
    from numba.core.registry import cpu_target

    importlib.import_module(f"{__package__}.inference.spans")
    contexts: list[Any] = [cpu_target.typing_context, cpu_target.target_context]
    for context in contexts:
        context.refresh()
    compile_kernels(sys.stdin.read().split())


def compile_kernels(kernels: Sequence[str]) -> None:
    """Compile kernels by the types of their arguments; print the name of each file before."""
    for kernel in kernels:
        module, _, name = kernel.partition(":")
        compiled: Any = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        signature = signature_of(compiled.py_func)
        print(compiled._cache.file_name(signature), flush=True)
        compiled.compile(signature)


def signature_of(function: Any) -> tuple[Any, ...]:
    """The types that numba gives the arguments of a kernel, read from its annotations."""
    annotations = dict(function.__annotations__)
    annotations.pop("return", None)
    return tuple(_numba_type(text, function.__module__) for text in annotations.values())


def _numba_type(text: str, module: str) -> Any:
    """The type of what is written so in a module: an array, a number, a (named) tuple of these."""
    from numba import from_dtype, types

    from_types: Any = types.BaseTuple.from_types
    array = re.fullmatch(r"([A-Z][a-z]+)([1-3])d", text)
    if array:
        return types.Array(getattr(types, _ARRAYS[array[1]]), int(array[2]), "C")
    if text.startswith("tuple["):
        parts = text.removeprefix("tuple[").removesuffix("]").split(", ")
        return from_types([_numba_type(part, module) for part in parts])
    annotation = eval(text, vars(sys.modules[module]))
    if hasattr(annotation, "_fields"):
        written = annotation.__annotations__.values()
        fields = (getattr(field, "__forward_arg__", field) for field in written)
        parts = [_numba_type(field, annotation.__module__) for field in fields]
        return from_types(parts, annotation)
    numbers = {int: types.int64, float: types.float64, bool: types.boolean}
    return numbers.get(annotation) or from_dtype(np.dtype(annotation))
