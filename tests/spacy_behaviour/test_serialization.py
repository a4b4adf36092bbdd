"""What is loaded is what was saved: weights, labels, settings and config, by every way to save."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from collections.abc import Callable
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

from every_component import (
    CLASSIFIER,
    NAMES,
    RERANKER,
    SEGMENTER,
    TAGGER,
    examples_for,
    pipeline_with,
)
from helpers import TEXTS, blank, make_doc
from spacy_cascade import ConfigError, ModelFileError, NotTrainedError
from spacy_cascade.pipeline.settings import settings_of
from spacy_cascade.storage import model_file

CHANGED: dict[str, dict[str, Any]] = {
    SEGMENTER: {
        "gold_key": "gold", "gold_labels": ["GENE"], "gold_level": "outermost",
        "gold_parts": "covering",
        "spans_key": "other", "confidence": True,
        "temperature": 2.5, "unseen_words": 0.0625, "threshold": 0.125,
        "label_thresholds": {"ENT": 0.25},
        "constrained": True, "overlapping": True, "set_ents": True, "n_best": 1,
        "joint_key": "chunks",
    },
    CLASSIFIER: {
        "spans_key": None, "mention_labels": ["ENT"], "gold_key": "gold", "gold_labels": ["GENE"],
        "confidence": True, "temperature": 0.5, "threshold": 0.75,
        "label_thresholds": {"GENE": 0.5, "CELL": 0.0}, "set_ents": False,
        "gold_parts": "parts", "prefer": "outermost", "drop": True,
    },
    RERANKER: {
        "spans_key": "other", "weight": 2.0, "scale": 0.5, "rate": 0.25, "keep_candidates": True,
        "set_ents": False,
    },
    TAGGER: {"overwrite": False},
}  # fmt: skip
"""Another value of every setting that can be changed, but for those that others exclude."""
DIAL: dict[str, tuple[str, Any]] = {
    SEGMENTER: ("temperature", 2.5),
    CLASSIFIER: ("threshold", 0.75),
    RERANKER: ("weight", 2.0),
    TAGGER: ("overwrite", False),
}
"""One setting of each component, which is not its default."""

each_component = pytest.mark.parametrize("name", NAMES)
two_components = pytest.mark.parametrize("name", [CLASSIFIER, TAGGER])
"""For what one function does for all of them."""


def train(nlp: Language) -> Language:
    """Stages as in every training; a reranker, afterwards, on lists that they make."""
    examples = examples_for(nlp)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(2):
        nlp.update(examples, sgd=optimizer, exclude=[RERANKER])
    if RERANKER in nlp.pipe_names:
        reranker: Any = nlp.get_pipe(RERANKER)
        with nlp.select_pipes(disable=RERANKER):
            docs = [nlp(example.predicted) for example in examples_for(nlp)]
        listed = [Example(d, e.reference) for d, e in zip(docs, examples, strict=True)]
        reranker.initialize(lambda: listed, nlp=nlp)
        reranker.update(listed)
    return nlp


@cache
def trained_once(name: str) -> Language:
    return train(pipeline_with(name))


@pytest.fixture
def nlp(name: str) -> Language:
    """A trained pipeline of its own."""
    return copy.deepcopy(trained_once(name))


def of(nlp: Language, name: str) -> Any:
    return nlp.get_pipe(name)


def found(nlp: Language) -> list[Any]:
    """What it writes, to the last bit."""
    docs = [nlp(make_doc(nlp.vocab, text)) for text in TEXTS]
    return [(doc.to_json(), list(map(repr, doc.spans.values()))) for doc in docs]


# Ways to save and load a component


def by_bytes(pipe: Any, other: Any, folder: Path, **exclude: Any) -> None:
    other.from_bytes(pipe.to_bytes(), **exclude)


def by_disk(pipe: Any, other: Any, folder: Path, **exclude: Any) -> None:
    pipe.to_disk(folder / "component")
    other.from_disk(folder / "component", **exclude)


each_way = pytest.mark.parametrize("way", [by_bytes, by_disk])


def nlp_by_bytes(nlp: Language, other: Language, folder: Path) -> Language:
    return other.from_bytes(nlp.to_bytes())


def nlp_by_disk(nlp: Language, other: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    return other.from_disk(folder)


def nlp_by_load(nlp: Language, other: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    return spacy.load(folder)


def nlp_by_pickle(nlp: Language, other: Language, folder: Path) -> Language:
    return pickle.loads(pickle.dumps(nlp))


def nlp_by_copy(nlp: Language, other: Language, folder: Path) -> Language:
    return copy.deepcopy(nlp)


def nlp_by_config(nlp: Language, other: Language, folder: Path) -> Language:
    return load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())


# Settings


@each_component
def test_another_value_of_every_setting_that_can_be_changed(name: str) -> None:
    settings = settings_of(type(of(pipeline_with(name), name)))
    assert CHANGED[name].keys() == {key for key, each in settings.items() if not each.is_fixed}


@each_component
@each_way
def test_settings_are_saved_with_the_component(
    name: str, way: Callable[..., None], nlp: Language, tmp_path: Path
) -> None:
    """As those of spaCy's own components: `add_pipe` need not be told them again."""
    pipe, other = of(nlp, name), pipeline_with(name)
    pipe.cfg = CHANGED[name]
    way(pipe, of(other, name), tmp_path)
    assert of(other, name).cfg == pipe.cfg
    assert CHANGED[name].items() <= of(other, name).cfg.items()
    assert other.config["components"][name] == nlp.config["components"][name]
    assert of(other, name).to_bytes() == pipe.to_bytes()


