"""Features of units against a plain extractor that writes them as texts.

Ids have no names, so matrices are compared up to the order of their columns: two units
share a column exactly where they share a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from helpers import blank
from reference import Extractor, Word, dense_design
from spacy_cascade.errors import TemplateError
from spacy_cascade.features import template_sets as sets
from spacy_cascade.features.resources import span_flags
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.features.units import PaddedTokens, Units
from spacy_cascade.parallel import Workers

VOCAB = blank().vocab
PATTERNS = {"digit": "[0-9]", "capitals": "[A-Z]{2,}"}
LEXICONS = {"genes": ["p53", "IL-2 receptor", "IL-2"], "cells": ["T cell"]}
LINES = [
    "bias",
    "size",
    "word@-2..2",
    "lower@first-1",
    "length@last",
    "class@-1..1",
    "brief_class@last+1",
    "prefix(1..3)",
    "suffix(2)@last",
    "pattern(*)@-1..0",
    "word@any",
    "prefix(2)@any",
    "lower@sentence",
    "suffix(1)@sentence",
    "lower@recurrence+1",
    "word@recurrence-2",
    "class@recurrence",
    "class@head_recurrence-1",
    "word@head_recurrence+1",
    "lower@long_form",
    "suffix(3)@long_form_last",
    "word@all",
    "brief_class@all",
    "pattern(digit)@all",
    "tag@-1..1",
    "pos@last",
    "lexicon(genes)@-1..1",
    "lexicon(cells)",
    "lexicon_exact(*)",
    "word@-1 & word@0",
    "word@-1 & word@0 & word@1",
    "lower@last & lower@last+1",
    "tag@0 & lexicon(*)@1",
    "size & word@all",
    "word@all & word@last+1",
    "bias & size & prefix(2)@last & pos@first-1",
    "pattern(capitals) & class@1",
]
WORDS = ["IL-2", "il-2", "receptor", "p53", "T", "cell", "T cell", "a", "STAT5", "é", "😀"]

SentenceWords = list[Word]
DocWords = list[SentenceWords]
Unit = tuple[int, int, int, int]
"""Number of the Doc and of the sentence, first and last token in the sentence."""

WORD = st.builds(
    Word,
    st.sampled_from(WORDS),
    st.sampled_from(["", "NN", "DT"]),
    st.sampled_from(["", "NOUN", "DET"]),
)
DOCS = st.lists(
    st.lists(st.lists(WORD, min_size=1, max_size=5), max_size=3), min_size=1, max_size=3
)


def make_docs(docs: Sequence[DocWords]) -> list[Doc]:
    made = []
    for sentences in docs:
        flat = [word for sentence in sentences for word in sentence]
        made.append(
            Doc(
                VOCAB,
                words=[word.text for word in flat],
                tags=[word.tag for word in flat],
                pos=[word.pos for word in flat],
                sent_starts=[t == 0 for sentence in sentences for t in range(len(sentence))],
            )
        )
    return made


def all_tokens(docs: Sequence[DocWords]) -> list[Unit]:
    return [
        (d, s, t, t)
        for d, sentences in enumerate(docs)
        for s, sentence in enumerate(sentences)
        for t in range(len(sentence))
    ]


def all_spans(docs: Sequence[DocWords]) -> list[Unit]:
    return [
        (d, s, first, last)
        for d, s, first, _ in all_tokens(docs)
        for last in range(first, len(docs[d][s]))
    ]


def bounds(positions: PaddedTokens, docs: Sequence[DocWords], units: list[Unit]):
    """First and last positions of units."""
    offsets, total = {}, 0
    for d, sentences in enumerate(docs):
        for s, sentence in enumerate(sentences):
            offsets[d, s] = total
            total += len(sentence)
    tokens = [
        [offsets[d, s] + t for d, s, t, _ in units],
        [offsets[d, s] + t for d, s, _, t in units],
    ]
    return [positions.of_token[np.array(column, dtype=np.int64)] for column in tokens]


def positions_of(space: FeatureSpace, tokens: Tokens, flags=None) -> PaddedTokens:
    return space.positions(tokens, VOCAB.strings.__getitem__, flags)


def space_for(lines: Sequence[str]) -> tuple[FeatureSpace, Extractor]:
    templates = Templates(tuple(lines), PATTERNS, LEXICONS)
    space = FeatureSpace(templates)
    space.read_resources(str.split)
    return space, Extractor([t.text for t in templates.expanded()], PATTERNS, LEXICONS)


def columns(matrix: np.ndarray) -> list[tuple[float, ...]]:
    return sorted(map(tuple, matrix.T.tolist()))


def expected_matrix(found: list[Counter[str]], known: list[str]) -> np.ndarray:
    return np.array([[unit[text] for text in known] for unit in found]).reshape(
        len(found), len(known)
    )


def frequent(found: list[Counter[str]], minimum: int) -> list[str]:
    total = sum(found, Counter())
    return [text for text, n in total.items() if n >= minimum]


@settings(max_examples=150)
@given(
    DOCS,
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6, unique=True),
    st.booleans(),
    st.integers(1, 3),
)
def test_units_share_features_where_they_share_texts(docs, lines, spans, minimum):
    space, extractor = space_for(lines)
    units = all_spans(docs) if spans else all_tokens(docs)
    positions = positions_of(space, read_tokens(make_docs(docs)))
    first, last = bounds(positions, docs, units)
    space.learn(Units(positions, first, last), minimum)
    design = space.design(Units(positions, first, last))

    found = [extractor.features(docs[d], s, first, last) for d, s, first, last in units]
    known = frequent(found, minimum)
    assert len(space) == len(known)
    expected = expected_matrix(found, known)
    assert columns(dense_design(design)) == columns(expected)
    counts = design.counts(Workers(1))
    np.testing.assert_array_equal(np.sort(counts), np.sort(expected.sum(axis=0)))


@settings(max_examples=60)
@given(DOCS, DOCS, st.lists(st.sampled_from(LINES), min_size=1, max_size=6, unique=True))
def test_features_of_units_not_trained_on(docs, others, lines):
    """Only what was learnt is known, and it is recognised in other Docs."""
    space, extractor = space_for(lines)
    both = [*docs, *others]
    units = all_spans(both)
    positions = positions_of(space, read_tokens(make_docs(both)))
    first, last = bounds(positions, both, units)
    n_learnt = len(all_spans(docs))
    space.learn(Units(positions, first[:n_learnt], last[:n_learnt]), 2)
    found = [extractor.features(both[d], s, first, last) for d, s, first, last in units]
    known = frequent(found[:n_learnt], 2)
    design = space.design(Units(positions, first, last))
    assert columns(dense_design(design)) == columns(expected_matrix(found, known))


def test_all_templates_at_once():
    sentence = [Word(text, "NN", "NOUN") for text in ("IL-2", "receptor", "p53", "T", "IL-2")]
    docs = [[sentence, sentence[:2]], [sentence[3:]]]
    space, extractor = space_for(LINES)
    units = all_spans(docs)
    positions = positions_of(space, read_tokens(make_docs(docs)))
    first, last = bounds(positions, docs, units)
    space.learn(Units(positions, first, last), 1)
    found = [extractor.features(docs[d], s, first, last) for d, s, first, last in units]
    known = frequent(found, 1)
    design = space.design(Units(positions, first, last))
    assert columns(dense_design(design)) == columns(expected_matrix(found, known))


@pytest.mark.parametrize(
    "place",
    [
        "sentence",
        "recurrence+1",
        "recurrence-1",
        "recurrence",
        "head_recurrence-2",
        "head_recurrence",
    ],
)
def test_places_of_several_tokens_across_sentences(place):
    """What stands elsewhere in the Doc is seen, and other Docs are not."""
    a, b, c, d = Word("a"), Word("b"), Word("c"), Word("A")
    docs = [[[a, b, c], [c, d, b], [a], [d]], [], [[b, a, a, b]]]
    space, extractor = space_for([f"word@{place}"])
    units = all_spans(docs)
    positions = positions_of(space, read_tokens(make_docs(docs)))
    first, last = bounds(positions, docs, units)
    space.learn(Units(positions, first, last), 1)
    found = [extractor.features(docs[d], s, first, last) for d, s, first, last in units]
    known = frequent(found, 1)
    assert len(known) > 2
    design = space.design(Units(positions, first, last))
    assert columns(dense_design(design)) == columns(expected_matrix(found, known))


def test_no_more_than_eight_words_beside_other_occurrences():
    sentences = [[Word("x"), Word(f"after{n % 12}")] for n in range(30)]
    space, extractor = space_for(["word@recurrence+1"])
    positions = positions_of(space, read_tokens(make_docs([sentences])))
    first, last = bounds(positions, [sentences], [(0, 20, 0, 0)])
    space.learn(Units(positions, first, last), 1)
    assert len(space) == 8
    assert len(extractor.features(sentences, 20, 0, 0)) == 8


@pytest.mark.parametrize("n_inside", [1, 300])
def test_sentences_are_looked_at_up_to_a_limit(n_inside):
    """A feature of one unit does not depend on how long another one is."""
    sentences = [[Word("x")] * n_inside, [Word("y"), *(Word(f"w{n}") for n in range(400))]]
    space, _ = space_for(["word@sentence"])
    positions = positions_of(space, read_tokens(make_docs([sentences])))
    first, last = bounds(positions, [sentences], [(0, 0, 0, n_inside - 1), (0, 1, 0, 0)])
    rows = space.unit_lexemes(Units(positions, first, last))
    assert np.diff(rows.indptr).tolist() == [0, 256]


@settings(max_examples=60)
@given(DOCS, st.data())
def test_counts_of_training(docs, data):
    """Shares of words inside spans: of all Docs when annotating, of the others in training."""
    names = ["seen_inside", "seen_first", "seen_last", "seen_continued"]
    lines = [*names, "seen_inside@-1 & seen_first@0", "word@0"]
    space, extractor = space_for(lines)
    tokens = read_tokens(make_docs(docs))
    words = [word.text.lower() for doc in docs for sentence in doc for word in sentence]
    spans = data.draw(random_spans(len(words)))
    observed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    )
    for start, end in spans:
        observed[start:end] = True
    flags = span_flags(
        len(words), np.array(spans, dtype=np.int64).reshape(-1, 2), observed.astype(np.bool_)
    )
    space.learn_resources(tokens, flags)
    units = all_tokens(docs)

    seen = [[seen_at(t, spans, observed)] for t in range(len(words))]
    counted = count_words(words, seen, range(len(words)))
    for own in (None, flags):
        found = []
        for d, s, first, last in units:
            inside = range(*tokens.doc_starts[d : d + 2])
            others = [t for t in range(len(words)) if own is None or t not in inside]
            evidence = count_words(words, seen, others)
            assert own is not None or evidence == counted
            there = replace(extractor, evidence=evidence)
            found.append(there.features(docs[d], s, first, last))
        positions = positions_of(space, tokens, own)
        first, last = bounds(positions, docs, units)
        space.learn(Units(positions, first, last), 1)
        design = space.design(Units(positions, first, last))
        expected = expected_matrix(found, frequent(found, 1))
        assert columns(dense_design(design)) == columns(expected)


@st.composite
def random_spans(draw: st.DrawFn, length: int) -> list[tuple[int, int]]:
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=8, unique=True)))
    return list(zip(cuts[::2], cuts[1::2], strict=False))


def seen_at(t: int, spans: list[tuple[int, int]], observed: np.ndarray) -> tuple[int, ...]:
    """One for a token, and whether it is inside, first, last, continued in a span."""
    around = [(start, end) for start, end in spans if start <= t < end]
    starts, ends = any(start == t for start, _ in around), any(end == t + 1 for _, end in around)
    return (
        int(observed[t]), len(around), int(starts), int(ends), int(bool(around) and not starts),
    )  # fmt: skip


def count_words(words: list[str], seen: list[list[tuple[int, ...]]], places) -> dict:
    counts: dict[str, tuple[int, ...]] = {}
    for t in places:
        before = counts.get(words[t], (0,) * 5)
        counts[words[t]] = tuple(map(sum, zip(before, *seen[t], strict=True)))
    return counts


@settings(max_examples=60)
@given(DOCS, DOCS, st.lists(st.sampled_from(LINES), min_size=1, max_size=6, unique=True))
def test_features_added_later(docs, others, lines):
    """Those that were known keep their numbers, and together they are those of both."""
    space, extractor = space_for(lines)
    both = [*docs, *others]
    units = all_tokens(both)
    positions = positions_of(space, read_tokens(make_docs(both)))
    first, last = bounds(positions, both, units)
    n = len(all_tokens(docs))
    space.learn(Units(positions, first[:n], last[:n]), 1)
    before = space.index.keys.copy()
    added = space.extend(Units(positions, first[n:], last[n:]), 2)
    assert added == len(space) - len(before)
    np.testing.assert_array_equal(space.index.keys[: len(before)], before)
    found = [extractor.features(both[d], s, first, last) for d, s, first, last in units]
    known = set(frequent(found[:n], 1)) | set(frequent(found[n:], 2))
    design = space.design(Units(positions, first, last))
    assert columns(dense_design(design)) == columns(expected_matrix(found, sorted(known)))


def test_counts_added_later_are_as_if_they_had_been_there():
    generator = np.random.default_rng(1)
    docs = [[[Word(str(text)) for text in generator.choice(WORDS, 6)]] for _ in range(4)]
    flags = generator.integers(0, 2, (24, 5)).astype(np.int32)
    at_once, _ = space_for(["seen_inside@0"])
    at_once.learn_resources(read_tokens(make_docs(docs)), flags)
    in_parts, _ = space_for(["seen_inside@0"])
    in_parts.learn_resources(read_tokens(make_docs(docs[:2])), flags[:12])
    in_parts.add_to_resources(read_tokens(make_docs(docs[2:])), flags[12:])
    expected, made = at_once.resources.made["evidence"], in_parts.resources.made["evidence"]
    for key, counts in zip(expected.index.keys, expected.counts, strict=True):
        (entry,) = made.index.lookup(np.array([key]))
        np.testing.assert_array_equal(made.counts[entry], counts)
    assert len(made.index) == len(expected.index)


def test_words_are_not_counted_where_no_template_reads_the_counts():
    space, _ = space_for(["word@0"])
    tokens = read_tokens(make_docs([[[Word("a")]]]))
    space.learn_resources(tokens, np.ones((1, 5), dtype=np.int32))
    assert space.resources.made == {}


def test_words_forgotten_change_no_feature():
    docs = [[[Word(text) for text in WORDS]]]
    space, _ = space_for(["word@-1..1", "word@0 & word@1"])
    units = all_tokens(docs)
    tokens = read_tokens(make_docs(docs))
    positions = positions_of(space, tokens)
    first, last = bounds(positions, docs, units)
    space.learn(Units(positions, first, last), 1)
    before = dense_design(space.design(Units(positions, first, last)))
    positions_of(space, read_tokens(make_docs([[[Word(f"other{n}") for n in range(99)]]])))
    space.forget_lexemes(1000)
    assert len(space.lexemes) == len(WORDS) + 100
    space.forget_lexemes(100)
    assert len(space.lexemes) == 1
    positions = positions_of(space, tokens)
    after = dense_design(space.design(Units(positions, first, last)))
    np.testing.assert_array_equal(after, before)


def test_terms_are_known_as_tokenized_and_as_split():
    templates = Templates(("lexicon(genes)",), {}, {"genes": ["IL-2 gene"]})
    space = FeatureSpace(templates)
    space.read_resources(lambda text: text.replace("-", " - ").split())
    assert space.resources_to_read == ["lexicon(genes)"]
    docs = [
        [[Word(text) for text in ("IL-2", "gene")]],
        [[Word(t) for t in ("il", "-", "2", "gene")]],
    ]
    values = positions_of(space, read_tokens(make_docs(docs))).values
    assert np.count_nonzero(values.of_rows[values.row, 0]) == 6


def test_lexicon_file_that_is_not_there(tmp_path):
    path = str(tmp_path / "none.txt")
    space = FeatureSpace(Templates(("lexicon(genes)",), {}, {"genes": path}))
    with pytest.raises(TemplateError, match="lexicon 'genes'"):
        space.read_resources(str.split)


def test_what_a_space_reads():
    assert space_for(["tag@1"])[0].reads == ("tags",)
    assert space_for(["pos@0 & word@0"])[0].reads == ("parts_of_speech",)
    assert space_for(["word@0", "lower@any"])[0].reads == ()
    plain = space_for(["word@0", "lexicon(*)"])[0]
    assert plain.reads == ("lower",)
    assert plain.resources_to_read == ["lexicon(genes)", "lexicon(cells)"]
    assert space_for(["lexicon_exact(genes)@1"])[0].reads == ()
    evidence = space_for(["seen_last@0 & word@0", "tag"])[0]
    assert list(evidence.resources.specs) == ["evidence"]
    assert evidence.reads == ("lower", "tags")


@pytest.mark.parametrize(
    "make", [sets.make_segmentation, sets.make_classification, sets.make_tagging]
)
def test_named_sets_on_a_sentence(make):
    space = FeatureSpace(make(lexicons=LEXICONS))
    space.read_resources(str.split)
    sentence = ["The", "IL-2", "receptor", "of", "T", "cell", "STAT5"]
    docs = [[[Word(text) for text in sentence]]]
    positions = positions_of(space, read_tokens(make_docs(docs)))
    extractor = Extractor(
        [t.text for t in space.templates.expanded()], space.templates.patterns, LEXICONS
    )
    units = all_spans(docs)
    first, last = bounds(positions, docs, units)
    space.learn(Units(positions, first, last), 1)
    found = [extractor.features(docs[d], s, first, last) for d, s, first, last in units]
    expected = expected_matrix(found, frequent(found, 1))
    assert columns(dense_design(space.design(Units(positions, first, last)))) == columns(expected)


def test_no_units():
    space, _ = space_for(LINES)
    positions = positions_of(space, read_tokens([]))
    nothing = np.zeros(0, dtype=np.int32)
    space.learn(Units(positions, nothing, nothing), 1)
    assert len(space) == 0
    assert dense_design(space.design(Units(positions, nothing, nothing))).shape == (0, 0)
