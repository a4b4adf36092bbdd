"""Places in the long forms of abbreviations, against the extractor that looks at words."""

from __future__ import annotations

import pickle

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
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.features.units import Units
from spacy_cascade.systems.abbreviations.resource import Explained

VOCAB = blank().vocab
HSP = ["heat", "shock", "protein", "(", "HSP", ")"]
HEAT = ["high", "speed", "power", "(", "HSP", ")"]
PIECES = [HSP, HEAT, ["T", "cell", "(", "T", "c", ")"], ["HSPs"], ["HSP"], ["T"], ["c"], ["cs"]]
SENTENCE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(
    lambda pieces: [word for piece in pieces for word in piece]
)
DOCS = st.lists(st.lists(SENTENCE, max_size=3), min_size=1, max_size=3)
LINES = ["lower@long_form", "word@long_form_last", "seen_inside@long_form_last", "word"]


def read(docs: list[list[list[str]]]) -> Tokens:
    return read_tokens(
        [
            Doc(
                VOCAB,
                words=[word for sentence in sentences for word in sentence],
                sent_starts=[t == 0 for sentence in sentences for t in range(len(sentence))],
            )
            for sentences in docs
        ]
    )


@settings(max_examples=200)
@given(DOCS)
@example([[HSP, HEAT, ["HSPs", "T", "HSP"]], [["HSP"]]])
def test_tokens_know_their_abbreviation(docs) -> None:
    """Within one Doc, the first explanation counts, and the longest short form."""
    tokens = read(docs)
    explained, links = Explained().of(tokens)
    first, bounds = 0, np.column_stack(explained[:2]).tolist()
    for sentences in docs:
        starts = np.cumsum([first, *map(len, sentences)]).tolist()
        known = twin.uses(sentences)
        for s, sentence in enumerate(sentences):
            for t in range(len(sentence)):
                number = int(links.number[starts[s] + t])
                assert (number >= 0) == ((s, t) in known)
                if number >= 0:
                    found = known[s, t]
                    start = starts[found.sentence]
                    expected = [start + k for k in (*found.short, *found.long)]
                    assert bounds[number] == expected
        first = starts[-1]


@settings(max_examples=100)
@given(DOCS, st.booleans())
def test_units_look_at_the_long_form(docs, spans) -> None:
    """Of the last abbreviation in a span; each of its words is a feature, or the last one is."""
    lines = ["lower@long_form", "prefix(2)@long_form_last"]
    templates = Templates(tuple(lines), {}, {})
    space, extractor = FeatureSpace(templates), Extractor(lines)
    tokens = read(docs)
    positions = space.positions(tokens, VOCAB.strings.__getitem__)
    units, found = [], []
    offset = 0
    for sentences in docs:
        worded = [[Word(text) for text in sentence] for sentence in sentences]
        for s, sentence in enumerate(sentences):
            for t in range(len(sentence)):
                for end in range(t, min(t + 4, len(sentence)) if spans else t + 1):
                    units.append((offset + t, offset + end))
                    found.append(extractor.features(worded, s, t, end))
            offset += len(sentence)
    first, last = positions.of_token[np.array(units, dtype=np.int64).reshape(-1, 2).T]
    space.learn(Units(positions, first, last), 1)
    known = list(dict.fromkeys(text for unit in found for text in unit))
    expected = np.array([[unit[text] for text in known] for unit in found])
    design = dense_design(space.design(Units(positions, first, last)))
    assert sorted(map(tuple, design.T.tolist())) == sorted(
        map(tuple, expected.reshape(len(found), len(known)).T.tolist())
    )


def test_features_are_named_by_their_place() -> None:
    space = FeatureSpace(
        Templates(("lower@long_form", "abbreviation", "word@long_form_last"), {}, {})
    )
    tokens = read([[HSP, ["HSPs"]]])
    positions = space.positions(tokens, VOCAB.strings.__getitem__)
    units = Units(positions, positions.of_token, positions.of_token)
    space.learn(units, 1)
    named = named_features(space, units, VOCAB.strings.__getitem__)
    long = ["lower@long_form=heat", "lower@long_form=shock", "lower@long_form=protein"]
    names = [[feature.name for feature in of_unit] for of_unit in named]
    assert names == [
        ["abbreviation=long_first"],
        ["abbreviation=long_inside"],
        ["abbreviation=long_last"],
        [],
        [*long, "word@long_form_last=protein", "abbreviation=short_first"],
        [],
        [*long, "word@long_form_last=protein", "abbreviation=used"],
    ]


def test_nothing_is_looked_for_where_no_template_looks() -> None:
    templates = Templates(("word", "lower@recurrence"), {}, {})
    space = FeatureSpace(templates)
    assert space.links is None
    assert "abbreviations" not in space.resources.specs
    positions = space.positions(read_tokens([Doc(VOCAB, words=HSP)]), VOCAB.strings.__getitem__)
    assert len(positions.links.number) == 0


@pytest.mark.parametrize(
    ("line", "follows"),
    [("word@long_form", True), ("word@long_form_last", True), ("abbreviation@-1", False)],
)
def test_templates_say_that_abbreviations_are_read(line: str, follows: bool) -> None:
    space = FeatureSpace(Templates((line,), {}, {}))
    assert "abbreviations" in space.resources.specs
    assert (space.links is not None) == follows


def test_one_search_serves_all_that_look_at_a_batch() -> None:
    resource, tokens = Explained(), read([[HSP]])
    assert resource.of(tokens)[0] is resource.of(tokens)[0]
    assert len(resource.of(read([[HEAT]]))[0].short) == 1
    assert resource.of(tokens)[0].long.tolist() == [[0, 3]]


def test_a_copy_begins_without_words() -> None:
    resource = Explained()
    resource.of(read([[HSP]]))
    copied = pickle.loads(pickle.dumps(resource))
    assert len(copied._spelled) == 0
    assert copied.of(read([[HSP]]))[0].long.tolist() == [[0, 3]]


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
