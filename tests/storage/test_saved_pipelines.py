"""Pipelines that releases since 0.3 have saved are loaded, and annotate as they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saved_pipelines import MAKERS, SAVED, annotated, load

NAMES = sorted(path.stem for path in SAVED.glob("*.zip"))
ENDS = {"tagger": "tags"}
"""What a system writes; others write entities."""


def test_there_is_one_of_every_system() -> None:
    """If not: `python tests/support/saved_pipelines.py`."""
    assert MAKERS.keys() <= set(NAMES)
    assert sum(path.stat().st_size for path in SAVED.iterdir()) < 500_000


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_pipeline_is_loaded_and_annotates_as_before(name: str, tmp_path: Path) -> None:
    nlp, expected = load(name, tmp_path)
    found = annotated(nlp)
    assert any(doc[ENDS.get(name, "ents")] for doc in expected)
    for now, before in zip(found, expected, strict=True):
        assert_close(now, before)


def assert_close(now: dict[str, Any], before: dict[str, Any]) -> None:
    """The same but for the last digits of confidences, which may differ by machine."""
    for key, scores in {**before.pop("scores"), "of entities": before.pop("confidences")}.items():
        there = now["confidences"] if key == "of entities" else now["scores"][key]
        assert there == pytest.approx(scores, abs=1e-5), key
    assert {key: now[key] for key in before} == before
