"""Simulated annotation: its rounds, and the numbers of sentences in its tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.active_learning import RANDOM, simulate
from benchmarks.reports.active_learning_report import needed, needed_table
from helpers import write_sample


@pytest.mark.slow(kind="experiments")
def test_rounds_add_sentences_and_begin_alike(tmp_path: Path) -> None:
    train, dev = (str(write_sample(tmp_path / f"{n}.spacy", n, 6)) for n in ("train", "dev"))
    given: dict[str, Any] = {"sentences": 30, "sizes": [5, 10, 60], "seed": 0, "updates": 1}
    found = {}
    for measure in (RANDOM, "entropy"):
        rounds = simulate(train, dev, choice={"measure": measure}, **given)["rounds"]
        assert [each["sentences"] for each in rounds] == [5, 10, 30]
        assert [each["choose_among"] for each in rounds] == [30, 25, 20]
        found[measure] = rounds
    for same in (0, 2):
        tokens = {found[measure][same]["tokens"] for measure in found}
        assert len(tokens) == 1
    assert found["entropy"][1]["tokens"] != found[RANDOM][1]["tokens"]
    cut = simulate(train, dev, choice={"measure": RANDOM}, until=0.0, **given)["rounds"]
    assert [each["sentences"] for each in cut] == [5]


def rounds(*points: tuple[int, float]) -> list[dict[str, Any]]:
    return [
        {"sentences": n, "tokens": 20 * n, "f1": f1, "train_seconds": 1.0, "choose_seconds": 0.5}
        for n, f1 in points
    ]


def test_needed_sentences_are_interpolated_between_rounds() -> None:
    found = rounds((100, 40.0), (400, 60.0))
    assert needed(found, 50.0) == pytest.approx(200.0)
    assert needed(found, 60.0) == pytest.approx(400.0)
    assert needed(found, 30.0) == 100.0
    assert needed(found, 61.0) is None
    assert needed(found, 50.0, "tokens") == pytest.approx(math.sqrt(2000.0 * 8000.0))


def test_choices_are_compared_with_random() -> None:
    final = rounds((900, 100.0))[0]
    rows = [
        {"corpus": "one", "choice": {"measure": RANDOM}, "final": final,
         "rounds": rounds((400, 80.0), (800, 90.0))},
        {"corpus": "one", "choice": {"measure": "entropy", "diversity": 0.5}, "final": final,
         "rounds": rounds((100, 80.0), (200, 90.0))},
    ]  # fmt: skip
    table = needed_table(rows)
    assert "| one | random | 100.0 | 800 | 1.00 | 16,000 | 1.00 |" in table
    assert "| one | entropy, diversity 0.5 | 100.0 | 200 | 0.25 | 4,000 | 0.25 |" in table
