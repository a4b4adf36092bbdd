"""Every shipped config trains, evaluates and annotates, on a few sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from helpers import CONFIGS, run_python, write_sample
from spacy.training import Corpus


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_it_trains_by_the_command_of_the_readme(config: Path, tmp_path: Path) -> None:
    train = write_sample(tmp_path / "train.spacy", n_docs=6)
    dev = write_sample(tmp_path / "dev.spacy", "dev", n_docs=3)
    result = run_python(
        "-m", "spacy", "train", str(config), "--output", str(tmp_path / "out"),
        "--paths.train", str(train), "--paths.dev", str(dev), "--training.max_steps", "2",
        "--components.cascade_segmenter.model.min_count", "1", timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    best = tmp_path / "out" / "model-best"
    nlp = spacy.load(best)
    assert nlp.evaluate(list(Corpus(train)(nlp)))["ents_f"] > 0.5
    result = run_python("-m", "spacy", "evaluate", str(best), str(dev), timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "NER F" in result.stdout


def test_there_are_configs() -> None:
    assert {"memb", "crf"} <= {path.stem for path in CONFIGS}
