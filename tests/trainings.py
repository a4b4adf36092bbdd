"""Trainings of the shipped configs on a little of the sample corpus, as `spacy train` runs them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from helpers import PROJECT, blank, sample_docs
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from thinc.api import Config

NAME = "spacy_cascade.checkpoints.v1"


def write_corpora(folder: Path, n_docs: int = 6) -> None:
    """`train.spacy` and `dev.spacy` with entities, and with tags made of the words' shapes."""
    for split, n in (("train", n_docs), ("dev", n_docs // 3)):
        docs = sample_docs(blank().vocab, split, n)
        for doc in docs:
            for token in doc:
                token.tag_ = token.shape_[:2]
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")


def training_config(
    name: str, folder: Path, checkpoint: Path | None = None, **options: Any
) -> Config:
    """A shipped config for the corpora of a folder, with dotted options (`__` for the dots)."""
    overrides = {f"paths.{split}": str(folder / f"{split}.spacy") for split in ("train", "dev")}
    path = PROJECT / "configs" / f"{name}.cfg"
    config = load_config(path, overrides=overrides, interpolate=True)
    if checkpoint is not None:
        config["training"]["before_update"] = {"@callbacks": NAME, "path": str(checkpoint)}
    for component in config["components"].values():
        if "threads" in component.get("trainer", {}):
            component["trainer"]["threads"] = 1
    dotted = {option.replace("__", "."): value for option, value in options.items()}
    for option, value in dotted.items():
        section = config
        *parts, last = option.split(".")
        for part in parts:
            section = section[part]
        section[last] = value
    return config


def run_training(config: Config, output: Path) -> str:
    """`spacy train` in this process; the table that it prints."""
    output.mkdir(exist_ok=True)
    table = io.StringIO()
    train(init_nlp(config), output, stdout=table, stderr=table)
    return table.getvalue().replace(str(output), "OUTPUT")


def saved_files(output: Path) -> dict[str, bytes]:
    """All files of the saved pipelines but their configs, which name the checkpoint."""
    return {
        str(file.relative_to(output)): file.read_bytes()
        for file in sorted(output.rglob("*"))
        if file.is_file() and file.name != "config.cfg"
    }
