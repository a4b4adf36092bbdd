"""What a feature space knows: features of words that were met, and what resources have learnt."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_space import VOCAB, WORDS, all_tokens, make_docs, positions_of, space_for, units_of

from reference import Word, dense_design
from spacy_cascade.features.attributes import WordAttribute, Words
from spacy_cascade.features.registry import register_attribute
from spacy_cascade.features.resources import Resource, ResourceSpec
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.dense import TokenVectors
from spacy_cascade.types import Keys1d


def test_features_of_words_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each table of words, and for each set of known features."""
    docs, others = ([[[Word(text) for text in texts]]] for texts in ("abcd", "abxcdy"))
    space, _ = space_for(["word@-1..1", "lower@0", "word@0 & word@1"])
    looked_up, look_up = [], space.lexeme_features

    def counted(attributes: np.ndarray) -> BinaryCSR:
        looked_up.append(len(attributes))
        return look_up(attributes)

    monkeypatch.setattr(space, "lexeme_features", counted)
    units = units_of(space, docs, all_tokens(docs))
    space.learn(units, 1)
    assert space.n_cached == 0
    first = dense_design(space.design(units))
    space.design(units)
    assert space.n_cached == 5 * space.plan.n_slots
    found = dense_design(space.design(units_of(space, others, all_tokens(others))))
    assert space.n_cached == 7 * space.plan.n_slots
    np.testing.assert_array_equal(dense_design(space.design(units)), first)
    assert looked_up == [5, 2]
    assert found.shape == (6, first.shape[1])
    assert found[:, first.any(axis=0)].any()
    space.learn(units, 1)
    np.testing.assert_array_equal(dense_design(space.design(units)), first)
    assert looked_up == [5, 2, 7]
    space.forget_lexemes(0)
    assert space.n_cached == 0
    anew = units_of(space, docs, all_tokens(docs))
    for each in (anew, units, anew):  # of another table each time
        np.testing.assert_array_equal(dense_design(space.design(each)), first)
    assert looked_up[3:] == [5, 7, 5]


class Seen(Resource):
    """How many words it has learnt from, and that it was read."""

    def __init__(self, n: int = 0) -> None:
        self.n = n

    @classmethod
    def empty(cls) -> Seen:
        return cls()

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Any) -> Seen:
        return cls(100)

    def learn(self, tokens: Tokens, flags: Any) -> Seen:
        return Seen(10 + len(tokens.words))

    def add(self, tokens: Tokens, flags: Any) -> Seen:
        return Seen(self.n + len(tokens.words))

    arrays = shapes = restore = None  # type: ignore[assignment]


