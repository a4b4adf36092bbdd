"""A client that sends requests at fixed times, whatever comes of those before."""

from __future__ import annotations

import asyncio
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import quantiles
from time import perf_counter
from typing import Any, NamedTuple

MOST_CONNECTIONS = 500
"""At once, because a process may often open 1,024 files; waiting for one of them counts."""
_STALE = 2.0
"""Seconds after which a connection is not used again: the server closes it soon."""
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class Request(NamedTuple):
    """A message as it is sent, the status of its answer, and what the answer has to fit."""

    message: bytes
    status: int
    about: Any = None


def post(path: str, body: bytes) -> bytes:
    """A message of HTTP with a body of JSON."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Client:
    """Requests to a port of this machine, and what came of them.

    hear: is told each request, and the status and the body of its answer. seconds: that answers
    took, by their status, from the time when the request was due. failed: errors of those that
    came to no answer.
    """

    def __init__(
        self, port: int, requests: Iterator[Request], hear: Callable[[Request, int, bytes], None]
    ) -> None:
        self.seconds: dict[int, array[float]] = {}
        self.failed: Counter[str] = Counter()
        self._port, self._requests, self._hear = port, requests, hear
        self._free = asyncio.Semaphore(MOST_CONNECTIONS)
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    @property
    def answered(self) -> int:
        return sum(map(len, self.seconds.values()))

    async def in_turn(self, clients: int, seconds: float) -> float:
        """Requests that were answered in a second, where so many clients wait for each answer."""
        begin, before = perf_counter(), self.answered

        async def one() -> None:
            while perf_counter() < begin + seconds:
                await self._ask(next(self._requests), perf_counter())

        await asyncio.gather(*(one() for _ in range(clients)))
        return (self.answered - before) / (perf_counter() - begin)

    async def at_rate(self, rate: float, seconds: float, patience: float) -> int:
        """How many requests were sent, at so many a second.

        patience: seconds after the last one, in which all have to be answered.
        """
        begin, n = perf_counter(), round(rate * seconds)
        asked: set[asyncio.Task[None]] = set()
        for number in range(n):
            due = begin + number / rate
            if (early := due - perf_counter()) > 0:
                await asyncio.sleep(early)
            elif number % 16 == 0:
                await asyncio.sleep(0)
            task = asyncio.create_task(self._ask(next(self._requests), due))
            asked.add(task)
            task.add_done_callback(asked.discard)
        if asked:
            _, late = await asyncio.wait(asked, timeout=patience)
            self.failed["no answer"] += len(late)
            for task in late:
                task.cancel()
        return n

    async def _ask(self, request: Request, due: float) -> None:
        async with self._free:
            try:
                status, body = await self._exchange(request.message)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.failed[type(error).__name__] += 1
                return
        self.seconds.setdefault(status, array("d")).append(perf_counter() - due)
        self._hear(request, status, body)

    async def _exchange(self, message: bytes) -> tuple[int, bytes]:
        while self._idle:
            since, reader, writer = self._idle.pop()
            if perf_counter() - since < _STALE and not reader.at_eof():
                break
            writer.close()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            found = _LENGTH.search(head)
            assert found is not None, head
            body = await reader.readexactly(int(found[1]))
        except BaseException:
            writer.close()
            raise
        self._idle.append((perf_counter(), reader, writer))
        return int(head[9:12]), body


def summary(seconds: array[float]) -> dict[str, float]:
    """Of waiting times: their number, the median, the 99th percentile and the longest."""
    cuts = quantiles(seconds, n=100) if len(seconds) > 1 else [seconds[0]] * 99
    figures = {"median": cuts[49], "p99": cuts[98], "longest": max(seconds)}
    return {"n": len(seconds), **{name: round(value, 3) for name, value in figures.items()}}