WAYS_OF_PIPELINES = [
    *((CLASSIFIER, way) for way in (nlp_by_bytes, nlp_by_disk, nlp_by_pickle, nlp_by_copy,
                                    nlp_by_config)),
    *((name, nlp_by_load) for name in NAMES),
]  # fmt: skip
"""The contract of components has every way for each of them, with its defaults."""


@pytest.mark.parametrize(("name", "way"), WAYS_OF_PIPELINES)
def test_settings_are_saved_with_the_pipeline(
    name: str, way: Callable[..., Language], nlp: Language, tmp_path: Path
) -> None:
    option, value = DIAL[name]
    setattr(of(nlp, name), option, value)
    loaded = way(nlp, pipeline_with(name), tmp_path)
    assert getattr(of(loaded, name), option) == value
    assert of(loaded, name).cfg == of(nlp, name).cfg
    assert loaded.config == nlp.config
    assert loaded.to_bytes() == nlp.to_bytes()
    assert found(loaded) == found(nlp)


@two_components
def test_settings_of_the_last_file_count(name: str, nlp: Language, tmp_path: Path) -> None:
    """Whatever was assigned before, and however the component that loads was made."""
    option, value = DIAL[name]
    default = getattr(of(nlp, name), option)
    plain = of(nlp, name).to_bytes()
    setattr(of(nlp, name), option, value)
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    pipe = of(other, name)
    pipe.from_bytes(plain)
    assert getattr(pipe, option) == other.config["components"][name][option] == default
    other.from_disk(tmp_path)
    assert getattr(pipe, option) == value
    setattr(pipe, option, default)
    other.from_bytes(nlp.to_bytes())
    assert getattr(pipe, option) == other.config["components"][name][option] == value


@two_components
def test_an_override_while_loading_counts(name: str, nlp: Language, tmp_path: Path) -> None:
    """More than what is saved, also where it is the default, and until a file is loaded again."""
    option, value = DIAL[name]
    default = getattr(of(nlp, name), option)
    for saved, wanted in ((value, default), (default, value)):
        setattr(of(nlp, name), option, saved)
        nlp.to_disk(tmp_path)
        loaded = spacy.load(tmp_path, config={f"components.{name}.{option}": wanted})
        assert getattr(of(loaded, name), option) == wanted
        assert loaded.config["components"][name][option] == wanted
        loaded.from_disk(tmp_path)
        assert getattr(of(loaded, name), option) == saved


@two_components
def test_a_component_added_to_a_loaded_pipeline_takes_what_was_saved(
    name: str, nlp: Language, tmp_path: Path
) -> None:
    option, value = DIAL[name]
    setattr(of(nlp, name), option, value)
    nlp.to_disk(tmp_path)
    added = spacy.load(tmp_path, exclude=[name])
    replaced = spacy.load(tmp_path)
    replaced.remove_pipe(name)
    for other in (added, replaced):
        config = {key: given for key, given in nlp.get_pipe_config(name).items() if key == "model"}
        pipe: Any = other.add_pipe(name, config=config)
        pipe.from_disk(tmp_path / name)
        assert getattr(pipe, option) == value


@two_components
def test_variables_of_a_config_stay(name: str, nlp: Language, tmp_path: Path) -> None:
    option, value = DIAL[name]
    nlp.to_disk(tmp_path)
    config = load_config(tmp_path / "config.cfg")
    config["vars"] = {"dial": value}
    config["components"][name][option] = "${vars.dial}"
    config.to_disk(tmp_path / "config.cfg")
    loaded = spacy.load(tmp_path)
    loaded.to_disk(tmp_path / "again")
    again = spacy.load(tmp_path / "again")
    assert getattr(of(again, name), option) == value
    assert again.config == loaded.config
    assert again.config["components"][name][option] == "${vars.dial}"
    again.from_disk(tmp_path / "again")
    assert again.config["components"][name][option] == "${vars.dial}"


@pytest.mark.parametrize("name", [CLASSIFIER])
@each_way
@pytest.mark.parametrize("exclude", [["vocab"], ("vocab", "cfg")])
def test_settings_can_be_left_out(
    name: str, exclude: Any, way: Callable[..., None], nlp: Language, tmp_path: Path
) -> None:
    """By `exclude`, on either side, as spaCy's own components have it; other names do nothing."""
    option, value = DIAL[name]
    pipe, other = of(nlp, name), of(pipeline_with(name), name)
    wanted = getattr(other, option) if "cfg" in exclude else value
    setattr(pipe, option, value)
    way(pipe, other, tmp_path, exclude=exclude)
    assert getattr(other, option) == wanted
    assert other.from_bytes(pipe.to_bytes(exclude=exclude)).labels == pipe.labels
    assert getattr(other, option) == wanted


