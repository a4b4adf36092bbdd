"""The network as a scorer beside features: what it knows of words, its table, and its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.vocab import Vocab

from ...errors import ModelFileError, TrainingError
from ...features.lexemes import LexemeTable
from ...features.resources import Resource
from ...features.space import FeatureSpace
from ...features.units import PaddedTokens, Units
from ...numeric.arrays import Array, Arrays, Shapes
from ...numeric.csr import BinaryCSR
from ...numeric.index import KeyIndex
from ...parallel import LEXEME_LOCK
from ...pipeline.vocabulary_vectors import VocabularyVectors
from ...scorers.beside import BESIDE
from ...storage.arrays import check_shapes
from ...types import Floats2d, Ints1d, Keys1d, Pointers1d, Reals1d, Reals2d
from .layer import NetworkWeights, Window, hidden, product, tabulated
from .settings import Settings
from .training import NetworkTraining, Words, first_weights

_BOUNDARY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
"""Stands for the word before and after every sequence, which has the number 0."""
_BLOCK = 1 << 12
"""Units whose hidden numbers are in memory at once: they fit into a processor's cache."""
_MOST_BYTES = 1 << 26
"""Of the rows that are kept between batches; beyond that the table begins anew."""
_MINIMUM = 2
"""How often the training corpus must have a feature of words."""
_NONE = -1


