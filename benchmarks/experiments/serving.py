"""The web service of `examples/serve.py` under load, on the loopback.

python -m benchmarks.experiments.serving training/jnlpba/model-best corpus/jnlpba/dev.spacy

Starts one server process, sends requests, and stops the server. Each request is a sentence with a
word that was never seen before. It ends after a number of requests, or after a time limit.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np

from ..lib.arguments import new_parser
from ..lib.corpora import read_docs
from ..lib.machine import resident_megabytes
from ..lib.paths import PROJECT
from ..lib.processes import TaskRunner
from ..reports.output import run

EXAMPLES = PROJECT / "examples"
START_SECONDS = 180.0
STEPS = 10
"""Number of times that the memory of the server is measured for each number of clients."""
HEADERS = {"Content-Type": "application/json"}


def sentences(path: Path) -> list[str]:
    docs = read_docs(str(path))
    return [" ".join(token.text for token in sent) for doc in docs for sent in doc.sents]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def server(model: Path, seconds: float = START_SECONDS) -> Iterator[tuple[int, int]]:
    """The port and the process of a running service, which is stopped at the end.

    Raises `RuntimeError` if it does not start in time.
    """
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "serve:app", "--app-dir", str(EXAMPLES),
        "--port", str(port), "--log-level", "warning",
    ]  # fmt: skip
    environment = {**os.environ, "MODEL": str(model)}
    process = subprocess.Popen(command, env=environment)
    try:
        end = monotonic() + seconds
        while not is_ready(port):
            if process.poll() is not None or monotonic() > end:
                raise RuntimeError("The service did not start; its output is above.")
            sleep(0.1)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def send(
    port: int, texts: Sequence[str], numbers: Iterator[int], n: int, end: float
) -> list[float]:
    """Seconds of each request; n requests one after the other on one connection, until `end`."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    seconds = []
    try:
        for _ in range(n):
            number = next(numbers)
            text = f"{texts[number % len(texts)]} New{number}word{number * 7919 % 10007} ."
            body = json.dumps({"texts": [text]})
            begin = perf_counter()
            connection.request("POST", "/entities", body, HEADERS)
            response = connection.getresponse()
            answer = response.read()
            seconds.append(perf_counter() - begin)
            if response.status != 200:
                raise RuntimeError(f"The service answered {response.status}: {answer[:200]!r}")
            if monotonic() > end:
                break
    finally:
        connection.close()
    return seconds


def load(
    port: int, process: int, texts: Sequence[str], clients: int, requests: int, limit: float
) -> dict[str, Any]:
    """Send requests from several clients at the same time. limit: in seconds."""
    numbers = count(requests * clients)  # other words for each number of clients
    per_client = max(1, requests // (STEPS * clients))
    latencies: list[float] = []
    memory = [resident_megabytes(process)]
    end = monotonic() + limit
    passed = 0.0
    with ThreadPoolExecutor(clients) as pool:
        while len(latencies) < requests and monotonic() < end:
            begin = perf_counter()
            jobs = [
                pool.submit(send, port, texts, numbers, per_client, end) for _ in range(clients)
            ]
            for job in jobs:
                latencies += job.result()
            passed += perf_counter() - begin
            memory.append(resident_megabytes(process))
    p50, p99 = np.percentile(latencies, [50, 99])
    return {
        "clients": clients,
        "requests": len(latencies),
        "seconds": passed,
        "requests_per_second": len(latencies) / passed,
        "milliseconds": {"p50": 1000 * p50, "p99": 1000 * p99, "most": 1000 * max(latencies)},
        "memory_megabytes": memory,
    }


def measure(_: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    texts = sentences(arguments.data)
    with server(arguments.model) as (port, process):
        loads = [
            load(port, process, texts, clients, arguments.requests, arguments.limit)
            for clients in arguments.clients
        ]
    n_tokens = [len(text.split()) + 2 for text in texts]
    return {"tokens_per_request": float(np.mean(n_tokens)), "loads": loads}


def main() -> None:
    parser = new_parser(__doc__, "model", "data")
    add = parser.add_argument
    add("--clients", type=int, nargs="+", default=[1, 8], help="at the same time")
    add("--requests", type=int, default=20_000, help="for each number of clients")
    add("--limit", type=float, default=120.0, help="seconds for each number of clients")
    run(parser, "serving", measure)


if __name__ == "__main__":
    main()
