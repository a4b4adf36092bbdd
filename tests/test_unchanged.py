"""Weights, entities, confidences and N-best lists stay the same, to the last bit.

`tests/unchanged/` has fingerprints of every system, recorded before the package was divided into
core, systems and tools. On another machine, or with other releases of the libraries, the last bits
may differ: there the results have to agree closely. JNLPBA is compared where its files are in
`corpus/jnlpba` (`weasel run jnlpba-convert`). A change that is meant to change results records them
anew (`tests/support/fingerprints.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from fingerprints import (
    JNLPBA,
    fingerprint,
    fingerprint_of,
    machine,
    recorded,
    without_names,
)
from helpers import TEXTS, blank, make_doc, make_examples, trained_cascade
from spacy_cascade.systems.ensembles.members import Member
from trained_systems import SYSTEMS, write_sample


def names_in(corpus: str) -> list[str]:
    return [name for name in recorded(corpus) if name != "machine"]


def check(name: str, corpus: str, corpora: Path) -> None:
    expected, known = recorded(corpus)[name], recorded(corpus)["machine"]
    found = json.loads(json.dumps(fingerprint(name, corpora)))
    if machine() == known:
        assert without_names(found) == without_names(expected)
    else:
        assert found["n_entities"] == pytest.approx(expected["n_entities"], rel=0.01, abs=1)
        close = pytest.approx(expected["mean_confidence"], abs=0.005)
        assert found["mean_confidence"] == close


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", names_in("sample"))
def test_the_sample(name: str, sample: Path) -> None:
    check(name, "sample", sample)


@pytest.mark.slow
@pytest.mark.skipif(not JNLPBA.is_dir(), reason="JNLPBA is not in corpus/jnlpba")
@pytest.mark.parametrize("name", names_in("jnlpba"))
def test_jnlpba(name: str) -> None:
    check(name, "jnlpba", JNLPBA)


def test_every_system_is_recorded() -> None:
    assert names_in("sample") == list(SYSTEMS)
    assert set(names_in("jnlpba")) <= set(SYSTEMS)


# What a fingerprint sees: one number is changed at a time.


def reranked() -> Language:
    nlp = trained_cascade({"n_best": 3})
    reranker: Any = nlp.add_pipe("cascade_reranker", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    for example in examples:
        example.predicted = nlp.get_pipe("cascade_segmenter")(example.predicted)
        example.predicted = nlp.get_pipe("cascade_classifier")(example.predicted)
    reranker.initialize(lambda: examples, nlp=nlp)
    reranker.update(examples)
    return nlp


def ensemble() -> Language:
    nlp = blank()
    data = trained_cascade().to_bytes(exclude=["vocab"])
    made: Any = nlp.add_pipe("cascade_ensemble")
    made.set_members([Member.from_bytes(data, "0", nlp.vocab)])
    return nlp


def numbers_of(nlp: Language) -> Iterator[tuple[str, str, np.ndarray, Callable[..., object]]]:
    """All arrays of all components, those within an ensemble too, and how each is set.

    They come with the names of the component and of the array.
    """
    for name, pipe in nlp.pipeline:
        for member in getattr(pipe, "members", ()):
            for _, *of_member in numbers_of(member.nlp):
                yield name, *of_member
        for layer in pipe.model.walk() if hasattr(pipe, "model") else ():
            for key in layer.param_names:
                yield name, key, layer.get_param(key), partial(layer.set_param, key)
            for key, kept in layer.attrs.items():
                if isinstance(kept, np.ndarray):
                    yield name, key, kept, partial(layer.attrs.__setitem__, key)


def with_one_changed(array: np.ndarray, by: int) -> np.ndarray:
    """A copy in which the largest number is another."""
    changed = array.copy()
    changed.flat[array.argmax()] += by
    return changed


def print_of(nlp: Language) -> dict[str, Any]:
    return without_names(fingerprint_of(nlp, [make_doc(nlp.vocab, text) for text in TEXTS]))


def differences(before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """The keys under which two prints differ."""
    assert before.keys() == now.keys()
    return {key for key in before if before[key] != now[key]}


@pytest.mark.parametrize("make", [trained_cascade, reranked, ensemble])
def test_one_other_number_of_any_array_is_seen(make: Callable[[], Language]) -> None:
    nlp = make()
    nlp.to_bytes()  # so that what is only computed for saving is there
    before, seen = print_of(nlp), 0
    for name, key, array, set_to in numbers_of(nlp):
        set_to(with_one_changed(array, 1))
        assert differences(before["weights"], print_of(nlp)["weights"]) == {name}, key
        set_to(array)
        seen += 1
    assert seen == sum(len(of_one["arrays"]) for of_one in before["weights"].values())
    assert print_of(nlp) == before


@pytest.mark.parametrize(
    ("make", "component", "seen"),
    [
        (
            trained_cascade,
            "cascade_segmenter",
            {"entities", "span_groups", "confidences", "n_best"},
        ),
        (trained_cascade, "cascade_classifier", {"entities", "confidences"}),
        (reranked, "cascade_reranker", {"entities", "confidences"}),
        (ensemble, "cascade_ensemble", {"entities", "span_groups", "confidences"}),
    ],
)
def test_another_weight_is_seen_in_the_annotation(
    make: Callable[[], Language], component: str, seen: set[str]
) -> None:
    nlp = make()
    before = print_of(nlp)
    for name, key, array, set_to in numbers_of(nlp):
        if (name, key) == (component, "W"):
            set_to(with_one_changed(array, -50))
    assert {"weights", *seen} <= differences(before, print_of(nlp))


def test_names_of_arrays_do_not_matter() -> None:
    weights = {"0/W": "a", "0/transitions": "b"}
    renamed = {"0/edges": "b", "1/W": "a"}
    prints = [{"weights": {"it": {"values": "c", "arrays": each}}} for each in (weights, renamed)]
    assert without_names(prints[0]) == without_names(prints[1])
