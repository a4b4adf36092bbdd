"""N-best lists as arrays, against the span groups that they were read from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import TEXTS, bounds, cascade, make_doc
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.spans.gold import GoldSpans, read_gold
from spacy_cascade.systems.reranking.minimum_risk import Lists
from spacy_cascade.systems.reranking.typed_lists import TypedLists, choose_spans, read_lists
from spacy_cascade.workflows.reconfigure import reconfigured

KEY, N = "cascade", 5


@pytest.fixture(scope="module")
def docs(trained: Language) -> list[Doc]:
    """Docs of two sentences, of one, and of none, with typed lists."""
    config = trained.config.copy()
    config["components"]["cascade_segmenter"]["n_best"] = N
    nlp = reconfigured(trained, config)
    made = [
        make_doc(nlp.vocab, f"{TEXTS[0]} {TEXTS[3]}", [0, 9]),
        Doc(nlp.vocab),
        make_doc(nlp.vocab, "STAT5"),
        make_doc(nlp.vocab, TEXTS[1]),
    ]
    return [nlp(doc) for doc in made]


def sentences(docs: list[Doc]) -> list[tuple[Doc, int, int]]:
    """The Doc of each, and its first and last token."""
    found = []
    for doc in docs:
        starts = doc.spans[f"{KEY}/1"].attrs["sequence_starts"]
        found += [(doc, *pair) for pair in pairwise([*starts, len(doc)])]
    return found


def segmentations(typed: TypedLists) -> list[list[tuple[float, list[tuple[int, int, float]]]]]:
    """Score, and start, end and best class score of each span, by sentence."""
    lists = typed.lists
    best = lists.class_scores.max(axis=1)
    return [
        [
            (
                lists.sequence_scores[k],
                [
                    (typed.start[u], typed.end[u], best[u])
                    for u in lists.members[lists.member_starts[k] : lists.member_starts[k + 1]]
                ],
            )
            for k in range(first, last)
        ]
        for first, last in pairwise(lists.starts)
    ]


def expected(docs: list[Doc], n: int) -> list[list[tuple[float, list[tuple[int, int, float]]]]]:
    offsets = np.cumsum([0, *map(len, docs)])
    found = []
    for doc, first, last in sentences(docs):
        offset = offsets[docs.index(doc)]
        i = doc.spans[f"{KEY}/1"].attrs["sequence_starts"].index(first)
        ranked = []
        for k in range(1, n + 1):
            group = doc.spans[f"{KEY}/{k}"]
            if group.attrs["sequence_scores"][i] > -np.inf:
                spans = [
                    (s.start + offset, s.end + offset, scores.max())
                    for s, scores in zip(group, group.attrs["class_scores"], strict=True)
                    if first <= s.start < last
                ]
                ranked.append((group.attrs["sequence_scores"][i], spans))
        found.append(ranked)
    return found


def test_they_are_what_the_groups_hold(docs: list[Doc]) -> None:
    """And spans of a sentence stand together."""
    typed = read_lists(docs, KEY, "a test")
    for n in (1, 2, N, N + 1):
        assert segmentations(typed.best(n)) == expected(docs, min(n, N))
    offsets = dict(zip(map(id, docs), np.cumsum([0, *map(len, docs)]), strict=False))
    for i, (doc, first, last) in enumerate(sentences(docs)):
        own = slice(typed.lists.span_starts[i], typed.lists.span_starts[i + 1])
        assert (typed.start[own] >= first + offsets[id(doc)]).all()
        assert (typed.end[own] <= last + offsets[id(doc)]).all()
    assert len(set(zip(typed.start, typed.end, strict=True))) == len(typed.start)
    assert typed.doc_spans[1] == typed.doc_spans[2] == np.count_nonzero(typed.start < len(docs[0]))


def test_errors_count_what_is_wrong_and_missed(docs: list[Doc]) -> None:
    typed = read_lists(docs, KEY, "a test")
    gold = []
    for doc in docs:
        reference = make_doc(doc.vocab, doc.text)
        if doc is docs[0]:
            spans = [Span(reference, *b) for b in bounds(doc.spans[f"{KEY}/2"])[:1]]
            reference.set_ents(spans, default="outside")
        gold.append(read_gold(Example(doc, reference), None))
    errors = typed.errors(gold)
    (wanted,) = bounds(docs[0].spans[f"{KEY}/2"])[:1]
    annotated = typed.doc_spans[1]
    for u, (start, end) in enumerate(zip(typed.start, typed.end, strict=True)):
        right = [(start, end, name) == wanted for name in typed.classes]
        expected_errors = [-1.0 if r else 1.0 for r in right] if u < annotated else [0.0] * 3
        assert errors[u].tolist() == expected_errors


def hand_made(class_scores: list[list[float]]) -> TypedLists:
    """One segmentation of spans of one token each."""
    n = len(class_scores)
    bounds, cuts = np.arange(n), np.array([0, n])
    lists = Lists(
        cuts, np.array([0, 1]), cuts, bounds.astype(np.int32), np.zeros(1),
        np.reshape(class_scores, (n, 3)),
    )  # fmt: skip
    return TypedLists(lists, bounds, bounds + 1, cuts, cuts, ("DNA", "O", "cell"))


def test_rejected_spans_are_no_errors() -> None:
    """Hand-worked: two spans have tokens without annotation, one is wrong, and one is right."""
    gold = [GoldSpans([(2, 3, "cell")], np.array([False, True, True, False]))]
    expected = [[0, 0, 0], [1, 0, 1], [1, 0, -1], [0, 0, 0]]
    assert hand_made([[0.0] * 3] * 4).errors(gold).tolist() == expected
    assert hand_made([]).errors(gold).shape == (0, 3)


def test_rejected_spans_are_chosen_without_a_type() -> None:
    strings = StringStore()
    typed = hand_made([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    (found,) = choose_spans(typed, typed.lists, strings)
    assert [strings[label] for label in found.spans.label.tolist()] == ["ENT", "cell"]
    assert found.is_typed.tolist() == [False, True]
    best = np.exp([1.0, 2.0])
    assert found.probabilities == pytest.approx(best / (best + 2))


@pytest.mark.parametrize(("rank", "name"), [(2, "class_scores"), (1, "earlier_iob")])
def test_a_list_that_is_typed_in_part_is_refused(docs: list[Doc], rank: int, name: str) -> None:
    doc = docs[0].copy()
    del doc.spans[f"{KEY}/{rank}"].attrs[name]
    with pytest.raises(ConfigError, match=r"a test found .*'cascade/1'\] that have no types"):
        read_lists([docs[3], doc], KEY, "a test")


def test_no_docs_have_empty_lists() -> None:
    typed = read_lists([], KEY, "a test")
    assert (typed.doc_starts.tolist(), typed.classes) == ([0], ())
    assert {each.dtype for each in (typed.start, typed.end, typed.doc_starts)} == {np.dtype("i8")}
    assert typed.errors([]).shape == typed.lists.class_scores.shape == (0, 0)


def test_spans_of_a_classifier_without_types_are_refused() -> None:
    """A Doc without tokens has none."""
    nlp = cascade({"n_best": N}, {"set_ents": False})
    nlp.add_pipe("cascade_reranker")
    nlp.initialize()
    assert nlp(Doc(nlp.vocab)).spans[KEY].name == KEY
    with pytest.raises(ConfigError, match=r"'cascade_reranker' .* Train cascade_classifier first"):
        nlp(make_doc(nlp.vocab, TEXTS[0]))


def test_scores_are_read_in_double_precision(docs: list[Doc]) -> None:
    doc = docs[0].copy()
    for k in range(1, N + 1):
        attributes = doc.spans[f"{KEY}/{k}"].attrs
        attributes["class_scores"] = attributes["class_scores"].astype(np.float32)
    assert read_lists([doc], KEY, "a test").lists.class_scores.dtype == np.float64


def test_chosen_spans(docs: list[Doc]) -> None:
    typed = read_lists(docs, KEY, "a test")
    second = typed.chosen_spans(np.ones(len(sentences(docs)), dtype=np.int32))
    pairs = [pair for ranked in expected(docs, 2) for pair in ranked[1][1]]
    assert list(zip(typed.start[second], typed.end[second], strict=True)) == [p[:2] for p in pairs]
    nothing = typed.chosen_spans(np.full(len(sentences(docs)), -1, dtype=np.int32))
    assert len(nothing) == 0
