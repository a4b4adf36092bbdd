"""Records of a file that cannot be read: an error at once, or noted, and the next one is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from ...errors import CorpusError

Item = TypeVar("Item")
Made = TypeVar("Made")

OnBad: TypeAlias = Callable[[CorpusError], None]
"""Takes the error of a record, or of a span in it; if it returns, reading goes on behind it."""
_LISTED = 20


def raised(error: CorpusError) -> None:
    """The strict way: raise the error."""
    raise error


def each(
    items: Iterable[Item], read: Callable[[Item], Iterable[Made]], on_bad: OnBad
) -> Iterator[Made]:
    """What is read of each item in turn; where that raises a `CorpusError`, `on_bad` takes it."""
    for item in items:
        try:
            yield from read(item)
        except CorpusError as error:
            on_bad(error)


def each_counted(
    items: Iterable[Item], read: Callable[[Item], Iterable[Made]], on_bad: OnBad
) -> tuple[tuple[Made, ...], int]:
    """What `each` gives, and the number of items that are bad."""
    bad: list[CorpusError] = []

    def note(error: CorpusError) -> None:
        bad.append(error)
        on_bad(error)

    return tuple(each(items, read, note)), len(bad)


def check_none(bad: Sequence[CorpusError]) -> None:
    """Raise `CorpusError` if there are errors of records: with the first 20, and their number."""
    if len(bad) == 1:
        raise CorpusError(f"{bad[0]} Or leave it out: --skip-bad.")
    if bad:
        listed = "".join(f"\n  {error}" for error in bad[:_LISTED])
        raise CorpusError(
            f"{len(bad):,} records or spans cannot be read. Correct them, or leave them out: "
            f"--skip-bad. The first are:{listed}"
        )
