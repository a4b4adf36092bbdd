"""Servers that are asked for twice what they can do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from statistics import median

from benchmarks.lib.machine import resident_megabytes
from tests.proof.client import Client, summary
from tests.proof.part import Came, Part, Row, Tried
from tests.proof.servers import BUSY, SERVERS, Server, make_model

HOUR, SHORT = 3600.0, 12.0
FACTOR = 2.0
"""Of what a server can answer, which must still answer at least `LEAST` of it."""
LEAST = 0.5
CLIENTS = 20
"""That wait for each answer while it is measured what a server can do; it refuses none of them."""
LONGEST = 60.0
"""Seconds that a request may wait."""
MOST_GROWTH = 40.0
"""Megabytes in half an hour. Medians of single minutes differ by as much, in both directions."""
TOOTH = 300.0
"""Megabytes that tables of words and a training take, again and again; a short load may see one."""
_MOST_SAMPLES, _KEPT_SAMPLES = 4000, 200


class Load(Part):
    """An hour of a server is one item: only the memory of one process can be flat over it.

    Client and server take both processors, so nothing else should run meanwhile.
    """

    title = "More than they can answer"
    says = (
        "The web service and the annotation backend, each one process, get twice as many requests "
        "as they can answer, at fixed times, whatever comes of those before. Sizes vary, each text "
        "has new words, and some requests are none. Each gets an answer: what is found, or a "
        "refusal at once. Memory stays as it is. What was confirmed is on the disk after `kill -9`."
    )

    def items(self, tried: Tried) -> list[str]:
        return list(SERVERS)

    def attempt(self, item: str, tried: Tried) -> Came:
        model, kept = tried.folder / "model", tried.folder / "kept"
        for left in (model, kept):  # by an attempt that was stopped
            shutil.rmtree(left, ignore_errors=True)
        make_model(model)
        server = SERVERS[item](model, kept)
        with server.running() as (port, process):
            came = asyncio.run(load(server, port, process, SHORT if tried.is_short else HOUR))
        return {**came, **server.afterwards()}

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        return [row for name, each in came.items() for row in rows_of(name, each)]

    def summary(self, came: Mapping[str, Came]) -> str:
        """What was offered and answered, of each server."""
        return "; ".join(
            f"`{name}`, {each['minutes']:g} minutes: {each['offered']:,} requests, "
            f"{sum(each['unanswered'].values()):,} without an answer, "
            f"memory {each['growth']:+.0f} MB"
            for name, each in came.items()
        )


async def load(server: Server, port: int, process: int, seconds: float) -> Came:
    """What a running server can do, and what comes of twice as much for so many seconds."""
    client = Client(port, server.requests(), server.hear)
    measured = max(2.0, seconds / 100)
    await client.in_turn(CLIENTS, measured)
    served = await client.in_turn(CLIENTS, measured)
    client.seconds.clear()
    megabytes: list[float] = []
    watch = asyncio.create_task(_watch(server, process, seconds / _MOST_SAMPLES, megabytes))
    offered = await client.at_rate(FACTOR * served, seconds, patience=2 * LONGEST)
    watch.cancel()
    return {
        "served": round(served, 1),
        "minutes": round(seconds / 60, 2),
        "offered": offered,
        "waits": {str(status): summary(waits) for status, waits in client.seconds.items()},
        "unanswered": dict(client.failed),
        "growth": round(growth(megabytes), 1),
        "megabytes": megabytes[:: max(1, len(megabytes) // _KEPT_SAMPLES)],
    }


async def _watch(server: Server, process: int, every: float, megabytes: list[float]) -> None:
    while True:
        megabytes.append(round(resident_megabytes(process) or 0.0, 1))
        server.watch()
        await asyncio.sleep(max(every, 0.05))


def growth(megabytes: list[float]) -> float:
    """By how much the last quarter takes more than the second one, at the median."""
    quarter = len(megabytes) // 4
    return median(megabytes[-quarter:]) - median(megabytes[quarter : 2 * quarter])


def rows_of(name: str, came: Came) -> list[Row]:
    """What came of one server."""
    n = {int(status): waits["n"] for status, waits in came["waits"].items()}
    answered = sum(many for status, many in n.items() if status < 300)
    bad = sum(many for status, many in n.items() if 400 <= status < 500)
    failed = sum(came["unanswered"].values())
    longest = max(waits["longest"] for waits in came["waits"].values())
    waits = " and ".join(
        f"{waits['median']:.2f} s for {status}, at most {waits['longest']:.1f} s"
        for status, waits in sorted(came["waits"].items())
        if int(status) in (200, 201, BUSY)
    )
    memory, is_whole = came["megabytes"], came["minutes"] >= HOUR / 60
    # What it can serve is measured in seconds, in the short form, in which others work beside it.
    least = LEAST * came["served"] * came["minutes"] * 60 if is_whole else 1
    found = [
        Row(
            f"`{name}`, {came['minutes']:g} minutes of {FACTOR * came['served']:.0f} requests "
            f"a second, twice what it answers",
            f"{came['offered']:,} requests: {answered:,} answered, {n.get(BUSY, 0):,} refused as "
            f"too many, {bad:,} as no requests, {failed:,} without an answer, {came['wrong']:,} "
            "with a wrong one",
            bool(failed or came["wrong"]) or answered < least,
        ),
        Row("how long they wait, at the median", waits, longest > LONGEST),
        Row(
            "its memory",
            f"{min(memory):.0f} to {max(memory):.0f} MB; in the last quarter "
            f"{came['growth']:+.1f} MB to the second one",
            came["growth"] > (MOST_GROWTH if is_whole else TOOTH),
        ),
    ]
    return found + ([_kept(came)] if "confirmed" in came else [])


def _kept(came: Came) -> Row:
    return Row(
        "annotation that it confirmed, after `kill -9`",
        f"{came['confirmed']:,} times confirmed, {came['lost']:,} lost, {came['doubled']:,} "
        f"doubled; {'all' if came['is_known'] else 'not all'} known after a restart; learnt "
        f"{came['learnt']:,} times or more meanwhile",
        bool(came["lost"] or came["doubled"]) or not (came["is_known"] and came["confirmed"]),
    )
