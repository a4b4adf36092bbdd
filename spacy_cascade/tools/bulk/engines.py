"""Who does the shards: this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from ...errors import ConfigError, TrainingError
from ...extras import library
from ...processes import ProcessEnded, run_in_processes
from .plan import Shard
from .shards import LATE, Done, ShardTask
from .watch import number_late

Engine: TypeAlias = Callable[
    [ShardTask, Sequence[Shard], int, Callable[[], object]], Iterator[Done]
]
"""Does shards in some processes, yields what is done, and calls a function from time to time."""

_MOST_DEATHS = 3
"""Of processes, one after the other, with no shard done in between."""
_MOST_RETRIES = 10
"""Of a shard on a cluster whose nodes die."""
_AHEAD = 2
"""Shards that wait for each process of a cluster."""
_TICK_SECONDS = 1.0


def on_this_machine(
    task: ShardTask, shards: Sequence[Shard], processes: int, tick: Callable[[], object]
) -> Iterator[Done]:
    """In processes of this machine, or in this process if it is to be one without a bound on time.

    If a process is killed, new ones do the shards that are not done. Raises `TrainingError` if
    that happens again and again, other than because records take too long.
    """
    if processes == 1 and task.timeout is None:
        for shard in shards:
            yield task(shard)
            tick()
        return
    waiting = {shard.number: shard for shard in shards}
    deaths = 0
    while waiting:
        late = number_late(task.output / LATE)
        try:
            arguments = [(shard,) for shard in waiting.values()]
            for done in run_in_processes(task, arguments, processes, tick):
                del waiting[done.shard]
                deaths = 0
                yield done
        except ProcessEnded as error:
            is_late = number_late(task.output / LATE) > late
            deaths = 0 if is_late else deaths + 1
            if deaths == _MOST_DEATHS:
                raise TrainingError(_deadly(task, list(waiting.values())[:processes])) from error


def _deadly(task: ShardTask, shards: Sequence[Shard]) -> str:
    places = ", ".join(
        f"{task.sources[shard.source].name} from record {shard.records.first + 1:,} to "
        f"{shard.records.first + shard.records.length:,}"
        for shard in shards
    )
    return (
        f"Processes ended again and again, perhaps for want of memory, at {places}. Look at these "
        "records, or use fewer --processes or a smaller --shard-size with --force."
    )


def on_ray(
    task: ShardTask, shards: Sequence[Shard], processes: int, tick: Callable[[], object]
) -> Iterator[Done]:
    """On a Ray cluster: the one that `RAY_ADDRESS` names, or this machine.

    processes: shards at the same time at most, 0 for as many as the cluster has cores. All nodes
    see the files of the input, the pipeline and the output at the same paths. If a node or process
    dies, Ray does its shards again elsewhere.
    """
    ray = library("ray", "ray", "--engine ray")
    started = not ray.is_initialized()
    if started:
        ray.init(log_to_driver=False, include_dashboard=False)
    try:
        remote = ray.remote(num_cpus=1, max_retries=_MOST_RETRIES)(ShardTask.__call__)
        kept = ray.put(task)
        at_once = processes or _AHEAD * int(ray.cluster_resources().get("CPU", 1))
        rest = iter(shards)
        running = {remote.remote(kept, shard) for shard in islice(rest, at_once)}
        while running:
            ready, _ = ray.wait(list(running), num_returns=1, timeout=_TICK_SECONDS)
            tick()
            for one in ready:
                running.remove(one)
                yield _result(ray, one)
                running.update(remote.remote(kept, shard) for shard in islice(rest, 1))
    finally:
        if started:
            ray.shutdown()


def _result(ray: Any, reference: Any) -> Done:
    try:
        done: Done = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, ValueError) else error from None
    return done


ENGINES: dict[str, Engine] = {"local": on_this_machine, "ray": on_ray}


def engine_of(name: str) -> Engine:
    """Raises `ConfigError` for an engine that there is not."""
    if name not in ENGINES:
        raise ConfigError(f"There is no engine '{name}'. The engines are {', '.join(ENGINES)}.")
    return ENGINES[name]
