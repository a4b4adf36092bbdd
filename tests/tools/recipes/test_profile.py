"""What is seen in made corpora, compared with counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from annotated_docs import random_doc
from helpers import blank, sample_docs
from made_corpora import made_doc, named_docs
from spacy_cascade.tools.recipes.describing import describe
from spacy_cascade.tools.recipes.profile import measure_profile


def test_counts_are_those_of_spacy() -> None:
    """On Docs with any annotation: blocked and unannotated tokens, sentences or none."""
    vocab = blank().vocab
    docs = [random_doc(vocab, seed) for seed in range(60)]
    entities = [entity for doc in docs for entity in doc.ents]
    lengths = [len(entity) for entity in entities]
    profile = measure_profile(docs)
    assert profile.documents == len(docs)
    assert profile.empty == sum(not len(doc) for doc in docs) > 0
    assert profile.words == sum(map(len, docs))
    assert profile.entities == len(entities) > 20
    assert profile.labels == Counter(entity.label_ for entity in entities)
    assert profile.mean_length == pytest.approx(np.mean(lengths))
    assert profile.longest == max(lengths)
    assert profile.length_95 == int(np.quantile(lengths, 0.95))
    starts = [entity[0].text[:1].isupper() for entity in entities]
    assert profile.capitalized == pytest.approx(np.mean(starts))
    assert profile.unannotated == sum(token.ent_iob == 0 for doc in docs for token in doc)


def test_sentences_are_those_of_spacy() -> None:
    vocab = blank().vocab
    docs = sample_docs(vocab, n_docs=12)
    profile = measure_profile(docs)
    assert profile.sentences == sum(len(list(doc.sents)) for doc in docs)
    assert profile.pieces is None
    assert profile.sentences_per_document == profile.sentences / 12
    unmarked = [Doc(vocab, words=[token.text for token in doc]) for doc in docs]
    single = Doc(vocab, words=["so"])
    assert measure_profile([*unmarked, single]).sentences is None
    some = measure_profile([*docs, *unmarked, single])
    assert some.sentences == profile.sentences + 12 + 1, "a document without marks is one"


def test_pieces_of_a_text_are_no_documents() -> None:
    vocab = Vocab()
    assert measure_profile(named_docs(vocab, 8, 3)).pieces == 3
    assert measure_profile(named_docs(vocab, 2, 2)).pieces == 2
    assert measure_profile(named_docs(vocab, 1, 3)).pieces is None  # perhaps the only one
    assert measure_profile(named_docs(vocab, 8, 1)).pieces is None  # single sentences
    uneven = [doc for n in (1, 2, 3, 4) for doc in named_docs(vocab, 2, n)]
    assert measure_profile(uneven).pieces is None


@pytest.mark.parametrize(
    ("words", "share"),
    [
        ("IL-2 T-cell", 0.0),
        ("IL - 2 T - cell", 1.0),
        ("IL-2 T - cell", 0.5),
        ("(IL - 2)", 1.0),
        ("- IL 2 -", None),
        ("( - IL", None),
    ],
)
def test_hyphens_inside_and_between_tokens(words: str, share: float | None) -> None:
    found = measure_profile([made_doc(Vocab(), [words.split()])])
    assert found.hyphens_split == share
    slashes = measure_profile([made_doc(Vocab(), [words.replace("-", "/").split()])])
    assert slashes.slashes_split == share
    assert slashes.hyphens_split is None


def test_a_dash_between_spaces_splits_no_word() -> None:
    words = ["T", "-", "cell", "-", "then"]
    spaces = [False, False, True, True, False]
    found = measure_profile([made_doc(Vocab(), [words], spaces=spaces)])
    assert found.spacing_known == 1.0
    assert found.hyphens_split == 1.0
    dashes = made_doc(Vocab(), [["a", "-", "b"]], spaces=[True, True, False])
    assert measure_profile([dashes]).hyphens_split is None


def test_a_hyphen_does_not_reach_over_documents() -> None:
    vocab = Vocab()
    docs = [made_doc(vocab, [words]) for words in (["a", "-"], ["b"])]
    assert measure_profile(docs).hyphens_split is None


def test_what_dev_has_that_train_has_not() -> None:
    vocab = Vocab()
    train = [made_doc(vocab, [["Ada", "met", "IBM"]], [(0, 1, "PER"), (2, 3, "ORG")])]
    entities = [(0, 1, "PER"), (2, 3, "GOD"), (3, 4, "PER")]
    dev = [made_doc(vocab, [["IBM", "met", "Bob", "Eve", "!"]], entities)]
    held = measure_profile(train, dev).dev
    assert held is not None
    assert (held.documents, held.words, held.entities) == (1, 5, 3)
    assert (held.unseen_words, held.unseen_entities) == pytest.approx((3 / 5, 2 / 3))
    assert "Types that cannot be learnt: GOD." in describe(measure_profile(train, dev))[-1]
    assert measure_profile(train).dev is None


def test_recurrence_in_the_same_document_and_the_next() -> None:
    vocab = Vocab()
    words = ["Ada", "saw", "Ada", "and", "Bob"]
    one = made_doc(vocab, [words], [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "PER")])
    other = made_doc(vocab, [["Bob"]], [(0, 1, "PER")])
    profile = measure_profile([one, other])
    assert profile.recurring == pytest.approx(2 / 4)
    assert profile.recurring_elsewhere == pytest.approx(2 / 4)
    assert measure_profile([one]).recurring_elsewhere == 0.0, "there is no next one"
    # Bob is in the second one again; Ada of the third is in the first, which follows it.
    third = made_doc(vocab, [["Ada"]], [(0, 1, "PER")])
    assert measure_profile([one, other, third]).recurring_elsewhere == pytest.approx(2 / 5)


def test_abbreviations_beside_their_long_forms_are_counted_per_thousand_words() -> None:
    sentences = "the nuclear factor ( NF ) binds .", "a heat shock protein ( HSP ) and NF bind ."
    doc = made_doc(Vocab(), [sentence.split() for sentence in sentences])
    assert measure_profile([doc]).explained == pytest.approx(2 * 1000 / 19)


def test_case() -> None:
    vocab = Vocab()
    for word, lower, upper in (("ada 1 ,", 1, 0), ("ADA É", 0, 1), ("Ada", 0, 0)):
        profile = measure_profile([made_doc(vocab, [word.split()])])
        assert (profile.lower, profile.upper) == (lower, upper)


def test_who_relies_on_capitals_is_told_of_copies() -> None:
    vocab = Vocab()
    for words, is_told in ((["Ada", "met", "Bob"], True), (["ada", "met", "Bob"], False),
                           (["ADA", "MET", "BOB"], False)):  # fmt: skip
        docs = [made_doc(vocab, [words], [(0, 1, "PER"), (2, 3, "PER")])]
        assert ("init --plain-copies" in " ".join(describe(measure_profile(docs)))) == is_told


def test_corpora_with_nothing_to_see() -> None:
    vocab = Vocab()
    for docs in ([], [Doc(vocab)], [Doc(vocab), made_doc(vocab, [["a"]])]):
        profile = measure_profile(docs, docs)
        assert profile.entities == profile.longest == profile.mean_length == profile.length_95 == 0
        assert profile.capitalized == profile.recurring == profile.recurring_elsewhere == 0.0
        assert profile.explained == 0.0
        assert profile.hyphens_split is None


def test_it_is_told_in_words() -> None:
    vocab = Vocab()
    docs = [*named_docs(vocab, 4, 3), Doc(vocab), Doc(vocab, words=["so"])]
    text = " ".join(describe(measure_profile(docs)))
    for part in (
        "6 documents, 13 sentences", "1 document without words", "1 word without entity",
        "12 entities of 3 types: PER 50%", "The spaces between words are known in 17%",
    ):  # fmt: skip
        assert part in text
    unmarked = " ".join(describe(measure_profile(named_docs(vocab, is_marked=False))))
    assert "no marked sentences" in unmarked