class WindowScorer:
    """A trained network, or one to be trained, over the words beside and inside units.

    settings: of `WordWindow`. space: what it looks at of a word; are_spans: whether units are spans
    of tokens.
    """

    def __init__(self, settings: Settings, space: FeatureSpace, are_spans: bool) -> None:
        self.settings, self._space, self._are_spans = settings, space, are_spans
        self.margin = settings.window
        self._vectors: list[Callable[[Sequence[str]], Reals2d | None]] = []
        self._forget()

    def _forget(self) -> None:
        self._weights: NetworkWeights | None = None
        self._names: list[str] = []
        self._columns: Ints1d = np.zeros(0, dtype=np.int32)
        self._centre: Reals1d = np.zeros(0, dtype=np.float32)
        self._scale: Reals1d = np.zeros(0, dtype=np.float32)
        self._table: _Table | None = None

    def __getstate__(self) -> dict[str, object]:
        """What is copied and pickled: neither the table nor what belongs to a vocabulary."""
        return {**self.__dict__, "_table": None, "_vectors": []}

    @property
    def is_trained(self) -> bool:
        return self._weights is not None

    def n_steps(self, n_units: int) -> int:
        """Epochs of training on so many units."""
        return self.settings.schedule(n_units, self._are_spans).epochs

    @property
    def _places(self) -> int:
        """How many rows are summed for a unit."""
        beside = 2 * self.settings.window
        return beside + (3 if self._are_spans else 1)

    def begin(self, made: dict[str, Resource], vocab: Vocab) -> None:
        """Take the resources of the features, by key, and the vocabulary of the next batch."""
        own = self._space.resources
        own.made = {key: made[key] for key in own.specs if key in made}
        self._vectors = [each.word_vectors for each in own.made.values()]
        of_pipeline = VocabularyVectors.of_vocabulary(vocab) if self.settings.vectors else None
        if of_pipeline is not None:
            self._vectors.append(of_pipeline.of)

    # What is known of words

    def _known(self, words: Keys1d, positions: PaddedTokens) -> tuple[BinaryCSR, Reals2d]:
        """Features `[n, K]` and vectors `[n, d]` of words, the boundary first.

        positions: where they stand; their table has computed most of it already.
        """
        text_of = positions.text_of
        assert text_of is not None
        lexemes = LexemeTable(self._space.plan.attributes, self._space.resources)
        rows = np.append(0, lexemes.rows(words, [], text_of, positions.table))
        features = self._space.lexeme_features(lexemes.attributes).take(rows)
        return features, self._vectors_of([text_of(word) for word in words.tolist()])

    def _vectors_of(self, texts: Sequence[str]) -> Reals2d:
        """Vectors of the boundary and of words, of all sources side by side, `[n + 1, d]`."""
        found = [each for source in self._vectors if (each := source(texts)) is not None]
        vectors: Any = np.hstack([np.zeros((len(texts), 0), dtype=np.float32), *found])
        if self.is_trained and vectors.shape[1] != len(self._centre):
            raise TrainingError(
                f"The network of words was trained with {len(self._centre)} numbers in the vectors "
                f"of a word, and now there are {vectors.shape[1]}. Use the vectors of the pipeline "
                "that it was trained with."
            )
        with_boundary: Reals2d = np.pad(vectors, ((1, 0), (0, 0)))
        return with_boundary

    def _standardised(self, vectors: Reals2d) -> Reals2d:
        """Vectors about a mean of zero and of size one; zeros stay, and stand for none."""
        found = np.where(vectors != 0, (vectors - self._centre) / self._scale, 0)
        return np.asarray(found, dtype=np.float32)

    # Training

    def train(
        self, units: Units, labels: Ints1d, names: Sequence[str], progress: Callable[[], object]
    ) -> None:
        """Learn labels `[U]` of units; those below zero are not known. names: of all labels.

        Where none is known, it stays as before training.
        """
        known = np.flatnonzero(labels >= 0)
        self._forget()
        if not len(known):
            return
        words, line = _words_of(units)
        distinct, number, n_times = np.unique(words, return_inverse=True, return_counts=True)
        numbers = np.zeros(len(units.positions.lexemes), dtype=np.int32)
        numbers[line] = 1 + number  # after the boundary
        features, vectors = self._learn_words(distinct, n_times, units)
        self._learn_scale(vectors)
        of_words = Words(features, self._standardised(vectors))
        sizes = self.settings.width, self.settings.hidden
        seed = self.settings.seed
        weights = first_weights(of_words, self._places, len(names), sizes, seed)
        schedule = self.settings.schedule(len(labels), self._are_spans)
        training = NetworkTraining(weights, of_words, schedule)
        window = self._window(units, numbers).take(known)
        training.run(window, labels[known], seed, progress)
        self._weights = NetworkWeights(*(_rounded(each) for each in weights))
        self._names = list(names)

    def _learn_words(
        self, words: Keys1d, n_times: Pointers1d, units: Units
    ) -> tuple[BinaryCSR, Reals2d]:
        """Number the features that the corpus has often enough; what is known of its words."""
        text_of = units.positions.text_of
        assert text_of is not None
        lexemes = LexemeTable(self._space.plan.attributes, self._space.resources)
        rows = lexemes.rows(words, [], text_of)
        keys = self._space.lexeme_keys(lexemes.attributes[rows])
        distinct, number = np.unique(keys, return_inverse=True)
        counts = np.bincount(number.ravel(), np.repeat(n_times, keys.shape[1]))
        self._space.index = KeyIndex(distinct[(counts >= _MINIMUM) & (distinct > 0)])
        return self._known(words, units.positions)

    def _learn_scale(self, vectors: Reals2d) -> None:
        """The mean of each number over words that have vectors, and the spread of them all."""
        n_known = np.maximum((vectors != 0).sum(axis=0), 1)
        self._centre = (vectors.sum(axis=0) / n_known).astype(np.float32)
        spread = np.where(vectors != 0, vectors - self._centre, 0.0)
        found = np.sqrt((spread**2).sum(axis=0) / n_known)
        self._centre, self._scale = _rounded(self._centre), _rounded(np.maximum(found, 1e-6))

    # Scores

    def set_columns(self, names: Sequence[str]) -> None:
        """Say which label each score column is of, by its name.

        One that it does not know has its least score: nothing that it has seen had this label.
        """
        place = {name: i for i, name in enumerate(self._names)}
        self._columns = np.array([place.get(name, _NONE) for name in names], dtype=np.int32)

    def add_scores(self, units: Units, out: Floats2d) -> None:
        """Add the scores of units to `out` `[U, S]`."""
        weights, table, numbers = self._ready(units)
        scores = np.zeros((min(_BLOCK, len(out)), len(self._names) + 1), dtype=np.float32)
        window = self._window(units, numbers)
        for begin in range(0, len(out), _BLOCK):
            own = np.arange(begin, min(begin + _BLOCK, len(out)))
            part = hidden(table, window.take(own), weights.bias)
            np.maximum(part, 0, out=part)
            scores[: len(own), :-1] = product(part, weights.of_hidden) + weights.of_labels
            scores[: len(own), _NONE] = scores[: len(own), :-1].min(axis=1)
            out[begin : begin + _BLOCK] += self.settings.share * scores[: len(own), self._columns]

    def contributions(self, units: Units, columns: Sequence[int]) -> list[tuple[str, list[float]]]:
        """What each place around a single unit adds to columns, and what is added anyway.

        Where the hidden numbers are zero nothing passes; elsewhere all is a sum.
        """
        weights, table, numbers = self._ready(units)
        window = self._window(units, numbers)
        before = hidden(table, window, weights.bias)[0]
        is_on = before > 0
        scores = (before * is_on) @ weights.of_hidden + weights.of_labels
        places = self._columns[list(columns)]
        labels = np.where(places == _NONE, scores.argmin(), places)
        own = self.settings.share * weights.of_hidden[:, labels].astype(np.float64)
        of_labels = self.settings.share * weights.of_labels[labels].astype(np.float64)
        rows = table.reshape(len(table), self._places, -1)
        n_beside = window.around.shape[1]
        found = [
            (name, ((rows[word, place] * is_on) @ own).tolist())
            for place, (name, word) in enumerate(
                zip(self._names_of_window(), window.around[0].tolist(), strict=False)
            )
        ]
        if self._are_spans:
            inside = rows[window.inside, n_beside].mean(axis=0)
            found.append(("inside", ((inside * is_on) @ own).tolist()))
        found.append(("bias", ((weights.bias * is_on) @ own + of_labels).tolist()))
        return found

    def _names_of_window(self) -> list[str]:
        n = self.settings.window
        before, after = range(-n, 0), range(1, n + 1)
        if not self._are_spans:
            return [f"{i:+d}" if i else "0" for i in range(-n, n + 1)]
        return [*(f"first{i}" for i in before), "first", "last", *(f"last+{i}" for i in after)]

    def _ready(self, units: Units) -> tuple[NetworkWeights, Reals2d, Ints1d]:
        """The weights, `P` `[n, o · H]`, and the row of the word at each position."""
        weights = self._weights
        assert weights is not None
        words, line = _words_of(units)
        with LEXEME_LOCK:
            if self._table is None or self._table.n_bytes > _MOST_BYTES:
                self._table = _Table()
            make = partial(self._tabulated, positions=units.positions, weights=weights)
            rows = self._table.rows(words, make)
            found = self._table.values
        numbers = np.zeros(len(units.positions.lexemes), dtype=np.int32)
        numbers[line] = rows
        return weights, found, numbers

    def _tabulated(
        self, words: Keys1d, positions: PaddedTokens, weights: NetworkWeights
    ) -> Reals2d:
        """`P` of the boundary and of words."""
        features, vectors = self._known(words, positions)
        return tabulated(features, self._standardised(vectors), weights)

    def _window(self, units: Units, numbers: Ints1d) -> Window:
        """numbers: int32 `[P]`, of the word at each position; 0 at boundaries."""
        first, last, n = units.first, units.last, self.settings.window
        if not self._are_spans:
            around = numbers[first[:, None] + np.arange(-n, n + 1)]
            return Window(around, np.zeros(0, np.int32), np.zeros(0, np.int64))
        before = numbers[first[:, None] + np.arange(-n, 1)]
        after = numbers[last[:, None] + np.arange(n + 1)]
        lengths = (last - first + 1).astype(np.int64)
        begin = np.append(0, np.cumsum(lengths))
        places = np.arange(begin[-1]) + np.repeat(first - begin[:-1], lengths)
        return Window(np.hstack([before, after]), numbers[places], begin)

    # Model files

    def arrays(self) -> Arrays:
        """What is saved, with a prefix of its own; nothing before training."""
        if self._weights is None:
            return {}
        numbers = {"centre": self._centre, "scale": self._scale, **self._weights._asdict()}
        found: Arrays = {
            "keys": self._space.index.keys,
            "columns": self._columns + 1,
            **{name: each.astype(np.float16) for name, each in numbers.items()},
        }
        return {f"{BESIDE}{name}": array for name, array in found.items()}

    def check(self, arrays: Mapping[str, Array], n_columns: int) -> None:
        """Raise `ModelFileError` for arrays that it cannot have; n_columns: `S`.

        In half precision no sum of products can be too large for single precision.
        """
        if not arrays:
            return
        found = _own(arrays)
        width, n_hidden = self.settings.width, self.settings.hidden
        n_features = found["keys"].size if "keys" in found else 0
        n_numbers = found["centre"].size if "centre" in found else 0
        n_labels = found["of_labels"].size if "of_labels" in found else 0
        shapes: Shapes = {
            "keys": ((n_features,), "u8"),
            "columns": ((n_columns,), "i4"),
            "centre": ((n_numbers,), "f2"),
            "scale": ((n_numbers,), "f2"),
            "of_labels": ((n_labels,), "f2"),
            "of_features": ((n_features, width), "f2"),
            "of_vectors": ((n_numbers, width), "f2"),
            "of_window": ((width, self._places * n_hidden), "f2"),
            "bias": ((n_hidden,), "f2"),
            "of_hidden": ((n_hidden, n_labels), "f2"),
        }
        check_shapes(dict(arrays), {f"{BESIDE}{name}": each for name, each in shapes.items()})
        if (found["scale"] <= 0).any():
            raise ModelFileError(f"The array '{BESIDE}scale' of the saved model has no sizes.")
        if found["columns"].max(initial=0) > n_labels:
            raise ModelFileError(
                f"The array '{BESIDE}columns' of the saved model names labels that are not there."
            )

    def restore(self, arrays: Mapping[str, Array], names: Sequence[str]) -> None:
        """Have what was saved, or nothing where there are no arrays.

        names: of the label of each score column.
        """
        self._forget()
        if not arrays:
            self._space.index = KeyIndex()
            return
        found = _own(arrays)
        self._space.index = KeyIndex(found["keys"].astype(np.uint64))
        self._centre, self._scale = (found[n].astype(np.float32) for n in ("centre", "scale"))
        self._columns = found["columns"] - np.int32(1)
        name_of = dict(zip(self._columns.tolist(), names, strict=True))
        self._names = [name_of.get(i, "") for i in range(found["of_labels"].size)]
        fields: list[Any] = [found[name].astype(np.float32) for name in NetworkWeights._fields]
        self._weights = NetworkWeights(*fields)


