"""Damaged files of semi-Markov models, and files of other settings: refused with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from model_files import Model
from spacy.language import Language

from helpers import TEXTS, add_segmenter, annotation, blank, make_doc, make_examples, train
from spacy_cascade import ModelFileError

SEGMENTS = "spacy_cascade.SegmentTemplates.v1"


def segmenter_of(**settings: Any) -> Language:
    model = {
        "@architectures": "spacy_cascade.SemiMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": SEGMENTS},
        "min_count": 1,
        **settings,
    }
    nlp = blank()
    add_segmenter(nlp, model=model)
    return nlp


def pipe_of(nlp: Language) -> Any:
    return nlp.get_pipe("cascade_segmenter")


@pytest.fixture(scope="module")
def trained() -> Language:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=2)
    return nlp


def lengths_in(model: Model) -> str:
    (name,) = (name for name in model.arrays if name.startswith("span_lengths"))
    return name


@pytest.mark.parametrize(
    "counts",
    [np.array([3, -1], np.int32), np.array([[1, 2]], np.int32), np.array([1.0, 2.0], np.float32),
     np.array(7, np.int32), np.array(["a"]), None],
    ids=["negative", "two axes", "floats", "no axis", "texts", "missing"],
)  # fmt: skip
def test_damaged_lengths_are_refused(counts: np.ndarray | None, trained: Language) -> None:
    model = Model.of(pipe_of(trained).to_bytes())
    name = lengths_in(model)
    if counts is None:
        del model.arrays[name]
    else:
        model.arrays[name] = counts
    with pytest.raises(ModelFileError, match="span_lengths"):
        pipe_of(segmenter_of()).from_bytes(model.pack())


@pytest.mark.parametrize("counts", [[], [2**31 - 1] * 100], ids=["none", "very many"])
def test_other_lengths_give_a_longest_segment_within_bounds(
    counts: list[int], trained: Language
) -> None:
    model = Model.of(pipe_of(trained).to_bytes())
    model.arrays[lengths_in(model)] = np.array(counts, dtype=np.int32)
    other = segmenter_of()
    pipe_of(other).from_bytes(model.pack())
    assert pipe_of(other).space.longest == (64 if counts else 1)
    assert len(other(make_doc(other.vocab, TEXTS[0]))) == len(TEXTS[0].split())


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"longest": 3}, "longest"),
        ({"segments": {"@misc": SEGMENTS, "extra": ["size"]}}, "segments"),
        ({"segments": {"@misc": SEGMENTS, "without": ["brief_class@all"]}}, "segments"),
        ({"@architectures": "spacy_cascade.LinearChain.v1"}, "kind"),
    ],
    ids=["longest", "a template more", "a template less", "a chain"],
)
def test_a_model_of_other_settings_is_refused(
    settings: dict[str, Any], named: str, trained: Language
) -> None:
    if "@architectures" in settings:
        other = blank()
        add_segmenter(other)
    else:
        other = segmenter_of(**settings)
    with pytest.raises(ModelFileError, match=named):
        pipe_of(other).from_bytes(pipe_of(trained).to_bytes())
    with pytest.raises(ModelFileError, match=named):
        pipe_of(segmenter_of()).from_bytes(trained_bytes(other))


def trained_bytes(nlp: Language) -> bytes:
    train(nlp, make_examples(nlp), updates=1)
    data: bytes = pipe_of(nlp).to_bytes()
    return data


def test_after_an_error_the_component_is_as_before(trained: Language) -> None:
    model = Model.of(pipe_of(trained).to_bytes())
    model.arrays[lengths_in(model)] = np.array([-1], dtype=np.int32)
    doc = trained(make_doc(trained.vocab, TEXTS[0]))
    with pytest.raises(ModelFileError):
        pipe_of(trained).from_bytes(model.pack())
    assert annotation(trained(make_doc(trained.vocab, TEXTS[0]))) == annotation(doc)
