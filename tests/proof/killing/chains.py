"""Calls that are killed, and made again until they come to their end, and then begin anew."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import numpy as np

from tests.proof.killing.kinds import Kind, is_half_written
from tests.proof.part import Came
from tests.support.forked import Forked


class Chain:
    """A call of a kind that is killed, and made again.

    folder: with `inputs` and `output`. whole: makes the call once undisturbed, to compare with.
    forked: makes all others. came: numbers of `kills`, of those `within` the writing of a file, and
    of calls that came to their `end` after kills. problems: what was not as promised.
    """

    def __init__(self, kind: Kind, folder: Path, whole: Forked, forked: Forked) -> None:
        self._kind, self._forked = kind, forked
        self._inputs, self._output = folder / "inputs", folder / "output"
        self._call = kind.call(self._inputs, self._output)
        self.came: Counter[str] = Counter()
        self.problems: list[str] = []
        kind.begin(self._inputs, self._output)
        self._old = kind.contents(self._output, kind.passing)
        status, self.seconds = whole.run(self._call)
        assert status == 0, whole.said()
        self._new = kind.contents(self._output, kind.passing)
        self._end = kind.contents(self._output)
        self._begin()

    def kill(self, generator: np.random.Generator) -> None:
        """Kill the call at a random moment of the time that it takes; it may have to begin anew."""
        while True:
            after = self.seconds * float(generator.random())
            status, seconds = self._forked.run(self._call, after)
            if status == -signal.SIGKILL:
                break
            was_killed = self._is_killed
            self._finished(status)
            if not was_killed:
                self.seconds = seconds  # the machine may have less to do than before
        self._is_killed = True
        self.came["kills"] += 1
        self.came["within"] += is_half_written(self._output)
        self._look()

    def finish(self) -> None:
        """Let it come to its end."""
        self._finished(self._forked.run(self._call)[0])

    def _begin(self) -> None:
        self._kind.begin(self._inputs, self._output)
        self._is_killed = False

    def _look(self) -> None:
        """Compare what is left after a kill with what was there before, and what comes to be."""
        now = self._kind.contents(self._output, self._kind.passing)
        self.problems += [f"{name} is gone" for name in self._old if name not in now]
        self.problems += [
            f"{name} is neither the old one nor the new one"
            for name, found in now.items()
            if found not in (self._old.get(name), self._new.get(name))
        ]

    def _finished(self, status: int) -> None:
        """Compare what a call that came to its end has left with what one leaves undisturbed."""
        now = self._kind.contents(self._output)
        if status:
            self.problems.append(f"it failed after a kill: {self._forked.said()}")
        elif now != self._end:
            names = sorted(dict(now.items() ^ self._end.items()))
            self.problems.append(f"at its end there are other bytes in {', '.join(names)}")
        self.came["ends"] += self._is_killed
        self._begin()


def prepared(kind: Kind, folder: Path, name: str = "first", path: str = "") -> Forked:
    """A process to copy for a kind, which makes its inputs in the folder.

    It has made the call itself, so that no copy has to import and compile what that needs. name: of
    its log, and of the output of that call. path: as `Forked` has it.
    """
    inputs, output = folder / "inputs", folder / name
    for place in (inputs, output):
        place.mkdir(parents=True, exist_ok=True)
    calls = [*kind.first(inputs), kind.call(inputs, output)]
    return Forked(calls, folder / f"{name}.log", kind.pause, path)


def kill_often(chain: Chain, n: int, seed: int) -> Came:
    """Kill so many times, and let it come to its end; what came of it, as JSON has it."""
    generator = np.random.default_rng(seed)
    for _ in range(n):
        chain.kill(generator)
    chain.finish()
    return {**chain.came, "problems": chain.problems, "takes": round(chain.seconds, 2)}


def kill(kind: Kind, n: int, seed: int, folder: Path) -> Came:
    """Kill a call of a kind so many times."""
    with prepared(kind, folder) as forked:
        return kill_often(Chain(kind, folder, forked, forked), n, seed)
