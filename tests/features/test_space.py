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
    *("bias", "size", "word@-2..2", "lower@first-1", "length@last", "class@-1..1"),
    *("brief_class@last+1", "prefix(1..3)", "suffix(2)@last", "pattern(*)@-1..0", "word@any"),
    *("prefix(2)@any", "lower@sentence", "suffix(1)@sentence", "lower@recurrence+1"),
    *("word@recurrence-2", "class@recurrence", "class@head_recurrence-1", "word@head_recurrence+1"),
    *("lower@long_form", "suffix(3)@long_form_last", "word@all", "brief_class@all"),
    *("pattern(digit)@all", "tag@-1..1", "pos@last", "lexicon(genes)@-1..1", "lexicon(cells)"),
    *("lexicon_exact(*)", "word@-1 & word@0", "word@-1 & word@0 & word@1"),
    *("lower@last & lower@last+1", "tag@0 & lexicon(*)@1", "size & word@all"),
    *("word@all & word@last+1", "bias & size & prefix(2)@last & pos@first-1"),
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


def units_of(space: FeatureSpace, docs: Sequence[DocWords], places: list[Unit]) -> Units:
    positions = positions_of(space, read_tokens(make_docs(docs)))
    return Units(positions, *bounds(positions, docs, places))


def cut(units: Units, n: int) -> tuple[Units, Units]:
    """The first units, and the others."""
    return tuple(
        Units(units.positions, units.first[part], units.last[part])
        for part in (slice(n), slice(n, None))
    )


def space_for(lines: Sequence[str]) -> tuple[FeatureSpace, Extractor]:
    templates = Templates(tuple(lines), PATTERNS, LEXICONS)
    space = FeatureSpace(templates)
    space.read_resources(str.split)
    return space, Extractor([t.text for t in templates.expanded()], PATTERNS, LEXICONS)


def texts_of(extractor: Extractor, docs: Sequence[DocWords], places: list[Unit]):
    return [extractor.features(docs[d], s, first, last) for d, s, first, last in places]


def frequent(found: list[Counter[str]], minimum: int) -> set[str]:
    return {text for text, n in sum(found, Counter()).items() if n >= minimum}


def check(space: FeatureSpace, units: Units, found: list[Counter[str]], known: set[str]) -> None:
    """Units share features where they share known texts."""
    expected = np.array([[unit[text] for text in known] for unit in found], dtype=float)
    expected = expected.reshape(len(found), len(known))
    design = space.design(units)
    assert len(space) == len(known)
    own, texts = (sorted(matrix.T.tolist()) for matrix in (dense_design(design), expected))
    assert own == texts
    counts = design.counts(Workers(1))
    np.testing.assert_array_equal(np.sort(counts), np.sort(expected.sum(axis=0)))


SOME_LINES = st.lists(st.sampled_from(LINES), min_size=1, max_size=6, unique=True)
EXAMPLES = settings(max_examples=25)


@EXAMPLES
@given(DOCS, SOME_LINES, st.booleans(), st.integers(1, 3))
def test_units_share_features_where_they_share_texts(docs, lines, spans, minimum):
    space, extractor = space_for(lines)
    places = all_spans(docs) if spans else all_tokens(docs)
    units, found = units_of(space, docs, places), texts_of(extractor, docs, places)
    space.learn(units, minimum)
    check(space, units, found, frequent(found, minimum))


@EXAMPLES
@given(DOCS, DOCS, SOME_LINES)
def test_features_of_units_not_trained_on_and_added_later(docs, others, lines):
    """Only what was learnt is known, and keeps its number when others are added."""
    space, extractor = space_for(lines)
    both, n = [*docs, *others], len(all_spans(docs))
    places = all_spans(both)
    units, found = units_of(space, both, places), texts_of(extractor, both, places)
    first, later = cut(units, n)
    space.learn(first, 2)
    known = frequent(found[:n], 2)
    check(space, units, found, known)
    before = space.index.keys.copy()
    assert space.extend(later, 1) == len(space) - len(before)
    np.testing.assert_array_equal(space.index.keys[: len(before)], before)
    check(space, units, found, known | frequent(found[n:], 1))


@pytest.mark.parametrize(
    "make", [None, sets.make_segmentation, sets.make_classification, sets.make_tagging]
)
def test_all_templates_at_once(make):
    """Those above, and named sets."""
    space, extractor = space_for(LINES)
    if make is not None:
        space = FeatureSpace(make(lexicons=LEXICONS))
        space.read_resources(str.split)
        lines = [t.text for t in space.templates.expanded()]
        extractor = Extractor(lines, space.templates.patterns, LEXICONS)
    sentence = [Word(text, "NN", "NOUN") for text in ("IL-2", "receptor", "p53", "T", "IL-2")]
    short = [
        [Word(text) for text in words] for words in (["alpha", "beta", "(", "AB", ")"], ["AB"])
    ]
    docs = [[sentence, sentence[:2]], [sentence[3:]], short]
    places = all_spans(docs)
    units, found = units_of(space, docs, places), texts_of(extractor, docs, places)
    space.learn(units, 1)
    check(space, units, found, frequent(found, 1))


