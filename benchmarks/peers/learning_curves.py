"""Learning curves: F1 by the share of the training corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..lib.package import for_stages
from ..lib.processes import Result
from .systems import SYSTEMS, Ours, System, TrainingSetup

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares of the corpus; the whole corpus has its models already."""
CURVES = ("memb", "ocr", "ner")
FEW_SENTENCES = 2000
"""On fewer sentences models keep features that occur only once, as the README advises."""
NER_EVALUATIONS = 4
"""Evaluations of spaCy's `ner` in training, which take as long as the training itself."""
_MIN_COUNTS = for_stages("model.min_count", 1)


@dataclass(frozen=True)
class Parts:
    """Parts of the corpus by their share, and the models that are trained on them.

    jobs: trainings that are still to be run. models: their paths and readers, by `NAME@SHARE`.
    """

    sizes: dict[float, Result]
    jobs: list[Callable[[], Result]]
    models: dict[str, list[str]]


def cut_parts(
    setup: TrainingSetup, shares: Sequence[float], names: Sequence[str], ner_seconds: float
) -> Parts:
    """Cut the training corpus. ner_seconds: training time of spaCy's `ner` on each part."""
    found = Parts({}, [], {})
    for share in shares:
        path = setup.models / f"part-{share:g}"
        arguments = {
            "train": f"{setup.train}.spacy",
            "output": f"{path}.spacy",
            "share": share,
            "seed": 0,
        }
        found.sizes[share] = setup.runner.run("lib.corpora:first_docs", arguments)
        own = replace(
            setup, train=path, threads=1, ner_seconds=ner_seconds, ner_evaluations=NER_EVALUATIONS
        )
        is_small = found.sizes[share]["sentences"] < FEW_SENTENCES
        for name in names:
            system = _system(name, share, is_small)
            found.jobs.append(partial(system.train, own, repeat=0))
            found.models[system.name] = [str(system.model(setup.models)), system.reader]
    return found


def _system(name: str, share: float, is_small: bool) -> System:
    system = replace(SYSTEMS[name], name=name_of(name, share))
    if isinstance(system, Ours) and is_small:
        return replace(system, overrides={**system.overrides, **_MIN_COUNTS})
    return system


def name_of(name: str, share: float) -> str:
    return f"{name}@{share:g}"


def curves(
    f1: Mapping[str, float], shares: Sequence[float], names: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """F1 by percent of the corpus. f1: by names of models, of the parts and of the whole corpus."""
    return {
        name: [
            *((100 * share, f1[name_of(name, share)]) for share in shares),
            *([(100.0, f1[name])] if name in f1 else []),
        ]
        for name in names
    }
