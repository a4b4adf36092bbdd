"""Settings by dotted names: numbers, texts, whole sections."""

from __future__ import annotations

import pytest
from thinc.api import Config

from spacy_cascade import ConfigError
from spacy_cascade.tools.recipes.settings import get_setting, names_like, with_settings

CONFIG = Config(
    {
        "nlp": {"pipeline": ["one", "two"]},
        "components": {"one": {"model": {"n": 1}}, "two": {"trainer": None}},
        "training": {"batcher": {"@batchers": "a", "size": 3}, "patience": 2},
    }
)


def test_numbers_texts_and_sections() -> None:
    changed = with_settings(
        CONFIG,
        {"training.patience": 5, "training.batcher": {"@batchers": "b"}, "nlp.lang": "de"},
    )
    assert changed["training"] == {"batcher": {"@batchers": "b"}, "patience": 5}
    assert changed["nlp"]["lang"] == "de"
    assert CONFIG["training"]["patience"] == 2


def test_a_section_then_a_part_of_it() -> None:
    changed = with_settings(
        CONFIG, {"components.two.trainer": {"C": 1}, "components.two.trainer.C": 2}
    )
    assert changed["components"]["two"]["trainer"] == {"C": 2}


def test_a_setting_without_a_place_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no section \[training.bacher\].*\[training.batcher\]"):
        with_settings(CONFIG, {"training.bacher.size": 1})
    with pytest.raises(ConfigError, match="'patience' has no place"):
        with_settings(CONFIG, {"patience": 1})


def test_names_for_each_component() -> None:
    assert names_like(CONFIG, "components.*.model.n") == ["components.one.model.n"]
    assert names_like(CONFIG, "components.*.loss") == ["components.one.loss", "components.two.loss"]
    assert names_like(CONFIG, "training.patience") == ["training.patience"]
    assert names_like(CONFIG, "training.x.y") == []
    assert names_like(CONFIG, "components.one.model") == ["components.one.model"]
    alone = with_settings(CONFIG, {"nlp.pipeline": ["two"]})
    assert names_like(alone, "components.one.model") == []
    assert names_like(alone, "components.*.loss") == ["components.two.loss"]
    assert get_setting(CONFIG, "components.one.model.n") == 1
    assert get_setting(CONFIG, "components.two.trainer.C") is None
