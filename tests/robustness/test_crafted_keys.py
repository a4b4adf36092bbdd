"""Keys and words made so that they would all begin at one place of a table, or crowd together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from spacy.strings import hash_string  # type: ignore[attr-defined]
from spacy.tokens import Doc

from helpers import trained_cascade
from spacy_cascade.numeric.index import KeyIndex, frequent_keys

pytestmark = pytest.mark.slow

GOLDEN = 0x9E3779B97F4A7C15
"""A factor that everybody knows."""
MOST = 10.0
LEXEME_LOCK, REPEATS, LOOKUPS = 10, 5, 100_000


def of(numbers: Iterable[int]) -> np.ndarray:
    return np.array([number % 2**64 for number in numbers], dtype=np.uint64)


def in_one_place(n: int, factor: int, generator: np.random.Generator) -> np.ndarray:
    """Keys whose products with an odd factor have the same upper half, `[n]` or a few less."""
    products = np.unique(generator.integers(1, 2**32, n, dtype=np.uint64))
    return products * np.uint64(pow(factor, -1, 2**64))


def families(n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
    known = KeyIndex(np.arange(1, n + 1, dtype=np.uint64))._table.hashed.factor
    step = int(generator.integers(2**63)) | 1
    return {
        "equal high bits": of(range(1, n + 1)),
        "equal low bits": of(i << 44 for i in range(1, n + 1)),
        "equal middle bits": of(i % 128 << 57 | i // 128 + 1 for i in range(n)),
        "one high bit and low bits": of(i % 2 << 63 | i // 2 + 1 for i in range(n)),
        "arithmetic progression": of(step * i for i in range(1, n + 1)),
        "multiples of the known factor": of(GOLDEN * i for i in range(1, n + 1)),
        "one place under the known factor": in_one_place(n, GOLDEN, generator),
        "one place of another table": in_one_place(n, int(known), generator),
        "words": of(map(hash_string, colliding_words(n))),
    }


# Words by their hashes

BLOCK, FACTOR, SHIFT = 8, 0xC6A4A7935BD1E995, np.uint64(47)
"""Of MurmurHash64A, by which spaCy knows strings."""
BACK = np.uint64(pow(FACTOR, -1, 2**64))


def mixed_back(x: np.ndarray) -> np.ndarray:
    """From the product of a folded product to where it began."""
    x = x * BACK
    return (x ^ (x >> SHIFT)) * BACK


def colliding_words(n: int) -> list[str]:
    """Words of 16 ASCII characters whose hashes are `in_one_place` under the known factor.

    MurmurHash can be undone: the second half of a word makes its hash what one likes.
    """
    generator = np.random.default_rng(7)
    head = b"Interleu"
    words: list[str] = []
    before = np.uint64(state_after(head))
    while len(words) < n:
        hashes = in_one_place(200_000, GOLDEN, generator)
        ends = (hashes ^ (hashes >> SHIFT)) * BACK
        ends = (ends ^ (ends >> SHIFT)) * BACK
        tails = mixed_back(ends ^ before).view(np.uint8).reshape(-1, BLOCK)
        is_text = ((tails > 0x20) & (tails < 0x7F)).all(axis=1)
        words.extend((head + tail.tobytes()).decode("ascii") for tail in tails[is_text])
    return sorted(set(words))[:n]


def state_after(head: bytes) -> int:
    """State of the hash of a text of two blocks after the first one."""
    block = int.from_bytes(head, "little") * FACTOR % 2**64
    block = (block ^ (block >> 47)) * FACTOR % 2**64
    return ((1 ^ (2 * BLOCK * FACTOR)) ^ block) * FACTOR % 2**64


# Measured side by side


def seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def ratio(crafted: Callable[[], object], normal: Callable[[], object]) -> float:
    """How much longer the one takes, of several times the shortest."""
    times = [(seconds(crafted), seconds(normal)) for _ in range(REPEATS)]
    first, second = map(min, zip(*times, strict=True))
    return first / second


def built(keys: np.ndarray) -> KeyIndex:
    """As they come with Docs, some at a time."""
    index = KeyIndex()
    for part in np.array_split(keys, 10):
        index.add(part)
    return index


def lookups(index: KeyIndex, keys: np.ndarray) -> Callable[[], object]:
    queries = np.resize(keys, LOOKUPS)
    return lambda: index.lookup(queries)


def test_crafted_keys(cases, figure, generator):
    n = cases(10_000)
    normal = generator.integers(1, 2**63, 2 * n, dtype=np.uint64)
    slowest: dict[str, float] = {}
    for name, both in families(2 * n, generator).items():
        keys, others = both[: len(both) // 2], both[len(both) // 2 :]
        plain = built(normal[: len(keys)])
        found = []
        for _ in range(LEXEME_LOCK):
            index = built(keys)
            np.testing.assert_array_equal(index.lookup(keys), np.arange(len(keys)))
            assert (index.lookup(others) == -1).all()
            found += [
                ratio(lookups(index, keys), lookups(plain, plain.keys)),
                ratio(lookups(index, others), lookups(plain, normal[-len(others) :])),
                ratio(lambda: built(keys), lambda: built(plain.keys)),  # noqa: B023
                ratio(
                    lambda: frequent_keys(keys, None, 1),  # noqa: B023
                    lambda: frequent_keys(plain.keys, None, 1),  # noqa: B023
                ),
            ]
        slowest[name] = max(found)
        assert slowest[name] <= MOST, (name, found)
    worst = max(slowest, key=lambda name: slowest[name])
    figure(
        f"{n:,} crafted keys, {len(slowest)} kinds, {LEXEME_LOCK} tables each",
        f"lookups, misses and building at most {slowest[worst]:.1f} x normal keys ({worst})",
    )


def test_crafted_words(cases, figure, generator):
    """Docs of words whose hashes would begin at one place, on a trained pipeline."""
    n = cases(10_000)
    nlp = trained_cascade()
    letters = np.frombuffer(b"ABCDEFGHabcdefgh01234567-+()[].,", dtype=np.uint8)
    drawn = letters[generator.integers(0, len(letters), (n, 16))]
    spaces = [nlp.get_pipe(name).space for name in nlp.pipe_names]

    def annotated(words: list[str]) -> Callable[[], None]:
        doc = Doc(nlp.vocab, words=words)

        def run() -> None:
            for space in spaces:
                space.forget_lexemes(0)
            nlp(doc.copy())
            nlp(doc.copy())

        return run

    crafted = annotated(colliding_words(n))
    normal = annotated([row.tobytes().decode("ascii") for row in drawn])
    crafted()
    normal()
    slower = ratio(crafted, normal)
    figure(
        f"{n:,} words with crafted hashes through the cascade, as new words and again",
        f"{slower:.2f} x the time of as many random words",
    )
    assert slower <= MOST
