"""Probabilities of an ensemble as targets of the stages of a cascade (`systems.ensembles.loss`)."""

from collections.abc import Sequence

import numpy as np
from spacy.training import Example

from ...errors import ConfigError
from ...inference.linear_chain import LinearChain
from ...inference.schemes import Spans
from ...losses.base import LabelledSequences
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.gold import GoldSpans, read_gold
from ...types import Bools1d, Floats2d
from .component import CascadeEnsemble
from .expected_parts import expected_parts
from .loss import Targets
from .mixture import TypedPosteriors, mean_posteriors

_AT_ONCE = 128


def posteriors_of(
    ensemble: CascadeEnsemble, examples: Sequence[Example], shares: Sequence[float]
) -> TypedPosteriors:
    """Mean of what the ensemble and the gold annotation say of examples, counted as one batch.

    shares: of the gold annotation, for each example; 1 leaves the example out. Labels are those of
    the ensemble.
    """
    offsets = np.cumsum([0, *(len(example.predicted) for example in examples)])
    chosen = [i for i, share in enumerate(shares) if share < 1]
    found = []
    for first in range(0, len(chosen), _AT_ONCE):
        part = chosen[first : first + _AT_ONCE]
        spans = ensemble.posteriors([examples[i].predicted for i in part])
        cuts = np.cumsum([0, *(len(examples[i].predicted) for i in part)])
        which = np.searchsorted(cuts, spans.start, side="right") - 1
        moved = (offsets[part] - cuts[:-1])[which]
        kept = 1.0 - np.array([shares[i] for i in part])[which]
        found.append(
            TypedPosteriors(
                spans.start + moved, spans.end + moved, spans.probabilities * kept[:, None]
            )
        )
    mixed = [(i, read_gold(examples[i], None)) for i in chosen if shares[i] > 0]
    found += [_gold(gold, offsets[i], shares[i], ensemble.labels) for i, gold in mixed]
    nothing = np.zeros(0, dtype=np.int64)
    found.append(TypedPosteriors(nothing, nothing, np.zeros((0, len(ensemble.labels)))))
    mean = mean_posteriors(found)
    return mean._replace(probabilities=mean.probabilities * len(found))


def segmenter_targets(
    segmenter: CascadeSegmenter, data: LabelledSequences, found: TypedPosteriors, has: Bools1d
) -> Targets:
    """Targets of a chain of tags. has: bool `[T]`, tokens of Docs that have targets.

    Raises `ConfigError` for a segmenter that is no linear chain.
    """
    structure = data.structure
    if type(structure) is not LinearChain:
        raise ConfigError(
            f"'{segmenter.name}' is no linear chain, and nothing else can be distilled into. Use "
            'the architecture "spacy_cascade.LinearChain.v1".'
        )
    if segmenter.typed:
        row, label = np.nonzero(found.probabilities)
        probabilities = found.probabilities[row, label]
    else:
        row, probabilities = np.arange(len(found.start)), found.probabilities.sum(axis=1)
        label = np.zeros_like(row)
    spans = Spans(found.start[row], found.end[row], label.astype(np.int32))
    parts = expected_parts(structure.lattice, structure.tag_set, spans, probabilities, data.starts)
    return Targets(parts.scores, parts.transitions, has[data.starts[:-1]], has)


def classifier_targets(
    classifier: CascadeClassifier, data: LabelledSequences, found: TypedPosteriors,
    examples: Sequence[Example], has: Bools1d,
) -> Targets:  # fmt: skip
    """Targets of the classes of the gold spans of examples.

    Raises `ConfigError` for a classifier that rejects spans, which no ensemble speaks of.
    """
    if classifier.reject:
        raise ConfigError(
            f"'{classifier.name}' learns to reject spans, and an ensemble has no such class. Set "
            "reject = false to distil."
        )
    place = {bounds: i for i, bounds in enumerate(zip(found.start.tolist(), found.end.tolist()))}  # noqa: B905
    scores: Floats2d = np.zeros((len(data.observed), data.structure.n_columns))
    scores[np.arange(len(scores)), data.observed] = 1.0
    given = np.zeros(len(scores), dtype=np.bool_)
    offset = row = 0
    for example in examples:
        for start, end, label in read_gold(example, classifier.gold_key).spans:
            if label not in classifier.labels:
                continue
            i = place.get((start + offset, end + offset))
            if i is not None and has[start + offset]:
                scores[row] = found.probabilities[i] / found.probabilities[i].sum()
                given[row] = True
            row += 1
        offset += len(example.predicted)
    transitions = np.zeros((len(scores), data.structure.n_transitions))
    return Targets(scores, transitions, given, given)


def tokens_with(examples: Sequence[Example], shares: Sequence[float]) -> Bools1d:
    """Tokens `[T]` of the examples of which not all is gold."""
    lengths = [len(example.predicted) for example in examples]
    return np.repeat(np.array(shares) < 1, lengths)


def _gold(gold: GoldSpans, offset: int, share: float, labels: Sequence[str]) -> TypedPosteriors:
    numbers = {label: i for i, label in enumerate(labels)}
    rows = [(s + offset, e + offset, numbers[label]) for s, e, label in gold.spans]
    start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return TypedPosteriors(start, end, share * np.eye(len(labels))[label])
