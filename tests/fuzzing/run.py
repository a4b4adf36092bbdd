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

LONGEST = 5
"""Seconds that an input may take."""


class Hang(Exception):
    """An input took too long."""


def _stop(signum: int, frame: FrameType | None) -> None:
    raise Hang(f"it took over {LONGEST} s")


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
        try:
            signal.signal(signal.SIGALRM, _stop)
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            outcome = _outcome(fuzzed, data)
        except Exception as error:
            keep(data, None if corpus is None else corpus / f"{name}-found")
            raise AssertionError(f"{name}, seed {seed}: {described(error, data)}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
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
    begin = time.monotonic()
    counts = fuzz(options.target, options.inputs, options.seed, options.corpus)
    seconds = time.monotonic() - begin
    print(f"{options.target}: {options.inputs:,} inputs, {counts}, {seconds:.0f} s")


if __name__ == "__main__":
    main()
