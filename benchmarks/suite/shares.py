"""Shares of a corpus to train on, the smaller inside the larger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lib.package import TOKENS_GIVEN
from ..lib.processes import Result, TaskRunner
from .corpora import CORPORA, Prepared


@dataclass(frozen=True)
class Share:
    """A share of a corpus, and the config that `init` makes for it.

    sizes: documents, sentences and tokens. stem: what the paths of its files begin with.
    """

    runner: TaskRunner
    corpora: Mapping[str, str]
    sizes: Result
    stem: str

    @classmethod
    def prepare(cls, runner: TaskRunner, data: Path, name: str, share: float) -> Share:
        prepared = Prepared(runner, data)
        prepared.sizes(name)
        folder = prepared.folder(name)
        stem = f"{folder}/share-{share:g}"
        train, dev = f"{stem}.spacy", str(folder / "dev.spacy")
        whole = {"train": f"{folder / 'train.spacy'}", "output": train}
        sizes = runner.run("lib.corpora:first_docs", {**whole, "share": share, "seed": 0})
        corpora = {"train": train, "dev": dev}
        written = {"output": f"{stem}.cfg", **corpora, "lang": CORPORA[name].lang}
        runner.run("lib.package:write_training_config", written)
        return cls(runner, corpora, sizes, stem)

    @property
    def config(self) -> str:
        return f"{self.stem}.cfg"

    def train(
        self, setting: str, overrides: Mapping[str, Any], config: str | None = None
    ) -> Result:
        """The best F1 on dev, its tokens and sentences given; updates, seconds, peak memory; the
        model's path.

        setting: a name for the overrides. config: another one than that of `init`. Training ends
        by the score on dev, as the config sets it.
        """
        readers = {
            f"corpora.{part}": {**TOKENS_GIVEN, "path": path} for part, path in self.corpora.items()
        }
        model = f"{self.stem}-{setting.replace(' ', '-')}"
        trained = self.runner.run(
            "lib.training:train_as_configured",
            {
                "config": config or self.config,
                **self.corpora,
                "model": model,
                "overrides": {**readers, **overrides},
            },
        )
        best = max(score for *_, score in trained["series"])
        seconds = trained["computed_seconds"]
        return {
            "f1": best,
            "updates": trained["updates"],
            "seconds": seconds,
            "peak_memory_megabytes": trained["peak_memory_megabytes"],
            "model": model,
        }
