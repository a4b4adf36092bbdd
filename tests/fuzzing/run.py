"""Fuzzes targets: `python -m tests.fuzzing.run TARGET … --inputs 1000000 --corpus FOLDER`.

An input that reaches a line of the package that no other did, or is refused at a place that no
other was, is kept in `FOLDER/TARGET` and changed further. Each run goes on from there, with another
seed. An input that fails is kept in `FOLDER/TARGET-found`; it belongs to `found`, which a test runs
each time. `FOLDER/TARGET-present` has the one at hand, also when it ended the process.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tests.fuzzing.limits import LARGEST, limited, limited_addresses
from tests.fuzzing.lines import ReachedLines
from tests.fuzzing.mutations import mutated
from tests.fuzzing.target import PACKAGE, Fuzzed, described, places_of
from tests.fuzzing.targets import targets

_HEAD = 8
"""Bytes before the input at hand, with its length."""


@dataclass
class Outcome:
    """What came of a target.

    lines: of the package, reached. slowest: seconds of the processor; memory: bytes; both the most
    of an input. found: what failed, each by its kind and place once.
    """

    target: str
    seed: int
    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    kept: int = 0
    lines: int = 0
    slowest: float = 0.0
    memory: int = 0
    found: dict[str, str] = field(default_factory=dict)


def fuzz(name: str, n_inputs: int, seed: int, corpus: Path | None = None) -> Outcome:
    """Try so many inputs."""
    fuzzed, random = targets()[name], Random(seed)
    folder = None if corpus is None else corpus / name
    seeds = fuzzed.seeds()
    for data in seeds:  # compiles and loads what is needed, in no measured time
        _outcome(fuzzed, data)
    inputs = [*seeds, *(() if folder is None else numbered(folder))]
    places, outcome = set[str](), Outcome(name, seed)
    with ReachedLines() as reached:
        for data in inputs:
            _outcome(fuzzed, data)
        with limited_addresses(), _noting(corpus, name) as note:
            for _ in range(n_inputs):
                data = mutated(random, inputs, fuzzed.pieces)
                note(data)
                n_lines, place = reached.n, _attempt(fuzzed, data, outcome)
                if place is None:
                    keep(data, None if corpus is None else corpus / f"{name}-found")
                elif reached.n > n_lines or place not in places:
                    places.add(place)
                    inputs.append(data)
                    outcome.kept += 1
                    keep(data, folder)
    outcome.lines = reached.n
    return outcome


def _attempt(fuzzed: Fuzzed, data: bytes, outcome: Outcome) -> str | None:
    """Try an input; the place where it was refused, `accepted`, or None where it fails."""
    place: str | None = None
    try:
        with limited() as used:
            place = _outcome(fuzzed, data)
    except Exception as error:
        place = None
        outcome.found.setdefault(_kind(error), described(error, data))
    outcome.inputs += 1
    outcome.slowest = max(outcome.slowest, used.seconds)
    outcome.memory = max(outcome.memory, used.memory)
    if place is not None:
        outcome.accepted += place == "accepted"
        outcome.refused += place != "accepted"
    return place


def _outcome(fuzzed: Fuzzed, data: bytes) -> str:
    """`accepted`, or the place of the code that the error comes from."""
    from spacy_cascade.errors import CascadeError

    try:
        fuzzed.run(data)
    except CascadeError as error:
        return places_of(error)[-1]
    return "accepted"


def _kind(error: BaseException) -> str:
    """What a defect is known by: the error, and the last place of the package in its trace."""
    places = [place for place in places_of(error) if place.startswith(PACKAGE)]
    place = places[-1].removeprefix(PACKAGE) if places else "outside of the package"
    return f"{type(error).__name__} at {place}"


def numbered(folder: Path) -> Iterator[bytes]:
    """The inputs that were kept in a folder."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        yield path.read_bytes()


def keep(data: bytes, folder: Path | None) -> None:
    """Write an input, named by its digest."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


@contextmanager
def _noting(corpus: Path | None, name: str) -> Iterator[Callable[[bytes], None]]:
    """Writes the input at hand where it outlives the process."""
    if corpus is None:
        yield lambda data: None
        return
    corpus.mkdir(parents=True, exist_ok=True)
    path = corpus / f"{name}-present"
    path.write_bytes(bytes(_HEAD + LARGEST))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:

        def note(data: bytes) -> None:
            memory[: _HEAD + len(data)] = len(data).to_bytes(_HEAD, "little") + data

        yield note


def present(corpus: Path, name: str) -> bytes:
    """The input that was at hand when a process ended."""
    data = (corpus / f"{name}-present").read_bytes()
    return data[_HEAD : _HEAD + int.from_bytes(data[:_HEAD], "little")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+", choices=sorted(targets()), metavar="TARGET")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--corpus", type=Path, default=Path(".fuzzing"))
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    parser.add_argument(
        "--outcomes", type=Path, help="file to which JSON is added, a line for each"
    )
    options = parser.parse_args()
    has_found = False
    for name in options.targets:
        used = time.process_time()
        outcome = fuzz(name, options.inputs, options.seed, options.corpus)
        line = {**asdict(outcome), "seconds": time.process_time() - used}
        print(json.dumps(line, indent=1), flush=True)
        if options.outcomes is not None:
            with options.outcomes.open("a", encoding="utf8") as file:
                file.write(json.dumps(line) + "\n")
        has_found |= bool(outcome.found)
    sys.exit(int(has_found))


if __name__ == "__main__":
    main()
