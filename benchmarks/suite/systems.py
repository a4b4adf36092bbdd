"""The systems of the suite. A new one is a line in `OURS` or `PEERS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from ..lib.corpora import RAW_SUFFIX
from ..lib.package import TOKENS_GIVEN
from ..lib.processes import Result
from ..peers.systems import CrfSuite, SpacyNer, System, TrainingSetup
from ..reports.suite_results import RAW, TOKENS
from .arguments import AS_IT_IS


@dataclass(frozen=True)
class Ours(System):
    """A pipeline of ours. recipe: of `spacy cascade init`; none for its default.

    input: `RAW` or `TOKENS`. overrides: other settings of the config by their dotted names.
    """

    recipe: str | None = None
    input: str = TOKENS
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train as `spacy train` does, with the config that `init` makes for the corpus."""
        run = setup.runner.run
        corpora = setup.corpora(RAW_SUFFIX if self.input == RAW else ".spacy")
        model = self._model_of(setup, repeat)
        config = f"{model}.cfg"
        choices = {"output": config, **corpora, "lang": setup.lang, "recipe": self.recipe}
        written = run("lib.package:write_training_config", choices)
        setup.runner.compile_kernels(config, corpora["dev"])
        arguments = {
            "config": config,
            **corpora,
            "model": model,
            "overrides": {**self._readers(corpora), **self.overrides},
        }
        result = run("lib.training:train_as_configured", arguments, repeat=repeat)
        finished = run("lib.training:finish", {"model": model}, repeat=repeat)
        return {
            **result,
            "config_seconds": written["seconds"],
            "finish_seconds": finished["seconds"],
        }

    def _readers(self, corpora: Mapping[str, str]) -> dict[str, Any]:
        """Settings of the config's corpora: on raw text those of the config itself."""
        if self.input == RAW:
            return {}
        return {f"corpora.{part}": {**TOKENS_GIVEN, "path": path} for part, path in corpora.items()}


@dataclass(frozen=True)
class Row:
    """A system of the table. settings: the fixed one first, then the other points of its grid.

    large_settings: the settings for a large corpus, if not all.
    """

    name: str
    title: str
    settings: Mapping[str, System]
    is_peer: bool
    large_settings: tuple[str, ...] = ()

    @property
    def fixed(self) -> str:
        return next(iter(self.settings))

    def settings_for(self, is_large: bool) -> tuple[str, ...]:
        return (is_large and self.large_settings) or tuple(self.settings)


def our_row(name: str, title: str, recipe: str | None) -> Row:
    return Row(name, title, {AS_IT_IS: Ours(name, title, recipe=recipe)}, is_peer=False)


def with_settings(row: Row, settings: Mapping[str, Mapping[str, Any]]) -> Row:
    """A row of ours with further settings of its config by their names."""
    system = row.settings[row.fixed]
    assert isinstance(system, Ours)
    more = {name: replace(system, overrides=values) for name, values in settings.items()}
    return replace(row, settings={**row.settings, **more})


_LBFGS_POINTS: Mapping[str, Mapping[str, Any]] = {
    "c2 = 1": {"c1": 0.0, "c2": 1.0},
    "c2 = 0.1": {"c1": 0.0, "c2": 0.1},
}
_PA_POINTS: Mapping[str, Mapping[str, Any]] = {
    "c = 1": {"type": 1, "c": 1.0},
    "c = 0.01": {"type": 1, "c": 0.01},
    "10 iterations": {"type": 1, "c": 1.0, "max_iterations": 10},
    "all states": {"type": 1, "c": 1.0, "feature.possible_states": 1},
}
_COUNTS = (3, 1)


def _grid(
    name: str, title: str, algorithm: str, points: Mapping[str, Mapping[str, Any]]
) -> dict[str, System]:
    """python-crfsuite with the templates of the thesis, with each minimum count at each point."""
    return {
        f"minimum count {count}, {point}": CrfSuite(
            name, title, algorithm=algorithm, parameters=parameters, min_count=count
        )
        for count, (point, parameters) in product(_COUNTS, points.items())
    }


_LBFGS = _grid("crfsuite", "crfsuite L-BFGS", "lbfgs", _LBFGS_POINTS)
_PA = _grid("crfsuite_pa", "crfsuite PA", "pa", _PA_POINTS)

OURS: tuple[Row, ...] = (
    our_row("init", "`init`", None),
    our_row("memb", "MEMB", "memb"),
    our_row("ocr", "OCR", "ocr"),
    our_row("crf", "CRF", "crf"),
)
PEERS: tuple[Row, ...] = (
    Row(
        "crfsuite",
        "crfsuite L-BFGS",
        _LBFGS,
        is_peer=True,
        large_settings=tuple(name for name in _LBFGS if "count 3" in name),
    ),
    Row(
        "crfsuite_pa",
        "crfsuite PA",
        _PA,
        is_peer=True,
        large_settings=tuple(name for name in _PA if "count 3" in name or "iterations" in name),
    ),
    Row("ner", "spaCy ner", {AS_IT_IS: SpacyNer("ner", "spaCy ner")}, is_peer=True),
)
ROWS: dict[str, Row] = {row.name: row for row in (*OURS, *PEERS)}
