"""Pipelines are saved as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy

from helpers import add_segmenter, annotations, blank, trained_cascade
from spacy_cascade import ModelFileError, save_pipeline


def test_a_pipeline_is_saved_over_another_one(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("mine")
    save_pipeline(blank(), tmp_path)
    nlp = trained_cascade()
    save_pipeline(nlp, tmp_path)
    assert annotations(spacy.load(tmp_path)) == annotations(nlp)
    assert (tmp_path / "README").read_text() == "mine"


def test_a_pipeline_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path) -> None:
    save_pipeline(blank(), tmp_path / "model")
    nlp = blank()
    segmenter: Any = add_segmenter(nlp)
    segmenter.label_thresholds = {f"type {number}": 0.5 for number in range(9000)}
    with pytest.raises(ModelFileError, match=r"Cannot save the model.*settings take 9,\d+ values"):
        save_pipeline(nlp, tmp_path / "model")
    assert spacy.load(tmp_path / "model").pipe_names == []
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
