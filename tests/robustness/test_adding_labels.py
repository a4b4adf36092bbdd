"""A label that one thread adds while others annotate: the answer is right, or it is refused."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import (
    PROJECT,
    TEXTS,
    add_classifier,
    add_segmenter,
    blank,
    make_examples,
    run_python,
    train,
)
from spacy_cascade import TrainingError
from spacy_cascade.inference.lattice import check_sizes
from spacy_cascade.scorers.linear import add_features, get_weights, set_weights

SCRIPT = Path(__file__).with_name("adding_labels.py")
PIPELINES = ["chain", "pairs", "semi_markov", "nbest", "likely", "cascade", "tagger"]


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_no_crash_and_no_wrong_answer(pipeline: str) -> None:
    folders = os.pathsep.join([str(PROJECT), str(PROJECT / "tests/support")])
    result = run_python(str(SCRIPT), pipeline, "4", timeout=600, PYTHONPATH=folders)
    assert result.returncode == 0, result.stdout + result.stderr[-2000:]
    assert "right" in result.stdout


def segmenter_and_pipeline(**settings: Any) -> tuple[Any, Any]:
    nlp = blank()
    segmenter = add_segmenter(nlp, typed=True, **settings)
    train(nlp, make_examples(nlp), updates=1)
    return nlp, segmenter


@pytest.mark.parametrize("step", ["predict", "set_annotations"])
@pytest.mark.parametrize("way", ["call", "pipe"])
def test_a_label_that_comes_in_between(
    step: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after what is written, another thread adds a label that is first in the order."""
    nlp, segmenter = segmenter_and_pipeline()
    original = getattr(segmenter, step)

    def with_more_labels(*arguments: Any) -> Any:
        thread = threading.Thread(target=segmenter.add_label, args=("A",))
        thread.start()
        thread.join()
        return original(*arguments)

    monkeypatch.setitem(segmenter.__dict__, step, with_more_labels)
    with pytest.raises(TrainingError, match=r"labels of 'cascade_segmenter' changed while it"):
        nlp(TEXTS[0]) if way == "call" else list(nlp.pipe(TEXTS))
    monkeypatch.undo()
    assert "A" in segmenter.labels
    nlp(TEXTS[0])


def test_an_error_by_other_labels_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, segmenter = segmenter_and_pipeline()

    def fail(*_: Any) -> None:
        segmenter.add_label("A")
        raise IndexError("far below")

    monkeypatch.setitem(segmenter.__dict__, "predict", fail)
    with pytest.raises(TrainingError, match="changed while it annotated") as caught:
        nlp(TEXTS[0])
    assert isinstance(caught.value.__cause__, IndexError)


def test_handled_errors_leave_docs_out() -> None:
    nlp, segmenter = segmenter_and_pipeline()
    failed = []
    segmenter.set_error_handler(lambda name, pipe, docs, error: failed.append((name, len(docs))))
    original = type(segmenter).predict
    segmenter.__dict__["predict"] = lambda docs: (
        original(segmenter, docs) if len(docs) == 2 else 1 / 0
    )
    assert len(list(segmenter.pipe(map(nlp.make_doc, TEXTS[:5]), batch_size=2))) == 4
    assert failed == [("cascade_segmenter", 1)]
    assert segmenter(nlp.make_doc(TEXTS[0])) is None


@pytest.mark.parametrize("pairs", [False, True])
def test_weights_of_other_labels_reach_no_kernel(pairs: bool) -> None:
    nlp, segmenter = segmenter_and_pipeline(model={"min_count": 1, "label_pairs": pairs})
    features, transitions = get_weights(segmenter.model)
    set_weights(segmenter.model, features[:, :-4], transitions[:-4] if pairs else transitions)
    docs = [nlp.make_doc(text) for text in TEXTS]
    with pytest.raises(TrainingError, match="Did another thread add labels"):
        segmenter.predict(docs)
    set_weights(segmenter.model, features, transitions[:-1])
    with pytest.raises(TrainingError, match="transitions do not belong"):
        segmenter.predict(docs)


def test_sizes_that_just_fit() -> None:
    _, segmenter = segmenter_and_pipeline()
    lattice = segmenter.structure.lattice
    scores, transitions = np.zeros((3, lattice.n_columns)), np.zeros(lattice.n_edges)
    check_sizes(lattice, scores, transitions)
    for wrong in [(scores[:, 1:], transitions), (scores, transitions[1:])]:
        with pytest.raises(TrainingError, match="do not belong"):
            check_sizes(lattice, *wrong)


@pytest.mark.parametrize("stage", ["cascade_segmenter", "cascade_classifier"])
def test_features_without_weights_reach_no_kernel(stage: str) -> None:
    """As while another thread adapts the component: it finds features, then makes room."""
    nlp = blank()
    add_segmenter(nlp)
    add_classifier(nlp)
    train(nlp, make_examples(nlp), updates=1)
    pipe = nlp.get_pipe(stage)
    features, transitions = get_weights(pipe.model)
    set_weights(pipe.model, features[:-1], transitions)
    with pytest.raises(TrainingError, match="train the component meanwhile"):
        nlp(TEXTS[0])
    add_features(pipe.model, 1)
    nlp(TEXTS[0])


def test_a_structure_made_meanwhile_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread adds a label while the structure of the labels before is made."""
    _, segmenter = segmenter_and_pipeline()
    segmenter._structure = None
    original = type(segmenter)._make_structure

    def slowly() -> Any:
        made = original(segmenter)
        monkeypatch.undo()
        segmenter.add_label("A")
        return made

    monkeypatch.setitem(segmenter.__dict__, "_make_structure", slowly)
    before = segmenter.structure
    assert segmenter.structure.n_columns > before.n_columns
    assert segmenter.structure.n_transitions == segmenter._structure_size(len(segmenter.labels))[0]
