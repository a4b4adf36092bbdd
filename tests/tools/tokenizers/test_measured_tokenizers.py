"""Tokenizers measured on made corpora of known styles."""

from __future__ import annotations

import pytest
import spacy
from spacy.lang.en import English
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import blank
from spacy_cascade.pipeline.spans.left_out import CUTS, left_out_span
from spacy_cascade.tools.formats.placing import Misfit
from spacy_cascade.tools.tokenizers.choosing import (
    CANDIDATES,
    best_tokenizer,
    make_tokenizer,
    measure,
    measure_tokenizer,
)
from spacy_cascade.tools.tokenizers.corpus_words import cuts_of, pieces_of, read_words
from spacy_cascade.tools.tokenizers.lost_spans import keep_lost

NLP = blank()
SPACY = {"@tokenizers": "spacy.Tokenizer.v1"}
PUNCTUATION = {"@tokenizers": "spacy_cascade.PunctuationTokenizer.v1"}
SPACE = {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"}


def gold(text: str, *entities: str) -> Doc:
    """A Doc with `|` between tokens without a space; entities by their text without it."""
    chunks = [chunk.split("|") for chunk in text.split()]
    words = [word for chunk in chunks for word in chunk]
    spaces = [i == len(chunk) - 1 for chunk in chunks for i in range(len(chunk))]
    doc = Doc(NLP.vocab, words=words, spaces=spaces)
    spans = [doc.char_span(doc.text.index(e), doc.text.index(e) + len(e), "X") for e in entities]
    assert all(isinstance(span, Span) for span in spans)
    doc.set_ents([span for span in spans if span is not None])
    return doc


SPLIT = [gold("the NF|-|kappa B|/|Rel binds 1|.|5 (|IL|-|2|)|.", "NF", "IL-2")] * 6
WHOLE = [gold("the NF-kappa B/Rel binds 1.5 (|IL-2|)|.", "NF-kappa B/Rel", "IL-2")] * 6
PENN = [gold("Mr. A|'s dog is|n't in U.S. (|yes|)|, St. Louis|.", "A", "St. Louis", "U.S.")] * 6
EXCEPTIONS = ("Mr.", "isn't", "St.")
CORPORA = {
    "split": (SPLIT, {"spacy_cascade.PunctuationTokenizer.v1"}),
    "whole": (WHOLE, {"spacy_cascade.WholeNamesTokenizer.v1", "spacy_cascade.RuleTokenizer.v1"}),
    "Penn": (PENN, {"spacy_cascade.RuleTokenizer.v1", "spacy.Tokenizer.v1"}),
}
"""Docs, and the tokenizers that may fit them best."""


def test_words_and_their_tokens() -> None:
    words = read_words([SPLIT[0]])
    assert pieces_of("NF-kappa", next(iter(words.splits["NF-kappa"]))) == ["NF", "-", "kappa"]
    assert words.splits["the"] == {(): 1}
    assert [tuple(edge) for edge in words.entities[0]] == [("NF-kappa", 0), ("NF-kappa", 2)]


@pytest.mark.usefixtures("whole_tokenizers")
def test_places_are_those_of_the_tokens() -> None:
    tokenizer = make_tokenizer(SPACY, spacy.blank("en"))
    found = cuts_of(tokenizer, ["can't", "(a).", "b", "a\xa0b"])
    assert found == {"can't": (2,), "(a).": (1, 2, 3), "b": (), "a\xa0b": (1, 2)}
    assert cuts_of(tokenizer, []) == {}


@pytest.mark.parametrize("vocab", [NLP.vocab, Vocab()])
def test_line_breaks_separate_words(vocab: Vocab) -> None:
    """In a vocabulary without a language `token.is_space` is false for a line break, too."""
    doc = Doc(vocab, words=["a", "\n", "b", ".", "  ", "c"], spaces=[False] * 6)
    doc.set_ents([Span(doc, 0, 2, "X"), Span(doc, 2, 3, "X"), Span(doc, 4, 6, "X")])
    words = read_words([doc])
    assert words.splits == {"a": {(): 1}, "b.": {(1,): 1}, "c": {(): 1}}
    # An entity that begins or ends with one begins or ends in no word.
    assert words.entities == [(("b.", 0), ("b.", 1))]


def test_what_is_measured() -> None:
    found = measure(SPACE, read_words([SPLIT[0]]), NLP)
    assert (found.entities, found.misaligned, found.aligned) == (2, 2, 0.0)
    assert (found.recall, found.f) == (0.0, 0.0)
    exact = measure(PUNCTUATION, read_words([SPLIT[0]]), NLP)
    assert (exact.misaligned, exact.precision, exact.recall) == (0, 1.0, 1.0)
    over = measure(PUNCTUATION, read_words([WHOLE[0]]), NLP)
    # Three boundaries are right; those around four marks are too many.
    assert over.recall == 1.0
    assert over.precision == pytest.approx(3 / 11)


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.usefixtures("whole_tokenizers")
def test_the_best_one_fits_the_corpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that are fitted find the tokens of the corpus again, as they come from a config."""
    docs, best = CORPORA[name]
    exceptions = {text: English.Defaults.tokenizer_exceptions[text] for text in EXCEPTIONS}
    monkeypatch.setattr(English.Defaults, "tokenizer_exceptions", exceptions)  # the others are slow
    nlp = spacy.blank("en") if name == "Penn" else NLP
    found = best_tokenizer(docs, nlp.lang)
    assert found[0].name in best
    assert found[0].aligned == 1.0
    assert [f.score for f in found] == sorted((f.score for f in found), reverse=True)
    fitted = [f for f in found if f.name.endswith("RuleTokenizer.v1")]
    assert len(fitted) == 2
    for one in fitted:
        section = Config().from_str(Config({"t": one.tokenizer}).to_str())["t"]
        tokenizer = make_tokenizer(section, nlp)
        assert [t.text for t in tokenizer(docs[0].text)] == [t.text for t in docs[0]]


def test_rules_are_not_those_of_the_part_that_measures() -> None:
    """Half of the Docs cannot show that the other half splits at slashes."""
    other = gold("a|/|b c|/|d", "a", "d")
    found = best_tokenizer([gold("a b", "a"), other] * 4, "xx")
    fitted = max((f for f in found if f.name.endswith("RuleTokenizer.v1")), key=lambda f: f.score)
    assert fitted.misaligned > 0
    assert "/" in fitted.tokenizer["split_inside"]


def test_dollar_signs_survive_a_config() -> None:
    docs = [gold("US$|5 and A$|5", "5")] * 6
    for found in best_tokenizer(docs, "xx"):
        text = Config({"nlp": {"tokenizer": found.tokenizer}}).to_str()
        again = Config().from_str(Config().from_str(text).to_str())
        assert again["nlp"]["tokenizer"] == found.tokenizer


def test_docs_without_known_spaces_say_nothing() -> None:
    unknown = Doc(NLP.vocab, words=["a", "."])
    assert best_tokenizer([unknown], "xx") == []
    assert best_tokenizer([], "xx") == []
    assert len(best_tokenizer([unknown, *SPLIT], "xx")) > 4


@pytest.mark.parametrize("text", [".", "-|-|-", "a b", "'|a"])
def test_odd_corpora_are_measured(text: str) -> None:
    for found in best_tokenizer([gold(text)], "xx"):
        assert found.aligned == 1.0
        assert 0 <= found.score <= 1.05


def test_a_limit_takes_docs_from_all_over_the_corpus() -> None:
    docs = [gold("a (|b|)|.", "b")] * 100
    assert measure_tokenizer(SPACY, docs, NLP, limit=60).entities == 13
    assert measure_tokenizer(SPACY, docs, NLP).entities == 100


def test_spans_that_were_lost_count_as_entities() -> None:
    """`convert` made no entities of them, so that the tokens of the corpus say nothing of them."""
    assert Misfit.CUTS.value == CUTS
    docs = [gold("the IL-2_mut binds IL-2 x", "IL-2 x") for _ in range(6)]
    assert best_tokenizer(docs, "xx")[0].misaligned == 0
    for doc in docs:
        cut = left_out_span("", doc.text, [(4, 8)], "X", CUTS)
        keep_lost(doc, [cut, cut._replace(start=0, end=3, reason=Misfit.DIFFERS.value)])
    words = read_words(docs)
    assert words.splits["IL-2_mut"] == {(4,): 6}
    assert len(words.entities) == 12
    assert measure(SPACY, words, NLP).misaligned == 6
    best = best_tokenizer(docs, "xx")[0]
    assert (best.entities, best.misaligned) == (12, 0)
    made = make_tokenizer(best.tokenizer, NLP)("the IL-2_mut binds IL-2 x")
    assert made.char_span(4, 8) is not None


@pytest.mark.parametrize(
    "parts", [("ฉันอยู่ที่", "กรุงเทพ", "มานาน"), ("我住在", "北京市", "很久"), ("ကျွန်တော်", "ရန်ကုန်", "မှာ")]
)
def test_text_without_spaces_is_split_by_characters(parts: tuple[str, str, str]) -> None:
    before, place, after = parts
    docs = [gold("a-b c", "c")]
    for n in range(1, 7):
        doc = Doc(NLP.vocab, words=[before * n, place, after], spaces=[False] * 3)
        doc.set_ents([Span(doc, 1, 2, "LOC")])
        docs.append(doc)
    best = best_tokenizer(docs, "xx")[0]
    assert (best.name, best.misaligned) == ("spacy_cascade.CharacterTokenizer.v1", 0)
    assert best.name not in {found.name for found in best_tokenizer(docs[:1], "xx")}


def test_the_tokenizer_of_the_language_is_measured() -> None:
    nlp = spacy.blank("zh")
    doc = nlp.make_doc("艾达在罗马。")
    doc.set_ents([Span(doc, 0, 2, "PER")])
    best, *others = best_tokenizer([doc] * 4, "zh")
    assert (best.name, best.misaligned) == ("spacy.zh.ChineseTokenizer", 0)
    assert {found.name for found in others} >= {one["@tokenizers"] for one in CANDIDATES}
