"""`spacy cascade combine ensemble`: its options and messages."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy

from commands import check_errors, few_steps, run_training, small_training

SETTINGS = few_steps()
run = partial(run_training, "combine", "ensemble")


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    return small_training(tmp_path)


@pytest.mark.slow(kind="commands")
def test_it_writes_a_pipeline_and_says_how_good_it_is(
    given: dict[str, Path], tmp_path: Path
) -> None:
    more = ("--members", 2, "--also", given["config"], "--processes", 2, *SETTINGS)
    said, _ = run(given, tmp_path / "OUT", *more)
    assert "member 000" in said
    assert "2 members, the best of them 00" in said
    assert "ensemble: F1" in said
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.pipe_names == ["cascade_ensemble"]
    member = nlp.get_pipe("cascade_ensemble").members[1]
    assert member.nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 2


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    absent = {**given, "train": tmp_path / "absent.spacy"}
    check_errors(
        run,
        ((given, tmp_path / "OUT", "--members", 0), "at least one member, not 0"),
        ((given, tmp_path / "OUT", "--feature-share", 0), "above 0 and up to 1, not 0"),
        ((given, tmp_path / "OUT", "--doc-share", 1.2), "above 0 and up to 1, not 1.2"),
        ((given, tmp_path / "OUT", "--membres", 5), "no option or argument --membres"),
        ((given, tmp_path / "OUT", "--also", tmp_path / "no.cfg"), "no.cfg"),
        ((absent, tmp_path / "OUT"), "There is no corpus at"),
    )
    assert not (tmp_path / "OUT").exists()
