"""Training by worker processes: the time of 2 workers over 1, and workers that are killed.

python -m benchmarks.experiments.sharded_training corpus/jnlpba/train.spacy

The segmenter of a config is trained on copies of the corpus. One process, one worker and two take
turns, some iterations at a time; their weights have to be the same to the last bit. Trainings on
one copy, in each of which a worker is killed at a random time, have to give the bits of one in
which none is.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median
from threading import Timer
from typing import Any

from spacy_cascade.pipeline import learning

from ..lib.arguments import existing, new_parser
from ..lib.machine import describe_run, load_average, resident_megabytes
from ..lib.paths import CONFIGS
from ..lib.timing import Stopwatch
from ..reports.output import print_results

Result = dict[str, Any]
NAME = "cascade_segmenter"
HISTORY = 5
THREADS = 2
"""Of the driver, where it has workers."""


@dataclass
class Training:
    """A fit with some workers, 0 for none, and what its rounds took.

    driver_seconds, serial_seconds: processor time of the driver, and of its main thread.
    worker_seconds: of each worker.
    """

    fit: Any
    data: Any
    workers: int
    started: float
    seconds: list[float] = field(default_factory=list)
    driver_seconds: list[float] = field(default_factory=list)
    serial_seconds: list[float] = field(default_factory=list)
    worker_seconds: list[list[float]] = field(default_factory=list)

    @property
    def processes(self) -> list[int]:
        return [] if self.workers == 0 else self.fit._objective.loss._team.process_ids

    def step(self, progress: Callable[[], object] = lambda: None) -> None:
        before = [processor_seconds(process) for process in self.processes]
        with Stopwatch() as watch:
            self.fit.step(self.data, progress)
        after = [processor_seconds(process) for process in self.processes]
        self.seconds.append(watch.passed)
        self.driver_seconds.append(watch.computed)
        self.serial_seconds.append(watch.serial)
        self.worker_seconds.append([b - a for a, b in zip(before, after, strict=True)])

    def forget(self) -> None:
        """The rounds so far do not count."""
        for times in (self.seconds, self.driver_seconds, self.serial_seconds):
            times.clear()
        self.worker_seconds.clear()

    def digest(self) -> str:
        weights = self.fit.weights()
        return sha256(weights.features.tobytes() + weights.transitions.tobytes()).hexdigest()

    def least_seconds(self) -> float:
        """Of a round, if no thread or process ever waited for a core: what the driver's main thread
        does, the rest of the driver on two threads, and the worker that takes longest."""
        rounds = zip(self.driver_seconds, self.serial_seconds, self.worker_seconds, strict=True)
        return median(
            serial + (driver - serial) / THREADS + max(own, default=0.0)
            for driver, serial, own in rounds
        )

    def summary(self) -> Result:
        loss = self.fit._objective.loss
        return {
            "workers": self.workers,
            "start_seconds": self.started,
            "seconds": self.seconds,
            "driver_processor_seconds": self.driver_seconds,
            "driver_serial_seconds": self.serial_seconds,
            "worker_processor_seconds": self.worker_seconds,
            "worker_megabytes": [resident_megabytes(process) for process in self.processes],
            "bytes": {} if self.workers == 0 else bytes_of(loss),
        }


def processor_seconds(process: int) -> float:
    """Of all threads of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bytes_of(loss: Any) -> Result:
    """What an evaluation moves: from the driver to all workers, and from each worker back."""
    width = loss._structure.n_columns
    rows, features = loss._lexemes.lexeme_features, loss._lexemes.unit_features.n_columns
    up = [8 * width * len(p.nodes) * (len(p.lexemes) + len(p.features)) for p in loss._places]
    return {"down": 8 * width * (rows.n_rows + features), "up": up}


def task_of(config: Path, corpus: Path, copies: int, share: float = 1.0) -> Any:
    """What is to be fitted, and how long it takes to read and encode it.

    share: of the Docs, the first ones.
    """
    import spacy
    from spacy.tokens import DocBin
    from spacy.training import Example
    from spacy.util import load_config, load_model_from_config

    settings = load_config(config, interpolate=False)
    nlp = load_model_from_config(settings, auto_fill=True)
    docs = list(DocBin().from_disk(corpus).get_docs(spacy.blank("en").vocab))
    docs = docs[: round(share * len(docs))]
    examples = [Example(_words_of(nlp, doc), doc) for _ in range(copies) for doc in docs]
    pipe = nlp.get_pipe(NAME)
    with Stopwatch() as initializing:
        pipe.initialize(lambda: examples, nlp=nlp)
    with Stopwatch() as encoding:
        task = learning.task_of(pipe, examples)
    return task, {
        "copies": copies,
        "tokens": len(task.data.observed),
        "sequences": len(task.data.starts) - 1,
        "features": task.start.features.shape[0],
        "columns": task.start.features.shape[1],
        "lexeme_rows": task.data.design.lexeme_features.n_rows,
        "initialize_seconds": initializing.passed,
        "encode_seconds": encoding.passed,
    }


def _words_of(nlp: Any, doc: Any) -> Any:
    from spacy.tokens import Doc

    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    return Doc(nlp.vocab, words=words, spaces=spaces)


