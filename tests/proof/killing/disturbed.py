"""Disturbed otherwise than by a kill: a second process, another model, the clock, a full disk."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

from tests.proof.killing import backend
from tests.proof.killing.chains import Chain, kill_often, prepared
from tests.proof.killing.kinds import Kind
from tests.proof.part import Came
from tests.support.forked import Call, Forked

CLOCK = """
import random, time

_time, _monotonic, _since = time.time, time.monotonic, [0.0, 0.0]
HOUR = 3600.0
TO = [0.0, HOUR, -HOUR, 24 * HOUR, -24 * HOUR, 20 * 365 * 24 * HOUR]

def jumping():
    if _monotonic() > _since[0]:
        _since[:] = _monotonic() + random.uniform(0.0, 0.2), random.choice([*TO, -_time()])
    return _time() + _since[1]

time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)
"""
"""A `sitecustomize.py` by which the time of day is another one several times a second.

It jumps by an hour, a day, to 20 years later, and to 1970, as where no battery keeps the clock.
"""


def two_at_once(kind: Kind, n: int, seed: int, folder: Path) -> Came:
    """Make a call twice, the second time while the first one runs; so many times.

    One of the two may be refused; what is there at the end is what one leaves alone.
    """
    generator = np.random.default_rng(seed)
    inputs, output, came, problems = folder / "inputs", folder / "output", Counter[str](), []
    with prepared(kind, folder) as one, prepared(kind, folder, "second") as other:
        call = kind.call(inputs, output)
        kind.begin(inputs, output)
        status, seconds = one.run(call)
        assert status == 0, one.said()
        end = kind.contents(output)
        for _ in range(n):
            kind.begin(inputs, output)
            one.begin(call)
            one.has_ended(seconds * float(generator.random()))
            other.begin(call)
            failed = [each for each in (one, other) if each.wait()]
            came["tries"] += 1
            came["refused"] += len(failed)
            if len(failed) == 2 or not all(map(_is_refusal, failed)):
                problems.append(" | ".join(each.last() for each in failed))
            if (now := kind.contents(output)) != end:
                names = sorted(dict(now.items() ^ end.items()))
                problems.append(f"at the end there are other bytes in {', '.join(names)}")
    return {**came, "problems": problems, "takes": round(seconds, 2)}


def _is_refusal(forked: Forked) -> bool:
    """Whether it said that another process is there; a call of Python says what it could not do."""
    said = forked.last()
    return "Another run is at work in" in said or said.startswith("spacy_cascade.errors.SavingErr")


def replaced(kind: Kind, load: str, n: int, folder: Path) -> Came:
    """Load a pipeline so many times while another process replaces it again and again.

    kind: that saves it. load: how it is loaded, by `inputs.load_again`.
    """
    place, until, found = folder / "output/model", folder / "until", folder / "found.json"
    with prepared(kind, folder) as saving, prepared(kind, folder, "second") as loading:
        kind.begin(folder / "inputs", folder / "output")
        inputs = "tests.proof.killing.inputs"
        saving.begin(Call(f"{inputs}:replace_again", (str(place), str(until))))
        arguments = (load, str(place), str(n), str(found))
        loaded, _ = loading.run(Call(f"{inputs}:load_again", arguments))
        until.touch()
        assert (saving.wait(), loaded) == (0, 0), saving.said() + loading.said()
    came = Counter(json.loads(found.read_text()))
    whole, mixed = came["old"] + came["new"], came["a mixture"]
    others = [one for one in came if one not in ("old", "new") and not one.startswith("our ")]
    # Nobody but the package itself can look after what is loaded.
    problems = others if load == "Annotator" else []
    return {
        "loads": n,
        "whole": whole,
        "mixed": mixed,
        "refused": n - whole - mixed,
        "found": came,
        "problems": problems,
    }


def jumping_clock(kind: Kind, n: int, seed: int, folder: Path) -> Came:
    """Kill a call so many times where the clock jumps; the bytes are those where it does not."""
    (folder / "clock").mkdir(parents=True)
    (folder / "clock" / "sitecustomize.py").write_text(CLOCK)
    with (
        prepared(kind, folder) as whole,
        prepared(kind, folder, "second", str(folder / "clock")) as forked,
    ):
        if kind is backend.KIND:
            return kill_often(backend.Backend(folder, whole, forked), n, seed)
        return kill_often(Chain(kind, folder, whole, forked), n, seed)


def full_disk(kind: Kind, n: int, seed: int, folder: Path) -> Came:
    """Make a call so many times where there is less room than it needs, and again with enough."""
    from tests.robustness.full_disks import FILE_SYSTEM, SmallDisk, make_disk  # not on Windows

    generator, came, problems = np.random.default_rng(seed), Counter[str](), list[str]()
    place, inputs = folder / "output", folder / "inputs"
    place.mkdir(parents=True)
    with prepared(kind, folder) as forked, make_disk(FILE_SYSTEM, place) as disk:
        if not isinstance(disk, SmallDisk):
            return {"problems": ["no file system can be mounted here"]}
        output = place / "output"
        call = kind.call(inputs, output)
        kind.begin(inputs, output)
        old = kind.contents(output, kind.passing)
        assert forked.run(call)[0] == 0, forked.said()
        end, needed = kind.contents(output), disk.needed(output)
        for _ in range(n):
            kind.begin(inputs, output)
            with disk.room(int(generator.integers(needed))):
                status, _ = forked.run(call)
            came["tries"] += 1
            came["refused"] += status != 0
            if status and "Make room" not in forked.last():
                problems.append(forked.last())
            left = kind.contents(output, kind.passing)
            problems += [
                f"{name} is not the old one" for name in old if left.get(name) != old[name]
            ]
            again, _ = forked.run(call)
            if again or kind.contents(output) != end:
                problems.append(f"with enough room it is not the same: {forked.last()}")
    return {**came, "problems": problems}
