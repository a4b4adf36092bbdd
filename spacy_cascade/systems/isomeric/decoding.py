"""The second of two chains, given the N best segmentations of the first.

    argmax over y of the N best, z:   log Q(y|x) + log P(z|x, y)

Each sentence gets the potentials of the second chain under the `y` that wins with its best `z`.
(docs/method.md, section 6.8)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from spacy.tokens import Doc, SpanGroup

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.structure import Potentials, Structure
from ...pipeline.decoding import potentials_of
from ...pipeline.reading import Scoring
from ...pipeline.spans.nbest import RankedGroup, candidate_groups
from ...types import Floats1d


def jointly_best(pipe: Scoring, docs: Sequence[Doc], key: str) -> tuple[Tokens, Potentials]:
    """The tokens of a batch, and potentials under the best one of the N best under a key.

    Raises `ConfigError` where no earlier component has written N best with probabilities.
    """
    best: Potentials | None = None
    totals: Floats1d = np.zeros(0)
    for earlier, ranked in _ranks(pipe.name, docs, key):
        tokens, potentials = potentials_of(pipe, ranked)
        if len(potentials.scored) > 1:
            raise ConfigError(
                f"'{pipe.name}' scores spans as wholes, which joint decoding cannot. Set "
                "joint_key = null, or use the model spacy_cascade.LinearChain.v1."
            )
        sure = _log_probabilities(pipe.structure, potentials)
        if len(earlier) != len(sure):
            raise ConfigError(
                f"'{pipe.name}' decodes jointly with the segmentations under the key '{key}', but "
                "one of the two components was trained on sentences and the other on whole Docs. "
                "Train both on the same corpus, read in the same way."
            )
        found = earlier + sure
        if best is None:
            best, totals = potentials, found
            continue
        better = found > totals
        totals = np.where(better, found, totals)
        of_units = np.repeat(better, np.diff(potentials.starts))
        best.scores[of_units] = potentials.scores[of_units]
    return (tokens, best) if best is not None else potentials_of(pipe, docs)


def _log_probabilities(structure: Structure, potentials: Potentials) -> Floats1d:
    """Of the best labelling of each sentence, float64 `[S]`."""
    _, scores = structure.best(potentials)
    found: Floats1d = scores - structure.log_partitions(potentials)
    return found


def _ranks(name: str, docs: Sequence[Doc], key: str) -> Iterator[tuple[Floats1d, list[Doc]]]:
    """For each rank, log-probabilities of the segmentations `[S]`, and copies that have them."""
    copies = [doc.copy() for doc in docs]
    lists = [
        [(group, RankedGroup.of(group)) for group in candidate_groups(doc, key)] for doc in copies
    ]
    n = max((len(found) for found in lists), default=0)
    for doc, found in zip(docs, lists, strict=True):
        if len(doc) and (len(found) < n or n == 0):
            raise ConfigError(
                f"'{name}' decodes jointly with the N best segmentations under the key '{key}', "
                "but a Doc has none. Set n_best of 2 or more in the cascade_segmenter before it "
                "that writes this key."
            )
        if found and not found[0][1].is_log_probability:
            raise ConfigError(
                f"'{name}' decodes jointly with the segmentations under the key '{key}', but these "
                "have scores instead of probabilities. Train that component with the loss "
                "spacy_cascade.Likelihood.v2, or set joint_key = null."
            )
    for rank in range(n):
        scores: list[float] = []
        for doc, found in zip(copies, lists, strict=True):
            if len(doc):
                group, ranked = found[rank]
                doc.spans[key] = SpanGroup(doc, name=key, spans=list(group))
                scores += ranked.sequence_scores
        yield np.array(scores, dtype=np.float64), copies
