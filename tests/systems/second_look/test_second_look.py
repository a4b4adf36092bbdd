"""`spacy cascade combine second-look`: its options and messages."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy

from commands import check_errors, few_steps, run_training, small_training
from helpers import LANGUAGE

SETTINGS = few_steps()
PLAIN = f"--nlp.lang={LANGUAGE}"
run = partial(run_training, "combine", "second-look")


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    return small_training(tmp_path)


@pytest.mark.slow(kind="commands")
def test_it_writes_a_pipeline_and_says_which(given: dict[str, Path], tmp_path: Path) -> None:
    said, _ = run(given, tmp_path / "OUT", "--folds", 2, *SETTINGS)
    assert "2 trainings without each of 2 folds" in said
    is_better = "two passes: F1" in said
    assert is_better or "a second pass gains nothing" in said
    nlp = spacy.load(tmp_path / "OUT")
    assert ("first_cascade_segmenter" in nlp.pipe_names) == is_better
    assert nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 2


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    absent = {**given, "train": tmp_path / "absent.spacy"}
    check_errors(
        run,
        ((given, tmp_path / "OUT", "--folds", 1, PLAIN), "2 folds or more, not 1"),
        ((given, tmp_path / "OUT", "--flods", 5), "no option or argument --flods"),
        ((absent, tmp_path / "OUT", PLAIN), "There is no corpus at"),
    )
    assert not (tmp_path / "OUT").exists()
