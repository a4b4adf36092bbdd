"""What attributes read besides the Docs: how it is made, learns, and is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc

from helpers import blank
from spacy_cascade.errors import ModelFileError, NotTrainedError
from spacy_cascade.features import resources
from spacy_cascade.features.resources import (
    SHARES,
    InvalidArray,
    Resource,
    Resources,
    ResourceSpec,
    SpanWordCounts,
    share_text,
    share_value,
    span_flags,
)
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.numeric.arrays import Array, Arrays, Shapes
from spacy_cascade.types import Ints2d

VOCAB = blank().vocab
N_FLAGS = 1 + len(SHARES)


class Plain(Resource):
    """It has to be read, and learns nothing."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Any) -> Plain:
        return cls(np.array([settings, *map(int, tokenize(name))], dtype=np.int64))

    def arrays(self) -> Arrays:
        return {"numbers": self.numbers}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        size = arrays["numbers"].size if "numbers" in arrays else 0
        return {"numbers": ((size,), "i8")}

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        if (arrays["numbers"] < 0).any():
            raise InvalidArray("numbers", "has negative numbers")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> Plain:
        return cls(arrays["numbers"] + (settings or 0))


class Learning(Plain):
    """It keeps the words and the flags that it was given."""

    @classmethod
    def empty(cls) -> Learning:
        return cls(np.zeros(0, dtype=np.int64))

    def learn(self, tokens: Tokens, flags: Ints2d) -> Learning:
        learnt = type(self)(flags[:, 0].astype(np.int64))
        learnt.words = tokens.words.tolist()
        return learnt

    def add(self, tokens: Tokens, flags: Ints2d) -> Learning:
        return type(self)(np.append(self.numbers, flags[:, 0]))

    def source(self) -> dict[str, str]:
        return {"name": "learnt"}


PLAIN, OTHER = ResourceSpec(Plain, "plain", "1", 5), ResourceSpec(Plain, "plain", "11", 6)
LEARNING = ResourceSpec(Learning, "learning")
COUNTS = ResourceSpec(SpanWordCounts, "evidence")
SPECS = [PLAIN, None, LEARNING, OTHER, COUNTS]


def tokens_of(*docs: str) -> Tokens:
    return read_tokens([Doc(VOCAB, words=words.split()) for words in docs])


def blocks_of(*docs: str) -> list[tuple[Tokens, Ints2d]]:
    """A block for each Doc, with flags that tell its tokens apart."""
    sizes = np.cumsum([0, *(len(words.split()) for words in docs)])
    flags = np.random.default_rng(1).integers(0, 2, (sizes[-1], N_FLAGS)).astype(np.int32)
    flags[:, 0] = np.arange(len(flags))
    parts = zip(docs, np.split(flags, sizes[1:-1]), strict=True)
    return [(tokens_of(words), part) for words, part in parts]


def made(is_read: bool = True) -> Resources:
    found = Resources(SPECS)
    if is_read:
        found.read(list)
    return found


def test_resources_by_their_names_in_templates() -> None:
    found = made()
    assert list(found.specs) == ["plain(1)", "learning", "plain(11)", "evidence"]
    assert (found.coded, found.worded) == (["evidence"], [])
    assert found.to_read == ["plain(1)", "plain(11)"]
    assert found.of(PLAIN).numbers.tolist() == [5, 1]
    assert found.of(OTHER).numbers.tolist() == [6, 1, 1]
    assert found.of(None) is None


def test_one_that_was_not_read_is_asked_in_vain() -> None:
    found = made(is_read=False)
    assert found.of(LEARNING).numbers.tolist() == []
    with pytest.raises(NotTrainedError, match=r"'plain\(1\)' has not been read yet"):
        found.of(PLAIN)
    found.read(list)
    found.forget()
    assert list(found.made) == ["learning", "evidence"]


def test_those_that_learn_do_so() -> None:
    found, ((tokens, flags),) = made(), blocks_of("a b a")
    plain = found.of(PLAIN)
    assert found.are_seen(tokens.lower) is None
    found.learn(tokens, flags)
    assert found.of(LEARNING).numbers.tolist() == [0, 1, 2]
    assert found.are_seen(tokens_of("a b c").lower).tolist() == [True, True, False]
    found.add(tokens, flags)
    assert found.of(LEARNING).numbers.tolist() == [0, 1, 2, 0, 1, 2]
    assert found.of(PLAIN) is plain
    assert found.sources() == [{"name": "learnt"}]
    (codes,) = found.codes(tokens, flags)
    assert codes.tolist() == found.of(COUNTS).codes(tokens, flags).tolist()


