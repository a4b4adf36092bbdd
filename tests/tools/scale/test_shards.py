"""Shards of a corpus add up to the whole, to the last bit, whatever their number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reference import rows_from_dense
from sharding import SMALL_PIECE, Inline, objective, results, task
from spacy_cascade import parallel
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Structure, Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.numeric.design import BinaryCSR, Design, SegmentRows
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.ensembles.loss import Imitation, Targets
from spacy_cascade.systems.semi_markov.structure import SemiMarkovChain
from spacy_cascade.tools.scale import remote_loss
from spacy_cascade.tools.scale.shards import _touched, cut
from spacy_cascade.trainers.base import Task

KINDS = ["pairs", "typed", "local", "segments", "classifier"]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Inline:
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    engine = Inline()
    monkeypatch.setattr(remote_loss, "engine_named", lambda name: engine)
    return engine


@pytest.mark.parametrize("parts", [4, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_workers_gives_the_same_bits(kind: str, parts: int, engine: Inline) -> None:
    whole = results(objective(task(kind), parts=parts))
    for workers in {2, 3, parts}:
        assert results(objective(task(kind), parts=parts, workers=workers)) == whole
        assert len(engine.servers) == workers


def test_bits_depend_on_the_parts(engine: Inline) -> None:
    """So the comparisons above can fail."""
    assert results(objective(task("pairs"), parts=4)) != results(objective(task("pairs"), parts=5))


def test_a_corpus_with_one_piece_has_one_worker(
    engine: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", 1 << 30)
    whole = results(objective(task("pairs"), parts=8))
    assert results(objective(task("pairs"), workers=4)) == whole
    assert len(engine.servers) == 1


def test_a_shard_has_little_more_than_its_own_sequences(engine: Inline) -> None:
    data = task("typed").data
    data.design.n_parts = 4
    shards = list(cut(CorpusLoss(data, task("typed").loss, Workers(1)), 2))
    n_units = sum(len(shard.observed) for shard in shards)
    assert len(data.observed) <= n_units <= 1.5 * len(data.observed)
    own = [shard.pieces[-1] - shard.pieces[0] for shard in shards]
    assert sum(own) == len(data.starts) - 1


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_segments_may_be_elsewhere_than_units(
    parts: int, engine: Inline, generator: np.random.Generator
) -> None:
    """All of them in the last sequences: a worker needs these for its part of the segments."""
    structure = SemiMarkovChain(TagSet("IOB2", ("A", "B")), False)
    starts, n_features = np.arange(0, 61, 3), 7
    lengths = np.zeros(60, dtype=np.int64)
    lengths[48:] = 40
    ends = np.append(0, np.cumsum(lengths))

    def rows(n: int) -> BinaryCSR:
        return rows_from_dense((generator.random((n, n_features)) < 0.5).astype(np.int64))

    length = generator.integers(1, 4, ends[-1]).astype(np.int32)
    none = rows_from_dense(np.zeros((1, n_features), np.int64))
    no_lexemes = rows_from_dense(np.zeros((60, 1), np.int64))
    design = Design(none, no_lexemes, rows(60))
    segments = SegmentRows(ends, length, rows(ends[-1]), 3)
    observed = np.zeros(60, dtype=np.int32)
    shape = n_features, structure.n_columns
    start = Weights(np.zeros(shape), np.zeros(structure.n_transitions))
    penalty = Gaussian(1.0).at_zero(shape, structure.n_transitions)
    data = LabelledSequences((design, segments), structure, observed, starts)
    given = Task(data, SoftmaxMargin(kappa=1.0), penalty, start)
    whole = results(objective(given, parts=parts, threads=1))
    for workers in (2, parts):
        assert results(objective(given, parts=parts, workers=workers, threads=1)) == whole


def test_sequences_that_parts_touch() -> None:
    """Those of the pieces, and those with any of the units; nothing touches none."""
    starts = np.array([0, 2, 5, 9])
    assert _touched(starts, [(3, 4)], np.array([0, 0])) == (1, 2)
    assert _touched(starts, [(4, 6), (2, 2)], np.array([0, 1])) == (0, 3)
    assert _touched(starts, [(2, 5)], np.array([2, 2])) == (1, 2)
    assert _touched(starts, [(5, 5), (2, 2)], np.array([1, 1])) == (0, 0)


def test_targets_go_with_their_sequences(engine: Inline) -> None:
    """A loss that knows more of each sequence than its labels is cut, too."""
    given = task("pairs")
    data = given.data
    generator = np.random.default_rng(1)
    has_targets = generator.random(len(data.starts) - 1) < 0.5
    of_units = np.repeat(has_targets, np.diff(data.starts))
    targets = Targets(
        _random(generator, len(data.observed), data.structure),
        generator.random((len(has_targets), data.structure.n_transitions)),
        has_targets,
        of_units,
    )
    imitating = replace(given, loss=Imitation(given.loss, targets))
    assert results(objective(imitating, workers=3)) == results(objective(imitating, parts=8))


def _random(generator: np.random.Generator, n: int, structure: Structure) -> np.ndarray:
    return generator.random((n, structure.n_columns))