class _Table:
    """`P` of the words that were met, the boundary first; values: float32 `[n, o · H]`."""

    def __init__(self) -> None:
        self._index = KeyIndex(np.array([_BOUNDARY], dtype=np.uint64))
        self._values: Reals2d | None = None

    @property
    def n_bytes(self) -> int:
        return 0 if self._values is None else int(self._values.nbytes)

    @property
    def values(self) -> Reals2d:
        assert self._values is not None
        return self._values[: len(self._index)]

    def rows(self, words: Keys1d, make: Callable[[Keys1d], Reals2d]) -> Ints1d:
        """The row of each word, int32; make: gives rows of the boundary and of new words."""
        rows = self._index.lookup(words)
        if self._values is not None and not (rows < 0).any():
            return rows
        new = np.unique(words[rows < 0])
        made = make(new)
        if self._values is None:
            self._values = made[:1]
        n = len(self._index)
        if n + len(new) > len(self._values):
            grown = np.empty((2 * (n + len(new)), made.shape[1]), dtype=np.float32)
            grown[:n] = self._values[:n]
            self._values = grown
        self._values[n : n + len(new)] = made[1:]
        self._index.add(new)
        return self._index.lookup(words)


def _words_of(units: Units) -> tuple[Keys1d, Ints1d]:
    """The word of each token, spaCy's hash, and the position of each."""
    positions = units.positions
    lexemes = positions.lexemes[positions.of_token]
    return positions.table.origins[lexemes, 0], positions.of_token


def _rounded(values: Any) -> Any:
    """As it is saved."""
    return values.astype(np.float16).astype(np.float32)


def _own(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(BESIDE): array for name, array in arrays.items()}
