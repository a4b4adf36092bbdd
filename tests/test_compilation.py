"""What has to be compiled before a new installation trains and annotates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
LIST_COMPILED = """
import os, sys
os.cpu_count = lambda: 1
os.sched_getaffinity = lambda process: {0}  # no other process compiles a part
from numba.core import event

names = set()

class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        names.add(f"{function.__module__}.{function.__name__}")

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
sys.path.insert(0, sys.argv[1])
from helpers import TEXTS, trained_cascade
print([doc.ents for doc in trained_cascade().pipe(TEXTS)], file=sys.stderr)
print("\\n".join(sorted(names)))
"""


@pytest.mark.slow(kind="compilation")
def test_nothing_rare_is_compiled(tmp_path: Path) -> None:
    """Texts of numba's error messages take two seconds. An assignment of an array to a slice of
    another one has one. Kernels in log space take three; few sequences need them.
    """
    result = subprocess.run(
        [sys.executable, "-c", LIST_COMPILED, str(SUPPORT)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=SUPPORT.parents[1],
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    names = result.stdout.split()
    ours = [name for name in names if name.startswith("spacy_cascade.")]
    assert "spacy_cascade.features.slots.slot_rows" in ours
    assert "spacy_cascade.inference.chain_losses._scaled_losses" in ours
    assert "spacy_cascade.inference.spans._scaled_posteriors" in ours
    assert not [name for name in names if name.startswith("numba.cpython.unicode")]
    assert not [name for name in ours if "log_space" in name or "forward_backward" in name]
