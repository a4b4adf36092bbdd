"""The callback that tunes a reranker whenever a pipeline is saved in training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spacy.language import Language

from ...pipeline.progress import is_interrupted
from ...pipeline.readers import examples_for
from ...workflows.reconfigure import take_own_scores
from .tuning import SIZES, WEIGHTS, tune_reranker


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
