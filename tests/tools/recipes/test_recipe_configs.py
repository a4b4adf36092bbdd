"""Configs from choices: which sections a choice adds, and what stays as it is without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from thinc.api import Config

from spacy_cascade import ConfigError
from spacy_cascade.tools.recipes import Choices, Recipe, make_config
from spacy_cascade.tools.recipes.configs import with_filled


def test_paths_are_null_until_they_are_known() -> None:
    assert make_config(Choices())["paths"] == {
        "train": None, "dev": None, "vectors": None, "init_tok2vec": None
    }  # fmt: skip
    paths = make_config(Choices(train=Path("a.spacy")))["paths"]
    assert (paths["train"], paths["dev"]) == ("a.spacy", None)


def test_a_training_can_be_repeated() -> None:
    """Nothing is left out of it by chance, either."""
    config = make_config(Choices())
    assert config["system"] == {"seed": 0, "gpu_allocator": None}
    assert config["training"]["dropout"] == 0.0


@pytest.mark.parametrize("sentences", [False, True])
def test_sentences_are_scored_only_as_spacy_does_for_who_finds_them(sentences: bool) -> None:
    """Those of a sentencizer do not count."""
    weights = make_config(Choices(sentences=sentences))["training"]["score_weights"]
    of_sentences = {name: weight for name, weight in weights.items() if name.startswith("sents_")}
    assert of_sentences == (
        {"sents_f": None, "sents_p": None, "sents_r": None} if sentences else {}
    )


@pytest.mark.parametrize("sentences", [False, True])
@pytest.mark.parametrize("tags", [False, True])
def test_components_are_given_what_they_look_at(sentences: bool, tags: bool) -> None:
    """A corpus is read as spaCy reads it where that is nothing."""
    corpora = make_config(Choices(sentences=sentences, tags=tags))["corpora"]
    inputs = [name for name, there in (("sentences", sentences), ("tags", tags)) if there]
    for reader in corpora.values():
        assert reader.get("gold_inputs", []) == inputs
        name = "spacy_cascade.Corpus.v1" if inputs else "spacy.Corpus.v1"
        assert reader["@readers"] == name


@pytest.mark.parametrize("plain_copies", [False, True])
def test_copies_are_learnt_where_they_are_wanted(plain_copies: bool) -> None:
    corpora = make_config(Choices(plain_copies=plain_copies))["corpora"]
    assert (corpora["train"]["augmenter"] is not None) == plain_copies
    assert corpora["dev"]["augmenter"] is None


def test_a_network_is_not_trained_online() -> None:
    with pytest.raises(ConfigError, match="the recipe ocr takes it in parts"):
        make_config(Choices(recipe=Recipe.ocr, network=True))


def test_a_network_stands_where_it_is_wanted_and_has_a_place() -> None:
    """A semi-Markov segmenter has none."""
    for recipe, network, expected in (
        (Recipe.memb, False, [False, False]),
        (Recipe.memb, True, [True, True]),
        (Recipe.semi, True, [False, True]),
    ):
        config = make_config(Choices(recipe=recipe, network=network))
        models = [section["model"] for section in config["components"].values()]
        assert [bool(model.get("network")) for model in models] == expected
        assert ("network" in models[0]) == (recipe is Recipe.memb)


def test_a_config_stays_as_it_is_without_other_settings() -> None:
    """What its sections leave out is filled in where something changes."""
    partial = Config({"nlp": {"lang": "en", "pipeline": []}, "training": {"patience": 2}})
    assert with_filled(partial, {}) == partial
    filled = with_filled(partial, {"training.patience": 3})
    assert filled["training"]["patience"] == 3
    assert "max_steps" in filled["training"]
