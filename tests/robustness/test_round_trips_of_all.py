"""Pipelines of every kind are the same bytes each time that they are saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

from helpers import run_python
from sample_pipelines import PIPELINES

pytestmark = pytest.mark.slow(kind="round trips")


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


DIGESTS = """
import hashlib, json, sys
import spacy
found = {}
for path in sys.argv[1:]:
    data = spacy.load(path).to_bytes()
    found[path] = hashlib.sha256(data).hexdigest()
print(json.dumps(found))
"""


def test_bytes_are_stable(tmp_path: Path, figure: Callable[[str, str], None]) -> None:
    """Asked for twice, after a second round trip, and in a process with another order of sets.

    spaCy's sentencizer would not do: it saves a set in any order.
    """
    expected, n_files = {}, 0
    for name, make in PIPELINES.items():
        nlp = make()
        folders = [tmp_path / f"{name}_{part}" for part in ("first", "second")]
        nlp.to_disk(folders[0])
        again = spacy.load(folders[0])
        again.to_disk(folders[1])
        first, second = map(files, folders)
        assert first.keys() == second.keys()
        assert [file for file in first if first[file] != second[file]] == []
        n_files += len(first)
        assert nlp.to_bytes() == nlp.to_bytes()
        data = again.to_bytes()
        expected[str(folders[0])] = hashlib.sha256(data).hexdigest()
    done = run_python("-c", DIGESTS, *expected, PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
    figure(
        f"{n_files} files of {len(PIPELINES)} pipelines after two round trips, and their bytes in "
        "a process with another hash seed",
        "the same",
    )
