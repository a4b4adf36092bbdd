"""Which lines of the package were reached, so that inputs that reach new ones are kept."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType, TracebackType
from typing import Any

from tests.fuzzing.target import PROJECT

_TRACED = tuple(str(PROJECT / name) for name in ("spacy_cascade", "examples"))
_TOOL = 4
"""An identifier that Python's monitoring gives to nobody in particular."""


class ReachedLines:
    """Counts the lines that were run within `with`, each once, in all threads.

    From Python 3.12 on each line is told of once, which takes no time. Before, functions are traced
    until all of their lines were reached, in this thread and in new ones.
    """

    def __init__(self) -> None:
        self.n = 0
        self._left: dict[CodeType, set[int]] = {}
        """The lines of each function that were not reached yet; none of those of others."""

    def __enter__(self) -> ReachedLines:
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(_TOOL, "fuzzing")
            monitoring.register_callback(_TOOL, monitoring.events.LINE, self._reach)
            monitoring.set_events(_TOOL, monitoring.events.LINE)
            monitoring.restart_events()
        else:
            self._before = sys.gettrace()
            threading.settrace(self._call)
            sys.settrace(self._call)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(_TOOL, sys.monitoring.events.NO_EVENTS)
            sys.monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(self._before)
            threading.settrace(None)  # type: ignore[arg-type]

    def _left_of(self, code: CodeType) -> set[int]:
        left = self._left.get(code)
        if left is None:
            is_traced = code.co_filename.startswith(_TRACED)
            left = {line for *_, line in code.co_lines() if line} if is_traced else set()
            left.discard(code.co_firstlineno)  # of the definition, which is no event
            self._left[code] = left
        return left

    def _reach(self, code: CodeType, line: int) -> Any:
        left = self._left_of(code)
        if line in left:
            left.discard(line)
            self.n += 1
        return sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if self._left_of(frame.f_code) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._reach(frame.f_code, frame.f_lineno)
        return self._line
