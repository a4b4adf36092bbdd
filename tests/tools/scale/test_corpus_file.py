"""A corpus in a file: its loss is that of its shards, and one shard at a time is in memory."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pytest

from objectives import data_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences, ShardedLoss
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.ensembles.loss import Imitation, Targets
from spacy_cascade.tools.scale.corpus_file import CorpusFile, ShardLosses
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import LABELS, random_corpus

LENGTHS = ([6, 4, 7], [5], [3, 3, 8, 2])
N_FEATURES = 8
LOSS = SoftmaxMargin(kappa=0.5)


def shards(seed: int = 0) -> list[LabelledSequences]:
    """Of different sizes, over the same features."""
    generator = np.random.default_rng(seed)
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=True)
    costs = LOSS.label_costs(lattice.n_labels)
    made = [
        random_corpus(generator, lattice, lengths, costs, 1.5, n_features=N_FEATURES)
        for lengths in LENGTHS
    ]
    return [data_of(design, corpus) for design, corpus in made]


def file_of(data: list[LabelledSequences]) -> CorpusFile:
    corpus = CorpusFile(data[0].structure)
    for shard in data:
        corpus.append(shard)
    return corpus


def random_weights(structure: LinearChain) -> Weights:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(N_FEATURES, structure.n_columns))
    return Weights(features, generator.normal(size=structure.n_transitions))


def results(loss: ShardedLoss, structure: LinearChain) -> list[np.ndarray]:
    weights = random_weights(structure)
    out = np.empty_like(weights.features)
    value, of_transitions = loss.value_and_gradient(weights, out)
    return [
        loss.counts(), np.array(value), of_transitions, out, loss.hessian_diagonal(weights)
    ]  # fmt: skip


class Watched:
    """Losses of shards, which says how many others are alive when one is made."""

    def __init__(self, losses: ShardLosses) -> None:
        self.losses, self.alive, self.most = losses, WeakSet[CorpusLoss](), 0

    def __iter__(self) -> Iterator[CorpusLoss]:
        return map(self._watch, self.losses)

    def _watch(self, loss: CorpusLoss) -> CorpusLoss:
        self.most = max(self.most, len(self.alive))
        self.alive.add(loss)
        return loss


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_loss_is_that_of_shards_in_memory(threads: int, n_parts: int) -> None:
    """To the last bit, whatever the threads."""
    workers, data = Workers(threads), shards()
    for shard in data:
        shard.design.n_parts = n_parts
    structure = data[0].structure
    assert isinstance(structure, LinearChain)
    wanted = results(ShardedLoss([CorpusLoss(one, LOSS, Workers(1)) for one in data]), structure)
    corpus = file_of(data)
    assert len(corpus) == len(data)
    assert corpus.n_units == sum(map(sum, LENGTHS))
    found = results(ShardedLoss(ShardLosses(corpus, LOSS, workers, n_parts)), structure)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_shard_at_a_time_is_in_memory() -> None:
    data = shards()
    watched = Watched(ShardLosses(file_of(data), LOSS, Workers(2), 1))
    gc.disable()  # what refers to itself would stay
    try:
        results(ShardedLoss(watched), data[0].structure)  # type: ignore[arg-type]
        assert watched.most == 0
        assert len(watched.alive) == 0
    finally:
        gc.enable()


def test_what_is_done_to_a_shard_in_memory_stays_there() -> None:
    data = shards()
    corpus = file_of(data)
    for shard in corpus:
        shard.observed[:] = 0
        shard.design.unit_lexemes.indices[:] = 0
    for shard, written in zip(corpus, data, strict=True):
        np.testing.assert_array_equal(shard.observed, written.observed)
        np.testing.assert_array_equal(
            shard.design.unit_lexemes.indices, written.design.unit_lexemes.indices
        )


def test_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing of it stays behind, however the process ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    corpus = file_of(shards())
    assert list(tmp_path.iterdir()) == []
    assert len(list(corpus)) == len(LENGTHS)


@pytest.mark.parametrize(
    "settings",
    [{"workers": 2}, {"sparse": True}, {"induction": object()}],
    ids=["workers", "sparse", "induction"],
)
def test_settings_that_need_the_corpus_in_memory_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"shard_tokens = 9.*no workers.*or shard_tokens = 0"):
        LBFGS(shard_tokens=9, **settings)  # type: ignore[arg-type]


def test_other_settings_and_losses_are_refused() -> None:
    with pytest.raises(ConfigError, match="shard_tokens must be a number from 0"):
        LBFGS(shard_tokens=-1)
    nothing = np.zeros((0, 1))
    targets = Targets(nothing, nothing, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    imitation = Imitation(Likelihood(), targets)
    LBFGS().check(imitation, Gaussian(1.0), LinearChain)
    with pytest.raises(ConfigError, match=r"knows more of sequences.*shard_tokens = 0"):
        LBFGS(shard_tokens=9).check(imitation, Gaussian(1.0), LinearChain)
    assert not LBFGS(shard_tokens=9).may_be_sparse(1000)