def begin(task: Any, workers: int, iterations: int, threads: int) -> Training:
    """With `workers`; one worker is a process beside the driver, which the config cannot say."""
    from spacy_cascade.tools.scale.remote_loss import RemoteLoss, shared_parts

    from spacy_cascade.losses.base import CorpusLoss
    from spacy_cascade.trainers.lbfgs import LBFGS
    from spacy_cascade.trainers.lbfgs_run import BatchFit, LBFGSRun
    from spacy_cascade.trainers.objective import Objective, Parametrisation

    settings = LBFGS(iterations=iterations, tolerance=0.0, threads=threads, history=HISTORY)
    pool, data = settings.thread_pool(), task.data
    # All have the parts of a training with workers, so that their bits can be the same.
    data.design.n_parts = shared_parts(workers=2, parts=0)
    with Stopwatch() as watch:
        loss: Any = CorpusLoss(data, task.loss, pool)
        if workers:
            loss = RemoteLoss(loss, workers, "processes")
        parametrisation = Parametrisation(
            loss, len(data.observed), data.structure, task.penalty, pool
        )
        objective = Objective(loss, parametrisation)
        run = LBFGSRun(settings, objective, objective.parameters(task.start), pool)
    return Training(BatchFit(objective, run), data, workers, watch.passed)


def compare(task: Any, workers: Sequence[int], rounds: int, iterations: int) -> Result:
    """Rounds of trainings that take turns; the first is not counted."""
    trainings = [begin(task, n, iterations, THREADS if n else 1) for n in workers]
    same = True
    for number in range(rounds + 1):
        for training in trainings:
            training.step()
            if number == 0:
                training.forget()
        same = same and len({training.digest() for training in trainings}) == 1
        print(f"  round {number}: {[t.seconds[-1:] for t in trainings]}", flush=True)
    by_workers = {training.workers: training for training in trainings}
    found: Result = {
        "same_bits": same,
        "rounds": rounds,
        "iterations": iterations,
        "trainings": [training.summary() for training in trainings],
    }
    if {1, 2} <= by_workers.keys():
        one, two = by_workers[1], by_workers[2]
        ratios = [a / b for a, b in zip(one.seconds, two.seconds, strict=True)]
        found["speed_up"] = median(ratios)
        found["speed_up_range"] = [min(ratios), max(ratios)]
        found["speed_up_by_processor_time"] = one.least_seconds() / two.least_seconds()
    if {0, 2} <= by_workers.keys():
        ratios = [a / b for a, b in zip(by_workers[0].seconds, by_workers[2].seconds, strict=True)]
        found["speed_up_over_one_process"] = median(ratios)
    return found


class Killer:
    """Kills a worker a moment after an iteration; it is called after each of them."""

    def __init__(self, training: Training, iteration: int, generator: random.Random) -> None:
        self.victim = generator.choice(training.processes)
        self.iteration, self.iterations_left = iteration, iteration
        self.delay = generator.uniform(0.0, 0.1)
        self._timer: Timer | None = None

    def __call__(self) -> None:
        self.iterations_left -= 1
        if self.iterations_left == 0:
            self._timer = Timer(self.delay, lambda: os.kill(self.victim, signal.SIGKILL))
            self._timer.start()


def kill_workers(task: Any, trainings: int, iterations: int, seed: int) -> Result:
    """Digests of trainings in each of which a worker is killed, and of one in which none is."""
    generator = random.Random(seed)
    whole = begin(task, 2, iterations, THREADS)
    whole.step()
    expected, (seconds,) = whole.digest(), whole.seconds
    local = begin(task, 0, iterations, THREADS)
    local.step()
    found = []
    for number in range(trainings):
        training = begin(task, 2, iterations, THREADS)
        before = list(training.processes)
        killer = Killer(training, generator.randrange(1, iterations - 1), generator)
        training.step(killer)
        found.append(
            {
                "killed_after": {"iterations": killer.iteration, "seconds": killer.delay},
                "was_killed": training.processes != before,
                "seconds": training.seconds[0],
                "same_bits": training.digest() == expected,
            }
        )
        print(f"  killed {number}: {found[-1]}", flush=True)
    return {
        "iterations": iterations,
        "seconds_without": seconds,
        "same_bits_as_local": local.digest() == expected,
        "same_bits": sum(one["same_bits"] and one["was_killed"] for one in found),
        "trainings": found,
    }


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, "train", output="sharded_training.json", work=False)
    add = parser.add_argument
    add("--config", type=existing, default=str(CONFIGS / "memb.cfg"))
    add("--copies", type=int, default=4)
    add("--workers", type=int, nargs="+", default=[0, 1, 2], help="0: one process, one thread")
    add("--rounds", type=int, default=5)
    add("--iterations", type=int, default=4, help="of a round")
    add("--kills", type=int, default=10, help="trainings in which a worker is killed")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    arguments = read_arguments()
    results: Result = {**describe_run(), "config": arguments.config.name}
    if arguments.kills:
        task, corpus = task_of(arguments.config, arguments.train, 1)
        results["one_copy"] = corpus
        results["killed"] = kill_workers(task, arguments.kills, 10, arguments.seed)
        del task
    task, corpus = task_of(arguments.config, arguments.train, arguments.copies)
    results["corpus"] = corpus
    results["compared"] = compare(task, arguments.workers, arguments.rounds, arguments.iterations)
    results["load_average_after"] = load_average()
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
