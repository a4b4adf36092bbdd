"""The results of the suite: a line of JSON for each training, and the systems that they show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..lib.bootstrap import Difference, differences

Entry = dict[str, Any]
"""A training with its scores. `corpus`, `system`, `setting` and `input` are its key."""
Key = tuple[str, str, str, str]
Column = tuple[str, ...]
"""The corpora of a score: one at home; source and target away from home."""

TOKENS, RAW = "tokens", "raw"
"""What a model gets: the tokens and sentences of the corpus, or its text."""
DEFAULT, ALONE = "init", "alone"
"""The system that is compared with the best peer, and the same without word knowledge."""


def key_of(entry: Entry) -> Key:
    return entry["corpus"], entry["system"], entry["setting"], entry["input"]


def read_entries(path: Path) -> list[Entry]:
    """The entries of a file, the last one of each key; none without a file.

    A run may be killed while it writes: a line that is cut short is left out.
    """
    if not path.exists():
        return []
    found: dict[Key, Entry] = {}
    for line in path.read_text(encoding="utf8").split("\n"):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[key_of(entry)] = entry
    return list(found.values())


def read_both(alone: Path, knowing: Path) -> list[Entry]:
    """Two series as one: from corpora alone, and with word knowledge.

    Of a system that the second has on a corpus, the first does not count there.
    """
    later = read_entries(knowing)
    again = {(entry["corpus"], entry["system"]) for entry in later}
    earlier = (e for e in read_entries(alone) if (e["corpus"], e["system"]) not in again)
    return [*earlier, *later]


def add_entry(path: Path, entry: Entry) -> None:
    """Append an entry as a line of its own, also after a line that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")


@dataclass(frozen=True)
class Competitor:
    """A system on all corpora, with one setting, or with the best of a grid on each of them."""

    title: str
    system: str
    is_peer: bool
    entries: Mapping[str, Entry]

    def f1(self, column: Column) -> float | None:
        """F1 at home, or away from home; None where it is not known."""
        scores = self._scores(column)
        return float(scores["f1"]) if scores else None

    def calibration(self, column: Column) -> Entry | None:
        """The error and the excess of confidences; None where there are none, or not measured."""
        return self._scores(column).get("calibration")

    def _scores(self, column: Column) -> Entry:
        scores = self.entries.get(column[0], {})
        for target in column[1:]:
            scores = scores.get("shifted", {}).get(target, {})
        return scores


def competitors(entries: Iterable[Entry]) -> list[Competitor]:
    """The systems on tokens, ours first; a peer with a grid also with the best point of it."""
    by_system: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry["input"] == TOKENS:
            by_system.setdefault(entry["system"], []).append(entry)
    found = []
    for name, of_system in by_system.items():
        title, is_peer = of_system[0]["title"], of_system[0]["is_peer"]
        fixed = {entry["corpus"]: entry for entry in of_system if entry["is_fixed"]}
        found.append(Competitor(title, name, is_peer, fixed))
        # Further settings of ours are trials, among which `leave_one_out` chooses.
        if is_peer and len(of_system) > len(fixed):
            ordered = sorted(of_system, key=lambda entry: float(entry["f1"]))
            best = {entry["corpus"]: entry for entry in ordered}
            found.append(Competitor(f"{title}, best of grid", name, is_peer, best))
    return sorted(found, key=lambda competitor: competitor.is_peer)


def home_columns(entries: Iterable[Entry]) -> list[Column]:
    """The corpora, small ones first."""
    sizes = {entry["corpus"]: entry["tokens"] for entry in entries}
    return [(corpus,) for corpus in sorted(sizes, key=lambda corpus: int(sizes[corpus]))]


def shifted_columns(entries: Iterable[Entry]) -> list[Column]:
    pairs = {(e["corpus"], target) for e in entries for target in e.get("shifted", {})}
    return sorted(pairs)


def raw_entries(entries: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """The fixed setting of each system of ours on raw text, by corpus and system."""
    return {
        (entry["corpus"], entry["system"]): entry
        for entry in entries
        if entry["input"] == RAW and entry["is_fixed"]
    }


def best_peer(found: Sequence[Competitor], column: Column) -> Competitor | None:
    """The peer with the best F1 in a column."""
    peers = [c for c in found if c.is_peer and c.f1(column) is not None]
    return max(peers, key=lambda peer: peer.f1(column) or 0.0, default=None)


def difference(ours: Competitor, peer: Competitor, corpus: str) -> Difference:
    """F1 of ours minus that of the peer at home, with its paired bootstrap interval over Docs."""
    pair = {"ours": ours, "peer": peer}
    counts = {name: np.array(c.entries[corpus]["by_doc"]) for name, c in pair.items()}
    return differences(counts)["ours", "peer"]


def ranks(scores: Sequence[float]) -> list[float]:
    """The rank of each score: 1 is the best, and equal ones share the mean of their ranks."""
    return [
        1 + sum(other > score for other in scores) + (sum(o == score for o in scores) - 1) / 2
        for score in scores
    ]
