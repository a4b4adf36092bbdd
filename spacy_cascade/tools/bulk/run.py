"""Files to files: a folder of shards, which a run that was stopped goes on with."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from ...errors import ConfigError
from ...files import remove_leftovers, remove_leftovers_in, replace_file
from ...locking import LOCK, lock_folder
from ...parallel import available_cores
from ...pipeline.progress import progress
from ...pipeline.unseen_words import WordCounts
from .annotator import Annotator
from .engines import Engine, engine_of
from .plan import Plan, check_same, header_of, make_plan
from .shards import FAILED, LATE, Done, ShardTask
from .sources.base import Source
from .sources.finding import open_sources
from .writers import Layout, writer_of

MANIFEST = "_manifest.json"
LOG = "_shards.jsonl"
SUCCESS = "_SUCCESS"
"""Names with an underscore: Spark, Dask and Arrow pass them over when they read the folder."""
_BAR = "{desc}: {percentage:3.0f} % |{bar}| {remaining} left{postfix}"

_LINE_SECONDS = 30.0
"""Time between lines where the output is no terminal."""
_LONGEST_TIMEOUT = 1_000_000.0
_SUMMED = ("records", "tokens", "entities", "failed")


@dataclass(frozen=True)
class Settings:
    """How files are annotated.

    layout: of the output. engine: "local" or "ray". processes: that work at the same time, 0 for
    one per core. shard_size: bytes of input, None for a choice by the input. restarts: whether
    results of an earlier run are removed first. timeout: seconds that a record may take until it
    counts as failed, None for no bound. With a bound all work is done by other processes, because
    one that takes too long is ended.
    """

    layout: Layout = field(default_factory=Layout)
    engine: str = "local"
    processes: int = 1
    shard_size: int | None = None
    restarts: bool = False
    timeout: float | None = None


@dataclass(frozen=True)
class Summary:
    """What the folder has at the end. continued: shards of earlier runs.

    warning: what to say of texts with far more unseen words than usual (`pipeline.unseen_words`).
    """

    shards: int
    continued: int
    records: int
    tokens: int
    entities: int
    failed: int
    warning: str | None = None


class Progress:
    """A bar over the bytes of the input, which processes report shard by shard."""

    def __init__(self, size: int, done: int) -> None:
        """size: bytes of the input. done: of earlier runs."""
        self._size, self._before = size, done
        self._done = self._tokens = 0
        self._begin = self._shown = monotonic()
        self._bar: Any = progress("Annotating", total=size, initial=done, bar_format=_BAR)
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


def annotate_files(
    model: str | Path, inputs: Sequence[str], output: Path, settings: Settings
) -> Summary:
    """Annotate all texts of files into a folder of shards.

    inputs: files, folders and patterns. What an earlier run with the same pipeline, input and
    options has done stays. The results do not depend on engine and processes. Raises `ConfigError`
    if the folder belongs to another run or one is at work in it, `CorpusError` for input that
    cannot be read, and `SavingError` if the disk is full.
    """
    layout = settings.layout
    if settings.timeout is not None and not 0.0 < settings.timeout <= _LONGEST_TIMEOUT:
        raise ConfigError(
            f"timeout is {settings.timeout:g}. It is a number of seconds above 0, and at most "
            f"{_LONGEST_TIMEOUT:,.0f}."
        )
    writer_of(layout.format)
    engine = engine_of(settings.engine)
    annotator = Annotator(model, text=layout.names.text, spans_key=layout.spans_key)
    sources = open_sources(inputs, output, layout.names)
    header = header_of(annotator, sources, layout, settings.shard_size)
    with lock_folder(output):
        plan = _plan_of(output, header, sources, settings)
        done = _done_before(output, len(plan.shards))
        continued = len(done)
        states = [(size, changed) for _, _, size, changed in header["files"]]
        task = ShardTask(annotator, sources, states, layout, plan.schema, output, settings.timeout)
        _do_rest(engine, task, plan, done, _processes(settings))
        shutil.rmtree(output / LATE, ignore_errors=True)
        replace_file(output / SUCCESS, b"")
    sums = {name: sum(getattr(one, name) for one in done.values()) for name in _SUMMED}
    return Summary(len(plan.shards), continued, warning=_warning(done.values()), **sums)


def _warning(done: Collection[Done]) -> str | None:
    """What the words of all shards together say."""
    words = sum((WordCounts(one.words, one.unseen) for one in done), WordCounts())
    return words.warning(next((one.usual for one in done if one.usual is not None), None))


def _plan_of(
    output: Path, header: dict[str, Any], sources: Sequence[Source], settings: Settings
) -> Plan:
    """The plan of an earlier run, which must be one with the same header, or a new one."""
    if settings.restarts:
        _remove_results(output)
    if (output / MANIFEST).exists():
        plan = Plan.load(output / MANIFEST)
        check_same(plan.header, header, output)
    else:
        _check_empty(output)
        plan = make_plan(header, sources, settings.layout, settings.shard_size)
        plan.save(output / MANIFEST)
    return plan


def _do_rest(
    engine: Engine, task: ShardTask, plan: Plan, done: dict[int, Done], processes: int
) -> None:
    """Do all shards that are not done, and note each as soon as it is."""
    remove_leftovers_in(task.output)
    waiting = [shard for shard in plan.shards if shard.number not in done]
    before = sum(one.size for one in done.values())
    try:
        with Progress(plan.size, before) as shown:
            for one in engine(task, waiting, processes, shown.show):
                _append(task.output / LOG, one)
                done[one.shard] = one
                shown.add(one.size, one.tokens)
    finally:
        remove_leftovers_in(task.output)
    assert len(done) == len(plan.shards), "every shard is there once"


def _processes(settings: Settings) -> int:
    if settings.processes or settings.engine != "local":
        return settings.processes
    return available_cores()


def _check_empty(output: Path) -> None:
    """Raise `ConfigError` for a folder with files that no run of this command wrote."""
    remove_leftovers(output / MANIFEST)  # of a run that was killed before it had a plan
    others = [path.name for path in sorted(output.iterdir()) if path.name != LOCK]
    if others:
        raise ConfigError(
            f"{output} has other files, such as {others[0]}. Write to a new or empty folder."
        )


def _remove_results(output: Path) -> None:
    """Remove what an earlier run wrote; raises `ConfigError` if other files are there, too."""
    if not (output / MANIFEST).exists():
        return
    # The mark of success first, and the manifest last: a folder that has files without it would be
    # refused if this is stopped.
    for path in (output / SUCCESS, *output.glob("part-*"), output / LOG):
        path.unlink(missing_ok=True)
    for folder in (output / FAILED, output / LATE):
        for path in folder.glob("part-*"):
            path.unlink()
        with suppress(FileNotFoundError):
            folder.rmdir()
    remove_leftovers_in(output)
    (output / MANIFEST).unlink()


def _done_before(output: Path, shards: int) -> dict[int, Done]:
    """Shards that the log and the folder have. The end of a killed run may have cut a line."""
    log, found = output / LOG, dict[int, Done]()
    if not log.exists():
        return found
    for line in log.read_text(encoding="utf8").splitlines():
        try:
            done = Done(**json.loads(line))
            is_there = 0 <= done.shard < shards and (output / done.file).is_file()
        except (ValueError, TypeError):
            continue
        if is_there:
            found[done.shard] = done
    lines = "".join(f"{json.dumps(one._asdict())}\n" for one in found.values())
    replace_file(log, lines.encode())
    return found


def _append(log: Path, done: Done) -> None:
    with log.open("a", encoding="utf8") as file:
        file.write(f"{json.dumps(done._asdict())}\n")
        file.flush()
        os.fsync(file.fileno())
