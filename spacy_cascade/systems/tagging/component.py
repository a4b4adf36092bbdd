"""`cascade_tagger`: gives tokens their part of speech with a linear chain."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.attrs import TAG
from spacy.scorer import Scorer
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example

from ...errors import ConfigError
from ...features.resources import span_flags
from ...features.tokens import Tokens
from ...features.units import Units
from ...inference.schemes import UNOBSERVED
from ...inference.structure import Structure, require
from ...pipeline.base import CascadePipe
from ...pipeline.corpus import GetExamples, check_labels
from ...pipeline.decoding import potentials_of
from ...pipeline.factories import component_factory
from ...pipeline.settings import setting
from ...pipeline.spans.gold import same_tokens
from ...types import Ints1d, Ints2d, Keys1d, Pointers1d

_NO_TAG = 0


@dataclass(frozen=True)
class GoldTags:
    """Part of speech of the tokens of the predicted Doc, as the reference has it.

    tags: uint64 `[T]`, hashes of `token.tag`, 0 for tokens without annotation.
    strings: their texts.
    """

    tags: Keys1d
    strings: StringStore


def read_gold_tags(example: Example) -> GoldTags:
    """Gold tags from `reference.tag`; a token that the reference has not is not observed."""
    reference = example.reference
    tags = np.asarray(reference.to_array(TAG))
    if not same_tokens(example):
        to_reference, to_predicted = example.alignment.x2y, example.alignment.y2x
        same = to_reference.lengths == 1
        source = to_reference.data[np.cumsum(to_reference.lengths)[same] - 1]
        is_one = to_predicted.lengths[source] == 1
        aligned = np.zeros(len(example.predicted), dtype=np.uint64)
        aligned[np.flatnonzero(same)[is_one]] = tags[source[is_one]]
        tags = aligned
    return GoldTags(tags, reference.vocab.strings)


@dataclass(frozen=True)
class TagGold:
    """The gold tags of the tokens."""

    pipe: "CascadeTagger"

    def read(self, example: Example) -> GoldTags:
        """The tags of the tokens of the predicted Doc."""
        return read_gold_tags(example)

    def reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Attributes of tokens of the reference, and keys of its groups, that gold is read of."""
        return (TAG,), ()

    def told_apart(self, labels: set[str]) -> set[str]:
        """All labels."""
        return labels

    def flags(self, tokens: Tokens, gold: Sequence[GoldTags]) -> Ints2d:
        """How often training showed a word; there are no spans that it could stand in."""
        observed = np.concatenate([doc_gold.tags != 0 for doc_gold in gold])
        return span_flags(len(tokens.words), np.zeros((0, 2), dtype=np.int64), observed)

    def labels_present(self, gold: GoldTags) -> Iterable[str]:
        """The tags of an example."""
        return (gold.strings[tag] for tag in np.unique(gold.tags).tolist() if tag)

    def n_cut(self, gold: GoldTags) -> int:
        """No tag can cut a token."""
        return 0

    def check_found(
        self, found: Collection[str], present: Counter[str], n_cut: int, get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there are no tags."""
        place = "token.tag (convert: --pos-column)"
        n_examples, sought = self.pipe.n_examples or 0, "tagged token"
        check_labels(found, n_examples, self.pipe.name, sought, place, get_examples)


class CascadeTagger(CascadePipe):
    """Sets `token.tag` by exact decoding of a linear chain over each sentence.

    Any tag may follow any other. Label 0 of the structure stands before the first token; the tags
    are labels `1 … n`, in the order of `labels`.
    """

    overwrite: bool = setting(True)

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` where its templates or its structure do not go with it."""
        if "tags" in self.space.reads:
            raise ConfigError(
                f"The templates of '{self.name}' look at token.tag, which it sets itself. Remove "
                f"the parts with 'tag' from [components.{self.name}.model.templates]."
            )
        require(self.family.structure, ["best"], f"'{self.name}'")

    @property
    def gold(self) -> TagGold:
        """What it learns of examples."""
        return TagGold(self)

    @property
    def structure_labels(self) -> list[str]:
        """A name for what stands before the first token, then the tags."""
        return ["", *(self.labels or [""])]

    def _make_structure(self) -> Structure:
        """There is one tag before any is known."""
        return self.family.of_labels(max(1, len(self.labels)))

    def _structure_size(self, n_labels: int) -> tuple[int, int]:
        return self.family.size_of_labels(max(1, n_labels))

    def predict(self, docs: Iterable[Doc]) -> list[Ints1d]:
        """For each Doc the numbers of its tags among `labels`, int32 `[T]`."""
        tokens, potentials = potentials_of(self, list(docs))
        path = np.zeros(0, dtype=np.int32)
        if len(potentials.scores):
            path, _ = self.structure.best(potentials)
        return np.split(path - 1, tokens.doc_starts[1:-1]) if len(tokens.doc_starts) > 1 else []

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Ints1d]) -> None:
        """Write `token.tag`; without `overwrite` only where there is none."""
        known = [self.vocab.strings.add(label) for label in self.labels] or [_NO_TAG]
        hashes = np.array(known, dtype=np.uint64)
        for doc, numbers in zip(docs, scores, strict=True):
            tags: Any = hashes[numbers]
            if not self.overwrite:
                earlier = doc.to_array(TAG)
                tags = np.where(earlier != 0, earlier, tags)
            if len(tags):
                doc.from_array([TAG], tags)

    def labels_in(self, gold: GoldTags) -> Iterable[str]:
        """The labels that it learns from one example."""
        return self.gold.labels_present(gold)

    def fitted(
        self, tokens: Tokens, gold: Sequence[GoldTags], examples: Sequence[Example]
    ) -> tuple[Units, Ints1d, Pointers1d]:
        """Tokens as units, their labels, and starts of sequences."""
        return self.gold_units(tokens, gold), self._gold_labels(gold), tokens.sequence_starts

    def _gold_labels(self, gold: Sequence[GoldTags]) -> Ints1d:
        """Label of each token's tag; tags that are not among `labels` are left open."""
        tags = np.concatenate([doc_gold.tags for doc_gold in gold])
        numbers = {self.vocab.strings.add(label): i + 1 for i, label in enumerate(self.labels)}
        found, inverse = np.unique(tags, return_inverse=True)
        known = [numbers.get(tag, UNOBSERVED) for tag in found.tolist()]
        return np.array(known, dtype=np.int32)[inverse]