@each_component
@pytest.mark.parametrize(
    "settings",
    [
        {"no_option": 1},
        {"set_ents": "yes", "overwrite": "yes"},
        {"temperature": -1.0, "scale": 0, "overwrite": 1},
        {"threshold": float("nan"), "rate": float("inf"), "overwrite": None},
        {"threshold": 10**400, "weight": 10**400, "overwrite": []},
        {"x" * 5000: {}},
    ],
    ids=lambda settings: next(iter(settings))[:20],
)
def test_settings_that_cannot_be_are_refused(
    name: str, settings: dict[str, Any], nlp: Language
) -> None:
    """Each table has a wrong value for every component, or an option that none has."""
    pipe = of(nlp, name)
    before = pipe.to_bytes()
    known = {option: v for option, v in settings.items() if option in pipe.cfg}
    header, arrays = model_file.unpack(before, "it")
    header["settings"] = {**pipe.cfg, **(known or settings)}
    with pytest.raises(ModelFileError, match=r"settings are not valid\. ") as refused:
        pipe.from_bytes(model_file.pack(header, arrays))
    assert len(str(refused.value)) < 600
    assert pipe.to_bytes() == before


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (SEGMENTER, "typed", True),
        (SEGMENTER, "scheme", "IOB2"),
        (CLASSIFIER, "reject", True),
    ],
)
def test_what_the_weights_were_trained_with_has_to_be_the_same(
    name: str, option: str, value: object, nlp: Language, tmp_path: Path
) -> None:
    other: Any = blank().add_pipe(name, config={option: value})
    with pytest.raises(ModelFileError, match=f"trained with another '{option}' than"):
        other.from_bytes(of(nlp, name).to_bytes())
    nlp.to_disk(tmp_path)
    with pytest.raises(ModelFileError, match=f"trained with another '{option}' than"):
        spacy.load(tmp_path, config={"components": {name: {option: value}}})


# Configs


def test_defaults_are_what_a_config_can_say() -> None:
    """Those of everything that a config can name."""
    for entry in distribution("spacy_cascade").entry_points:
        if entry.group == "spacy_cascade_commands":
            continue
        made = entry.load()
        parameters = inspect.signature(made).parameters if callable(made) else {}
        defaults = [p.default for p in parameters.values() if p.default is not p.empty]
        assert [json.loads(json.dumps(default)) for default in defaults] == defaults, entry.name


# Labels


@each_component
def test_labels_are_known_to_the_vocabulary_that_loads(name: str, nlp: Language) -> None:
    other = pipeline_with(name)
    pipe = of(nlp, name)
    assert pipe.labels
    assert not any(label in other.vocab.strings for label in pipe.labels)
    of(other, name).from_bytes(pipe.to_bytes())
    assert of(other, name).labels == pipe.labels
    assert all(label in other.vocab.strings for label in pipe.labels)


@pytest.mark.parametrize("name", [CLASSIFIER, TAGGER])
def test_an_added_label_is_known_to_the_vocabulary(name: str) -> None:
    """A segmenter without types has one label for all."""
    other = pipeline_with(name)
    of(other, name).add_label("NEW_LABEL")
    assert "NEW_LABEL" in other.vocab.strings


# Before training


@each_component
def test_an_untrained_pipeline_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    """It is as untrained as before, and learns what any other does."""
    nlp = pipeline_with(name)
    option, value = DIAL[name]
    setattr(of(nlp, name), option, value)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.config == nlp.config
    assert loaded.to_bytes() == nlp.to_bytes()
    with pytest.raises((NotTrainedError, ConfigError)):
        loaded("p53")
    assert found(train(loaded)) == found(train(nlp))


@each_component
def test_a_trained_component_becomes_untrained(name: str, nlp: Language) -> None:
    expected = found(nlp)
    pipe, untrained = of(nlp, name), of(pipeline_with(name), name)
    pipe.from_bytes(untrained.to_bytes())
    assert pipe.to_bytes() == untrained.to_bytes()
    assert pipe.labels == ()
    if name != RERANKER:  # which chooses without training, too
        with pytest.raises(NotTrainedError):
            nlp(Doc(nlp.vocab, words=["p53"]))
    assert found(train(nlp)) == expected


@pytest.mark.parametrize("name", [SEGMENTER, CLASSIFIER, TAGGER])
def test_labels_that_were_added_before_training_are_saved(name: str) -> None:
    one, other = pipeline_with(name), pipeline_with(name)
    of(one, name).add_label("ENT" if name == SEGMENTER else "GENE")
    of(other, name).from_bytes(of(one, name).to_bytes())
    assert of(other, name).labels == of(one, name).labels
    assert found(train(other)) == found(train(one))
