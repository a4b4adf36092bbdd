"""Tuning a reranker on data that the two stages have not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Corpus, Example
from spacy.util import load_model_from_config

from ..errors import ConfigError, TrainingError
from ..types import Floats1d, Floats2d, Floats3d, Ints1d
from .annotation import read_gold
from .candidates import count_outcomes, features_of, read_typed_list
from .hypotheses import FEATURES
from .nbest import check_n
from .reranker import CascadeReranker
from .reranking import Learner, choose, judge

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
SIZES = (1, 2, 3, 5, 8, 11)
FACTORIES = ("cascade_segmenter", "cascade_classifier", "cascade_reranker")
_PASSES = 10
_RATE = 0.05


@dataclass(frozen=True)
class Lists:
    """The typed N-best lists of a corpus of `S` sentences.

    sequence_scores, type_scores, right, found: float64 `[N, S]`; right and found count
    entities. features: `[N, S, F]`. docs: int32 `[S]`, the Doc of each sentence. n_gold: number
    of gold entities.
    """

    sequence_scores: Floats2d
    type_scores: Floats2d
    right: Floats2d
    found: Floats2d
    features: Floats3d
    docs: Ints1d
    n_gold: int

    def totals(self, n: int, weight: float) -> Floats2d:
        """Sequence scores plus weighted type scores of the first n, `[n, S]`."""
        totals: Floats2d = self.sequence_scores[:n] + weight * self.type_scores[:n]
        return totals

    def f1(self, choice: Ints1d) -> float:
        """Entity F1 when of each sentence the hypothesis of this number is taken."""
        sentences = np.arange(len(choice))
        right = self.right[choice, sentences].sum()
        n_all = self.found[choice, sentences].sum() + self.n_gold
        return float(2.0 * right / n_all) if n_all else 0.0


@dataclass(frozen=True)
class Tuned:
    """Settings found: n_best, weight, weights of features; and entity F1 on the tuning data.

    baseline: F1 of the first-best. f1: with n_best and weight. cross_validated: with feature
    weights too, each Doc by those of the other folds; None where none were learnt. theta: zeros
    unless that was better than f1. grid: F1 by n_best and weight.
    """

    n_best: int
    weight: float
    baseline: float
    f1: float
    cross_validated: float | None
    theta: Floats1d
    grid: dict[tuple[int, float], float] = field(repr=False, default_factory=dict)


def read_lists(examples: Sequence[Example], spans_key: str) -> Lists:
    """Lists of annotated Docs. Raises `ConfigError` where the predicted Docs have none."""
    gold = [read_gold(example, None) for example in examples]
    typed = [
        read_typed_list(example.predicted, spans_key, "Tuning the reranker") for example in examples
    ]
    outcomes = [count_outcomes(*pair) for pair in zip(typed, gold, strict=True)]
    features = [features_of(e.predicted, t) for e, t in zip(examples, typed, strict=True)]
    lengths = [len(t.starts) for t in typed]
    return Lists(
        sequence_scores=np.concatenate([t.sequence_scores for t in typed], axis=1),
        type_scores=np.concatenate([t.type_scores for t in typed], axis=1),
        right=np.concatenate([right for right, _ in outcomes], axis=1),
        found=np.concatenate([found for _, found in outcomes], axis=1),
        features=np.concatenate(features, axis=1),
        docs=np.repeat(np.arange(len(typed), dtype=np.int32), lengths),
        n_gold=sum(len(example.reference.ents) for example in examples),
    )


def tune(lists: Lists, weights: Sequence[float], sizes: Sequence[int], folds: int) -> Tuned:
    """The n_best and weight of highest F1, of equals the smaller; and feature weights.

    folds: for cross-validation of the feature weights; below 2 none are learnt.
    """
    nothing = np.zeros(len(FEATURES))
    grid = {
        (n, weight): lists.f1(choose(lists.totals(n, weight), None, nothing))
        for n in sorted(sizes)
        for weight in sorted(weights)
        if n <= len(lists.sequence_scores)
    }
    n, weight = max(grid, key=lambda key: grid[key])
    baseline = lists.f1(np.zeros(len(lists.docs), dtype=np.int32))
    theta, cross_validated = nothing, None
    if folds >= 2:
        largest = max(n for n, _ in grid)
        cross_validated = _cross_validate(lists, largest, weight, folds)
        if cross_validated > grid[n, weight]:
            n, theta = largest, _learn(lists, largest, weight, np.full(len(lists.docs), True))
    return Tuned(n, weight, baseline, max(grid.values()), cross_validated, theta, grid)


def _learn(lists: Lists, n: int, weight: float, chosen: Any) -> Floats1d:
    """Feature weights learnt from the sentences of a mask, in shuffled order but seeded."""
    base = lists.totals(n, weight)[:, chosen]
    errors = (lists.found - 2.0 * lists.right)[:n, chosen]
    sentences = judge(base, lists.features[:n][:, chosen], errors)
    learner = Learner(np.zeros(len(FEATURES)), _RATE)
    generator = np.random.default_rng(0)
    for _ in range(_PASSES):
        learner.pass_over(sentences, generator.permutation(len(sentences)).tolist())
    return learner.theta


def _cross_validate(lists: Lists, n: int, weight: float, folds: int) -> float:
    choice = np.zeros(len(lists.docs), dtype=np.int32)
    base = lists.totals(n, weight)
    for fold in range(folds):
        held = lists.docs % folds == fold
        theta = _learn(lists, n, weight, ~held)
        choice[held] = choose(base[:, held], lists.features[:n][:, held], theta)
    return lists.f1(choice)


def names_of_stages(nlp: Language) -> tuple[str, str, str | None]:
    """Names of the segmenter, the classifier and the reranker, None where there is none.

    Raises `ConfigError` where a stage is missing.
    """
    found = {nlp.get_pipe_meta(name).factory: name for name in reversed(nlp.pipe_names)}
    for factory in FACTORIES[:2]:
        if factory not in found:
            raise ConfigError(
                f"A reranker needs a {factory}, but the pipeline only has {nlp.pipe_names}. "
                "Give a pipeline that was trained with both stages."
            )
    return found[FACTORIES[0]], found[FACTORIES[1]], found.get(FACTORIES[2])


def with_reranker(nlp: Language, n_best: int, weight: float, theta: Floats1d) -> Language:
    """A copy of the pipeline that finds the N best and reranks them; nlp is not changed.

    A reranker that is there keeps its place and other settings; a new one comes right after
    the classifier.
    """
    segmenter, classifier, reranker = names_of_stages(nlp)
    config = nlp.config.copy()
    config["components"][segmenter]["n_best"] = max(2, n_best)
    spans_key = config["components"][segmenter]["spans_key"]
    if reranker is not None:
        config["components"][reranker].update(weight=weight)
    copy = load_model_from_config(config, vocab=nlp.vocab, auto_fill=True)
    copy.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    if reranker is None:
        settings = {"weight": weight, "spans_key": spans_key}
        reranker = FACTORIES[2]
        copy.add_pipe(FACTORIES[2], name=reranker, after=classifier, config=settings)
    pipe = copy.get_pipe(reranker)
    assert isinstance(pipe, CascadeReranker)
    pipe.theta = theta
    return copy


def tune_reranker(
    nlp: Language,
    examples: Iterable[Example],
    weights: Sequence[float] = WEIGHTS,
    sizes: Sequence[int] = SIZES,
    folds: int = 0,
) -> tuple[Language, Tuned]:
    """A copy of the pipeline with the reranker tuned on examples, and what was found.

    A reranker chooses for each sentence: put a sentencizer into pipelines without sentence
    starts. weights, sizes: values of `weight` and `n_best` to try. folds: learn weights of
    further features too, and keep them where they raise F1 in so many folds.
    Raises `ConfigError` for a pipeline without both stages, `TrainingError` without entities.
    """
    for n in sizes:
        check_n(n, "sizes to tune with")
    segmenter, classifier, _ = names_of_stages(nlp)
    ranked = with_reranker(nlp, max(sizes), 1.0, np.zeros(len(FEATURES)))
    # What comes later may need the reranker's work, or merge tokens of its Docs.
    stages = [
        name
        for name in ranked.pipe_names[: ranked.pipe_names.index(classifier) + 1]
        if ranked.get_pipe_meta(name).factory != FACTORIES[2]
    ]
    examples = list(examples)
    docs = [example.predicted.copy() for example in examples]
    with ranked.select_pipes(enable=stages):
        docs = list(ranked.pipe(docs))
    examples = [Example(d, e.reference) for d, e in zip(docs, examples, strict=True)]
    if not any(example.reference.ents for example in examples):
        raise TrainingError(
            "The data to tune the reranker on has no entities in doc.ents. Give a development "
            "corpus that neither stage was trained on."
        )
    spans_key = ranked.config["components"][segmenter]["spans_key"]
    found = tune(read_lists(examples, spans_key), weights, sizes, folds)
    return with_reranker(nlp, found.n_best, found.weight, found.theta), found


def make_reranker_tuning(
    path: str,
    weights: list[float] | None = None,
    sizes: list[int] | None = None,
    folds: int = 0,
) -> Callable[[Language], Language]:
    """Tune the reranker whenever a pipeline is saved in training.

    Registered as `spacy_cascade.tune_reranker.v1` for `[training.before_to_disk]`. path: the
    development corpus. Other settings: see `tune_reranker`.
    """

    def before_to_disk(nlp: Language) -> Language:
        examples = Corpus(path)(nlp)
        return tune_reranker(nlp, examples, weights or WEIGHTS, sizes or SIZES, folds)[0]

    return before_to_disk