def score_tags(examples: Iterable[Example], **settings: object) -> dict[str, Any]:
    """`tag_acc` as spaCy's own tagger counts it: share of gold tokens with the right tag.

    Tokens without gold tag do not count. Registered as `spacy_cascade.tags_scorer.v1`.
    """
    scores: dict[str, Any] = Scorer.score_token_attr(examples, "tag")
    return scores


def make_tags_scorer() -> Callable[..., dict[str, Any]]:
    """The scorer of `cascade_tagger`."""
    return score_tags


make_tagger = component_factory(
    "cascade_tagger",
    CascadeTagger,
    {
        "model": {
            "@architectures": "spacy_cascade.LinearChain.v1",
            "templates": {"@misc": "spacy_cascade.TaggingTemplates.v1"},
            "min_count": 2,
            "label_pairs": False,
        },
        "loss": {"@misc": "spacy_cascade.Hinge.v2"},
        "penalty": None,
        "trainer": {
            "@misc": "spacy_cascade.PassiveAggressive.v1",
            "C": 0.01,
            "average_power": 1,
            "passes": 3,
        },
        "scorer": {"@scorers": "spacy_cascade.tags_scorer.v1"},
    },
    assigns=["token.tag"],
    default_score_weights={"tag_acc": 1.0},
)
