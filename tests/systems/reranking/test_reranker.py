"""The reranker: without training a weighted sum, with training also further features."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from ranked_lists import KEY, N, learnt, lists, prefer, reranking, two_sentences, with_list
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    TEXTS,
    annotation,
    annotations,
    blank,
    bounds,
    cascade,
    confidences,
    make_doc,
    make_examples,
)
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.scorers.linear import get_weights

STAGES = ["cascade_segmenter", "cascade_classifier"]


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def without_candidates(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {k: v for k, v in value.items() if "/" not in k} if isinstance(value, dict) else value
        for name, value in found.items()
    }


@pytest.fixture
def nlp(trained: Language) -> Language:
    return reranking(trained)


def test_with_one_candidate_it_is_the_plain_cascade(trained: Language, nlp: Language) -> None:
    reranker = nlp.get_pipe("cascade_reranker")
    for text in TEXTS:
        doc = with_list(nlp, make_doc(nlp.vocab, text))
        for k in range(2, N + 1):
            del doc.spans[f"{KEY}/{k}"]
        assert annotation(reranker(doc)) == annotation(trained(make_doc(trained.vocab, text)))


@pytest.mark.parametrize("weight", [0.0, 1.0, 50.0])
def test_it_takes_the_highest_total_in_each_sentence(trained: Language, weight: float) -> None:
    nlp = reranking(trained, weight=weight, keep_candidates=True)
    doc = nlp(two_sentences(nlp))
    expected: list[tuple[int, int, str]] = []
    for i, (start, end) in enumerate([(0, 9), (9, 16)]):
        totals = []
        for k in range(1, N + 1):
            group = doc.spans[f"{KEY}/{k}"]
            inside = [start <= span.start < end for span in group]
            types = group.attrs["class_scores"].max(axis=1)[inside].sum()
            totals.append(group.attrs["sequence_scores"][i] + weight * types)
        best = doc.spans[f"{KEY}/{1 + int(np.argmax(totals))}"]
        expected += [b for b in bounds(best) if start <= b[0] < end]
    assert bounds(doc.spans[KEY]) == bounds(doc.ents) == expected
    assert len(confidences(doc)) == len(expected)


def test_sentences_choose_for_themselves(nlp: Language) -> None:
    doc = with_list(nlp)
    prefer(doc, 3, 2)
    third, second = (bounds(doc.spans[f"{KEY}/{k}"]) for k in (3, 2))
    expected = [b for b in third if b[0] < 9] + [b for b in second if b[0] >= 9]
    nlp.get_pipe("cascade_reranker")(doc)
    assert bounds(doc.spans[KEY]) == bounds(doc.ents) == expected
    assert set(doc.spans) == {KEY}


def test_of_equals_the_first_is_taken(nlp: Language) -> None:
    doc = with_list(nlp)
    before = without_candidates(annotation(doc))
    for k in range(1, N + 1):
        group = doc.spans[f"{KEY}/{k}"]
        group.attrs["sequence_scores"] = [0.0, 0.0]
        group.attrs["class_scores"] -= group.attrs["class_scores"].max(axis=1, keepdims=True)
    assert annotation(nlp.get_pipe("cascade_reranker")(doc)) == before


def test_confidence_of_spans_that_the_first_best_has_not(nlp: Language) -> None:
    doc = with_list(nlp)
    before = dict(zip(bounds(doc.spans[KEY]), confidences(doc), strict=True))
    prefer(doc, N, N)
    groups = [doc.spans[f"{KEY}/{k}"] for k in range(1, N + 1)]
    expected = {}
    for group in groups:
        for span, scores in zip(group, group.attrs["class_scores"], strict=True):
            i = int(span.start >= 9)
            totals = [g.attrs["sequence_scores"][i] for g in groups]  # types sum to one
            having = [(span.start, span.end) in {(s.start, s.end) for s in g} for g in groups]
            mass = np.exp(log_softmax(np.array(totals)))[having].sum()
            expected[bounds([span])[0]] = np.exp(scores.max()) * mass
    assert set(bounds(groups[-1])) - before.keys()
    nlp.get_pipe("cascade_reranker")(doc)
    for span, confidence in zip(doc.spans[KEY], confidences(doc), strict=True):
        key = bounds([span])[0]
        assert confidence == pytest.approx(before.get(key, expected[key]))
        assert span._.confidence == confidence


def test_entities_of_other_components_stay(nlp: Language) -> None:
    doc = two_sentences(nlp)
    doc.set_ents([Span(doc, 3, 4, "VERB", kb_id="Q1")], default="outside")
    doc.user_data["note"] = "kept"
    doc.spans["other"] = [doc[0:2]]
    doc = with_list(nlp, doc)
    found = set(bounds(doc.ents))
    prefer(doc, 2, 2)
    nlp.get_pipe("cascade_reranker")(doc)
    assert found != set(bounds(doc.ents))
    assert (3, 4, "VERB") in bounds(doc.ents)
    assert next(e for e in doc.ents if e.label_ == "VERB").kb_id_ == "Q1"
    assert set(bounds(doc.ents)) <= {(3, 4, "VERB"), *bounds(doc.spans[KEY])}
    assert {token.ent_iob for token in doc} == {1, 2, 3}
    assert doc.user_data["note"] == "kept"
    assert bounds(doc.spans["other"]) == [(0, 2, "")]


def test_an_entity_like_one_that_was_found_stays(nlp: Language) -> None:
    found = with_list(nlp)
    prefer(found, 2, 2)
    nlp.get_pipe("cascade_reranker")(found)
    (gone, *_) = set(bounds(with_list(nlp).ents)) - set(bounds(found.ents))
    doc = two_sentences(nlp)
    doc.ents = [Span(doc, *gone, kb_id="Q1")]
    doc = with_list(nlp, doc)
    prefer(doc, 2, 2)
    nlp.get_pipe("cascade_reranker")(doc)
    assert [e.kb_id_ for e in doc.ents if bounds([e]) == [gone]] == ["Q1"]


def test_without_set_ents_entities_are_left_alone(trained: Language) -> None:
    nlp = reranking(trained, set_ents=False)
    doc = with_list(nlp)
    before = bounds(doc.ents)
    prefer(doc, 2, 2)
    nlp.get_pipe("cascade_reranker")(doc)
    assert bounds(doc.ents) == before != bounds(doc.spans[KEY])


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["cascade_reranker"], r"n_best = 2 or more and spans_key = 'cascade'"),
        (["cascade_segmenter", "cascade_reranker"], "Put cascade_classifier"),
        (["cascade_segmenter", "cascade_reranker", "cascade_classifier"], "Put cascade_classifier"),
        (["cascade_reranker", "cascade_segmenter", "cascade_classifier"], "n_best = 2 or more"),
    ],
)
def test_missing_partners_and_wrong_order(nlp: Language, order: list[str], message: str) -> None:
    doc = two_sentences(nlp)
    with pytest.raises(ConfigError, match=message):  # noqa: PT012
        for name in order:
            nlp.get_pipe(name)(doc)


def test_tokens_of_an_entity_that_is_gone_are_outside(nlp: Language) -> None:
    """Also where some were missing before; a Doc without tokens or spans is left as it is."""
    doc = two_sentences(nlp)
    odd = [doc[i : i + 1] for i in range(1, len(doc), 2)]
    doc.set_ents([], outside=odd, default="missing")
    for each in (with_list(nlp), with_list(nlp, doc)):
        prefer(each, 2, 2)
        nlp.get_pipe("cascade_reranker")(each)
        inside = {t for start, end, _ in bounds(each.ents) for t in range(start, end)}
        assert {t.i for t in each if t.ent_iob_ != "O"} == inside
    assert annotation(nlp(Doc(nlp.vocab)))["ents"] == []
    assert set(nlp(TEXTS[4]).spans) == {KEY}


def test_kept_candidates_can_be_ranked_again(trained: Language) -> None:
    nlp = reranking(trained, keep_candidates=True)
    doc = with_list(nlp)
    first = bounds(doc.ents)
    scores = {k: list(doc.spans[f"{KEY}/{k}"].attrs["sequence_scores"]) for k in (1, N)}
    prefer(doc, N, N)
    reranker = nlp.get_pipe("cascade_reranker")
    reranker(doc)
    assert bounds(doc.ents) == bounds(doc.spans[f"{KEY}/{N}"]) != first
    doc.spans[f"{KEY}/{N}"].attrs["sequence_scores"] = scores[N]
    reranker(doc)
    assert bounds(doc.ents) == first


def test_a_list_that_was_changed(nlp: Language) -> None:
    longer, shorter = with_list(nlp), with_list(nlp)
    longer.spans[f"{KEY}/2"].append(longer[0:1])
    shorter.spans[f"{KEY}/2"].attrs["sequence_scores"] = [0.0]
    for doc in (longer, shorter):
        with pytest.raises(ConfigError, match=r"'cascade/2'\] changed"):
            nlp.get_pipe("cascade_reranker")(doc)


# Training


def weights_of(nlp: Language) -> np.ndarray:
    reranker = nlp.get_pipe("cascade_reranker")
    reranker.sync_weights()
    return get_weights(reranker.model)[0]


def test_it_learns_which_of_the_list_is_right(trained: Language) -> None:
    nlp, losses = learnt(trained, passes=50, rate=0.5)
    assert losses[-1] < 0.3 * losses[0]
    right = [
        bounds(nlp.get_pipe("cascade_reranker")(e.predicted).ents) == bounds(e.reference.ents)
        for e in lists(nlp)
    ]
    assert sum(right) >= 3


def test_the_loss_is_the_expected_number_of_errors(trained: Language) -> None:
    nlp, (loss,) = learnt(trained, scale=1e3)  # certain of the first-best of each sentence
    wrong = 0
    for example in lists(nlp):
        found, gold = set(bounds(example.predicted.spans[KEY])), set(bounds(example.reference.ents))
        wrong += len(found ^ gold)
    assert loss == pytest.approx(wrong, abs=0.1)


def test_without_features_it_cannot_learn(trained: Language) -> None:
    nlp = reranking(trained)
    reranker = nlp.get_pipe("cascade_reranker")
    with pytest.raises(TrainingError, match="rerank train"):
        reranker.update(lists(nlp))
    reranker.initialize(lambda: make_examples(nlp), nlp=nlp)  # no lists: it stays untrained
    assert not reranker.is_trained
    assert annotations(nlp) == annotations(reranking(trained))


def test_types_of_another_classifier(trained: Language) -> None:
    nlp, _ = learnt(trained)
    doc = with_list(nlp)
    for k in range(1, N + 1):
        doc.spans[f"{KEY}/{k}"].attrs["classes"] = ["a", "b", "c"]
    with pytest.raises(
        ConfigError, match=r"trained for the types.*'protein'.*gives \['a', 'b', 'c'"
    ):
        nlp.get_pipe("cascade_reranker")(doc)


def test_training_in_spacys_way() -> None:
    nlp = cascade({"n_best": N})
    nlp.add_pipe("cascade_reranker", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(TrainingError, match=r"annotating_components.*frozen_components"):
        nlp.update(make_examples(nlp), losses={})
    nlp.update(examples, losses={}, exclude=["cascade_reranker"])
    with nlp.select_pipes(disable=["cascade_reranker"]):
        for example in examples:
            example.predicted = nlp(example.predicted)
    nlp.get_pipe("cascade_reranker").initialize(lambda: examples, nlp=nlp)
    losses = nlp.update(make_examples(nlp), losses={}, exclude=STAGES, annotates=STAGES)
    assert set(losses) == {"cascade_reranker"}


def test_it_learns_types_too(trained: Language) -> None:
    nlp = reranking(trained, model={"min_count": 1}, rate=0.5)
    reranker = nlp.get_pipe("cascade_reranker")
    examples = []
    for text in TEXTS[:4]:
        doc = with_list(nlp, make_doc(nlp.vocab, text))
        gold = make_doc(nlp.vocab, text)
        spans = [Span(gold, s, e, "cell") for s, e, _ in bounds(doc.spans[KEY])]
        gold.set_ents(spans, default="outside")
        examples.append(Example(doc, gold))
    reranker.initialize(lambda: examples, nlp=nlp)
    for _ in range(25):
        reranker.update(examples)
    doc = nlp(TEXTS[0])
    assert (
        {span.label_ for span in doc.ents} == {span.label_ for span in doc.spans[KEY]} == {"cell"}
    )
    assert len(confidences(doc)) == len(doc.ents)


def test_labels_belong_to_the_classifier(nlp: Language) -> None:
    assert nlp.get_pipe("cascade_reranker").labels == ()
    with pytest.raises(TrainingError, match="cascade_classifier"):
        nlp.get_pipe("cascade_reranker").add_label("DNA")


# Saving


def test_round_trips(trained: Language, tmp_path: Path) -> None:
    nlp, _ = learnt(trained, passes=3)
    nlp.to_disk(tmp_path)
    expected = annotations(nlp)
    for copy in (
        spacy.load(tmp_path),
        blank().from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        np.testing.assert_array_equal(weights_of(copy), weights_of(nlp))
        assert annotations(copy) == expected
    together = [annotation(doc) for doc in nlp.pipe(TEXTS, batch_size=4, n_process=2)]
    assert together == [annotation(nlp(text)) for text in TEXTS]
    untrained = reranking(trained)
    untrained.to_disk(tmp_path / "untrained")
    copy = spacy.load(tmp_path / "untrained")
    assert not copy.get_pipe("cascade_reranker").is_trained
    assert annotations(copy) == annotations(untrained)
    overridden = spacy.load(tmp_path, config={"components.cascade_reranker.weight": 7.0})
    assert overridden.get_pipe("cascade_reranker").weight == 7.0
