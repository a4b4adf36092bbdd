"""Rerankers for trained pipelines: where they stand, and their settings from data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Example

from ...checks import configured
from ...errors import ConfigError, TrainingError
from ...pipeline.progress import is_interrupted
from ...pipeline.readers import examples_for
from ...pipeline.spans.nbest import check_n
from ...workflows.reconfigure import reconfigured, take_own_scores, with_settings
from ...workflows.sentences import split_sentences
from .component import CascadeReranker, RerankerData

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
SIZES = (1, 2, 3, 5, 8, 11)
FACTORIES = ("cascade_segmenter", "cascade_classifier", "cascade_reranker")


@dataclass(frozen=True)
class Tuned:
    """Settings found, and entity F1 on the tuning data.

    baseline: F1 of the first-best. f1: with n_best and weight. grid: F1 by n_best and weight.
    """

    n_best: int
    weight: float
    baseline: float
    f1: float
    grid: dict[tuple[int, float], float]

    @property
    def is_worse(self) -> bool:
        """Whether the pipeline is better without reranking."""
        return self.f1 < self.baseline


def tune(
    reranker: CascadeReranker, data: RerankerData, weights: Sequence[float], sizes: Sequence[int]
) -> Tuned:
    """The n_best and weight of highest F1, of equals the smaller."""
    learnt = reranker.weights.features if reranker.is_trained else None
    scale = reranker.scale
    grid = {}
    for n in sorted(sizes):
        typed = data.typed.best(n)
        shorter = replace(data, typed=typed)
        for weight in sorted(weights):
            grid[n, weight] = shorter.f1(typed.weighted(scale, weight), learnt)
    n_best, weight = max(grid, key=lambda key: grid[key])
    return Tuned(n_best, weight, first_best_f1(data), grid[n_best, weight], grid)


def first_best_f1(data: RerankerData) -> float:
    """Entity F1 of the segmenter's best with the classifier's types."""
    typed = data.typed.best(1)
    return replace(data, typed=typed).f1(typed.weighted(1.0, 1.0))


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


def names_before_reranking(nlp: Language) -> list[str]:
    """Names of the components up to the classifier, without rerankers.

    What comes later may need the reranker's work, or merge tokens of its Docs.
    """
    _, classifier, _ = names_of_stages(nlp)
    names = nlp.pipe_names[: nlp.pipe_names.index(classifier) + 1]
    return [name for name in names if nlp.get_pipe_meta(name).factory != FACTORIES[2]]


def with_reranker(nlp: Language, n_best: int, **settings: Any) -> Language:
    """A copy of the pipeline that finds the N best and reranks them; nlp is not changed.

    settings: of the reranker. One that is there keeps its place, its other settings and its
    weights; a new one comes right after the classifier. Where it chooses for each sentence, a
    `sentencizer` comes first if no component sets sentence starts (`workflows.sentences`).
    """
    segmenter, classifier, reranker = names_of_stages(nlp)
    config = nlp.config.copy()
    config["components"][segmenter]["n_best"] = max(2, n_best)
    spans_key = config["components"][segmenter]["spans_key"]
    if reranker is not None:
        config["components"][reranker].update(settings)
    copy = reconfigured(nlp, config)
    if reranker is None:
        settings = {**settings, "spans_key": spans_key}
        copy.add_pipe(FACTORIES[2], after=classifier, config=settings)
    split_sentences(copy)
    return copy


def without_reranker(nlp: Language) -> Language:
    """A copy of the pipeline that takes the best segmentation; nlp is not changed."""
    segmenter, _, reranker = names_of_stages(nlp)
    if reranker is None:
        return with_settings(nlp)
    copy = with_settings(nlp, {segmenter: {"n_best": 1}})
    copy.remove_pipe(reranker)
    return copy


def _settings_of(nlp: Language) -> tuple[list[int], list[float]]:
    """`n_best` and weight of the reranker that a pipeline has; nothing where it has none."""
    segmenter, _, reranker = names_of_stages(nlp)
    if reranker is None:
        return [], []
    stages: list[Any] = [nlp.get_pipe(segmenter), nlp.get_pipe(reranker)]
    return [stages[0].n_best], [stages[1].weight]


def reranker_of(nlp: Language) -> CascadeReranker:
    """The reranker of a pipeline. Raises `ConfigError` where there is none."""
    name = names_of_stages(nlp)[2]
    pipe = None if name is None else nlp.get_pipe(name)
    assert isinstance(pipe, CascadeReranker)
    return pipe


def with_lists(nlp: Language, examples: Iterable[Example]) -> list[Example]:
    """The examples with N-best lists on copies of their predicted Docs.

    Raises `TrainingError` where they have no entities.
    """
    examples = list(examples)
    if not any(example.reference.ents for example in examples):
        raise TrainingError(
            "The data for the reranker has no entities in doc.ents. Give a corpus that neither "
            "stage was trained on."
        )
    with nlp.select_pipes(enable=names_before_reranking(nlp)):
        docs = list(nlp.pipe([example.predicted.copy() for example in examples]))
    return [Example(doc, e.reference) for doc, e in zip(docs, examples, strict=True)]


def tune_reranker(
    nlp: Language,
    examples: Iterable[Example],
    weights: Sequence[float] = WEIGHTS,
    sizes: Sequence[int] = SIZES,
) -> tuple[Language, Tuned]:
    """A copy of the pipeline with the reranker tuned on examples, and what was found.

    weights, sizes: values of `weight` and `n_best` to try, beside those of a reranker that is
    there. Where reranking makes F1 lower, the copy has no reranker. Raises `ConfigError` for a
    pipeline without both stages, `TrainingError` without entities.
    """
    for n in sizes:
        check_n(n, "sizes to tune with")
    known_sizes, known_weights = _settings_of(nlp)
    ranked = with_reranker(nlp, max([*sizes, *known_sizes]))
    reranker = reranker_of(ranked)
    data = reranker.reranker_data(with_lists(ranked, examples))
    found = tune(reranker, data, sorted({*weights, *known_weights}), sorted({*sizes, *known_sizes}))
    if found.is_worse:
        return without_reranker(nlp), found
    return with_reranker(nlp, found.n_best, weight=found.weight), found


@configured
def make_reranker_tuning(
    path: str, weights: list[float] | None = None, sizes: list[int] | None = None
) -> Callable[[Language], Language]:
    """Tune the reranker whenever a pipeline is saved in training.

    Registered as `spacy_cascade.tune_reranker.v1` for `[training.before_to_disk]`. path: the
    development corpus. Other settings: see `tune_reranker`. The meta data of what is saved have its
    own scores on that corpus. Where Ctrl-C stops training the
    pipeline is saved as it is.
    """

    def before_to_disk(nlp: Language) -> Language:
        if is_interrupted():
            return nlp
        examples = list(examples_for(nlp, Path(path)))
        tuned, _ = tune_reranker(nlp, examples, weights or WEIGHTS, sizes or SIZES)
        take_own_scores(tuned, examples)
        return tuned

    return before_to_disk
