"""The same tests of kernels without the compiler, and with checked bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"]


@pytest.mark.slow
@pytest.mark.skipif(any(s in os.environ for s in SETTINGS), reason="this is the second pass")
@pytest.mark.parametrize("setting", SETTINGS)
def test_kernels_under_a_setting(setting: str, tmp_path: Path) -> None:
    """The kernels are plain Python, too; and they touch no element that an array does not have."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "pytest", "-q", "-x"]
    others = ["features"] if setting == "NUMBA_DISABLE_JIT" else ["numeric"]
    folders = [str(HERE), *(str(HERE.parent / name) for name in others)]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", *folders],
        env={**os.environ, setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
