"""Options: declared once, checked whenever they are set, honoured, and saved with the pipeline."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from thinc.config import ConfigValidationError

from helpers import (
    TEXTS,
    add_classifier,
    add_segmenter,
    annotations,
    blank,
    cascade,
    confidences,
    make_doc,
    trained_cascade,
)
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.declared import (
    ClassifierOptions,
    RerankerOptions,
    SegmenterOptions,
    TaggerOptions,
)
from spacy_cascade.pipeline.options import Options

DECLARED: list[type[Options]] = [
    SegmenterOptions,
    ClassifierOptions,
    RerankerOptions,
    TaggerOptions,
]
SEGMENTER, CLASSIFIER = "cascade_segmenter", "cascade_classifier"
UNSURE = {"temperature": 3.0}
"""What makes components unsure that know their texts by heart."""


@pytest.fixture
def nlp() -> Language:
    return trained_cascade(UNSURE, UNSURE)


def alone(component: str, **settings: Any) -> Language:
    """A pipeline of one component, which has the name of its factory."""
    nlp = blank()
    nlp.add_pipe(component, config=settings)
    return nlp


def is_refused(nlp: Language, name: str, value: object, message: str) -> None:
    """Setting it in the last component is an error, in both ways, and changes nothing."""
    component = nlp.get_pipe(nlp.pipe_names[-1])
    before, config = component.cfg, nlp.config.to_str()
    for place in (component, component.options):
        with pytest.raises(ConfigError, match=message):
            setattr(place, name, value)
    assert component.cfg == before
    assert nlp.config.to_str() == config


# Declarations


@pytest.mark.parametrize("options", DECLARED)
def test_every_option_has_a_text(options: type[Options]) -> None:
    texts = options.texts()
    assert list(texts) == options.names()
    assert all(len(text) > 10 for text in texts.values())


@pytest.mark.parametrize("options", DECLARED)
def test_factories_take_what_is_declared(options: type[Options]) -> None:
    meta = Language.get_factory_meta(options.component)
    defaults = options.defaults()
    assert {name: meta.default_config[name] for name in defaults} == defaults
    factory = spacy.registry.get("factories", options.component)
    parameters = inspect.signature(factory).parameters
    others = {"nlp", "name", "model", "loss", "penalty", "trainer", "scorer"}
    assert parameters.keys() - others == defaults.keys()
    assert {name: parameters[name].default for name in defaults} == defaults
    assert all(parameters[name].annotation is not inspect.Parameter.empty for name in defaults)


@pytest.mark.parametrize("options", DECLARED)
def test_components_have_them_as_attributes(options: type[Options]) -> None:
    nlp = alone(options.component)
    component = nlp.get_pipe(options.component)
    for name, default in options.defaults().items():
        assert getattr(component, name) == getattr(component.options, name) == default
        assert component.cfg[name] == default
    config = nlp.config["components"][options.component]
    assert {name: config[name] for name in component.cfg} == component.cfg


def test_tables_are_not_shared() -> None:
    first, second = (add_classifier(blank()) for _ in range(2))
    first.label_thresholds = {"DNA": 0.5}
    assert second.label_thresholds == {} == ClassifierOptions.defaults()["label_thresholds"]
    table = {"DNA": 0.75}
    second.label_thresholds = table
    table["DNA"] = 7.0
    assert second.label_thresholds == {"DNA": 0.75}
    first.cfg["label_thresholds"]["DNA"] = 7.0
    assert first.label_thresholds == {"DNA": 0.5}


@pytest.mark.parametrize("copied", [lambda options: options, copy.deepcopy])
def test_a_table_is_changed_as_a_whole(copied: Callable[[Options], Options]) -> None:
    """A change inside it would neither be checked nor saved."""
    options: Any = copied(ClassifierOptions(label_thresholds={"DNA": 0.5}))
    with pytest.raises(TypeError, match="does not support item assignment"):
        options.label_thresholds["DNA"] = 7.0
    options.label_thresholds = {**options.label_thresholds, "RNA": 0.25}
    assert options.label_thresholds == {"DNA": 0.5, "RNA": 0.25}


# Changes


def scores_of(nlp: Language) -> list[float]:
    docs = nlp.pipe(make_doc(nlp.vocab, text) for text in TEXTS)
    return [score for doc in docs for score in confidences(doc) or []]


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


@pytest.mark.parametrize("through_options", [False, True])
def test_a_new_value_counts_at_once(nlp: Language, through_options: bool) -> None:
    def place(name: str) -> Any:
        pipe = nlp.get_pipe(name)
        return pipe.options if through_options else pipe

    threshold = middle(scores_of(nlp))
    place(SEGMENTER).threshold = threshold
    fewer = scores_of(nlp)
    with nlp.select_pipes(disable=[CLASSIFIER]):
        assert min(scores_of(nlp)) >= threshold
    place(CLASSIFIER).set_ents = False
    assert fewer == scores_of(nlp)
    assert not any(nlp(text).ents for text in TEXTS)
    place(SEGMENTER).threshold = 0.0
    place(SEGMENTER).n_best = 3
    place(SEGMENTER).spans_key = "other"
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    assert doc.spans.keys() == {"other", "other/1", "other/2", "other/3", "cascade"}


def as_made_with(nlp: Language, settings: dict[str, dict[str, Any]], folder: Path) -> Language:
    """The same pipeline, loaded with other settings."""
    nlp.to_disk(folder)
    return spacy.load(folder, config={"components": settings})


def test_a_value_set_later_is_like_one_in_the_config(nlp: Language, tmp_path: Path) -> None:
    settings: dict[str, dict[str, Any]] = {
        SEGMENTER: {"temperature": 2.0, "n_best": 2, "label_thresholds": {"ENT": 0.3}},
        CLASSIFIER: {"temperature": 5.0, "label_thresholds": {"DNA": 0.9}, "threshold": 0.1},
    }
    expected = annotations(as_made_with(nlp, settings, tmp_path / "before"))
    assert annotations(nlp) != expected
    for component, values in settings.items():
        for i, (name, value) in enumerate(values.items()):
            pipe = nlp.get_pipe(component)
            setattr(pipe.options if i % 2 else pipe, name, value)
            assert nlp.config["components"][component][name] == value
    assert annotations(nlp) == expected
    nlp.to_disk(tmp_path / "after")
    for loaded in (
        spacy.load(tmp_path / "after"),
        blank().from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        assert annotations(loaded) == expected
        for component, values in settings.items():
            assert values.items() <= loaded.get_pipe(component).cfg.items()


def test_numbers_of_numpy_are_saved(nlp: Language, tmp_path: Path) -> None:
    segmenter = nlp.get_pipe(SEGMENTER)
    segmenter.threshold, segmenter.n_best = np.float32(0.25), np.int64(2)
    segmenter.label_thresholds = {"ENT": np.float64(0.5)}
    nlp.to_disk(tmp_path)
    assert blank().from_bytes(nlp.to_bytes())
    loaded = spacy.load(tmp_path).get_pipe(SEGMENTER)
    found = [loaded.threshold, loaded.n_best, loaded.label_thresholds]
    assert found == [0.25, 2, {"ENT": 0.5}]


def test_a_renamed_component_is_found_in_the_config(nlp: Language) -> None:
    nlp.rename_pipe(CLASSIFIER, "types")
    nlp.get_pipe("types").threshold = 0.25
    assert nlp.config["components"]["types"]["threshold"] == 0.25


def test_a_disabled_component_is_found_in_the_config(nlp: Language) -> None:
    pipe = nlp.get_pipe(CLASSIFIER)
    nlp.disable_pipe(CLASSIFIER)
    pipe.threshold = 0.25
    assert nlp.config["components"][CLASSIFIER]["threshold"] == 0.25


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_by_itself_has_options_of_its_own(
    nlp: Language, duplicate: Callable[[Any], Any]
) -> None:
    pipe = nlp.get_pipe(CLASSIFIER)
    pipe.threshold = 0.25
    twin = duplicate(pipe)
    twin.threshold = 0.5
    assert (pipe.threshold, twin.threshold) == (0.25, 0.5)
    assert nlp.config["components"][CLASSIFIER]["threshold"] == 0.25
    with pytest.raises(ConfigError, match="from 0 to 1"):
        twin.threshold = 2.0


def test_a_copy_of_the_pipeline_has_a_config_of_its_own(nlp: Language) -> None:
    twin = copy.deepcopy(nlp)
    twin.get_pipe(CLASSIFIER).threshold = 0.5
    assert twin.config["components"][CLASSIFIER]["threshold"] == 0.5
    assert nlp.config["components"][CLASSIFIER]["threshold"] == nlp.get_pipe(CLASSIFIER).threshold
    assert nlp.get_pipe(CLASSIFIER).threshold == 0.0


def test_spacy_sets_all_at_once() -> None:
    """As `spacy find-threshold` does; the order of the values does not matter."""
    nlp = alone(SEGMENTER, confidence=False)
    segmenter = nlp.get_pipe(SEGMENTER)
    segmenter.cfg = {**segmenter.cfg, "threshold": 0.5, "confidence": True}
    assert (segmenter.threshold, segmenter.confidence) == (0.5, True)
    segmenter.cfg = {"confidence": False, "threshold": 0.0}
    config = nlp.config["components"][SEGMENTER]
    assert (config["threshold"], config["confidence"]) == (0.0, False)
    before = segmenter.cfg
    for wrong in ({"n_best": 2, "temperature": -1.0}, {"n_best": 2, "no_option": 1}):
        with pytest.raises(ConfigError):
            segmenter.cfg = wrong
        assert segmenter.cfg == before


# Refused


@pytest.mark.parametrize(
    ("options", "name", "value", "message"),
    [
        (SegmenterOptions, "threshold", 2.0, "from 0 to 1, not 2.0"),
        (SegmenterOptions, "threshold", "high", "a number, not 'high'"),
        (SegmenterOptions, "threshold", float("nan"), "from 0 to 1, not nan"),
        (SegmenterOptions, "label_thresholds", {"x": -1.0}, "a table of values from 0 to 1"),
        (SegmenterOptions, "label_thresholds", None, "a table, each value a number, not None"),
        (SegmenterOptions, "label_thresholds", {"x": "y"}, "a table, each value a number"),
        (SegmenterOptions, "n_best", 2.5, "a whole number, not 2.5"),
        (SegmenterOptions, "n_best", True, "a whole number, not True"),
        (SegmenterOptions, "set_ents", "no", "true or false, not 'no'"),
        (SegmenterOptions, "spans_key", None, "a text, not None"),
        (SegmenterOptions, "gold_key", 5, "a text, or null, not 5"),
        (ClassifierOptions, "mention_labels", "ENT", "a list, each of it a text, or null"),
        (TaggerOptions, "overwrite", 1, "true or false, not 1"),
        (SegmenterOptions, "temperature", 0.0, "a finite number above 0, not 0.0"),
        (SegmenterOptions, "n_best", 101, "from 1 to 100, not 101"),
        (SegmenterOptions, "n_best", 0, "from 1 to 100, not 0"),
        (ClassifierOptions, "threshold", -0.1, "from 0 to 1, not -0.1"),
        (ClassifierOptions, "temperature", float("inf"), "a finite number above 0, not inf"),
        (RerankerOptions, "weight", -1.0, "a finite number of 0 or more, not -1.0"),
        (RerankerOptions, "scale", 0.0, "a finite number above 0, not 0.0"),
        (RerankerOptions, "rate", -1.0, "a finite number above 0, not -1.0"),
    ],
)
def test_wrong_values(options: type[Options], name: str, value: object, message: str) -> None:
    component = options.component
    is_refused(alone(component), name, value, f"{name} of '{component}' must be {message}")


@pytest.mark.parametrize(
    ("options", "wrong", "right"),
    [
        (SegmenterOptions, "treshold", "threshold"),
        (SegmenterOptions, "nbest_", "n_best"),
        (SegmenterOptions, "nbest", "n_best"),
        (SegmenterOptions, "span_key", "spans_key"),
        (ClassifierOptions, "label_threshold", "label_thresholds"),
        (RerankerOptions, "weigth", "weight"),
        (TaggerOptions, "overwite", "overwrite"),
    ],
)
def test_misspelt_options(options: type[Options], wrong: str, right: str) -> None:
    nlp = alone(options.component)
    is_refused(nlp, wrong, 0.5, f"no option '{wrong}'. Did you mean '{right}'")
    assert wrong not in vars(nlp.get_pipe(options.component))
    with pytest.raises(ConfigError, match=f"Did you mean '{right}'"):
        options.made_for("a component", {wrong: 0.5})


def test_what_is_like_no_option() -> None:
    segmenter = add_segmenter(blank())
    segmenter.note = "of somebody else"
    assert segmenter.note == "of somebody else"
    with pytest.raises(ConfigError, match=r"no option .note.*It has scheme, typed, gold_key"):
        segmenter.options.note = 1
    with pytest.raises(AttributeError, match="'CascadeSegmenter' object has no attribute 'other'"):
        segmenter.other  # noqa: B018 - it is the attribute that is asked for


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (SegmenterOptions, "scheme", "IOB2"),
        (SegmenterOptions, "typed", True),
        (ClassifierOptions, "reject", True),
    ],
)
def test_fixed_options(options: type[Options], name: str, value: object) -> None:
    nlp = alone(options.component)
    component = nlp.get_pipe(options.component)
    before = getattr(component, name)
    is_refused(nlp, name, value, f"{name} of '{component.name}' cannot be changed from")
    with pytest.raises(ConfigError, match="cannot be changed from"):
        component.cfg = {name: value}
    setattr(component, name, before)  # the same again is no change
    made = blank().add_pipe(options.component, config={name: value})
    assert getattr(made, name) == value


@pytest.mark.parametrize("component", [SEGMENTER, CLASSIFIER])
def test_thresholds_need_confidences(component: str) -> None:
    message = "has a threshold but no confidences"
    is_refused(alone(component, confidence=False), "threshold", 0.5, message)
    is_refused(alone(component, confidence=False), "label_thresholds", {"x": 0.5}, message)
    is_refused(alone(component, threshold=0.5), "confidence", False, message)


def test_lists_of_overlapping_spans_need_confidences_and_one_best() -> None:
    needs = "lists overlapping spans by their confidences, but has none"
    is_refused(alone(SEGMENTER, confidence=False), "overlapping", True, needs)
    is_refused(alone(SEGMENTER, overlapping=True), "confidence", False, needs)
    has_all = "lists overlapping spans, and no segmentation has them all"
    is_refused(alone(SEGMENTER, n_best=2), "overlapping", True, has_all)
    is_refused(alone(SEGMENTER, overlapping=True), "n_best", 2, has_all)


def test_errors_name_the_component() -> None:
    nlp = blank()
    nlp.add_pipe(CLASSIFIER, name="types")
    with pytest.raises(ConfigError, match=r"of 'types' must be .* \[components.types\] block"):
        nlp.get_pipe("types").threshold = 2.0
    with pytest.raises(ConfigError, match=r"of 'again' must be .* \[components.again\] block"):
        nlp.add_pipe(CLASSIFIER, name="again", config={"threshold": 2.0})
    assert nlp.pipe_names == ["types"]


def test_a_failed_change_changes_no_prediction(nlp: Language) -> None:
    expected = annotations(nlp)
    is_refused(nlp, "temperature", -1.0, "must be")
    assert annotations(nlp) == expected


def test_spacy_refuses_unknown_settings_in_a_config() -> None:
    with pytest.raises(ConfigValidationError, match="treshold"):
        cascade({"treshold": 0.5})
