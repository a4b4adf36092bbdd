"""`nlp.pipe` in several processes: however they begin, and whatever has to be compiled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from helpers import TEXTS, annotation, trained_cascade

pytestmark = pytest.mark.slow(kind="processes")

TRAINER = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 5, "threads": 2}
METHODS, PROCESSES, CACHES = ("fork", "spawn", "forkserver"), (1, 2, 4), ("cold", "warm")
FIRST = [("fork", 4, "warm"), ("spawn", 2, "cold"), ("forkserver", 2, "warm")]
"""Those that are tried in every run: each method, and each state of the cache."""
SOME_TEXTS = [*TEXTS, "", "p53 gene", " \n"] * 2
SCRIPT = """
import json, multiprocessing, sys, threading
import spacy
from helpers import annotation, trained_cascade
from spacy_cascade import parallel
from spacy_cascade.inference.viterbi import viterbi

def trained_by_threads(trainer):
    parallel._SMALLEST_PIECE = 8
    nlp = trained_cascade({"trainer": trainer}, {"trainer": trainer})
    assert any(thread.name.startswith("spacy_cascade") for thread in threading.enumerate())
    return nlp

def main():
    method, n_process, model, texts, trainer = json.loads(sys.argv[1])
    multiprocessing.set_start_method(method)
    nlp = spacy.load(model) if model else trained_by_threads(trainer)
    docs = nlp.pipe(texts, n_process=n_process, batch_size=3)
    print(json.dumps([annotation(doc) for doc in docs]))
    print(json.dumps([annotation(nlp(text)) for text in texts]))
    print(sum(viterbi.stats.cache_misses.values()))

if __name__ == "__main__":
    main()
"""


def run(script: Path, arguments: list[Any], **environment: str) -> list[Any]:
    """What the script printed, within two minutes; no process of its is left behind."""
    process = subprocess.Popen(
        [sys.executable, str(script), json.dumps(arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf8",
        start_new_session=True,
    )
    try:
        output, complaints = process.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, complaints
    return [json.loads(line) for line in output.splitlines()]


def test_processes_give_what_one_gives(
    cases: Callable[[int], int], figure: Callable[[str, str], None], tmp_path: Path
) -> None:
    """Cold: a saved pipeline, of which nothing is compiled. Warm: one just trained by threads."""
    nlp = trained_cascade({"trainer": TRAINER}, {"trainer": TRAINER})
    nlp.to_disk(tmp_path / "model")
    expected = json.loads(json.dumps([annotation(nlp(text)) for text in SOME_TEXTS]))
    assert any(entities["ents"] for entities in expected)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    combinations = sorted(product(METHODS, PROCESSES, CACHES), key=lambda one: one not in FIRST)
    n, slowest = max(len(FIRST), cases(len(combinations))), 0.0
    for number, (method, n_process, cache) in enumerate(combinations[:n]):
        begun = time.monotonic()
        if cache == "cold":
            kept = tmp_path / f"kept{number}"
            arguments = [method, n_process, str(tmp_path / "model"), SOME_TEXTS, TRAINER]
            piped, one_by_one, _ = run(script, arguments, NUMBA_CACHE_DIR=str(kept))
            assert list(kept.rglob("*viterbi*")), "they were compiled there"
        else:
            arguments = [method, n_process, None, SOME_TEXTS, TRAINER]
            piped, one_by_one, n_compiled = run(script, arguments)
            assert n_compiled == 0
        slowest = max(slowest, time.monotonic() - begun)
        assert piped == one_by_one == expected, (method, n_process, cache)
    figure(
        f"{n} of {len(combinations)} combinations of fork, spawn, forkserver, 1, 2, 4 processes, "
        "cold and warm kernel cache",
        f"equal to a loop; the slowest took {slowest:.0f} s",
    )
