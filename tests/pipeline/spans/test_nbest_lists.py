"""The N best segmentations: on the Doc, and listed; typed by the classifier."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from helpers import (
    TEXTS,
    add_segmenter,
    annotation,
    annotations,
    blank,
    bounds,
    make_doc,
    make_examples,
    of_sentences,
    train,
    trained_cascade,
)
from spacy_cascade import ConfigError
from spacy_cascade.losses.margin import Hinge
from spacy_cascade.workflows import reconfigure

N = 6
TWO_SENTENCES = f"{TEXTS[0]} {TEXTS[3]}"
STARTS = [0, 9]


def with_settings(nlp: Language, pipe: str, **settings: object) -> Language:
    """The same pipeline with other settings of a component."""
    return reconfigure.with_settings(nlp, {pipe: settings})


@pytest.fixture(scope="module")
def nlp(trained: Language) -> Language:
    return of_sentences(with_settings(trained, "cascade_segmenter", n_best=N))


@pytest.fixture
def doc(nlp: Language) -> Doc:
    return nlp(make_doc(nlp.vocab, TWO_SENTENCES, STARTS))


def attrs(doc: Doc, name: str) -> list[object]:
    return [doc.spans[f"cascade/{k}"].attrs[name] for k in range(1, N + 1)]


def test_the_groups_are_what_nbest_lists(nlp: Language, doc: Doc) -> None:
    sentences = nlp.get_pipe("cascade_segmenter").nbest(doc, N)
    assert attrs(doc, "sequence_starts") == [STARTS] * N
    for k in range(N):
        group = doc.spans[f"cascade/{k + 1}"]
        spans = [span for ranked in sentences for span in ranked[k].spans]
        assert [(s.start, s.end) for s in group] == [(s.start, s.end) for s in spans]
        probabilities = [ranked[k].probability for ranked in sentences]
        np.testing.assert_allclose(np.exp(group.attrs["sequence_scores"]), probabilities)


def test_scores_descend_and_probabilities_add_up_to_one_at_most(nlp: Language, doc: Doc) -> None:
    for ranked in nlp.get_pipe("cascade_segmenter").nbest(doc, 100):
        assert all(left.score >= right.score for left, right in pairwise(ranked))
        assert len({tuple(bounds(s.spans)) for s in ranked}) == len(ranked) == 100
        total = sum(s.probability for s in ranked)
        assert 0.9 < total <= 1.0 + 1e-9


def test_the_first_is_what_a_segmenter_without_a_list_finds(nlp: Language, doc: Doc) -> None:
    without = with_settings(nlp, "cascade_segmenter", n_best=1)
    expected = annotation(without(make_doc(without.vocab, TWO_SENTENCES, STARTS)))
    found = annotation(doc)
    assert [(s, e) for s, e, _ in found["spans"]["cascade/1"]] == [
        (s, e) for s, e, _ in expected["spans"]["cascade"]
    ]
    assert found["scores"]["cascade"] == expected["scores"]["cascade"]
    assert found["ents"] == expected["ents"]


def test_a_short_sentence_has_fewer(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, "p53 binds . Yes", [0, 3]))
    scores = attrs(doc, "sequence_scores")
    assert [row[1] > -np.inf for row in scores] == [True, True, False, False, False, False]
    assert all(span.start < 3 for k in range(3, N + 1) for span in doc.spans[f"cascade/{k}"])
    assert [len(s) for s in nlp.get_pipe("cascade_segmenter").nbest(doc, N)] == [N, 2]


def test_a_doc_without_tokens(nlp: Language) -> None:
    doc = nlp(Doc(nlp.vocab))
    assert [len(doc.spans[f"cascade/{k}"]) for k in range(1, N + 1)] == [0] * N
    assert attrs(doc, "sequence_starts") == [[]] * N
    assert nlp.get_pipe("cascade_segmenter").nbest(doc, 2) == []


def test_without_probabilities_there_are_scores() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, n_best=3)
    train(nlp, make_examples(nlp))
    segmenter.loss = Hinge()
    doc = nlp(TEXTS[0])
    (ranked,) = segmenter.nbest(doc, 3)
    assert [s.probability for s in ranked] == [None] * 3
    groups = [doc.spans[f"cascade/{k}"].attrs for k in (1, 2, 3)]
    assert [g["sequence_scores"] for g in groups] == [[s.score] for s in ranked]
    assert not any(g["is_log_probability"] for g in groups)


@pytest.mark.parametrize("n", [0, -1, 101])
def test_n_out_of_range(trained: Language, n: int) -> None:
    with pytest.raises(ConfigError, match="from 1 to 100"):
        trained.get_pipe("cascade_segmenter").nbest(trained(TEXTS[0]), n)
    with pytest.raises(ConfigError, match=r"n_best.*cascade_segmenter"):
        add_segmenter(blank(), n_best=n)


def test_an_earlier_list_is_taken_off(trained: Language, nlp: Language) -> None:
    doc = nlp(TEXTS[0])
    shorter = with_settings(nlp, "cascade_segmenter", n_best=2).get_pipe("cascade_segmenter")
    assert set(shorter(doc).spans) == {"cascade", "cascade/1", "cascade/2"}
    assert set(trained.get_pipe("cascade_segmenter")(doc).spans) == {"cascade"}


def test_a_group_that_has_only_the_name_of_a_list_stays(trained: Language) -> None:
    doc = trained.make_doc(TEXTS[0])
    doc.spans["cascade/1"] = [doc[0:2]]
    assert [span.text for span in trained(doc).spans["cascade/1"]] == [doc[0:2].text]


def test_spans_of_the_list_are_typed_as_when_alone(nlp: Language, doc: Doc) -> None:
    classifier = nlp.get_pipe("cascade_classifier")
    for k in range(1, N + 1):
        group = doc.spans[f"cascade/{k}"]
        (labels,) = classifier.classify([doc], [[(s.start, s.end) for s in group]])
        assert [s.label_ for s in group] == labels
        scores, classes = group.attrs["class_scores"], group.attrs["classes"]
        assert scores.shape == (len(group), 3)
        assert [classes[i] for i in scores.argmax(axis=1)] == labels
        np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1.0)


def test_a_rejected_span_keeps_its_label_and_its_score_counts() -> None:
    nlp = trained_cascade({"n_best": N})
    rejecting = nlp.replace_pipe(
        "cascade_classifier",
        "cascade_classifier",
        config={"model": {"min_count": 1}, "reject": True},
    )
    examples = make_examples(nlp)
    for example in examples:
        nlp.get_pipe("cascade_segmenter")(example.predicted)
        example.predicted.spans["cascade"] = [
            span for k in range(1, N + 1) for span in example.predicted.spans[f"cascade/{k}"]
        ]
    rejecting.initialize(lambda: examples, nlp=nlp)
    rejecting.update(examples)
    docs = [nlp(text) for text in TEXTS]
    groups = [doc.spans[f"cascade/{k}"] for doc in docs for k in range(1, N + 1)]
    best = [i for group in groups for i in group.attrs["class_scores"].argmax(axis=1)]
    assert {tuple(group.attrs["classes"]) for group in groups} == {("O", *rejecting.labels)}
    assert [s.label_ != "ENT" for group in groups for s in group] == [i > 0 for i in best]
    assert 0 < np.count_nonzero(best) < len(best)


def test_lists_survive_saving(nlp: Language, doc: Doc, tmp_path: Path) -> None:
    for copy in (
        Doc(nlp.vocab).from_bytes(doc.to_bytes()),
        next(iter(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab))),
        doc.copy(),
    ):
        assert annotation(copy) == annotation(doc)
        for key, group in doc.spans.items():
            assert copy.spans[key].attrs.keys() == group.attrs.keys()
            for name, value in group.attrs.items():
                np.testing.assert_array_equal(copy.spans[key].attrs[name], value)
    nlp.to_disk(tmp_path)
    assert annotations(spacy.load(tmp_path)) == annotations(nlp)
