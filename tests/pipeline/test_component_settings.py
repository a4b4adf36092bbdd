"""Settings: checked whenever they are set, honoured, and saved with the pipeline."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from helpers import (
    TEXTS,
    add_classifier,
    annotations,
    blank,
    confidences,
    make_doc,
    trained_cascade,
)
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.segmenter import CascadeSegmenter

SEGMENTER, CLASSIFIER = "cascade_segmenter", "cascade_classifier"
RERANKER, TAGGER = "cascade_reranker", "cascade_tagger"
UNSURE = {"temperature": 3.0}
"""What makes components unsure that know their texts by heart."""


@pytest.fixture(scope="module")
def unsure() -> Language:
    return trained_cascade(UNSURE, UNSURE)


@pytest.fixture
def nlp(unsure: Language) -> Language:
    return copy.deepcopy(unsure)


def alone(component: str, **settings: Any) -> Language:
    """A pipeline of one component, which has the name of its factory."""
    nlp = blank()
    nlp.add_pipe(component, config=settings)
    return nlp


def is_refused(nlp: Language, name: str, value: object, message: str) -> None:
    """Setting it in the last component is an error, and changes nothing."""
    component = nlp.get_pipe(nlp.pipe_names[-1])
    before, config = component.cfg, nlp.config.to_str()
    with pytest.raises(ConfigError, match=message):
        component.cfg = {name: value}
    assert component.cfg == before
    assert nlp.config.to_str() == config


def test_tables_are_not_shared() -> None:
    first, second = (add_classifier(blank()) for _ in range(2))
    first.label_thresholds = {"DNA": 0.5}
    assert second.label_thresholds == {}
    table = {"DNA": 0.75}
    second.label_thresholds = table
    table["DNA"] = 7.0
    assert second.label_thresholds == {"DNA": 0.75}
    first.cfg["label_thresholds"]["DNA"] = 7.0
    assert first.label_thresholds == {"DNA": 0.5}


@pytest.mark.parametrize("copied", [lambda component: component, copy.deepcopy])
def test_a_table_is_changed_as_a_whole(copied: Callable[[Any], Any]) -> None:
    """A change inside it would neither be checked nor saved."""
    component = copied(add_classifier(blank(), label_thresholds={"DNA": 0.5}))
    with pytest.raises(TypeError, match="does not support item assignment"):
        component.label_thresholds["DNA"] = 7.0
    component.label_thresholds = {**component.label_thresholds, "RNA": 0.25}
    assert component.label_thresholds == {"DNA": 0.5, "RNA": 0.25}


# Changes


def scores_of(nlp: Language) -> list[float]:
    docs = nlp.pipe(make_doc(nlp.vocab, text) for text in TEXTS)
    return [score for doc in docs for score in confidences(doc) or []]


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def test_a_new_value_counts_at_once(nlp: Language) -> None:
    segmenter, classifier = (nlp.get_pipe(name) for name in (SEGMENTER, CLASSIFIER))
    threshold = middle(scores_of(nlp))
    segmenter.threshold = threshold
    fewer = scores_of(nlp)
    with nlp.select_pipes(disable=[CLASSIFIER]):
        assert min(scores_of(nlp)) >= threshold
    classifier.set_ents = False
    assert fewer == scores_of(nlp)
    assert not any(nlp(text).ents for text in TEXTS)
    segmenter.threshold = 0.0
    segmenter.n_best = 3
    segmenter.spans_key = "other"
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
        for name, value in values.items():
            setattr(nlp.get_pipe(component), name, value)
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


def test_lists_are_saved_as_lists_of_plain_values() -> None:
    classifier: Any = add_classifier(blank())
    wanted: Any = (np.str_("DNA"), "RNA")
    classifier.mention_labels = wanted
    assert classifier.mention_labels == ["DNA", "RNA"]
    assert [type(label) for label in classifier.mention_labels] == [str, str]


def test_a_disabled_component_is_found_in_the_config(nlp: Language) -> None:
    pipe = nlp.get_pipe(CLASSIFIER)
    nlp.disable_pipe(CLASSIFIER)
    pipe.threshold = 0.25
    assert nlp.config["components"][CLASSIFIER]["threshold"] == 0.25


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
    ("component", "name", "value", "message"),
    [
        (SEGMENTER, "threshold", 2.0, "less than or equal to 1, not 2.0"),
        (SEGMENTER, "threshold", "high", r"a valid number, not 'high'\. Change"),
        (SEGMENTER, "threshold", 100, r"less .* 1, not 100\. For 100 percent write 1\. Change"),
        (SEGMENTER, "threshold", 1.5, r"less .* 1, not 1\.5\. For 1\.5 percent write 0\.015\. "),
        (SEGMENTER, "threshold", 101, r"less .* 1, not 101\. Change"),
        (SEGMENTER, "threshold", float("nan"), "less than or equal to 1, not nan"),
        (SEGMENTER, "label_thresholds", None, "a valid dictionary, not None"),
        (SEGMENTER, "n_best", 2.5, "a valid integer, not 2.5"),
        (SEGMENTER, "set_ents", "no", "a valid boolean, not 'no'"),
        (CLASSIFIER, "mention_labels", "ENT", "a valid list, not 'ENT'"),
        (TAGGER, "overwrite", 1, "a valid boolean, not 1"),
        (SEGMENTER, "scheme", "IOE2", "one of IOB2, BILOU, IO, not 'IOE2'"),
        (SEGMENTER, "temperature", 0.0, "greater than 0, not 0.0"),
        (SEGMENTER, "n_best", 101, "less than or equal to 100, not 101"),
        (CLASSIFIER, "temperature", float("inf"), "a finite number, not inf"),
        (RERANKER, "weight", -1.0, "greater than or equal to 0, not -1.0"),
    ],
)
def test_wrong_values(component: str, name: str, value: object, message: str) -> None:
    is_refused(alone(component), name, value, f"{name} of '{component}' must be {message}")


@pytest.mark.parametrize(
    ("component", "wrong", "right"),
    [(SEGMENTER, "treshold", "threshold"), (RERANKER, "weigth", "weight")],
)
def test_misspelt_settings(component: str, wrong: str, right: str) -> None:
    is_refused(alone(component), wrong, 0.5, f"no option '{wrong}'. Did you mean '{right}'")


def test_what_is_like_no_setting() -> None:
    message = r"no option 'note'\. It has scheme, typed, gold_key"
    is_refused(alone(SEGMENTER), "note", 1, message)


class WithSpans(CascadeSegmenter):
    """Of somebody else; its attributes are like names of settings."""

    def predict(self, docs: Any) -> Any:
        self.spans = self.thresholds = super().predict(docs)
        return self.spans


def test_a_subclass_may_have_attributes_like_settings(nlp: Language) -> None:
    segmenter = nlp.get_pipe(SEGMENTER)
    segmenter.__class__ = WithSpans
    docs = [make_doc(nlp.vocab, TEXTS[0])]
    assert segmenter.predict(docs) is segmenter.spans is segmenter.thresholds
    segmenter.threshold = 0.25
    assert segmenter.cfg["threshold"] == 0.25


@pytest.mark.parametrize(
    ("component_name", "name", "value"),
    [
        (SEGMENTER, "scheme", "IOB2"),
        (SEGMENTER, "typed", True),
        (CLASSIFIER, "reject", True),
    ],
)
def test_fixed_settings(component_name: str, name: str, value: object) -> None:
    nlp = alone(component_name)
    component = nlp.get_pipe(component_name)
    before = getattr(component, name)
    is_refused(nlp, name, value, f"{name} of '{component.name}' cannot be changed from")
    with pytest.raises(ConfigError, match="cannot be changed from"):
        setattr(component, name, value)
    setattr(component, name, before)  # the same again is no change
    made = blank().add_pipe(component_name, config={name: value})
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
