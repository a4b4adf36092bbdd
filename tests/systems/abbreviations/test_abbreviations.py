"""Abbreviations that Docs explain, against the paper's examples and algorithm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

import abbreviation_twin as twin
from helpers import blank
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.tokens import Tokens, join_tokens, read_tokens
from spacy_cascade.systems.abbreviations.long_forms import Abbreviations
from spacy_cascade.systems.abbreviations.search import find_abbreviations
from spacy_cascade.systems.abbreviations.spelled_words import SpelledWords

VOCAB = blank().vocab
WORDS = [
    "heat", "shock", "Protein", "proteins", "HSP", "HSPs", "HS", "A", "-", "(", ")", "(", ")",
    "[", "]", "and", ",", "é", "a b", "\n", "s", "-LRB-", "-RRB-", "12",
]  # fmt: skip
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=16), max_size=3)
DOCS = st.lists(SENTENCES, max_size=3)


def doc_of(sentences: Sequence[Sequence[str]]) -> Doc:
    words = [word for sentence in sentences for word in sentence]
    starts = [t == 0 for sentence in sentences for t in range(len(sentence))]
    return Doc(VOCAB, words=words, sent_starts=starts)


def read(docs: Sequence[Sequence[Sequence[str]]]) -> Tokens:
    return read_tokens([doc_of(sentences) for sentences in docs])


def explained(tokens: Tokens, spelled: SpelledWords | None = None) -> Abbreviations:
    return find_abbreviations(tokens, spelled or SpelledWords(), VOCAB.strings.__getitem__)


def pairs(tokens: Tokens) -> list[tuple[str, str]]:
    """Short and long forms as texts."""
    texts = [VOCAB.strings[word] for word in tokens.words.tolist()]
    found = explained(tokens)
    bounds = zip(found.short, found.long, strict=True)
    return [(" ".join(texts[a:b]), " ".join(texts[c:d])) for (a, b), (c, d) in bounds]


def found_in(text: str) -> list[tuple[str, str]]:
    return pairs(read([[text.split()]]))


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("the heat shock protein ( HSP ) of", "HSP", "heat shock protein"),
        (
            "by gonadotropin-releasing hormone ( GnRH ) .",
            "GnRH",
            "gonadotropin-releasing hormone",
        ),
        ("Heat shock transcription factor ( HSF )", "HSF", "Heat shock transcription factor"),
        ("of dendritic cells ( DCs ) and", "DCs", "dendritic cells"),
        (
            "the transforming growth factor - beta 1 ( TGF - beta 1 )",
            "TGF - beta 1",
            "transforming growth factor - beta 1",
        ),
        ("growth by 5 - fluorouracil [ 5 - FU ]", "5 - FU", "5 - fluorouracil"),
        ("Epstein-Barr virus -LRB- EBV -RRB-", "EBV", "Epstein-Barr virus"),
        ("heat shock protein ( HSP , 70 kDa )", "HSP", "heat shock protein"),
        ("the HSP ( heat shock protein ) of", "HSP", "heat shock protein"),
        ("TNF - a ( the tumour necrosis factor a )", "TNF - a", "tumour necrosis factor a"),
        ("CD34 + dendritic cells ( CD34DCs )", "CD34DCs", "CD34 + dendritic cells"),
        # The shortest one: "and" stands in "anode", too, but "aside" begins no long form of it.
        ("and aside and anode ( AND )", "AND", "anode"),
    ],
)
def test_examples(text: str, short: str, long: str) -> None:
    assert found_in(text) == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "a protein ( see Figure 1 )",
        "shock heat protein ( HSP )",
        "heat shock protein HSP",
        "heat shock protein ( HSP",
        "heat shock protein ( )",
        "( HSP ) heat shock protein",
        "heat shock protein ( see ( HS",
        "HSP ( HSP )",
        "the HSP heat ( HSP )",
        "seen by us ( 12 )",
        "heat ( h )",
        "acetone ( Acetylacid3 )",
        "heat shock protein ( - HSP )",
        # Seven words are too many for three characters.
        "heat a1 a2 a3 shock a5 protein ( HSP )",
        "P 1 ( p < 0.05 )",
        "to it (",
        "(",
    ],
)
def test_no_abbreviation(text: str) -> None:
    assert found_in(text) == []


def test_both_forms_stand_in_one_sentence() -> None:
    assert pairs(read([[["heat", "shock", "protein"], ["(", "HSP", ")"]]])) == []
    assert pairs(read([[["heat", "shock", "protein"]], [["(", "HSP", ")"]]])) == []


@settings(max_examples=300)
@given(DOCS)
@example([[["heat", "shock", "Protein", "(", "HSP", ")"], ["HSPs", "and", "HS"]]])
@example([[["A", "(", "and", "HS", "a b", "proteins", ")"]]])
def test_the_twin_finds_the_same(docs) -> None:
    tokens = read(docs)
    expected, offset = [], 0
    for sentences in docs:
        first = np.cumsum([offset, *map(len, sentences)]).tolist()
        for found in twin.explained(sentences):
            start = first[found.sentence]
            expected.append(tuple(start + t for t in (*found.short, *found.long)))
        offset = first[-1]
    bounds = np.column_stack(explained(tokens)[:2])
    assert [tuple(row) for row in bounds.tolist()] == expected


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["H", "SP", "-", "h s", "é1", "İ", "ß", "p"]), min_size=1, max_size=4),
    st.lists(st.text("hsp1-é İß", min_size=1, max_size=5), max_size=8),
)
def test_a_long_form_has_the_characters_in_order(short, words) -> None:
    """The first one begins a word; signs count nothing."""
    found = explained(read([[[*words, "(", *short, ")"]]]))
    if not len(found.long) or found.short[0, 0] <= len(words):
        return
    kept = words[found.long[0, 0] :]
    line = " ".join(kept).lower()
    first, *others = [c for c in "".join(short).lower() if c.isalnum()]
    begins = [i for i in range(len(line)) if i == 0 or not line[i - 1].isalnum()]
    assert any(line[i] == first and is_subsequence(others, line[i + 1 :]) for i in begins)
    length = len("".join(short))
    assert len(line) > length
    assert sum(any(map(str.isalnum, word)) for word in kept) <= min(length + 5, 2 * length)


def is_subsequence(wanted: Sequence[str], text: str) -> bool:
    rest = iter(text)
    return all(character in rest for character in wanted)


@settings(max_examples=100)
@given(DOCS, st.data())
def test_batches_do_not_matter(docs, data) -> None:
    """Abbreviations of a Doc are the same alone, in a batch, and in joined batches."""
    if not docs:
        return
    cut = data.draw(st.integers(0, len(docs)))
    whole = read(docs)
    joined = join_tokens([read(docs[:cut]), read(docs[cut:])])
    for one, other in zip(explained(whole), explained(joined), strict=True):
        np.testing.assert_array_equal(one, other)
    alone = [pair for sentences in docs for pair in pairs(read([sentences]))]
    assert pairs(whole) == alone


def test_the_other_number_of_the_short_form() -> None:
    text = "dendritic cells ( DCs ) or heat shock protein ( HSP )"
    others = explained(read([[text.split()]])).other_number.tolist()
    assert others == [hash_string("DC"), hash_string("HSPs")]


@settings(max_examples=50)
@given(st.lists(DOCS, max_size=4))
def test_words_that_were_spelled_before(batches) -> None:
    """What is kept of earlier batches changes nothing, and words are added to it once."""
    spelled = SpelledWords()
    for docs in batches:
        tokens = read(docs)
        for one, other in zip(explained(tokens, spelled), explained(tokens), strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(spelled) <= len(set(WORDS))


def test_longest_words() -> None:
    """A word of a hundred characters may be in a long form, a longer one ends the search."""
    longest = "h" * 100
    assert found_in(f"{longest} p ( HP )") == [("HP", f"{longest} p")]
    assert found_in(f"{longest}h p ( HP )") == []
    assert found_in(f"h {longest}h p ( HP )") == []


def test_long_texts_take_linear_time() -> None:
    """No bracket looks far to its sides, however many there are."""
    words = ["h"] * 30_000 + ["(", "HSP"] * 10_000
    assert pairs(read([[words]])) == []
