"""A bound on the time that a record takes. It ends the process: nothing else stops a kernel.

What a process is at work on stands in a file, so that the next one knows what took too long: a
batch, whose records it then takes one by one, or a record, which it leaves out.
"""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from .annotator import Annotator, Batches

_LATE = re.compile(rb"^(\d+) (\d+)\n+Timeout \(", re.MULTILINE)
"""First and last record of a batch, and what `faulthandler` writes when it ends the process."""
_COMPILING_SECONDS = 600.0
_WARMING_UP = 0
"""Stands for a record: those of files count from 1."""


def number_late(folder: Path) -> int:
    """How many batches and records have taken too long, of the shards that are not done."""
    return sum(len(_late_in(path)) for path in folder.glob("part-*"))


def _late_in(path: Path) -> list[tuple[int, int]]:
    """First and last record of each batch that took too long."""
    content = path.read_bytes() if path.exists() else b""
    return [(int(first), int(last)) for first, last in _LATE.findall(content)]


class Watch(AbstractContextManager["Watch"]):
    """Watches over the batches of a shard; `late` has the records that have taken too long."""

    def __init__(self, path: Path, seconds: float) -> None:
        """path: of the notes on the shard, which are removed when it is done."""
        self._path, self._seconds = path, seconds
        found = _late_in(path)
        self.late = {first for first, last in found if first == last}
        self._slow = [range(first, last + 1) for first, last in found if first < last]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._path.unlink()

    def warm_up(self, annotator: Annotator) -> None:
        """Annotate a text first, so that no record has to wait until kernels are compiled."""
        if _WARMING_UP not in self.late:
            with self._during(_WARMING_UP, _WARMING_UP, max(self._seconds, _COMPILING_SECONDS)):
                annotator.annotate(["A first text."])

    def over(self, numbers: Sequence[int], size: int) -> Batches:
        """Batches of records with these numbers."""
        return _Watched(self, numbers, size)

    def is_slow(self, number: int) -> bool:
        """Whether a record has to be alone: the second slow batch is a sign of many more."""
        return len(self._slow) > 1 or any(number in batch for batch in self._slow)

    def during(self, first: int, last: int) -> AbstractContextManager[None]:
        """End the process if these records are not done in time."""
        return self._during(first, last, self._seconds)

    @contextmanager
    def _during(self, first: int, last: int, seconds: float) -> Iterator[None]:
        self._file.write(f"{first} {last}\n".encode())
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


class _Watched(Batches):
    def __init__(self, watch: Watch, numbers: Sequence[int], size: int) -> None:
        super().__init__(size)
        self._watch, self._numbers = watch, numbers

    def of(self, n: int) -> Iterator[tuple[int, int]]:
        for begin, end in super().of(n):
            numbers = self._numbers[begin:end]
            if any(map(self._watch.is_slow, numbers)):
                yield from ((i, i + 1) for i in range(begin, end))
            else:
                yield begin, end

    def around(self, begin: int, end: int) -> AbstractContextManager[object]:
        return self._watch.during(self._numbers[begin], self._numbers[end - 1])
