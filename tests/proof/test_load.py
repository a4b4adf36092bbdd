"""The client offers its requests whatever comes of them, and what is not as promised is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from helpers import TEXTS
from serving import answered
from spacy_cascade.tools.annotation.label_studio.journal import RECORDS
from tests.proof import servers
from tests.proof.client import Client, Request, post
from tests.proof.load import Load, growth, rows_of
from tests.proof.part import FAILED
from tests.proof.servers import BUSY, Backend, WebService

Answer = Callable[[int], bytes | None]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def response(status: int, body: bytes = b"{}") -> bytes:
    return b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


@asynccontextmanager
async def port_of(serve: Serve) -> AsyncIterator[int]:
    """The port of a server, whose connections stay open until the end, or until it closes them.

    Python 3.13 would close those that nobody holds; a server that is a context by itself would
    wait since Python 3.12.1 for those that the client keeps.
    """
    writers: list[asyncio.StreamWriter] = []

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await serve(reader, writer)

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for writer in writers:
        writer.close()


async def ask(n: int, answer: Answer, patience: float = 5.0) -> tuple[Client, list[Any], int]:
    """The client after n requests a thousandth of a second apart; what it heard; the most at once.

    answer: to the request of a number, None for an end of the connection, empty for nothing. The
    server answers when it has all requests.
    """
    heard: list[Any] = []
    numbers, everything = count(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        number = int(await reader.readexactly(4))
        if next(numbers) == n - 1:
            everything.set()
        await everything.wait()
        if (sent := answer(number)) is None:
            writer.close()
        elif sent:
            writer.write(sent[:10])
            await writer.drain()
            writer.write(sent[10:])

    async with port_of(serve) as port:
        requests = (Request(post("/", b"%4d" % number), 200, number) for number in count())
        client = Client(port, requests, lambda *each: heard.append(each))
        return client, heard, await client.at_rate(1000.0, n / 1000, patience)


def test_requests_are_sent_while_others_wait() -> None:
    client, heard, n = asyncio.run(ask(50, lambda number: response(503 if number % 2 else 200)))
    assert n == client.answered == 50
    assert sorted((request.about, status) for request, status, _ in heard) == [
        (number, 503 if number % 2 else 200) for number in range(50)
    ]
    assert not sum(client.failed.values())
    assert max(client.seconds[200]) >= 0.04, "the first one waited for the last one"


def test_requests_without_an_answer_are_counted() -> None:
    answers = {3: None, 5: b"", 7: response(200)[:30]}
    client, heard, _ = asyncio.run(ask(9, lambda n: answers.get(n, response(200)), 0.2))
    assert len(heard) == 6
    assert client.failed == {"IncompleteReadError": 1, "no answer": 2}


def test_each_client_waits_for_its_answer() -> None:
    async def run() -> tuple[float, int]:
        at_once, most = 0, 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal at_once, most
            while await reader.read(4096):
                at_once += 1
                most = max(most, at_once)
                await asyncio.sleep(0.001)
                at_once -= 1
                writer.write(response(200))
            writer.close()

        async with port_of(serve) as port:
            requests = (Request(post("/", b"x"), 200) for _ in count())
            client = Client(port, requests, lambda *_: None)
            return await client.in_turn(3, 0.1), most

    rate, most = asyncio.run(run())
    assert most == 3
    assert 0 < rate <= 3000


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("load") / "model"
    trained.to_disk(folder)
    return folder


def texts_of(service: WebService) -> Request:
    return next(request for request in service.requests() if request.about)


def test_wrong_answers_are_told(model: Path, tmp_path: Path, trained: Language) -> None:
    service = WebService(model, tmp_path)
    request = texts_of(service)._replace(about=[TEXTS[0]])
    (right,) = [answered(trained, TEXTS[0])]
    found = [{**each, "confidence": each["confidence"].expected} for each in right]
    service.hear(request, 200, json.dumps([found]).encode())
    service.hear(request, BUSY, b"")
    assert service.afterwards() == {"wrong": 0, "examples": [], "compared": 1}
    service.hear(request, 500, b"")
    service.hear(request, 200, b"[]")
    service._kept.clear()
    service.hear(request, 200, json.dumps([found[1:]]).encode())
    assert service.afterwards()["wrong"] == 3


def annotations(backend: Backend) -> Iterator[Request]:
    return (request for request in backend.requests() if request.status == 201)


def test_what_is_lost_or_doubled_is_told(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Backend(model, tmp_path)
    monkeypatch.setattr(backend, "running", lambda: nullcontext((0, 0)))
    monkeypatch.setattr(servers, "_health", lambda port: {"annotated": 4})
    sent = [request for request, _ in zip(annotations(backend), range(5), strict=False)]
    bodies = [json.loads(request.message.partition(b"\r\n\r\n")[2]) for request in sent]
    lines = [json.dumps({"text": body["task"]["data"]["words"]}) for body in bodies]
    (tmp_path / RECORDS).write_text("\n".join([*lines[:4], lines[0]]), encoding="utf8")
    for request in sent[:3]:
        backend.hear(request, 201, b"{}")
    came = backend.afterwards()
    assert (came["confirmed"], came["lost"], came["doubled"]) == (3, 0, 1)
    assert came["is_known"]
    backend.hear(sent[4], 201, b"{}")
    assert backend.afterwards()["lost"] == 1


def test_a_prediction_of_another_text_is_wrong(model: Path, tmp_path: Path) -> None:
    backend = Backend(model, tmp_path)
    request = Request(b"", 200, ["HIV"])
    for text, wrong in (("HIV", 0), ("HI", 1)):
        value = {"start": 0, "end": 3, "text": text}
        body = json.dumps({"results": [{"result": [{"value": value}]}]}).encode()
        backend.hear(request, 200, body)
        assert backend._n_wrong == wrong


GOOD: dict[str, Any] = {
    "served": 100.0, "minutes": 60.0, "offered": 720_000, "wrong": 0,
    "unanswered": {"no answer": 0},
    "waits": {
        "200": {"n": 350_000, "median": 0.5, "p99": 1.0, "longest": 2.0},
        "422": {"n": 20_000, "median": 0.1, "p99": 0.1, "longest": 0.2},
        "503": {"n": 350_000, "median": 0.1, "p99": 0.1, "longest": 0.3},
    },
    "growth": 2.0, "megabytes": [300.0, 310.0],
    "confirmed": 50, "lost": 0, "doubled": 0, "learnt": 9, "is_known": True,
}  # fmt: skip
WAITS = GOOD["waits"]
CHANGES = [
    ({"unanswered": {"ConnectionResetError": 1}}, 0),
    ({"wrong": 1}, 0),
    ({"waits": {**WAITS, "200": {**WAITS["200"], "n": 100_000}}}, 0),
    ({"waits": {**WAITS, "200": {**WAITS["200"], "longest": 61.0}}}, 1),
    ({"growth": 41.0}, 2),
    ({"lost": 1}, 3),
    ({"doubled": 1}, 3),
    ({"is_known": False}, 3),
    ({"confirmed": 0}, 3),
]


def test_what_is_not_as_promised_is_a_gap() -> None:
    rows = rows_of("a server", GOOD)
    assert not any(row.is_gap for row in rows)
    assert "350,000 answered, 350,000 refused as too many, 20,000 as no requests" in rows[0].found
    assert "0.50 s for 200, at most 2.0 s" in rows[1].found
    for change, number in CHANGES:
        gaps = [row.is_gap for row in rows_of("a server", {**GOOD, **change})]
        assert gaps == [i == number for i in range(4)], change


def test_a_line_of_each_server() -> None:
    assert FAILED not in GOOD  # an item that has it is tried again
    assert Load().summary({"a server": GOOD, "another": {**GOOD, "unanswered": {"late": 3}}}) == (
        "`a server`, 60 minutes: 720,000 requests, 0 without an answer, memory +2 MB; "
        "`another`, 60 minutes: 720,000 requests, 3 without an answer, memory +2 MB"
    )


def test_growth_is_that_of_the_last_quarter_to_the_second() -> None:
    assert growth([0.0] * 10 + [5.0] * 10 + [99.0] * 10 + [7.0] * 10) == 2.0
