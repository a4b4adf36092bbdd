"""Copies of training Docs in lower case and without accents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.training import Corpus, Example

from helpers import annotate, blank, bounds, gold_doc
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.augmenters import make_plain_copies, without_accents
from spacy_cascade.pipeline.readers import make_corpus

TEXTS = ["José Ramírez lives in Málaga .", "The NFAT gene", "nothing here", "naïve T cells"]
NAME = "spacy_cascade.plain_copies.v1"
NLP = blank()


def example(text: str = TEXTS[0], spans: Any = ((0, 2, "PER"), (4, 5, "LOC"))) -> Example:
    reference = gold_doc(NLP.vocab, text, spans)
    return Example(reference.copy(), reference)


def copies(one: Example, **settings: Any) -> list[Example]:
    return list(make_plain_copies(**settings)(NLP, one))[1:]


def test_copies_have_the_annotation_of_the_doc() -> None:
    one = example()
    one.reference[2].tag_ = "VBZ"
    one.reference.spans["sc"] = [Span(one.reference, 0, 1, "FIRST", span_id="x")]
    one.predicted[0].is_sent_start = True
    lower, plain = copies(one, lower=1.0, unaccented=1.0)
    assert lower.reference.text.rstrip() == TEXTS[0].lower() == lower.predicted.text.rstrip()
    assert plain.reference.text.rstrip() == "Jose Ramirez lives in Malaga ."
    for copy in (lower, plain):
        assert bounds(copy.reference.ents) == [(0, 2, "PER"), (4, 5, "LOC")]
        assert copy.reference[2].tag_ == "VBZ"
        assert bounds(copy.reference.spans["sc"]) == [(0, 1, "FIRST")]
        assert copy.reference.spans["sc"][0].id_ == "x"
        assert copy.predicted[0].is_sent_start


def test_words_that_are_not_annotated_stay_so() -> None:
    one = example(spans=())
    annotate(one.reference, ["B", "missing", "outside", "blocked", "B", "I"], ["PER"] * 6)
    (lower,) = copies(one, lower=1.0, unaccented=0.0)
    for mine, its in zip(one.reference, lower.reference, strict=True):
        assert (mine.ent_iob, mine.ent_type) == (its.ent_iob, its.ent_type)


def test_a_copy_that_would_be_the_same_is_not_made() -> None:
    assert copies(example("nothing here", ()), lower=1.0, unaccented=1.0) == []
    assert len(copies(example("The NFAT gene", ()), lower=1.0, unaccented=1.0)) == 1
    assert copies(example(), lower=0.0, unaccented=0.0) == []


def test_the_seed_draws_a_share_of_the_docs_and_each_pass_the_same() -> None:
    docs = [example(f"Word {i}", ()) for i in range(1000)]

    def drawn(seed: int) -> list[int]:
        augment = make_plain_copies(lower=0.3, seed=seed)
        return [i for i, one in enumerate(docs) if len(list(augment(NLP, one))) > 1]

    first = drawn(0)
    assert first == drawn(0) != drawn(1)
    # Four standard deviations of a binomial distribution.
    assert len(first) == pytest.approx(300, abs=4 * (1000 * 0.3 * 0.7) ** 0.5)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("é", "e"),
        ("e\u0301", "e"),
        ("ñÜç", "nUc"),
        ("øß", "øß"),
        ("가", "가"),
        ("が", "が"),
        ("\u0301", "\u0301"),
    ],
)
def test_marks_are_taken_off_letters(text: str, plain: str) -> None:
    assert without_accents(text) == plain


def test_readers_give_the_copies(tmp_path: Path) -> None:
    """spaCy's own reader and ours, which keeps the words and sentences of the corpus."""
    docs = [gold_doc(blank().vocab, text, ()) for text in TEXTS]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    augmenter = spacy.registry.resolve({"a": {"@augmenters": NAME, "lower": 1.0}})["a"]
    for corpus in (
        make_corpus(tmp_path / "train.spacy", augmenter=augmenter),
        Corpus(tmp_path / "train.spacy", augmenter=augmenter),
    ):
        nlp = blank()
        words = [[token.text for token in one.reference] for one in corpus(nlp)]
        for text in TEXTS:
            assert text.split() in words
            assert text.lower().split() in words
        assert words == [[token.text for token in one.reference] for one in corpus(nlp)]


@pytest.mark.parametrize("settings", [{"lower": 1.1}, {"unaccented": -0.1}])
def test_a_share_is_from_0_to_1(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        make_plain_copies(**settings)
