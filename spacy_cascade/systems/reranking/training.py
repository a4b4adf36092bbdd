"""Training of a reranker on N-best lists of cascades that were not trained on their Docs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.training import Example
from thinc.api import Config

from ...errors import ConfigError
from ...files import temporary_folder
from ...pipeline.progress import progress
from ...pipeline.readers import examples_for
from ...pipeline.spans.nbest import check_n
from ...scorers.linear import set_weights
from ...workflows.folds import check_folds, train_pipeline
from .component import CascadeReranker, RerankerData
from .tuning import (
    first_best_f1,
    names_before_reranking,
    names_of_stages,
    reranker_of,
    with_lists,
    with_reranker,
)

SCALES = (1.0, 2.5)
WEIGHTS = (0.5, 1.0, 1.5)
PASSES = 8


@dataclass(frozen=True)
class Trial:
    """Settings of one training of the reranker, and dev F1 after each pass."""

    scale: float
    weight: float
    f1: list[float]


@dataclass(frozen=True)
class Trained:
    """What training found: dev F1 of the first-best, and all trials.

    best: the trial, and number of passes, of the weights that were kept.
    """

    baseline: float
    trials: list[Trial]
    best: tuple[Trial, int]

    @property
    def f1(self) -> float:
        """Entity F1 of its choices on the development lists."""
        trial, passes = self.best
        return trial.f1[passes - 1]


def train_reranker(
    nlp: Language,
    train_path: Path,
    dev_path: Path,
    *,
    folds: int = 4,
    n_best: int = 6,
    scales: Sequence[float] = SCALES,
    weights: Sequence[float] = WEIGHTS,
    passes: int = PASSES,
) -> tuple[Language, Trained]:
    """A copy of a trained pipeline with a reranker trained on jackknifed lists.

    Both stages are trained anew on the corpus without each of the folds, by the pipeline's own
    training config, to give that fold its lists. `scale`, `weight` and the number of passes are
    those of highest F1 on the development corpus. Raises `ConfigError` for a pipeline without both
    stages, or for folds or n_best out of range.
    """
    check_n(n_best, "n_best for the reranker")
    if passes < 1:
        raise ConfigError(f"A reranker needs 1 pass or more, not {passes}.")
    ranked = with_reranker(nlp, n_best)
    reranker = reranker_of(ranked)
    examples = list(jackknifed(nlp, train_path, dev_path, folds, n_best))
    reranker.initialize(lambda: examples, nlp=ranked)
    data = reranker.reranker_data(examples)
    dev = reranker.reranker_data(with_lists(ranked, examples_for(ranked, dev_path)))
    trials = []
    best, kept = (0.0, 0, 0), reranker.weights.features
    for i, (scale, weight) in enumerate(product(scales, weights)):
        reranker.scale, reranker.weight = scale, weight
        scores = []
        for n_passes, learnt in enumerate(_passes(reranker, data, passes), 1):
            scores.append(dev.f1(reranker.weighted(dev.typed), learnt))
            if scores[-1] > best[0]:
                best, kept = (scores[-1], i, n_passes), learnt
        trials.append(Trial(scale, weight, scores))
    chosen = trials[best[1]]
    reranker.reset_fit()
    set_weights(reranker.model, kept, np.zeros(reranker.structure.n_transitions))
    final = with_reranker(nlp, n_best, scale=chosen.scale, weight=chosen.weight)
    reranker_of(final).from_bytes(reranker.to_bytes(), exclude=["cfg"])
    return final, Trained(first_best_f1(dev), trials, (chosen, max(1, best[2])))


def _passes(reranker: CascadeReranker, data: RerankerData, n: int) -> Iterator[np.ndarray]:
    """The weights after each of n passes that begin with zeros."""
    zeros, transitions = reranker.weights
    reranker.reset_fit()
    set_weights(reranker.model, np.zeros(zeros.shape), transitions)
    for _ in range(n):
        reranker.learn(data)
        reranker.sync_weights()
        yield reranker.weights.features


def jackknifed(
    nlp: Language, train_path: Path, dev_path: Path, folds: int, n_best: int
) -> Iterator[Example]:
    """The training corpus with N-best lists, each Doc by a cascade that has not seen it."""
    examples = list(examples_for(nlp, train_path))
    check_folds(len(examples), folds, train_path)
    with temporary_folder() as folder:
        config = _stages_config(nlp, folder)
        nlp.to_disk(folder)
        for fold in progress("Training without each fold", iterable=range(folds), total=folds):
            rest = [e.reference for i, e in enumerate(examples) if i % folds != fold]
            trained = train_pipeline(config, rest, dev_path, vocab=nlp.vocab)
            yield from with_lists(with_reranker(trained, n_best), examples[fold::folds])


def _stages_config(nlp: Language, saved: Path) -> Config:
    """The pipeline's own training config, but for both stages only.

    saved: folder of the pipeline, from which all that comes before them is taken as it is.
    """
    segmenter, classifier, _ = names_of_stages(nlp)
    config = Config(nlp.config.copy()).interpolate()
    names = names_before_reranking(nlp)
    others = [name for name in names if name not in (segmenter, classifier)]
    config["nlp"].update(pipeline=names, disabled=[])
    components = config["components"]
    config["components"] = {
        name: {"source": str(saved)} if name in others else components[name] for name in names
    }
    config["components"][segmenter]["n_best"] = 1
    annotating = config["training"]["annotating_components"]
    config["training"].update(
        before_to_disk=None,
        frozen_components=others,
        annotating_components=[name for name in annotating if name in names],
    )
    return config