def test_what_a_resource_does_not_say_cannot_be_asked() -> None:
    plain = made().of(PLAIN)
    for ask, n in ((plain.codes, 2), (plain.word_codes, 1), (SpanWordCounts.read, 3)):
        with pytest.raises(NotImplementedError):  # as the class says of each
            ask(*[[]] * n)


def test_blocks_are_read_as_one_corpus_where_somebody_learns() -> None:
    blocks = blocks_of("a b", "", "c a d")
    learnt = Learning.empty().learn_in_blocks(lambda: iter(blocks))
    assert learnt.words == tokens_of("a b c a d").words.tolist()
    assert learnt.numbers.tolist() == [0, 1, 2, 3, 4]
    empty = Learning.empty()
    assert empty.learn_in_blocks(lambda: iter([])) is empty

    def refuse() -> Iterator[Any]:
        raise AssertionError("the corpus is read in vain")

    plain = made().of(PLAIN)
    assert plain.learn_in_blocks(refuse) is plain.learn(*blocks[0]) is plain.add(*blocks[0])
    assert (plain.empty(), plain.source(), plain.word_vectors(["a"])) == (None, {}, None)


def kinds_of(arrays: Arrays) -> Shapes:
    return {n: (each.shape, f"{each.dtype.kind}{each.itemsize}") for n, each in arrays.items()}


def test_saved_arrays_are_those_of_each() -> None:
    found = made()
    assert found.shapes(found.arrays(), is_trained=True) == kinds_of(found.arrays())
    found.learn(*blocks_of("a b")[0])
    arrays = found.arrays()
    expected = {"plain_numbers:1", "learning_numbers", "plain_numbers:11", "evidence_keys"}
    assert arrays.keys() == {*expected, "evidence_counts"}
    assert PLAIN.of(arrays).keys() == LEARNING.of(arrays).keys() == {"numbers"}
    assert OTHER.of(arrays)["numbers"] is arrays["plain_numbers:11"]
    assert found.shapes(arrays, is_trained=True) == kinds_of(arrays)
    restored = made(is_read=False)
    restored.restore(arrays)
    assert restored.of(PLAIN).numbers.tolist() == [10, 6]
    assert restored.of(LEARNING).numbers.tolist() == [0, 1]
    for name in ("evidence_keys", "evidence_counts"):
        assert restored.arrays()[name].tolist() == arrays[name].tolist()
        assert restored.arrays()[name].dtype == arrays[name].dtype


def test_a_model_that_was_not_trained_lacks_what_has_to_be_read() -> None:
    some = {"plain_numbers:11": np.arange(3), "learning_numbers": np.arange(2)}
    found = made(is_read=False)
    trained = ["plain_numbers:1", "learning_numbers", "plain_numbers:11"]
    assert list(found.shapes({}, is_trained=True))[:3] == trained
    untrained = found.shapes(some, is_trained=False)
    assert list(untrained) == [*trained[1:], "evidence_keys", "evidence_counts"]
    assert untrained["plain_numbers:11"] == ((3,), "i8")
    assert untrained["evidence_counts"] == ((0, N_FLAGS), "i4")
    found.restore(some)
    assert list(found.made) == ["learning", "plain(11)"]


def test_values_without_sense_are_told_by_their_names() -> None:
    arrays = made().arrays()
    made().check(arrays)
    arrays["plain_numbers:11"] = np.array([1, -1])
    with pytest.raises(ModelFileError, match=r"'plain_numbers:11' of .* has negative numbers"):
        made().check(arrays)
    assert InvalidArray("numbers", "is odd").args == ("numbers", "is odd")


