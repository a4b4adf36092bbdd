"""spaCy's own `ner` on the efficiency configuration, trained just enough to be timed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy
from spacy.cli.init_config import init_config
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from corpora import read_examples


def train_spacy_ner(train_path: str, dev: str, model: str, steps: int) -> dict[str, Any]:
    """Train for so many steps and save the pipeline; its F1 is for information only."""
    config = init_config(lang="en", pipeline=["ner"], optimize="efficiency", gpu=False, silent=True)
    config["paths"].update({"train": train_path, "dev": dev})
    config["training"].update({"max_steps": steps, "eval_frequency": steps, "patience": 0})
    nlp = init_nlp(config.interpolate())
    Path(model).mkdir(parents=True, exist_ok=True)
    train(nlp, Path(model))
    trained = spacy.load(Path(model) / "model-last")
    return {"f1": 100 * trained.evaluate(read_examples(dev, trained))["ents_f"], "steps": steps}
