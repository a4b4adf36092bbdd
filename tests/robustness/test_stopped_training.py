"""Training that is killed, or stopped by Ctrl-C, at any moment goes on from a whole checkpoint."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from spacy_cascade.tools.checkpoints.files import read_checkpoint
from trainings import Trainings, write_corpora

pytestmark = [
    pytest.mark.slow(kind="stopped training"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied"),
]

TOKENIZER = {"nlp__tokenizer": {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"}}
CONFIGS: dict[str, dict[str, Any]] = {
    "memb": TOKENIZER,
    "ocr": {"training__batcher__size": 250, "training__max_epochs": 2, **TOKENIZER},
    "icrf": {"training__max_steps": 4, **TOKENIZER},
}
PAUSE = 0.01
"""Seconds around each step of writing, so that training is stopped there, too."""
LONGEST = 10.0
"""Seconds from Ctrl-C to the end of the process, on a machine that does much else besides."""


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainings]:
    folder = tmp_path_factory.mktemp("stopped")
    write_corpora(folder)
    trainings = Trainings(folder, CONFIGS, PAUSE)
    yield trainings
    trainings.close()


class Chain:
    """A training that is stopped, and goes on, until it comes to its end, and then begins anew."""

    def __init__(self, trainings: Trainings, name: str) -> None:
        self._trainings, self._name = trainings, name
        self._checkpoint = trainings.checkpoint(name)
        self.found: Counter[str] = Counter()

    def stop(self, how: signal.Signals, generator: np.random.Generator) -> float:
        """Stop it at a random moment; the seconds until it ends."""
        known = self._trainings.seconds
        while True:
            was = self._step()
            after = known[self._name] * generator.random()
            status, seconds = self._trainings.run(self._name, after, how)
            if status == -how:
                break
            self._compare(status)
            if was == 0:
                known[self._name] = seconds  # the machine may have less to do than before
        now = self._step()
        assert now >= was
        self.found["stopped"] += 1
        self.found["without a checkpoint yet"] += now == 0
        self.found["within a checkpoint"] += self._is_half_written()
        return seconds

    def finish(self) -> None:
        """Let it come to its end."""
        self._compare(self._trainings.run(self._name)[0])

    def _compare(self, status: int) -> None:
        """Compare a training that came to its end with the one that was never stopped."""
        assert status == 0, self._trainings.said()
        assert self._trainings.weights(self._name) == self._trainings.whole[self._name]
        self.found["finished"] += 1
        self._checkpoint.unlink()

    def _step(self) -> int:
        """Where the checkpoint stands; it can be read, or there is none yet."""
        saved = read_checkpoint(self._checkpoint)
        return 0 if saved is None else saved.step

    def _is_half_written(self) -> bool:
        folder = self._checkpoint.parent
        return folder.exists() and any(file.name.startswith(".") for file in folder.iterdir())


def stop_all(trainings: Trainings, how: signal.Signals, n: int) -> tuple[Counter[str], list[float]]:
    """Stop trainings of all configs so many times; what was found, and seconds until they ended."""
    generator = np.random.default_rng(how)
    found: Counter[str] = Counter()
    seconds: list[float] = []
    for i, name in enumerate(CONFIGS):
        chain = Chain(trainings, name)
        seconds += [chain.stop(how, generator) for _ in range(n // 3 + (i < n % 3))]
        chain.finish()
        found += chain.found
    return found, seconds


def told(found: Counter[str]) -> str:
    none, within = found["without a checkpoint yet"], found["within a checkpoint"]
    return (
        f"the checkpoint could be read each time (after {none} there was none yet, {within} were "
        f"while one was written); {found['finished']} trainings came to their end, with the "
        "weights of one that was never stopped, byte for byte"
    )


def test_killed_training_goes_on_as_if_it_had_never_stopped(
    trainings: Trainings, cases: Callable[[int], int], figure: Callable[[str, str], None]
) -> None:
    n = cases(100)
    found, _ = stop_all(trainings, signal.SIGKILL, n)
    assert found["stopped"] == n
    figure(f"`kill -9` at {n} random moments of training ({', '.join(CONFIGS)})", told(found))


def test_ctrl_c_ends_training_soon(
    trainings: Trainings, cases: Callable[[int], int], figure: Callable[[str, str], None]
) -> None:
    n = cases(60)
    found, seconds = stop_all(trainings, signal.SIGINT, n)
    assert max(seconds) < LONGEST
    figure(
        f"Ctrl-C at {n} random moments of training ({', '.join(CONFIGS)})",
        f"it ended after {max(seconds):.2f} s at most; {told(found)}",
    )
