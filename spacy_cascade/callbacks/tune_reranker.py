"""The callback that tunes a reranker whenever a pipeline is saved in training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spacy.language import Language

from ..pipeline.progress import is_interrupted
from ..pipeline.readers import examples_for
from ..workflows.tune_reranker import SIZES, WEIGHTS, tune_reranker


def make_reranker_tuning(
    path: str, weights: list[float] | None = None, sizes: list[int] | None = None
) -> Callable[[Language], Language]:
    """Tune the reranker whenever a pipeline is saved in training.

    Registered as `spacy_cascade.tune_reranker.v1` for `[training.before_to_disk]`. path: the
    development corpus. Other settings: see `tune_reranker`. Where Ctrl-C stops training the
    pipeline is saved as it is.
    """

    def before_to_disk(nlp: Language) -> Language:
        if is_interrupted():
            return nlp
        return tune_reranker(
            nlp, examples_for(nlp, Path(path)), weights or WEIGHTS, sizes or SIZES
        )[0]

    return before_to_disk
