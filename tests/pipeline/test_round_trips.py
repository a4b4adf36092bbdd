"""Saving, copying and pickling: the same predictions, to the last bit of a confidence."""

from __future__ import annotations

import copy
import json
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from helpers import (
    TEXTS,
    add_segmenter,
    annotations,
    blank,
    cascade,
    make_examples,
    run_python,
    train,
    trained_cascade,
)
from round_trips import WAYS, through_disk
from spacy_cascade import ModelFileError
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.storage import model_file as storage

UNSEEN = [*TEXTS, "An unknown gene binds monocytes and p53 .", "p53 p53 gene IL-2 cells"]

SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "defaults": ({}, {}),
    "IOB2": ({"scheme": "IOB2"}, {"reject": True}),
    "typed": ({"typed": True, "set_ents": True}, {"confidence": False}),
    "lexicon": (
        {
            "model": {
                "min_count": 1,
                "templates": {
                    "@misc": "spacy_cascade.SegmentationTemplates.v1",
                    "lexicons": {"cells": ["T cells", "monocytes"]},
                },
            }
        },
        {},
    ),
}


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    return {name: trained_cascade(*settings) for name, settings in SETTINGS.items()}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *(("defaults", way) for way in WAYS),
        *((name, through_disk) for name in list(SETTINGS)[1:]),
    ],
)
def test_predictions_are_identical(
    name: str,
    way: Callable[[Language, Path], Language],
    pipelines: dict[str, Language],
    tmp_path: Path,
) -> None:
    nlp = pipelines[name]
    expected = annotations(nlp, UNSEEN)
    other = way(nlp, tmp_path)
    assert annotations(other, UNSEEN) == expected
    assert annotations(nlp, UNSEEN) == expected
    for pipe in nlp.pipe_names:
        assert other.get_pipe(pipe).labels == nlp.get_pipe(pipe).labels
        assert other.get_pipe(pipe).cfg == nlp.get_pipe(pipe).cfg
        assert other.get_pipe(pipe).to_bytes() == nlp.get_pipe(pipe).to_bytes()


def test_excluded_and_disabled_components_need_no_file(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    (tmp_path / "cascade_classifier" / "cascade.npz").unlink()
    with pytest.raises(ModelFileError, match=r"cascade\.npz"):
        spacy.load(tmp_path)
    nlp = spacy.load(tmp_path, exclude=["cascade_classifier"])
    assert nlp.pipe_names == ["cascade_segmenter"]
    assert len(nlp(TEXTS[0]).spans["cascade"]) == 3


def test_loading_over_trained_weights_replaces_them(trained: Language) -> None:
    nlp = cascade()
    one = [(text, spans[:1]) for text, spans in [(TEXTS[1], [(0, 1, "other")])]]
    train(nlp, make_examples(nlp, one))
    before = annotations(nlp)
    nlp.from_bytes(trained.to_bytes())
    assert annotations(nlp) == annotations(trained) != before
    assert nlp.get_pipe("cascade_classifier").labels == ("DNA", "cell", "protein")


FRESH = """
import json, sys
import spacy
nlp = spacy.load(sys.argv[1])
docs = [nlp(text) for text in json.loads(sys.argv[2])]
print(json.dumps([
    [[e.start, e.end, e.label_, e._.confidence] for e in doc.ents] for doc in docs
]))
"""


@pytest.mark.slow(kind="fresh process")
def test_a_fresh_process_predicts_the_same(trained: Language, tmp_path: Path) -> None:
    """Only spaCy is imported there: the entry points have to find the rest."""
    trained.to_disk(tmp_path)
    done = run_python("-c", FRESH, str(tmp_path), json.dumps(UNSEEN))
    assert done.returncode == 0, done.stderr
    docs = [trained(text) for text in UNSEEN]
    expected = [[[e.start, e.end, e.label_, e._.confidence] for e in d.ents] for d in docs]
    assert json.loads(done.stdout) == expected


# Copies leave training under way behind


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
)
def test_copies_do_not_hold_the_training_corpus(duplicate: Callable[[Any], Any]) -> None:
    nlp = trained_cascade()
    for name in nlp.pipe_names:
        component = nlp.get_pipe(name)
        for has_it in (True, False, True):
            pipe = component if has_it else duplicate(component)
            assert (pipe._fit is not None) == has_it
            assert len(pipe._corpus) == has_it * len(TEXTS)


