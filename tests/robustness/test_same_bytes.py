"""Trainings of one seed: the same files on one thread and on two, whatever the hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import CONFIGS, write_sample

pytestmark = pytest.mark.slow

THREADS = {
    "memb": ["components.cascade_segmenter", "components.cascade_classifier"],
    "ocr": [],  # Online trainers have one thread.
    "icrf": ["components.cascade_types"],
}
"""Configs, and the components whose trainers have a number of threads."""
SCRIPT = """
import json, sys, threading
from collections import Counter
from spacy.cli.train import train
from spacy_cascade import parallel

# Work of many pieces, though the corpus is small; who did how many.
parallel._SMALLEST_PIECE = 256
done = Counter()
map_plainly = parallel.Workers.map

def map_and_count(self, function, bounds):
    def piece(begin, end):
        done[threading.current_thread().name] += 1
        return function(begin, end)

    map_plainly(self, piece, bounds)

parallel.Workers.map = map_and_count
for config, output, overrides in json.loads(sys.argv[1]):
    train(config, output, overrides=overrides)
with open(sys.argv[2], "w") as counts:
    json.dump(done, counts)
"""


def trained(folder: Path, corpus: Path, threads: int, hash_seed: int) -> dict[str, int]:
    """Train all configs; the number of pieces of work that each thread did."""
    trainings = []
    for path in CONFIGS:
        if path.stem in THREADS:
            overrides: dict[str, object] = {
                "paths.train": str(corpus / "train.spacy"),
                "paths.dev": str(corpus / "dev.spacy"),
                "training.max_steps": 2,
            }
            for component in THREADS[path.stem]:
                overrides[f"{component}.trainer.threads"] = threads
            trainings.append([str(path), str(folder / path.stem), overrides])
    assert len(trainings) == len(THREADS)
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(trainings), str(folder / "counts.json")],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    counts: dict[str, int] = json.loads((folder / "counts.json").read_text())
    return counts


def contents(folder: Path) -> dict[str, bytes]:
    """All files of the trained pipelines, but for what the config says of threads."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*/*/**/*")}
    return {
        name: path.read_bytes().replace(b"\nthreads = 2\n", b"\nthreads = 1\n")
        for name, path in files.items()
        if path.is_file()
    }


def test_any_number_of_threads_gives_the_same_bytes(
    cases: Callable[[int], int], figure: Callable[[str, str], None], tmp_path: Path
) -> None:
    for split in ("train", "dev"):
        write_sample(tmp_path / f"{split}.spacy", split)
    n, expected = cases(5), {}
    shares = []
    for number in range(2 * n):
        folder = tmp_path / str(number)
        folder.mkdir()
        threads = 1 + number % 2
        counts = trained(folder, tmp_path, threads, hash_seed=number)
        helped = [count for name, count in counts.items() if name.startswith("spacy_cascade")]
        assert len(helped) == (0 if threads == 1 else 2), counts
        shares.extend(count / sum(counts.values()) for count in helped)
        found = contents(folder)
        weights = [name for name in found if name.endswith("cascade.npz")]
        assert len(weights) == 2 * 2 * len(THREADS), "of the best and the last, of two components"
        expected = expected or found
        assert found.keys() == expected.keys()
        assert not [name for name in found if found[name] != expected[name]]
    figure(
        f"{2 * n} trainings each of {', '.join(THREADS)}, on 1 and 2 threads in turn, all with "
        "another hash seed",
        f"{len(expected)} files the same to the last byte; each of two threads did "
        f"{100 * min(shares):.0f} % of the work or more",
    )