@pytest.mark.parametrize(
    ("n", "n_inside", "text", "value"),
    [
        (0, 0, "never seen", "0/0"),
        (1, 0, "0-2 % of 1", "1/1"),
        (1, 1, "98-100 % of 1", "1/8"),
        (2, 1, "50-75 % of 2-3", "2/5"),
        (3, 1, "25-50 % of 2-3", "2/4"),
        (4, 3, "75-90 % of 4-7", "3/6"),
        (7, 1, "10-25 % of 4-7", "3/3"),
        (8, 0, "0-2 % of 8+", "4/1"),
        (1000, 20, "2-10 % of 8+", "4/2"),
        (1000, 979, "90-98 % of 8+", "4/7"),
    ],
)
def test_shares_as_readers_see_them(n: int, n_inside: int, text: str, value: str) -> None:
    """Each of the four by itself."""
    for share in range(len(SHARES)):
        flags = np.zeros((n, N_FLAGS), dtype=np.int32)
        flags[:, 0] = 1
        flags[:n_inside, 1 + share] = 1
        tokens = tokens_of("a " * n)
        (code,) = SpanWordCounts.count(tokens.lower, flags).codes(tokens_of("a")).tolist()
        assert (share_text(code, share), share_value(code, share)) == (text, value)
        others = {share_text(code, other) for other in range(len(SHARES)) if other != share}
        assert others == {f"0-2 % of {text.split()[-1]}" if n else text}


def test_flags_of_tokens_in_spans() -> None:
    """Spans may touch and overlap."""
    spans = np.array([[1, 4], [4, 5], [2, 3]])
    flags = span_flags(6, spans, np.array([True] * 5 + [False]))
    assert flags.T.tolist() == [
        [1, 1, 1, 1, 1, 0],
        [0, 1, 1, 1, 1, 0],
        [0, 1, 1, 0, 1, 0],
        [0, 0, 1, 1, 1, 0],
        [0, 0, 1, 1, 0, 0],
    ]
    assert flags.dtype == np.int32
    nothing = span_flags(2, spans[:0], np.ones(2, dtype=np.bool_))
    assert nothing.tolist() == [[1, 0, 0, 0, 0]] * 2


def test_a_doc_does_not_see_its_own_counts() -> None:
    """What it was not counted with is not taken off."""
    tokens = tokens_of("a b", "a A")
    flags = np.zeros((4, N_FLAGS), dtype=np.int32)
    flags[:, :2] = [[1, 1], [1, 0], [1, 0], [1, 0]]
    counts = SpanWordCounts.count(tokens.lower, flags)

    def seen(own: Ints2d | None) -> list[str]:
        return [share_text(code, 0) for code in counts.codes(tokens, own).tolist()]

    assert SpanWordCounts.empty().learn(tokens, flags).counts.tolist() == counts.counts.tolist()
    assert seen(None) == ["25-50 % of 2-3", "0-2 % of 1", *["25-50 % of 2-3"] * 2]
    assert seen(flags) == ["0-2 % of 2-3", "never seen", *["98-100 % of 1"] * 2]
    # The second Doc was never counted with all of its tokens inside a span.
    other = flags.copy()
    other[2:, 1] = 1
    assert seen(other) == [*seen(flags)[:2], *["25-50 % of 2-3"] * 2]
    assert counts.codes(tokens, flags)[1] == 0
    unknown = tokens_of("c d")
    assert counts.codes(unknown).tolist() == counts.codes(unknown, flags[:2]).tolist() == [0, 0]
    nothing = SpanWordCounts.empty()
    assert nothing.codes(tokens).tolist() == nothing.codes(tokens, flags).tolist() == [0] * 4
    assert nothing.are_seen(tokens.lower) is None


def test_blocks_are_added_up_rarely_and_count_as_one_corpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whenever there are more new words than known ones: else the time would be quadratic."""
    taken, added = [], resources._added

    def add(parts: Any) -> SpanWordCounts:
        taken.append(sum(len(part.index) for part in parts))
        return added(parts)

    monkeypatch.setattr(resources, "_added", add)
    blocks = blocks_of("", *(f"w{n}" for n in range(20)), "w3 w4 w5 w20")
    counted = SpanWordCounts.empty().learn_in_blocks(lambda: iter(blocks))
    assert taken == [1, 3, 7, 15, 24]
    texts = " ".join(f"w{n}" for n in range(20)) + " w3 w4 w5 w20"
    flags = np.concatenate([flags for _, flags in blocks])
    whole = SpanWordCounts.count(tokens_of(texts).lower, flags)
    assert counted.index.keys.tolist() == whole.index.keys.tolist()
    np.testing.assert_array_equal(counted.counts, whole.counts)