@pytest.mark.parametrize("n_inside", [1, 300])
def test_sentences_are_looked_at_up_to_a_limit(n_inside):
    """A feature of one unit does not depend on how long another one is."""
    sentences = [[Word("x")] * n_inside, [Word("y"), *(Word(f"w{n}") for n in range(400))]]
    space, _ = space_for(["word@sentence"])
    units = units_of(space, [sentences], [(0, 0, 0, n_inside - 1), (0, 1, 0, 0)])
    assert np.diff(space.unit_lexemes(units).indptr).tolist() == [0, 256]


@EXAMPLES
@given(DOCS, st.data())
def test_counts_of_training(docs, data):
    """Shares of words inside spans: of all Docs when annotating, of the others in training."""
    names = ["seen_inside", "seen_first", "seen_last", "seen_continued"]
    lines = [*names, "seen_inside@-1 & seen_first@0", "word@0"]
    space, extractor = space_for(lines)
    tokens = read_tokens(make_docs(docs))
    words = [word.text.lower() for doc in docs for sentence in doc for word in sentence]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(words)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    observed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))),
        dtype=np.bool_,
    )
    for start, end in spans:
        observed[start:end] = True
    flags = span_flags(len(words), np.array(spans, dtype=np.int64).reshape(-1, 2), observed)
    space.learn_resources(tokens, flags)
    places = all_tokens(docs)
    seen = [seen_at(t, spans, observed) for t in range(len(words))]
    for own in (None, flags):
        found = []
        for d, s, first, last in places:
            inside = range(*tokens.doc_starts[d : d + 2])
            others = [t for t in range(len(words)) if own is None or t not in inside]
            there = replace(extractor, evidence=count_words(words, seen, others))
            found.append(there.features(docs[d], s, first, last))
        positions = positions_of(space, tokens, own)
        units = Units(positions, *bounds(positions, docs, places))
        space.learn(units, 1)
        check(space, units, found, frequent(found, 1))


def seen_at(t: int, spans: list[tuple[int, int]], observed: np.ndarray) -> tuple[int, ...]:
    """One for a token, and whether it is inside, first, last, continued in a span."""
    around = [(start, end) for start, end in spans if start <= t < end]
    starts, ends = any(start == t for start, _ in around), any(end == t + 1 for _, end in around)
    return (
        int(observed[t]), len(around), int(starts), int(ends), int(bool(around) and not starts),
    )  # fmt: skip


def count_words(words: list[str], seen: list[tuple[int, ...]], places: list[int]) -> dict:
    counts: dict[str, tuple[int, ...]] = {}
    for t in places:
        before = counts.get(words[t], (0,) * 5)
        counts[words[t]] = tuple(map(sum, zip(before, seen[t], strict=True)))
    return counts


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


def test_words_forgotten_change_no_feature():
    docs = [[[Word(text) for text in WORDS]]]
    space, _ = space_for(["word@-1..1", "word@0 & word@1"])
    places = all_tokens(docs)
    units = units_of(space, docs, places)
    space.learn(units, 1)
    before = dense_design(space.design(units))
    positions_of(space, read_tokens(make_docs([[[Word(f"other{n}") for n in range(99)]]])))
    space.forget_lexemes(len(WORDS) + 100)
    assert len(space.lexemes) == len(WORDS) + 100
    space.forget_lexemes(100)
    assert len(space.lexemes) == 1
    after = dense_design(space.design(units_of(space, docs, places)))
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


@pytest.mark.parametrize(
    ("lines", "reads", "resources"),
    [
        (["tag@1"], ("tags",), []),
        (["pos@0 & word@0"], ("parts_of_speech",), []),
        (["word@0", "lower@any"], (), []),
        (["word@0", "lexicon(*)"], ("lower",), ["lexicon(genes)", "lexicon(cells)"]),
        (["lexicon_exact(genes)@1"], (), ["lexicon_exact(genes)"]),
        (["seen_last@0 & word@0", "tag"], ("lower", "tags"), ["evidence"]),
        (["word@long_form"], (), ["abbreviations"]),
        (["word@long_form_last"], (), ["abbreviations"]),
    ],
)
def test_what_a_space_reads(lines, reads, resources):
    """Words are not counted where no template reads the counts."""
    space, _ = space_for(lines)
    assert (space.reads, list(space.resources.specs)) == (reads, resources)
    space.learn_resources(read_tokens(make_docs([[[Word("a")]]])), np.ones((1, 5), dtype=np.int32))
    assert ("evidence" in space.resources.made) == ("evidence" in resources)


def test_no_units():
    space, _ = space_for(LINES)
    units = units_of(space, [], [])
    space.learn(units, 1)
    assert len(space) == 0
    assert dense_design(space.design(units)).shape == (0, 0)
