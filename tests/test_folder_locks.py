"""A folder is one process's alone while it works there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers import PROJECT
from spacy_cascade.errors import ConfigError
from spacy_cascade.locking import lock_folder

HOLD = """
import sys, time
from pathlib import Path
from spacy_cascade.locking import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_folder_is_made_and_had_once(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    with lock_folder(folder), pytest.raises(ConfigError, match=r"at work in .*out"):
        lock_folder(folder)
    with lock_folder(folder), lock_folder(tmp_path / "other"):
        pass


def test_a_process_that_is_killed_frees_its_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ConfigError, match="Another run is at work"):
            lock_folder(tmp_path)
        process.kill()
        process.wait()
        with lock_folder(tmp_path):
            pass
