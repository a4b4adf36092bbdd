"""What the report, the pictures and the tables of a comparison take from its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..lib import bootstrap

Result = dict[str, Any]


def compare_f1(results: Result) -> None:
    """Add F1 with its interval, and the differences between our models, to the results."""
    models = results["models"]
    counts = {name: np.array(model["by_doc"]) for name, model in models.items()}
    sampled = bootstrap.samples(counts)
    for name, model in models.items():
        model["f1"] = float(bootstrap.f1(counts[name].sum(axis=0)))
        model["f1_interval"] = bootstrap.interval(sampled[name])
    ours = {name: c for name, c in counts.items() if is_ours(models[name], name)}
    results["differences"] = [
        {"left": left, "right": right, **asdict(found), "is_clear": found.is_clear}
        for (left, right), found in bootstrap.differences(ours).items()
    ]


def is_ours(model: Mapping[str, Any], name: str) -> bool:
    return bool(model["reader"] == "spacy" and name != "ner")


def learning_curves(results: Result) -> dict[str, tuple[str, Sequence[Sequence[float]]]]:
    """The title and the curve of each model, by its name.

    The curve of spaCy's `ner` has parts of the corpus only. On the whole corpus its training time
    is another one.
    """
    found: dict[str, tuple[str, Sequence[Sequence[float]]]] = {}
    for name, curve in results["learning"]["curves"].items():
        title = results["models"][name]["title"]
        if name == "ner":
            seconds = results["settings"]["ner_part_seconds"]
            found[name] = (f"{title}, {seconds:g} s", [point for point in curve if point[0] < 100])
        else:
            found[name] = (title, curve)
    return found