def test_a_copy_goes_its_own_way() -> None:
    nlp = blank()
    add_segmenter(nlp)
    train(nlp, make_examples(nlp), updates=1)
    expected = annotations(nlp)
    data = nlp.get_pipe("cascade_segmenter").to_bytes()
    other = copy.deepcopy(nlp)
    other.update(make_examples(other))
    assert annotations(nlp) == expected
    assert nlp.get_pipe("cascade_segmenter").to_bytes() == data
    assert other.get_pipe("cascade_segmenter").to_bytes() != data


# Damaged or foreign files


def test_models_of_the_other_component_are_refused(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    segmenter, classifier = (
        tmp_path / name / "cascade.npz" for name in ("cascade_segmenter", "cascade_classifier")
    )
    segmenter.write_bytes(classifier.read_bytes())
    with pytest.raises(ModelFileError, match=r"cascade_span_classifier.*cascade_linear_chain"):
        spacy.load(tmp_path)


def without_labels(header: storage.Header, arrays: storage.Arrays) -> None:
    header["labels"] = []


def without_keys(header: storage.Header, arrays: storage.Arrays) -> None:
    del arrays["keys"]


def with_keys_of_another_shape(header: storage.Header, arrays: storage.Arrays) -> None:
    arrays["keys"] = arrays["keys"][:1].reshape(())


def with_another_number_of_weights(header: storage.Header, arrays: storage.Arrays) -> None:
    arrays["weights"] = arrays["weights"][:-1]


def with_weights_that_are_no_numbers(header: storage.Header, arrays: storage.Arrays) -> None:
    arrays["weights"] = np.full_like(arrays["weights"], np.nan)


def with_one_label_too_many(header: storage.Header, arrays: storage.Arrays) -> None:
    header["labels"].append("zzz")


@pytest.mark.parametrize(
    "change",
    [
        without_labels,
        without_keys,
        with_keys_of_another_shape,
        with_another_number_of_weights,
        with_weights_that_are_no_numbers,
        with_one_label_too_many,
    ],
)
@pytest.mark.parametrize("name", ["cascade_segmenter", "cascade_classifier"])
def test_weights_that_do_not_fit_are_refused(
    name: str, change: Callable[..., None], trained: Language
) -> None:
    header, arrays = storage.unpack(trained.get_pipe(name).to_bytes(), "the test")
    change(header, arrays)
    nlp = cascade()
    with pytest.raises(ModelFileError):
        nlp.get_pipe(name).from_bytes(storage.pack(header, arrays))
    assert nlp.get_pipe(name).labels == ()


@pytest.mark.parametrize("n_labels", [0, 1, 5])
@pytest.mark.parametrize("label_pairs", [True, False])
@pytest.mark.parametrize(
    ("factory", "settings"),
    [
        ("cascade_segmenter", {"scheme": "IOB2"}),
        ("cascade_segmenter", {"scheme": "BILOU"}),
        ("cascade_tagger", {}),
        ("cascade_classifier", {"reject": True}),
        ("cascade_classifier", {"reject": False}),
        ("cascade_reranker", {}),
    ],
)
def test_the_size_of_a_structure_is_known_before_it_is_made(
    factory: str, settings: dict[str, Any], label_pairs: bool, n_labels: int
) -> None:
    pipe = blank().add_pipe(factory, config=settings)
    pipe.model.attrs["structure"] = ChainFamily(label_pairs)
    pipe._set_labels([f"label {i}" for i in range(n_labels)])
    size = pipe._structure_size(n_labels)
    if size[0]:
        assert size == (pipe.structure.n_transitions, pipe.structure.n_columns)


def test_labels_that_a_file_merely_states_take_no_memory(trained: Language) -> None:
    segmenter = trained.get_pipe("cascade_segmenter")
    header, arrays = storage.unpack(segmenter.to_bytes(), "the test")
    header["labels"] = sorted(str(i) for i in range(5_000))
    data = storage.pack(header, arrays)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="'weights'"):
        segmenter.from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
