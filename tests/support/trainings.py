"""Trainings of the shipped configs on a little of the sample corpus, as `spacy train` runs them."""

from __future__ import annotations

import io
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from thinc.api import Config

from benchmarks.lib.variants import config_path
from forked import Call, Forked
from helpers import LANGUAGE, blank, sample_docs

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
    """A shipped config, or a variant, for the corpora of a folder; options have `__` for dots."""
    overrides = {f"paths.{split}": str(folder / f"{split}.spacy") for split in ("train", "dev")}
    overrides["nlp.lang"] = LANGUAGE
    path = config_path(f"{name}.cfg")
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


def weights_of(output: Path) -> dict[str, bytes]:
    """The saved weights of all components, of both pipelines."""
    files = saved_files(output)
    return {name: data for name, data in files.items() if name.endswith("cascade.npz")}


class Trainings:
    """Trainings of shipped configs in processes that can be stopped (`forked.py`).

    folder: with the corpora. configs: their options. pause: seconds around each step of writing.
    whole: for each config the weights of a training without checkpoints, which is never stopped.
    seconds: that one takes with checkpoints.
    """

    def __init__(
        self, folder: Path, configs: Mapping[str, Mapping[str, Any]], pause: float
    ) -> None:
        self._folder = folder
        for name, options in configs.items():
            checkpoint = self.checkpoint(name)
            training_config(name, folder, **options).to_disk(folder / f"{name}-whole.cfg")
            training_config(name, folder, checkpoint, **options).to_disk(folder / f"{name}.cfg")
        first = [self._call(f"{name}-whole") for name in configs]
        self._forked = Forked(first, folder / "log", pause)
        self.whole = {name: self.weights(f"{name}-whole") for name in configs}
        self.seconds = {}
        for name in configs:
            status, self.seconds[name] = self.run(name)
            assert status == 0, self._forked.said()
            assert self.weights(name) == self.whole[name]
            self.checkpoint(name).unlink()

    def checkpoint(self, name: str) -> Path:
        """Where the training of a config has its checkpoint."""
        return self._folder / f"{name}-kept" / "checkpoint.npz"

    def weights(self, name: str) -> dict[str, bytes]:
        """What the last training of a config has saved."""
        return weights_of(self._folder / name)

    def run(
        self, name: str, after: float | None = None, how: signal.Signals = signal.SIGKILL
    ) -> tuple[int, float]:
        """Train, and send a signal after so many seconds: `Forked.run`."""
        return self._forked.run(self._call(name), after, how)

    def said(self) -> str:
        """The end of what the trainings have printed."""
        return self._forked.said()

    def close(self) -> None:
        """End the process that is copied."""
        self._forked.close()

    def _call(self, name: str) -> Call:
        config, output = self._folder / f"{name}.cfg", self._folder / name
        return Call("spacy.cli.train:train", (str(config), str(output)))
