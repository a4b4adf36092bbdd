"""The systems of the suite. A new one is a line in `OURS` or `PEERS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from ..lib.corpora import RAW_SUFFIX
from ..lib.package import ALONE, TOKENS_GIVEN
from ..lib.processes import Result
from ..peers.systems import (
    CrfSuite,
    CrfSuiteWithClusters,
    NerWithVectors,
    PatientNer,
    SpacyNer,
    System,
    TrainingSetup,
)
from ..reports.suite_results import RAW, TOKENS
from .arguments import AS_IT_IS


@dataclass(frozen=True)
class Ours(System):
    """A pipeline of ours. recipe: of `spacy cascade init`; none for its default.

    input: `RAW` or `TOKENS`. overrides: other settings of the config by their dotted names.
    choices: of `init`, besides the corpus.
    """

    recipe: str | None = None
    input: str = TOKENS
    overrides: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)

    def train(self, setup: TrainingSetup, repeat: int) -> Result:
        """Train as `spacy train` does, with the config that `init` makes for the corpus."""
        run = setup.runner.run
        corpora = setup.corpora(RAW_SUFFIX if self.input == RAW else ".spacy")
        model = self._model_of(setup, repeat)
        config = f"{model}.cfg"
        given = {
            "output": config,
            **corpora,
            "lang": setup.lang,
            "recipe": self.recipe,
            "choices": dict(self.choices),
        }
        written = run("lib.package:write_training_config", given)
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
            "has_words": written["has_words"],
            "finish_seconds": finished["seconds"],
        }

    def _readers(self, corpora: Mapping[str, str]) -> dict[str, Any]:
        """Settings of the config's corpora: on raw text those of the config itself."""
        if self.input == RAW:
            return {}
        return {f"corpora.{part}": {**TOKENS_GIVEN, "path": path} for part, path in corpora.items()}

    def settings(self, setup: TrainingSetup) -> Result:
        return dict(self.overrides)


@dataclass(frozen=True)
class Row:
    """A system of the table. settings: the fixed one first, then the other points of its grid.

    large_settings: the settings for a large corpus, if not all. is_english: whether it is for
    English corpora only, since word knowledge is of English.
    """

    name: str
    title: str
    settings: Mapping[str, System]
    is_peer: bool
    large_settings: tuple[str, ...] = ()
    is_english: bool = False

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


_POINTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "lbfgs": {"c2 = 1": {"c1": 0.0, "c2": 1.0}, "c2 = 0.1": {"c1": 0.0, "c2": 0.1}},
    "pa": {
        "c = 1": {"type": 1, "c": 1.0},
        "c = 0.01": {"type": 1, "c": 0.01},
        "10 iterations": {"type": 1, "c": 1.0, "max_iterations": 10},
        "all states": {"type": 1, "c": 1.0, "feature.possible_states": 1},
    },
}
"""The grid of each algorithm of python-crfsuite, besides minimum counts."""
_COUNTS = (3, 1)
_BEST = {"lbfgs": "minimum count 1, c2 = 0.1", "pa": "minimum count 1, 10 iterations"}
"""The points that were the best ones on most corpora without clusters."""


def _crfsuite_row(name: str, title: str, algorithm: str, kind: type[CrfSuite] = CrfSuite) -> Row:
    """python-crfsuite with the templates of the thesis, with each minimum count at each point.

    kind: with word clusters or without. With them training takes three to nine times as long: the
    grid is its first point, and the best one without them.
    """
    settings = {
        f"minimum count {count}, {point}": kind(
            name, title, algorithm=algorithm, parameters=parameters, min_count=count
        )
        for count, (point, parameters) in product(_COUNTS, _POINTS[algorithm].items())
    }
    if kind.has_words:
        settings = {name: settings[name] for name in (next(iter(settings)), _BEST[algorithm])}
    of_large = tuple(each for each in settings if "count 3" in each or "iterations" in each)
    return Row(name, title, settings, True, of_large, is_english=kind.has_words)


_NER, _NER_WORDS = ("ner", "spaCy ner"), ("ner_words", "spaCy ner, vectors")

OURS: tuple[Row, ...] = (
    our_row("init", "`init`", None),
    Row(
        "alone",
        "`init --no-words`",
        {AS_IT_IS: Ours("alone", "`init --no-words`", choices=ALONE)},
        is_peer=False,
        is_english=True,
    ),
    our_row("memb", "MEMB", "memb"),
    our_row("ocr", "OCR", "ocr"),
    our_row("crf", "CRF", "crf"),
)
PEERS: tuple[Row, ...] = (
    _crfsuite_row("crfsuite", "crfsuite L-BFGS", "lbfgs"),
    _crfsuite_row("crfsuite_pa", "crfsuite PA", "pa"),
    _crfsuite_row("crfsuite_words", "crfsuite L-BFGS, clusters", "lbfgs", CrfSuiteWithClusters),
    _crfsuite_row("crfsuite_pa_words", "crfsuite PA, clusters", "pa", CrfSuiteWithClusters),
    Row(
        *_NER,
        {AS_IT_IS: SpacyNer(*_NER), "until patience ends": PatientNer(*_NER)},
        is_peer=True,
    ),
    Row(
        *_NER_WORDS,
        {name: NerWithVectors(*_NER_WORDS, optimize=name) for name in ("efficiency", "accuracy")},
        is_peer=True,
        large_settings=("efficiency",),
        is_english=True,
    ),
)
ROWS: dict[str, Row] = {row.name: row for row in (*OURS, *PEERS)}
