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


MODEL = {
    "@architectures": "spacy_cascade.SemiMarkov.v1",
    "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
    "segments": {"@misc": SEGMENTS},
    "min_count": 1,
}


def segmenter_of() -> Language:
    nlp = blank()
    add_segmenter(nlp, model=MODEL)
    return nlp


def pipe_of(nlp: Language) -> Any:
    return nlp.get_pipe("cascade_segmenter")


@pytest.fixture(scope="module")
def trained() -> Language:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=2)
    return nlp


def with_lengths(nlp: Language, counts: Any) -> bytes:
    """The saved model with other lengths of spans, or without them."""
    model = Model.of(pipe_of(nlp).to_bytes())
    (name,) = (name for name in model.arrays if name.startswith("span_lengths"))
    del model.arrays[name]
    if counts is not None:
        model.arrays[name] = np.array(counts)
    return model.pack()


DAMAGED = {
    "negative": np.array([3, -1], np.int32), "two axes": np.array([[1, 2]], np.int32),
    "floats": np.array([1.0, 2.0], np.float32), "no axis": np.array(7, np.int32),
    "texts": ["a"], "missing": None,
}  # fmt: skip


def test_lengths_of_spans_are_checked(trained: Language) -> None:
    """Damaged ones are refused, and the component is as before; others are kept in bounds."""
    other = segmenter_of()
    pipe_of(other).from_bytes(pipe_of(trained).to_bytes())
    expected = annotation(trained(make_doc(trained.vocab, TEXTS[0])))
    for counts in DAMAGED.values():
        with pytest.raises(ModelFileError, match="span_lengths"):
            pipe_of(other).from_bytes(with_lengths(trained, counts))
        assert annotation(other(make_doc(other.vocab, TEXTS[0]))) == expected
    for valid, longest in (([], 1), ([2**31 - 1] * 100, 64)):
        data = with_lengths(trained, np.array(valid, dtype=np.int32))
        pipe_of(other).from_bytes(data)
        assert pipe_of(other).space.longest == longest
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
    other = blank()
    model = {"min_count": 1} if named == "kind" else {**MODEL, **settings}
    other.add_pipe("cascade_segmenter", config={"model": model})
    with pytest.raises(ModelFileError, match=named):
        pipe_of(other).from_bytes(pipe_of(trained).to_bytes())
