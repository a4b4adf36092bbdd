"""A corpus in a file: its loss is that of its shards, and one shard at a time is in memory."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pytest

from reference import design_of
from shards import LENGTHS, LOSS, N_FEATURES, Source, added_up, made_shards, random_weights, results
from spacy_cascade import parallel
from spacy_cascade.errors import ConfigError
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.parallel import Workers
from spacy_cascade.tools.scale import sharded
from spacy_cascade.tools.scale.sharded import CorpusFile, FileShards, Sharded, ShardedLoss
from spacy_cascade.trainers.lbfgs import LBFGS


def file_of(data: list[LabelledSequences]) -> CorpusFile:
    corpus = CorpusFile()
    for shard in data:
        corpus.append(shard)
    return corpus


@pytest.mark.parametrize("threads", [1, 2])
def test_the_loss_is_that_of_shards_in_memory(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, whatever the threads, as often as one asks, with many pieces of work.

    Second derivatives are a product of matrices, and BLAS rounds a row by how many there are: each
    shard has fewer here.
    """
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", 8)
    data = made_shards()
    corpus = file_of(data)
    assert len(corpus) == len(data)
    assert corpus.n_units == sum(map(sum, LENGTHS))
    loss = ShardedLoss(FileShards(corpus, LOSS, Workers(threads)), N_FEATURES)
    for seed in (1, 2):
        weights = random_weights(data[0], seed)
        *found, second = results(loss, weights)
        *expected, expected_second = added_up(data, weights)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_max_ulp(second, expected_second, 2 * len(data))


def test_one_shard_at_a_time_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    data, alive, others = made_shards(), WeakSet[CorpusLoss](), list[int]()

    class Watched(CorpusLoss):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            others.append(len(alive))
            alive.add(self)

    monkeypatch.setattr(sharded, "CorpusLoss", Watched)
    loss = ShardedLoss(FileShards(file_of(data), LOSS, Workers(2)), N_FEATURES)
    gc.disable()  # what refers to itself would stay
    try:
        results(loss, random_weights(data[0]))
        assert others == [0] * 9
        assert len(alive) == 0
    finally:
        gc.enable()


def test_what_is_done_to_a_shard_in_memory_stays_there() -> None:
    data = made_shards()
    corpus = file_of(data)
    for _, shard in corpus:
        shard.observed[:] = 0
        design_of(shard).unit_lexemes.indices[:] = 0
    for (_, shard), written in zip(corpus, data, strict=True):
        assert shard.structure is data[-1].structure
        np.testing.assert_array_equal(shard.observed, written.observed)
        np.testing.assert_array_equal(
            design_of(shard).unit_lexemes.indices, design_of(written).unit_lexemes.indices
        )


def test_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing of it stays behind, however the process ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    corpus = file_of(made_shards())
    assert list(tmp_path.iterdir()) == []
    assert len(list(corpus)) == len(LENGTHS)


def test_it_trains_as_with_the_corpus_in_memory() -> None:
    """With one shard to the same bits; a task has one."""
    data, source = made_shards(), Source(made_shards()[:1])
    trainer = LBFGS(iterations=4, threads=1)
    whole = trainer.begin(source._task)
    for given in (source, source._task):
        fit = Sharded(trainer, tokens=20).begin(given)  # type: ignore[arg-type]
        whole.restore(trainer.begin(source._task).state())
        assert fit.step(None) == whole.step(None)
        for one, other in zip(fit.weights(), whole.weights(), strict=True):
            np.testing.assert_array_equal(one, other)
    assert source.asked == [20]
    losses = Sharded(trainer).begin(Source(data)).step(None)  # type: ignore[arg-type]
    assert losses > whole.step(None)


@pytest.mark.parametrize("tokens", [-1, 0, 2**40])
def test_settings_out_of_range(tokens: int) -> None:
    with pytest.raises(ConfigError, match=r"tokens.*\[trainer\]"):
        Sharded(LBFGS(), tokens=tokens)
