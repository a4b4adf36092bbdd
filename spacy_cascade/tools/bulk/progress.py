"""A line that says how far a run is: share, tokens per second, time left."""

from __future__ import annotations

import sys
from datetime import timedelta
from time import monotonic
from typing import Any

from ...pipeline.progress import progress

_FORMAT = "{desc}: {percentage:3.0f} % |{bar}| {postfix}, {remaining} left"

_LINE_SECONDS = 30.0
"""Time between lines where the output is no terminal."""


class Progress:
    """A bar over the bytes of the input, which processes report shard by shard."""

    def __init__(self, size: int, done: int) -> None:
        """size: bytes of the input. done: of earlier runs."""
        self._size, self._before = size, done
        self._done = self._tokens = 0
        self._begin = self._shown = monotonic()
        self._bar: Any = progress("Annotating", total=size, initial=done, bar_format=_FORMAT)
        self._bar.set_postfix_str("0 tokens", refresh=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def add(self, size: int, tokens: int) -> None:
        """A shard is done."""
        self._done += size
        self._tokens += tokens
        speed = self._tokens / max(monotonic() - self._begin, 1e-9)
        self._bar.set_postfix_str(f"{self._tokens:,} tokens, {speed:,.0f}/s", refresh=False)
        self._bar.update(size)

    def show(self) -> None:
        """Show how far the run is. Where the output is no terminal, a line now and then."""
        self._bar.refresh()
        now = monotonic()
        if not self._bar.disable or not self._done or now < self._shown + _LINE_SECONDS:
            return
        self._shown, passed = now, now - self._begin
        left = passed * (self._size - self._done - self._before) / self._done
        print(
            f"{(self._done + self._before) / self._size:.0%} done, {self._tokens:,} tokens, "
            f"{self._tokens / passed:,.0f}/s, {timedelta(seconds=round(left))} left",
            file=sys.stderr,
            flush=True,
        )
