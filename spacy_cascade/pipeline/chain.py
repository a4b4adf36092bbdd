"""What components with a linear chain over the tokens of a sentence share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.dense import best_paths
from ..inference.lattice import Lattice
from ..inference.schemes import UNOBSERVED
from ..losses.margin import Costs
from ..losses.problem import ChainCorpus
from ..models.linear import get_weights
from ..trainers.base import Trainer
from ..types import Floats1d, Floats2d, Ints1d, Ints2d
from .base import CascadePipe, Gold


class ChainPipe(CascadePipe[Gold]):
    """A component that gives each token a label by a linear chain over its sentence."""

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Floats2d],
        name: str,
        objective: Costs,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
        settings: dict[str, Any],
    ) -> None:
        super().__init__(nlp, model, name, objective, trainer, scorer, settings)
        self._lattice: Lattice | None = None

    @abstractmethod
    def make_lattice(self) -> Lattice:
        """The legal transitions between the labels of tokens."""

    @abstractmethod
    def gold_tags(self, tokens: Tokens, gold: Sequence[Gold]) -> Ints1d:
        """Number of the gold label of each token, `UNOBSERVED` where there is no annotation."""

    @property
    @abstractmethod
    def chain_labels(self) -> list[str]:
        """Names of the labels of tokens, in the order of their numbers."""

    @property
    def edge_names(self) -> list[tuple[str, str]]:
        """The labels before and after each transition."""
        labels, lattice = self.chain_labels, self.lattice
        edges = zip(lattice.source.tolist(), lattice.target.tolist(), strict=True)
        return [(labels[previous], labels[current]) for previous, current in edges]

    @property
    def lattice(self) -> Lattice:
        """The legal transitions between the labels of tokens."""
        if self._lattice is None:
            self._lattice = self.make_lattice()
        return self._lattice

    def labels_changed(self) -> None:
        """Forget what depends on the labels."""
        self._lattice = None

    def all_units(self, tokens: Tokens, gold: Sequence[Gold]) -> Units:
        """Every token is a unit."""
        return self.token_units(tokens, self.gold_flags(tokens, gold))

    def token_units(self, tokens: Tokens, own_flags: Ints2d | None = None) -> Units:
        """Every token of the batch as a unit of its own; own_flags: their gold, in training."""
        positions = self.space.positions(tokens, self.vocab.strings.__getitem__, own_flags)
        return Units(positions, positions.of_token, positions.of_token)

    def make_corpus(self, examples: Sequence[Example], gold: Sequence[Gold]) -> ChainCorpus:
        """Sentences with their gold labels."""
        tokens = self.read_examples(examples)
        design = self.space.design(self.all_units(tokens, gold))
        tags = self.gold_tags(tokens, gold)
        return ChainCorpus(design, self.lattice, tags, tokens.sequence_starts)

    def score_tokens(self, docs: Sequence[Doc]) -> tuple[Tokens, Floats2d]:
        """The tokens of a batch and their scores `[T, S]`, none where there are no tokens."""
        self.sync_weights()
        self.forget_words()
        tokens = self.read(docs)
        if len(tokens.words) == 0:
            get_weights(self.model)  # not trained is an error even so
            return tokens, np.zeros((0, 0))
        return tokens, self.model.predict(self.token_units(tokens))


def best_labels(
    lattice: Lattice, scores: Floats2d, transitions: Floats1d, tokens: Tokens
) -> Ints1d:
    """The best labels of each sentence, int32 `[T]`; scores `[T, S]`, transitions `[E]`."""
    starts = tokens.sequence_starts
    path = np.empty(len(scores), dtype=np.int32)
    open_tags = np.full(len(scores), UNOBSERVED, dtype=np.int32)
    n_labels = lattice.n_labels
    best_paths(
        lattice, scores, transitions, np.zeros((n_labels + 1, n_labels)), open_tags, starts, path,
        np.empty(len(starts) - 1),
    )  # fmt: skip
    return path
