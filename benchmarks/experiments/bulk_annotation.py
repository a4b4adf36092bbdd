"""Files to files: `annotate` against `nlp.pipe`, by processes, against Ray, Spark and Dask; memory.

python -m benchmarks.experiments.bulk_annotation MODEL TEXTS.txt.gz

All times are those of whole processes, from their start to their end, loading included. A machine
that does other work makes them longer: the load is noted beside them, and processor time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any

from ..lib.arguments import add_rounds, new_parser
from ..lib.machine import load_average, resident_megabytes
from ..lib.paths import PROJECT
from ..lib.processes import TaskRunner, child_environment, run_python
from ..reports.output import run

PARTS = ("memory", "processes", "engines")
FILES = 8
"""Parquet files that engines read: enough for all of their workers."""
_PIPE = """
import sys, spacy
nlp = spacy.load(sys.argv[1])
with open(sys.argv[2], encoding="utf8") as lines:
    texts = (line.rstrip("\\n") for line in lines)
    print(sum(len(doc) for doc in nlp.pipe(texts, batch_size=256)))
"""
_SPARK = """
import sys
sys.path.insert(0, "examples")
from annotate_spark import SparkSession, annotate
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
annotate(spark.config("spark.driver.memory", "1g").getOrCreate(), *sys.argv[1:])
"""
_RAY = """
import sys, ray
sys.path.insert(0, "examples")
from annotate_ray import annotate
ray.init(num_cpus=2, include_dashboard=False)
annotate(*sys.argv[1:])
"""
_DASK = """
import sys, dask
sys.path.insert(0, "examples")
from annotate_dask import annotate
if __name__ == "__main__":
    with dask.config.set(scheduler="processes", num_workers=2):
        annotate(*sys.argv[1:])
