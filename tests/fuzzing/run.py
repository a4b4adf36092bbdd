"""Fuzzes a target: `python -m tests.fuzzing.run TARGET --inputs 1000000 --corpus FOLDER`.

An input that is accepted, or refused at a place of the code that no other was, is kept in
`FOLDER/TARGET` and changed further. Each run goes on from there, with another seed. An input that
fails is kept in `FOLDER/TARGET-found`.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import time
from pathlib import Path
from random import Random
from types import FrameType

from tests.fuzzing.mutations import mutated
from tests.fuzzing.targets import TARGETS, Fuzzed, described, numbered, refusing

LONGEST = 5.0
"""Seconds of processor time that an input may take; by the clock it may take twelve times that.

So a machine with other work makes no hangs, and a lock that nobody releases is one.
"""


class Hang(Exception):
    """An input took too long."""


def _stop(signum: int, frame: FrameType | None) -> None:
    raise Hang(f"it took over {LONGEST} s")


def _limit(seconds: float) -> None:
    """Have `_stop` called after so many seconds; 0 for never."""
    for timer, number, factor in (
        (signal.ITIMER_PROF, signal.SIGPROF, 1),
        (signal.ITIMER_REAL, signal.SIGALRM, 12),
    ):
        signal.signal(number, _stop)
        signal.setitimer(timer, factor * seconds)


def fuzz(name: str, n_inputs: int, seed: int, corpus: Path | None = None) -> dict[str, int]:
    """Try so many inputs; how many were accepted, refused, and kept as new.

    Raises `AssertionError` with the first input that fails.
    """
    fuzzed, random = TARGETS[name], Random(seed)
    folder = None if corpus is None else corpus / name
    inputs = [*fuzzed.seeds(), *(() if folder is None else numbered(folder))]
    refusing(inputs[0], fuzzed.run)  # compiles and loads what is needed, in no measured time
    seen, counts = set[str](), {"accepted": 0, "refused": 0, "kept": 0}
    for _ in range(n_inputs):
        data = mutated(random, inputs, fuzzed.pieces)
        begin = time.process_time()
        try:
            _limit(LONGEST)
            outcome = _outcome(fuzzed, data)
            if time.process_time() - begin > LONGEST:
                _stop(0, None)  # What was raised in a destructor is lost.
        except Exception as error:
            keep(data, None if corpus is None else corpus / f"{name}-found")
            raise AssertionError(f"{name}, seed {seed}: {described(error, data)}") from error
        finally:
            _limit(0)
        counts["accepted" if outcome == "accepted" else "refused"] += 1
        if outcome not in seen:
            seen.add(outcome)
            inputs.append(data)
            counts["kept"] += 1
            keep(data, folder)
    return counts


def _outcome(fuzzed: Fuzzed, data: bytes) -> str:
    """`accepted`, or the places of the code that the error came through."""
    from spacy_cascade.errors import CascadeError

    try:
        fuzzed.run(data)
    except CascadeError as error:
        places, trace = [], error.__traceback__
        while trace is not None:  # `traceback` would read the source, which takes longer.
            places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
            trace = trace.tb_next
        return " ".join(places)
    return "accepted"


def keep(data: bytes, folder: Path | None) -> None:
    """Write an input, named by its digest."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--corpus", type=Path, default=Path(".fuzzing"))
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    options = parser.parse_args()
    begin, used = time.monotonic(), time.process_time()
    counts = fuzz(options.target, options.inputs, options.seed, options.corpus)
    seconds, used = time.monotonic() - begin, time.process_time() - used
    print(
        f"{options.target}: {options.inputs:,} inputs, seed {options.seed}, {counts}, "
        f"{seconds:.0f} s, {used:.0f} s of the processor"
    )


if __name__ == "__main__":
    main()
