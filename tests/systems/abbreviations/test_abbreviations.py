"""Abbreviations that Docs explain: the paper's examples, its algorithm, and features of them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

import abbreviation_twin as twin
from helpers import blank
from reference import Extractor, Word, dense_design
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.names import named_features
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import Tokens, join_tokens, read_tokens
from spacy_cascade.features.units import Units
from spacy_cascade.systems.abbreviations.attributes import Explained
from spacy_cascade.systems.abbreviations.search import Abbreviations, find_abbreviations

VOCAB = blank().vocab
TEXT_OF = VOCAB.strings.__getitem__
WORDS = [
    "heat", "shock", "Protein", "proteins", "HSP", "HSPs", "HS", "A", "-", "(", ")", "(", ")",
    "[", "]", "and", ",", "é", "a b", "\n", "s", "-LRB-", "-RRB-", "12",
]  # fmt: skip
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=16), max_size=3)
HSP = ["heat", "shock", "protein", "(", "HSP", ")"]
HEAT = ["high", "speed", "power", "(", "HSP", ")"]
PIECES = [HSP, HEAT, ["T", "cell", "(", "T", "c", ")"], ["HSPs"], ["HSP"], ["T"], ["c"], ["cs"]]
EXPLAINED = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(
    lambda pieces: [word for piece in pieces for word in piece]
)
DOCS = st.lists(st.lists(EXPLAINED, max_size=3), min_size=1, max_size=3)

Sentences = Sequence[Sequence[str]]


def read(docs: Sequence[Sentences]) -> Tokens:
    found = []
    for sentences in docs:
        words = [word for sentence in sentences for word in sentence]
        starts = [t == 0 for sentence in sentences for t in range(len(sentence))]
        found.append(Doc(VOCAB, words=words, sent_starts=starts))
    return read_tokens(found)


def explained(tokens: Tokens) -> Abbreviations:
    return find_abbreviations(tokens, TEXT_OF)


def found_in(text: str) -> list[tuple[str, str]]:
    """Short and long forms of a sentence, as texts."""
    words, found = text.split(), explained(read([[text.split()]]))
    bounds = zip(found.short, found.long, strict=True)
    return [(" ".join(words[a:b]), " ".join(words[c:d])) for (a, b), (c, d) in bounds]


EXAMPLES = """the | heat shock protein ( HSP | ) of
by | gonadotropin-releasing hormone ( GnRH | ) .
| Heat shock transcription factor ( HSF | )
of | dendritic cells ( DCs | ) and
the | transforming growth factor - beta 1 ( TGF - beta 1 | )
growth by | 5 - fluorouracil [ 5 - FU | ]
| Epstein-Barr virus -LRB- EBV | -RRB-
| heat shock protein ( HSP | , 70 kDa )
| CD34 + dendritic cells ( CD34DCs | )
| A1 B ( A - B | )
and aside and | anode ( AND | )"""
"""What stands before a long form, it and its short form, and what stands after them."""


@pytest.mark.parametrize("example", EXAMPLES.splitlines())
def test_examples(example: str) -> None:
    """The shortest one: "aside" begins no long form of AND, and "and" stands in "anode", too."""
    before, explained, after = example.split("|")
    long, short = re.split(r" (?:[(\[]|-LRB-) ", explained.strip())
    assert found_in(before + explained + after) == [(short, long)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("the HSP ( heat shock protein ) of", "HSP", "heat shock protein"),
        ("TNF - a ( the tumour necrosis factor a )", "TNF - a", "tumour necrosis factor a"),
    ],
)
def test_brackets_may_hold_the_long_form(text: str, short: str, long: str) -> None:
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
        "HSP ( heat [ shock protein )",
        # It has as many characters as its short form.
        "A B ( A - B )",
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
    for words in (HSP, ["HSP", "(", *HSP[:3], ")"]):
        assert len(explained(read([[words]])).short) == 1
        for cut in range(1, len(words)):
            assert not len(explained(read([[words[:cut], words[cut:]]])).short)
            assert not len(explained(read([[words[:cut]], [words[cut:]]])).short)


def test_most_tokens_in_brackets() -> None:
    """Thirty of them, of which signs are no words of a long form."""
    long = "heat shock " + "- " * 27 + "protein"
    assert found_in(f"HSP ( {long} )") == [("HSP", long)]
    assert found_in(f"HSP ( {long[:-7]}- protein )") == []


@settings(max_examples=100)
@given(st.lists(SENTENCES, max_size=3), st.data())
@example([[["heat", "shock", "Protein", "(", "HSP", ")"], ["HSPs", "and", "HS"]]], None)
@example([[["A", "(", "and", "HS", "a b", "proteins", ")"]]], None)
def test_the_twin_finds_the_same(docs, data) -> None:
    """Of each Doc, in one batch and in joined batches."""
    expected, offset = [], 0
    for sentences in docs:
        first = np.cumsum([offset, *map(len, sentences)]).tolist()
        for found in twin.explained(sentences):
            start = first[found.sentence]
            expected.append(tuple(start + t for t in (*found.short, *found.long)))
        offset = first[-1]
    batches = [read(docs)]
    if data is not None and docs:
        cut = data.draw(st.integers(0, len(docs)))
        batches.append(join_tokens([read(docs[:cut]), read(docs[cut:])]))
    for tokens in batches:
        bounds = np.column_stack(explained(tokens)[:2])
        assert [tuple(row) for row in bounds.tolist()] == expected


@settings(max_examples=60)
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


def test_the_other_number_of_the_short_form() -> None:
    text = "dendritic cells ( DCs ) or heat shock protein ( HSP )"
    others = explained(read([[text.split()]])).other_number.tolist()
    assert others == [hash_string("DC"), hash_string("HSPs")]


def test_longest_words() -> None:
    """A word of a hundred characters may be in a long form, a longer one ends the search."""
    longest = "h" * 100
    assert found_in(f"{longest} p ( HP )") == [("HP", f"{longest} p")]
    assert found_in(f"{longest}h p ( HP )") == found_in(f"h {longest}h p ( HP )") == []


def test_long_texts_take_linear_time() -> None:
    """No bracket looks far to its sides, however many there are."""
    assert not len(explained(read([[["h"] * 30_000 + ["(", "HSP"] * 10_000]])).short)


# Tokens that are abbreviations, and features of them


@settings(max_examples=50)
@given(DOCS)
@example([[HSP, HEAT, ["HSPs", "T", "HSP"]], [["HSP"]]])
@example([[["HSP"]], [["HSP", "(", "heat", "shock", "protein", ")", "HSP"]]])
def test_tokens_know_their_abbreviation(docs) -> None:
    """Within one Doc, the first explanation counts, and the longest short form."""
    found, links = Explained().of(read(docs))
    first, bounds = 0, np.column_stack(found[:2]).tolist()
    for sentences in docs:
        starts = np.cumsum([first, *map(len, sentences)]).tolist()
        known = twin.uses(sentences)
        for s, sentence in enumerate(sentences):
            for t in range(len(sentence)):
                number = int(links.number[starts[s] + t])
                assert (number >= 0) == ((s, t) in known)
                if number >= 0:
                    form = known[s, t]
                    start = starts[form.sentence]
                    assert bounds[number] == [start + k for k in (*form.short, *form.long)]
        first = starts[-1]


@settings(max_examples=30)
@given(DOCS, st.booleans())
def test_units_look_at_the_long_form(docs, spans) -> None:
    """Of the last abbreviation in a span; each of its words is a feature, or the last one is."""
    lines = ["lower@long_form", "prefix(2)@long_form_last"]
    space, extractor = FeatureSpace(Templates(tuple(lines), {}, {})), Extractor(lines)
    positions = space.positions(read(docs), TEXT_OF)
    bounds, found, offset = [], [], 0
    for sentences in docs:
        worded = [[Word(text) for text in sentence] for sentence in sentences]
        for s, sentence in enumerate(sentences):
            for t in range(len(sentence)):
                for end in range(t, min(t + 4, len(sentence)) if spans else t + 1):
                    bounds.append((offset + t, offset + end))
                    found.append(extractor.features(worded, s, t, end))
            offset += len(sentence)
    first, last = positions.of_token[np.array(bounds, dtype=np.int64).reshape(-1, 2).T]
    units = Units(positions, first, last)
    space.learn(units, 1)
    known = list(dict.fromkeys(text for unit in found for text in unit))
    expected = np.array([[unit[text] for text in known] for unit in found])
    columns = expected.reshape(len(found), len(known)).T.tolist()
    assert sorted(dense_design(space.design(units)).T.tolist()) == sorted(columns)


def test_features_are_named_by_their_place() -> None:
    lines = ("lower@long_form", "abbreviation", "word@long_form_last")
    space = FeatureSpace(Templates(lines, {}, {}))
    positions = space.positions(read([[HSP, ["HSPs"]]]), TEXT_OF)
    units = Units(positions, positions.of_token, positions.of_token)
    space.learn(units, 1)
    long = ["lower@long_form=heat", "lower@long_form=shock", "lower@long_form=protein"]
    assert [[f.name for f in of_unit] for of_unit in named_features(space, units, TEXT_OF)] == [
        ["abbreviation=long_first"],
        ["abbreviation=long_inside"],
        ["abbreviation=long_last"],
        [],
        [*long, "word@long_form_last=protein", "abbreviation=short_first"],
        [],
        [*long, "word@long_form_last=protein", "abbreviation=used"],
    ]


@pytest.mark.parametrize(
    ("line", "is_read", "follows"),
    [("word@long_form", True, True), ("word@long_form_last", True, True),
     ("abbreviation@-1", True, False), ("lower@recurrence", False, False)],
)  # fmt: skip
def test_it_is_looked_for_where_templates_look(line: str, is_read: bool, follows: bool) -> None:
    space = FeatureSpace(Templates((line,), {}, {}))
    assert ("abbreviations" in space.resources.specs) == is_read
    assert (space.links is not None) == follows


def test_one_search_serves_all_that_look_at_a_batch() -> None:
    resource, tokens = Explained(), read([[HSP]])
    assert resource.of(tokens)[0] is resource.of(tokens)[0]
    assert len(resource.of(read([[HEAT]]))[0].short) == 1
    assert resource.of(tokens)[0].long.tolist() == [[0, 3]]
    assert pickle.loads(pickle.dumps(resource)).of(tokens)[0].long.tolist() == [[0, 3]]


def test_one_search_serves_all_components_that_read_a_batch() -> None:
    resource, other = Explained(), Explained()
    assert resource.of(read([[HSP]]))[0] is other.of(read([[HSP]]))[0]
    one, two = read([[HSP, HEAT]]), read([[HSP], [HEAT]])
    assert one.words.tolist() == two.words.tolist()
    assert resource.of(one)[0] is not other.of(two)[0]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("word@long_form+1", "'@long_form' takes no offset"),
        ("word@long_form_last-1", "'@long_form_last' takes no offset"),
        ("word & word@long_form", "cannot be part of a conjunction"),
        ("tag@long_form", "can be seen from '@first' and '@last' only"),
    ],
)
def test_what_the_place_does_not_take(line: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        Templates((line,), {}, {})
