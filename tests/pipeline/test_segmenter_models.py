"""The segmenter with each model: what one can do, all can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Span
from spacy.training import Example

from helpers import (
    SHORT,
    TEXTS,
    TRAINER,
    bounds,
    confidences,
    make_doc,
    make_example,
    make_examples,
    train,
    weights,
)
from spacy_cascade.tools.explaining.explain import explain_spans
from structures import MODELS, found, segmenter_of, wanted

pytestmark = pytest.mark.parametrize("name", MODELS)


@pytest.mark.parametrize(("scheme", "typed"), [("BILOU", False), ("IOB2", True)])
def test_it_learns_a_few_sentences_by_heart(name: str, typed: bool, scheme: str) -> None:
    nlp = segmenter_of(name, scheme=scheme, typed=typed)
    losses = [loss["cascade_segmenter"] for loss in train(nlp, make_examples(nlp), updates=4)]
    assert losses == sorted(losses, reverse=True)
    assert found(nlp) == wanted(typed)


def test_a_saved_model_says_the_same(name: str, tmp_path: Path) -> None:
    nlp = segmenter_of(name)
    train(nlp, make_examples(nlp), updates=2)
    nlp.to_disk(tmp_path)
    other = segmenter_of(name).from_disk(tmp_path)
    docs = [nlp(make_doc(nlp.vocab, text)) for text in SHORT]
    again = [other(make_doc(other.vocab, text)) for text in SHORT]
    assert [bounds(doc.spans["cascade"]) for doc in docs] == [
        bounds(doc.spans["cascade"]) for doc in again
    ]
    assert [confidences(doc) for doc in docs] == [confidences(doc) for doc in again]


def test_threads_do_not_change_a_bit(name: str) -> None:
    of_threads = []
    for threads in (1, 2):
        nlp = segmenter_of(name, trainer={**TRAINER, "threads": threads})
        train(nlp, make_examples(nlp) * 10, updates=1)
        of_threads.append(weights(nlp.get_pipe("cascade_segmenter")))
    for one, two in zip(*of_threads, strict=True):
        np.testing.assert_array_equal(one, two)


def test_probabilities_of_segmentations_and_spans(name: str) -> None:
    nlp = segmenter_of(name)
    train(nlp, make_examples(nlp), updates=1)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = make_doc(nlp.vocab, SHORT[0])
    probability: dict[Any, float] = {}
    best = segmenter.nbest(doc, 100)[0]
    for segmentation in best:
        for key in bounds(segmentation.spans):
            probability[key] = probability.get(key, 0.0) + segmentation.probability
    assert sum(s.probability for s in best) == pytest.approx(1.0, abs=1e-6)
    exact = [float(segmenter.posteriors([doc], [[key]])[0][0]) for key in probability]
    assert exact == pytest.approx(list(probability.values()), abs=1e-6)
    segmenter.overlapping, segmenter.threshold = True, 0.05
    (likely,) = found(nlp, [SHORT[0]])
    assert set(likely) == {key for key, p in probability.items() if p >= 0.05}


def test_an_explanation_accounts_for_the_whole_difference(name: str) -> None:
    nlp = segmenter_of(name)
    train(nlp, make_examples(nlp), updates=2)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = make_doc(nlp.vocab, TEXTS[0])
    ranked = segmenter.scored([doc])
    paths, scores = ranked.best_paths(60)
    explained = explain_spans(segmenter, doc)
    assert explained
    for explanation in explained:
        span = explanation.span[:2]
        lacking = [
            score
            for path, score in zip(paths, scores[:, 0].tolist(), strict=True)
            if span not in list(zip(*(c.tolist() for c in ranked.spans(path)[:2]), strict=True))
        ]
        assert explanation.evidence == pytest.approx(scores[0, 0] - max(lacking), abs=1e-5)


def test_presets_and_blocked_tokens_are_kept(name: str) -> None:
    nlp = segmenter_of(name, constrained=True)
    train(nlp, make_examples(nlp), updates=4)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 2, 4, "OTHER")], blocked=[doc[6:7]], default="missing")
    spans = bounds(nlp(doc).spans["cascade"])
    assert spans
    assert all(end <= 2 or start >= 4 for start, end, _ in spans)
    assert all(not start <= 6 < end for start, end, _ in spans)


def test_what_is_not_annotated_teaches_nothing(name: str) -> None:
    nlp = segmenter_of(name)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 4, 5, "protein")], default="missing")
    train(nlp, [*make_examples(nlp), Example(make_doc(nlp.vocab, TEXTS[0]), doc)], updates=4)
    assert found(nlp) == wanted(False)


def test_it_adapts_to_new_examples_and_keeps_what_it_knew(name: str) -> None:
    nlp = segmenter_of(name)
    train(nlp, make_examples(nlp), updates=4)
    loaded = segmenter_of(name)
    loaded.from_bytes(nlp.to_bytes())
    example = make_example(loaded, "Zebra fish swim .", [(0, 2, "animal")])
    for _ in range(3):
        loaded.update([example])
    assert found(loaded, ["Zebra fish swim ."]) == [[(0, 2, "ENT")]]
    assert found(loaded) == wanted(False)
