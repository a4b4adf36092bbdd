"""A classifier without spans to type says so once, and why."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from spacy.language import Language

from helpers import TEXTS, blank, trained_cascade

NAMES = ("cascade_segmenter", "cascade_classifier")


@pytest.fixture(scope="module")
def data() -> tuple[Any, bytes]:
    nlp = trained_cascade()
    return nlp.config, nlp.to_bytes()


@pytest.fixture
def nlp(data: tuple[Any, bytes]) -> Language:
    return blank().from_config(data[0]).from_bytes(data[1])


def without(nlp: Language) -> None:
    nlp.remove_pipe(NAMES[0])


def disabled(nlp: Language) -> None:
    nlp.disable_pipe(NAMES[0])


def with_another_key(nlp: Language) -> None:
    nlp.get_pipe(NAMES[0]).spans_key = "mentions"


def reordered(nlp: Language) -> None:
    segmenter = nlp.get_pipe(NAMES[0])
    nlp._components = [component for component in nlp._components if component[1] is not segmenter]
    nlp._components.append((NAMES[0], segmenter))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (without, 'Add a cascade_segmenter with spans_key = "cascade" before it'),
        (disabled, "'cascade_segmenter' would write it, but is disabled"),
        (with_another_key, r"'cascade_segmenter' writes doc.spans\['mentions'\]: give both"),
        (reordered, "'cascade_segmenter' writes it, but comes later"),
    ],
)
def test_the_warning_names_the_cause(nlp: Language, change: Any, cause: str) -> None:
    change(nlp)
    with pytest.warns(UserWarning, match=rf"'cascade_classifier' finds no doc.spans.*{cause}"):
        assert nlp(TEXTS[0]).ents == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(TEXTS[1])


def test_where_all_is_right_nothing_is_said(nlp: Language) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nlp(TEXTS[0]).ents
        assert nlp("Nothing else is known here .").ents == ()
        nlp("")
