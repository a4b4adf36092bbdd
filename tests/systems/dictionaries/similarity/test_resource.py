"""`similarity(NAME)` as templates have it: lists, the training corpus, and what a model keeps."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from similar_spans import Words, all_spans, context_of, flags_of, tokens_of
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.registry import attribute_class
from spacy_cascade.features.resources import InvalidArray, Resources
from spacy_cascade.features.templates import Templates
from spacy_cascade.systems.dictionaries.listed_terms import leaves_out
from spacy_cascade.systems.dictionaries.similarity.measures import MEASURES
from spacy_cascade.systems.dictionaries.similarity.resource import SimilarTerms, TrainingTerms
from spacy_cascade.systems.dictionaries.terms import TermList

LISTED = ["IL-2 gene", "il-2 GENE", "alpha beta gamma", "Alpha"]
DOCS = [["alpha", "beta", "gamma", "x"], ["the", "alpha", "betas", "gamma"], ["il-2", "gene"]]


def of_list(settings: Any = LISTED) -> SimilarTerms:
    return SimilarTerms.read("mine", settings, lambda word: word.split("-"))


def attributes(argument: str | None, **lexicons: Any) -> list[Any]:
    options = Templates(("bias",), {}, lexicons)
    return list(attribute_class("similarity").expand("similarity", argument, options))


def values(resource: SimilarTerms, docs: list[Words], own: Any = None) -> dict[str, list[int]]:
    context = context_of(tokens_of(docs), all_spans(docs), own)
    return {name: resource.values(name, context).tolist() for name in MEASURES}


def test_a_name_stands_for_all_measures() -> None:
    names = [str(each) for each in attributes("mine", mine=LISTED)]
    assert names == [f"similarity(mine, {measure})" for measure in MEASURES]
    (one,) = attributes("mine,tfidf", mine=LISTED)
    assert str(one) == "similarity(mine, tfidf)"
    assert one.spec.key == "similarity(mine)"
    assert len(attributes("*", mine=LISTED, other=LISTED)) == 2 * len(MEASURES)


@pytest.mark.parametrize(
    ("argument", "lexicons", "message"),
    [
        ("genes", {"mine": LISTED}, "there is no lexicon 'genes'. Known: mine"),
        ("mine, cosine", {"mine": LISTED}, "'cosine' is no measure .* jaccard, tfidf, jaro_wink"),
        ("mine, tfidf, value", {"mine": LISTED}, "'value' is not known after a measure"),
        ("mine", {"mine": LISTED, "training": LISTED}, "no list can have the name 'training'"),
    ],
)
def test_names_that_are_not_valid(argument: str | None, lexicons: Any, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        attributes(argument, **lexicons)


def test_values_are_described() -> None:
    (attribute,) = attributes("mine, jaccard", mine=LISTED)
    context = context_of(tokens_of(DOCS), [(4, 8), (8, 10), (5, 6), (0, 4), (3, 4)])
    found = attribute.values(context, of_list()).tolist()
    texts = [attribute.describe(value, str, of_list()) for value in found if value]
    assert texts == ["jaccard 1 to mine"] * 2 + ["jaccard 0.7-0.8 to mine"]
    assert found[0] == found[4] == 0


def test_steps_that_are_reached() -> None:
    """A feature of each step up to the one that the similarity is in, and one search for all."""
    (single,) = attributes("mine, jaccard", mine=LISTED)
    reached = attributes("mine, jaccard, cumulative", mine=LISTED)
    assert [str(each) for each in reached[:2]] == [
        "similarity(mine, jaccard, 0.6 or more)", "similarity(mine, jaccard, 0.7 or more)",
    ]  # fmt: skip
    assert all(each.spec == single.spec for each in reached)
    context, resource = context_of(tokens_of(DOCS), all_spans(DOCS)), of_list()
    steps = single.values(context, resource)
    assert {0, 2, 5} <= set(steps.tolist())
    resource.search.measure("jaccard").search = None  # type: ignore[assignment, method-assign]
    found = np.stack([each.values(context, resource) for each in reached], axis=1)
    np.testing.assert_array_equal(found, steps[:, None] >= np.arange(1, 6))
    assert reached[1].describe(1, str, resource) == "jaccard 0.7 or more to mine"


def test_lists_are_read() -> None:
    """Terms are known as the tokenizer splits them, too."""
    context = context_of(tokens_of([["il", "2", "gene"]]), [(0, 3)])
    assert of_list().values("jaccard", context).tolist() == [5]
    for source, message in (("gone.txt", "Cannot read the lexicon 'mine'"), ([], "has no terms")):
        with pytest.raises(TemplateError, match=message):
            of_list(source)


# The dictionary of the training corpus

GOLD = [(0, 3), (4, 5), (5, 8), (8, 10)]
"""`alpha beta gamma` in the first Doc, `the` and `alpha betas gamma` in the second, `il-2 gene`."""


def learnt(docs: list[Words] = DOCS, gold: Any = GOLD) -> TrainingTerms:
    tokens = tokens_of(docs)
    return TrainingTerms.empty().learn(tokens, flags_of(tokens, gold))


def test_gold_spans_are_the_terms_and_an_adaptation_adds_its_own() -> None:
    def counts(training: TrainingTerms) -> dict[str, int]:
        terms = training.dictionary
        assert terms.n_docs is not None
        return {terms.text(n): count for n, count in enumerate(terms.n_docs.tolist())}

    training = learnt()
    own = dict.fromkeys(("alpha beta gamma", "the", "alpha betas gamma", "il-2 gene"), 1)
    assert counts(training) == own
    tokens = tokens_of([["il-2", "gene"], ["new", "alpha"]])
    more = training.add(tokens, flags_of(tokens, [(0, 2), (2, 4)]))
    assert counts(more) == {**own, "new alpha": 1, "il-2 gene": 2}


def test_the_own_document_is_left_out() -> None:
    """What the first Doc alone has does not help it, what another one has does."""
    spans = [(0, 3), (4, 5), (5, 8), (8, 10)]
    context, own = context_of(tokens_of(DOCS), spans), context_of(tokens_of(DOCS), spans, GOLD)
    training = learnt()
    for name, measure in MEASURES.items():
        assert training.values(name, context).tolist() == [len(measure.steps)] * 4
    assert training.values("jaccard", own).tolist() == [0, 0, 0, 0]
    soft = training.values("tfidf", own).tolist()
    assert 0 < soft[0] < 5
    assert 0 < soft[2] < 5
    assert soft[1] == soft[3] == 0
    assert training.values("jaro_winkler", own).tolist()[1::2] == [0, 0]
    # Training has left nothing behind.
    assert training.values("jaccard", context).tolist() == [5] * 4


def test_it_is_as_if_the_other_documents_had_been_learnt_alone() -> None:
    docs = [*DOCS, ["alpha", "beta", "gamma"], ["gene", "il-2", "gene", "il-2"]]
    gold = [*GOLD, (10, 13), (13, 15), (15, 17)]
    training = learnt(docs, gold)
    starts = np.cumsum([0, *map(len, docs)])
    found = values(training, docs, gold)
    begin = 0
    for n, doc in enumerate(docs):
        others = [doc for k, doc in enumerate(docs) if k != n]
        kept = [(s, e) for s, e in gold if not starts[n] <= s < starts[n + 1]]
        moved = [(s - len(doc), e - len(doc)) if s >= starts[n] else (s, e) for s, e in kept]
        expected = values(learnt(others, moved), [doc])
        n_spans = len(all_spans([doc]))
        for name in ("jaccard", "jaro_winkler"):  # weights of words depend on the whole corpus
            assert found[name][begin : begin + n_spans] == expected[name], (name, doc)
        begin += n_spans


def test_before_training_and_without_entities() -> None:
    for training in (TrainingTerms.empty(), learnt(DOCS, [])):
        for name in MEASURES:
            assert not any(values(training, DOCS)[name])
            assert not any(values(training, DOCS, [])[name])


def test_words_without_a_text_in_lower_case_are_in_no_term() -> None:
    """As of a vocabulary that has no such attribute."""
    tokens = tokens_of([["x", "alpha"]])
    tokens = replace(tokens, lower=tokens.lower * np.array([0, 1], dtype=np.uint64))
    training = TrainingTerms.empty().learn(tokens, flags_of(tokens, [(0, 1), (1, 2)]))
    TrainingTerms.check(training.arrays())
    assert len(training.dictionary) == 1


def test_lists_can_leave_out_own_entries() -> None:
    settings = TermList(LISTED, leave_out=True)
    assert leaves_out(settings)
    tokens = tokens_of(DOCS)
    listed = of_list(settings).learn(tokens, flags_of(tokens, GOLD))
    own = context_of(tokens, GOLD, GOLD)
    assert listed.values("jaccard", own).tolist() == [0, 0, 0, 0]
    assert of_list().learn(tokens, flags_of(tokens, GOLD)).values("jaccard", own).tolist()[0] == 5


# Model files


def resources_of(*arguments: str) -> Resources:
    specs = [a.spec for text in arguments for a in attributes(text, mine=LISTED)]
    return Resources(specs)


@pytest.mark.parametrize("is_trained", [False, True])
def test_saved_and_restored(is_trained: bool) -> None:
    resources = resources_of("mine", "training")
    resources.read(lambda word: word.split("-"))
    tokens = tokens_of(DOCS)
    if is_trained:
        resources.learn(tokens, flags_of(tokens, GOLD))
    arrays = resources.arrays()
    again = resources_of("mine", "training")
    shapes = again.shapes(arrays, True)
    assert arrays.keys() == shapes.keys()
    for name, (shape, kind) in shapes.items():
        assert (arrays[name].shape, arrays[name].dtype.str[1:].replace("b1", "b")) == (shape, kind)
    again.check(arrays)
    again.restore(arrays)
    copied = pickle.loads(pickle.dumps(resources))
    for key, resource in resources.made.items():
        for other in (again, copied):
            assert values(other.made[key], DOCS) == values(resource, DOCS)
            assert values(other.made[key], DOCS, GOLD) == values(resource, DOCS, GOLD)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("keys", lambda a: np.append(a[:-1], a[:1])),
        ("keys", lambda a: np.append(a[:-1], np.uint64(0))),
        ("content", lambda a: np.append(a[:-1], np.uint8(0xFF))),
        ("ends", lambda a: a[::-1].copy()),
        ("lengths", lambda a: a * 0),
        ("lengths", lambda a: a + np.uint8(1)),
        ("lengths", lambda a: a + np.uint8(200)),
        ("words", lambda a: a + np.int32(100)),
        ("words", lambda a: a - np.int32(100)),
        ("words", lambda a: a * 0),
    ],
)
def test_damaged_arrays(name: str, damage: Any) -> None:
    arrays = of_list().arrays()
    SimilarTerms.check(arrays)
    arrays[name] = damage(arrays[name])
    with pytest.raises(InvalidArray):
        SimilarTerms.check(arrays)
