"""The kernels are plain Python too: the same tests without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="this is the second pass")
def test_kernels_without_the_compiler():
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "pytest", "-q", "-x"]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(HERE), str(HERE.parent / "features")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
