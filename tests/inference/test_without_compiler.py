"""The same tests of kernels without the compiler, and with checked bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDERS = {
    "NUMBA_DISABLE_JIT": ("inference", "features"),
    "NUMBA_BOUNDSCHECK": ("inference", "numeric"),
}
N_PARTS = 10
"""So that a sample of the slow tests has some of the files under each setting."""
QUICKLY = {"NUMBA_OPT": "0"}
"""All is compiled anew; bounds are the same in code that is not optimised."""
CASES = [
    pytest.param(setting, part, marks=pytest.mark.slow(kind=setting))
    for setting in FOLDERS
    for part in range(N_PARTS)
]


@pytest.mark.skipif(any(s in os.environ for s in FOLDERS), reason="this is the second pass")
@pytest.mark.parametrize(("setting", "part"), CASES)
def test_kernels_under_a_setting(setting: str, part: int, tmp_path: Path) -> None:
    """The kernels are plain Python, too; and they touch no element that an array does not have."""
    files = sorted(path for name in FOLDERS[setting] for path in (TESTS / name).rglob("test_*.py"))
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "pytest", "-q", "-x"]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", *map(str, files[part::N_PARTS])],
        env={**os.environ, setting: "1", **QUICKLY, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
