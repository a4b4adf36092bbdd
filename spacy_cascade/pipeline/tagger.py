"""`cascade_tagger`: gives tokens their part of speech with a linear chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from spacy.attrs import TAG
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..errors import ConfigError
from ..features.tokens import Tokens
from ..features.units import Units
from ..features.word_counts import span_flags
from ..inference.lattice import Lattice, free_lattice
from ..inference.schemes import UNOBSERVED
from ..losses.margin import Costs
from ..models.linear import get_weights
from ..trainers.base import Trainer
from ..types import Floats2d, Ints1d, Ints2d
from .chain import ChainPipe, best_labels
from .spans.gold import GoldTags, read_gold_tags


class CascadeTagger(ChainPipe[GoldTags]):
    """Sets `token.tag` by exact decoding of a linear chain over each sentence.

    Any tag may follow any other. Label 0 of the chain stands before the first token; the tags
    are labels `1 … n`, in the order of `labels`.
    """

    sought = "tagged token"
    where_to_look = "has token.tag (convert: --pos-column)"

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Floats2d],
        name: str,
        *,
        overwrite: bool,
        objective: Costs,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        settings = {"overwrite": overwrite}
        super().__init__(nlp, model, name, objective, trainer, scorer, settings)
        if "tags" in self.space.reads:
            raise ConfigError(
                f"The templates of '{name}' look at token.tag, which it sets itself. Take the "
                f"parts with 'tag' out of [components.{name}.model.templates]."
            )

    @property
    def chain_labels(self) -> list[str]:
        """An empty one that stands before the first token, then the tags."""
        return ["", *self.labels]

    def make_lattice(self) -> Lattice:
        """Every tag may follow every other."""
        return free_lattice(len(self.labels), self.model.attrs["label_pairs"])

    def lattice_size(self, n_labels: int) -> tuple[int, int]:
        """A transition from each tag and from the start to each tag."""
        n_edges = n_labels * (n_labels + 1)
        return n_edges, n_edges if self.model.attrs["label_pairs"] else n_labels

    def predict(self, docs: Iterable[Doc]) -> list[Ints1d]:
        """For each Doc the numbers of its tags among `labels`, int32 `[T]`."""
        tokens, scores = self.score_tokens(list(docs))
        path = np.zeros(0, dtype=np.int32)
        if len(scores):
            path = best_labels(self.lattice, scores, get_weights(self.model)[1], tokens)
        return np.split(path - 1, tokens.doc_starts[1:-1]) if len(tokens.doc_starts) > 1 else []

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Ints1d]) -> None:
        """Write `token.tag`; without `overwrite` only where there is none."""
        hashes = np.array([self.vocab.strings.add(label) for label in self.labels], dtype=np.uint64)
        for doc, numbers in zip(docs, scores, strict=True):
            tags: Any = hashes[numbers]
            if not self.cfg["overwrite"]:
                earlier = doc.to_array(TAG)
                tags = np.where(earlier != 0, earlier, tags)
            if len(tags):
                doc.from_array([TAG], tags)

    def read_gold(self, example: Example) -> GoldTags:
        """Gold tags of an example."""
        return read_gold_tags(example)

    def labels_in(self, gold: GoldTags) -> Iterable[str]:
        """The tags of one example."""
        return (gold.strings[tag] for tag in np.unique(gold.tags).tolist() if tag)

    def gold_flags(self, tokens: Tokens, gold: Sequence[GoldTags]) -> Ints2d:
        """How often training showed a word; there are no spans that it could stand in."""
        observed = np.concatenate([doc_gold.tags != 0 for doc_gold in gold])
        return span_flags(len(tokens.words), np.zeros((0, 2), dtype=np.int64), observed)

    def gold_tags(self, tokens: Tokens, gold: Sequence[GoldTags]) -> Ints1d:
        """Label of each token's tag; tags that are not among `labels` are left open."""
        tags = np.concatenate([doc_gold.tags for doc_gold in gold])
        numbers = {self.vocab.strings.add(label): i + 1 for i, label in enumerate(self.labels)}
        found, inverse = np.unique(tags, return_inverse=True)
        known = [numbers.get(tag, UNOBSERVED) for tag in found.tolist()]
        return np.array(known, dtype=np.int32)[inverse]