class NumberSeen(WordAttribute):
    """The same for all words."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ResourceSpec(Seen, "seen"))

    def values(self, words: Words, resource: Seen) -> Keys1d:
        return np.full(len(words.texts), 1 + resource.n, dtype=np.uint64)

    def describe(self, text: str, code: int, resource: Seen) -> str:
        return str(code)


def test_words_are_forgotten_where_a_resource_changes() -> None:
    """Unless it is one whose codes tell occurrences of a word apart anyway."""
    register_attribute("number_seen")(NumberSeen)
    space, other = space_for(["number_seen", "word@0"])[0], space_for(["seen_inside"])[0]
    tokens, flags = read_tokens(make_docs([[[Word("a"), Word("b")]]])), np.ones((2, 5), np.int32)

    def value() -> int:
        positions = positions_of(space, tokens)
        (number,) = {*positions.table.attributes[positions.lexemes[positions.of_token], 0].tolist()}
        return number

    found = [value()]
    for each in (space, other):
        positions_of(other, tokens, flags)
        each.learn_resources(tokens, flags)
    found.append(value())
    for each in (space, other):
        each.add_to_resources(tokens, flags)
    found.append(value())
    space.resources.to_read = ["seen"]
    for each in (space, other):
        each.read_resources(str.split)
    found.append(value())
    assert other.are_seen(tokens.lower).tolist() == [True, True]
    space.forget()
    assert [*found, value()] == [1, 13, 15, 101, 1]
    assert len(other.lexemes) == 3
    positions_of(other, tokens)
    other.forget()
    assert len(other.lexemes) == 1
    assert other.are_seen(tokens.lower) is None


def test_what_training_keeps_of_units() -> None:
    """Vectors of an encoder stay with their units."""
    space, _ = space_for(["word@0", "word@0 & word@1"])
    docs = [[[Word(text) for text in "abc"]]]
    units = units_of(space, docs, all_tokens(docs))
    space.learn(units, 1)
    (alone,) = space.encode(units)
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    context = np.arange(3, dtype=np.uint64)[:, None]
    some = replace(units, vectors=TokenVectors(vectors), context=context).take(np.array([2, 0]))
    assert some.first.tolist() == some.last.tolist() == units.first[[2, 0]].tolist()
    assert some.context.tolist() == [[2], [0]]
    design, rows = space.encode(some)
    np.testing.assert_array_equal(dense_design(design), dense_design(alone)[[2, 0]])
    np.testing.assert_array_equal(rows.vectors.of_tokens, vectors[[2, 0]])
    assert units.take(slice(1, 3)).first.tolist() == units.first[1:].tolist()
    assert units.take(slice(1, 3)).vectors is None


def test_what_a_space_is_known_by() -> None:
    """It knows nothing at first, and reads each span group once."""
    lines = ("span(chunks)@-1..0", "span(chunks) & pattern(x)", "word@recurrence+1")
    space = FeatureSpace(Templates(lines, {"x": "[0-9]"}, {}))
    assert (len(space), space.n_cached, space.span_keys) == (0, 0, ["chunks"])
    templates = ["span(chunks)@first-1", "span(chunks)@first+0"]
    conjunction = "span(chunks)@first+0 & pattern(x)@first+0"
    assert space.identity() == {
        "templates": [*templates, conjunction, "word@again+1"], "patterns": {"x": "[0-9]"}
    }  # fmt: skip
    other = space.with_templates(Templates(("bias",), {}, {}))
    assert other.identity() == {"templates": ["bias"], "patterns": {}}


def test_words_that_an_earlier_component_has_met_are_not_read_again() -> None:
    space, earlier = (space_for(["word@0", "lower@0"])[0] for _ in range(2))
    tokens, asked = read_tokens(make_docs([[[Word("a"), Word("B")]]])), []

    def text_of(number: int) -> str:
        asked.append(number)
        return VOCAB.strings[number]

    earlier.positions(tokens, text_of)
    space.earlier = earlier
    assert len(asked) == 2
    space.positions(tokens, text_of)
    assert len(asked) == 2


def test_a_copy_has_what_was_learnt_and_no_words() -> None:
    space, _ = space_for(["word@0", "word@0 & word@1"])
    docs = [[[Word(text) for text in "abc"]]]
    units = units_of(space, docs, all_tokens(docs))
    space.learn(units, 1)
    space.earlier = space
    before = dense_design(space.design(units))
    copied = pickle.loads(pickle.dumps(space))
    assert (len(copied.lexemes), copied.n_cached, copied.earlier) == (1, 0, None)
    np.testing.assert_array_equal(
        dense_design(copied.design(units_of(copied, docs, all_tokens(docs)))), before
    )
    space.forget()
    assert (len(space), len(copied)) == (0, before.shape[1])


@pytest.mark.parametrize("word", WORDS)
def test_a_feature_of_any_number_can_be_a_part_of_another_one(word: str) -> None:
    """The first one, too."""
    space, _ = space_for(["size & word@0", "size & word@0 & lower@0"])
    units = units_of(space, [[[Word(word)]]], [(0, 0, 0, 0)])
    space.learn(units, 1)
    assert sorted(space.unit_features(units).indices.tolist()) == [0, 1]