"""
ENGINES = {"ray": _RAY, "spark": _SPARK, "dask": _DASK}


@dataclass
class Runs:
    """Runs commands in turn, with the same kernels. seconds: of each round of each command."""

    environment: dict[str, str]
    folder: Path
    seconds: dict[str, list[dict[str, Any]]]

    def time(self, name: str, arguments: list[str]) -> None:
        before, begin = os.times(), perf_counter()
        run_python(arguments, self.environment)
        passed, after = perf_counter() - begin, os.times()
        computed = (
            after.children_user - before.children_user
            + after.children_system - before.children_system
        )  # fmt: skip
        self.seconds.setdefault(name, []).append(
            {"passed": passed, "computed": computed, "load_average": load_average()}
        )

    def output(self) -> str:
        """A folder that is not there."""
        target = self.folder / "output"
        shutil.rmtree(target, ignore_errors=True)
        return str(target)

    def median(self, name: str, what: str = "passed") -> float:
        return median(one[what] for one in self.seconds[name])


def annotate_command(model: str, source: str, output: str, processes: int) -> list[str]:
    """From text to Parquet."""
    return [
        "-m", "spacy", "cascade", "annotate", model, source, "--output", output,
        "--to", "parquet", "--processes", str(processes),
    ]  # fmt: skip


def write_inputs(texts: Path, folder: Path, paragraphs: int) -> tuple[str, str]:
    """The first paragraphs as text, and as a folder of Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with gzip.open(texts, "rt", encoding="utf8") as lines:
        chosen = [line.rstrip("\n") for line in islice(lines, paragraphs)]
    (folder / "texts.txt").write_text("".join(f"{line}\n" for line in chosen), encoding="utf8")
    (folder / "parquet").mkdir()
    size = -(-len(chosen) // FILES)
    for part in range(FILES):
        table = pa.table({"text": chosen[part * size : (part + 1) * size]})
        pq.write_table(table, folder / "parquet" / f"{part}.parquet")
    return str(folder / "texts.txt"), str(folder / "parquet")


PIPE, ONE, TWO = "nlp.pipe, writing nothing", "annotate, 1 process", "annotate, 2 processes"
TABLES = "annotate Parquet, 2 processes"
Ways = dict[str, Callable[[], list[str]]]


def take_turns(runs: Runs, ways: Ways, rounds: int) -> None:
    for _ in range(rounds):
        for name, arguments in ways.items():
            runs.time(name, arguments())


def compare_processes(runs: Runs, model: str, texts: str, rounds: int) -> dict[str, Any]:
    """Text to Parquet with one and two processes, and `nlp.pipe` that writes nothing."""
    ways: Ways = {
        PIPE: lambda: ["-c", _PIPE, model, texts],
        ONE: lambda: annotate_command(model, texts, runs.output(), 1),
        TWO: lambda: annotate_command(model, texts, runs.output(), 2),
    }
    take_turns(runs, ways, rounds)
    return {
        "two_over_one": runs.median(ONE) / runs.median(TWO),
        "one_over_pipe": runs.median(PIPE) / runs.median(ONE),
        "one_over_pipe_computed": runs.median(PIPE, "computed") / runs.median(ONE, "computed"),
        "two_over_one_computed": 2 * runs.median(ONE, "computed") / runs.median(TWO, "computed"),
    }


def compare_engines(runs: Runs, model: str, tables: str, rounds: int) -> dict[str, Any]:
    """Parquet to Parquet by two workers of each engine that is installed, and by `annotate`."""
    engines = {name: script for name, script in ENGINES.items() if has(name)}
    ways: Ways = {TABLES: lambda: annotate_command(model, tables, runs.output(), 2)}
    for name, script in engines.items():
        file = runs.folder / f"run_{name}.py"
        file.write_text(script, encoding="utf8")
        ways[name] = partial(_engine_command, runs, file, model, tables)
    take_turns(runs, ways, rounds)
    costs = {name: runs.median(name) / runs.median(TABLES) - 1 for name in engines}
    return {"cost_of_engines": costs}


def _engine_command(runs: Runs, file: Path, model: str, tables: str) -> list[str]:
    return [str(file), model, tables, runs.output()]


def has(engine: str) -> bool:
    module = {"spark": "pyspark"}.get(engine, engine)
    return find_spec(module) is not None and (engine != "spark" or bool(shutil.which("java")))


@contextmanager
def ticking(call: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call something again and again meanwhile."""
    stop = Event()

    def work() -> None:
        while not stop.wait(seconds):
            call()

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def memory(runs: Runs, model: str, texts: str) -> dict[str, Any]:
    """Resident megabytes of one process by the tokens that it has annotated."""
    output = Path(runs.output())
    curve: list[tuple[int, float]] = []
    with subprocess.Popen(
        [sys.executable, *annotate_command(model, texts, str(output), 1)],
        cwd=PROJECT, env=runs.environment, stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip

        def look() -> None:
            with suppress(OSError, ValueError):
                lines = (output / "_shards.jsonl").read_text().splitlines()
                tokens = sum(json.loads(line)["tokens"] for line in lines)
                curve.append((tokens, resident_megabytes(process.pid) or 0.0))

        with ticking(look, 1.0):
            process.wait()
    return {"tokens": [tokens for tokens, _ in curve], "megabytes": [m for _, m in curve]}


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        runs = Runs(child_environment(1, runner.kernel_cache), Path(folder), {})
        model = str(arguments.model)
        texts, tables = write_inputs(arguments.texts, runs.folder, arguments.paragraphs)
        if "memory" in arguments.parts:
            found["memory"] = memory(runs, model, texts)
        if "processes" in arguments.parts:
            found |= compare_processes(runs, model, texts, arguments.rounds)
        if "engines" in arguments.parts:
            found |= compare_engines(runs, model, tables, arguments.rounds)
    return {**found, "seconds": runs.seconds}


def main() -> None:
    parser = new_parser(__doc__, "model", "texts")
    add_rounds(parser, 3)
    parser.add_argument("--paragraphs", type=int, default=200_000, help="of the texts")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    run(parser, "bulk_annotation", measure)


if __name__ == "__main__":
    main()
