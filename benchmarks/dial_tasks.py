"""What one trained model can give between precision and recall, and what that takes."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example

from corpora import read_docs, read_examples, without_entities
from spacy_cascade.reports.reading import judge
from spacy_cascade.reports.sweep import Sweep, sweep, sweep_listed
from spacy_cascade.workflows.calibrate import calibrate
from speed import Timings
from training import train_as_configured

Point = dict[str, float]
"""Precision, recall and F1 in per cent, and how many were found, at a threshold."""

LISTING = {"overlapping": True}
"""Settings of a segmenter that lists all likely spans."""
LIKELIER = {"overlapping": True, "threshold": 0.1}
"""Those of one that lists fewer."""


def sweep_thresholds(model: str, dev: str, output: str, rounds: int) -> dict[str, Any]:
    """Scores on dev by threshold, and the seconds to annotate dev without and with lists.

    Three curves: entities of the best segmentation; entities chosen among all likely spans; these
    spans themselves. output: folder for the model with confidences calibrated on dev. rounds:
    passes that are timed, in turn, after one that is not.
    """
    nlp = spacy.load(model)
    calibrated, _ = calibrate(nlp, read_examples(dev, nlp))
    calibrated.to_disk(output)
    pipelines = {
        name: spacy.load(output, config={"components": {"cascade_segmenter": settings}})
        for name, settings in (("plain", {}), ("listing", LISTING), ("likelier", LIKELIER))
    }
    found = {name: judge(nlp, annotated(nlp, dev)) for name, nlp in pipelines.items()}
    timings = Timings()
    for _ in range(rounds):
        for name, pipeline in pipelines.items():
            gold = read_docs(dev, pipeline.vocab)
            timings.add(name, lambda p=pipeline, g=gold: p.pipe(without_entities(g, p.vocab)))
    return {
        "curves": {
            "best segmentation": points(sweep(found["plain"])),
            "entities": points(sweep(found["listing"])),
            "spans": points(sweep_listed(found["listing"])),
        },
        "seconds": timings.seconds,
    }


def train_and_score(
    config: str, train: str, dev: str, model: str, overrides: dict[str, Any]
) -> Point:
    """Precision, recall and F1 of a config's entities on dev, at its best update."""
    train_as_configured(config, train, dev, model, overrides=overrides)
    nlp = spacy.load(model)
    scores = nlp.evaluate(read_examples(dev, nlp))
    names = {"precision": "ents_p", "recall": "ents_r", "f1": "ents_f"}
    return {name: 100 * (scores[key] or 0.0) for name, key in names.items()}


def annotated(nlp: Language, dev: str) -> list[Example]:
    """The examples of dev, with what the pipeline finds in them."""
    examples = read_examples(dev, nlp)
    found = nlp.pipe([example.predicted for example in examples])
    return [Example(doc, example.reference) for doc, example in zip(found, examples, strict=True)]


def points(found: Sweep | None) -> list[Point]:
    """The scores at every threshold."""
    return [
        {
            "threshold": threshold,
            "precision": 100 * score.precision,
            "recall": 100 * score.recall,
            "f1": 100 * score.f1,
            "found": score.n_predicted,
        }
        for threshold, score in (found.every(1) if found else ())
    ]
