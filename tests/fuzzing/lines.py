"""Which lines of the package were reached, so that inputs that reach new ones are kept."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType, TracebackType
from typing import Any

from tests.fuzzing.target import PROJECT

_TRACED = tuple(str(PROJECT / name) for name in ("spacy_cascade", "examples"))


class ReachedLines:
    """Counts the lines that were run within `with`, each once, in this thread and in new ones.

    Python's own tracing is told to leave a function alone once all of its lines were reached.
    """

    def __init__(self) -> None:
        self.n = 0
        self._left: dict[CodeType, set[int]] = {}
        """The lines of each function that were not reached yet; none of those of others."""

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.settrace(self._before)
        threading.settrace(None)  # type: ignore[arg-type]

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            is_traced = code.co_filename.startswith(_TRACED)
            left = {line for *_, line in code.co_lines() if line} if is_traced else set()
            left.discard(code.co_firstlineno)  # of the definition, which is no event
            self._left[code] = left
        return self._line if left else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        left, line = self._left[frame.f_code], frame.f_lineno
        if line in left:
            left.discard(line)
            self.n += 1
        return self._line
