"""Precision and recall of one trained model by threshold, and the time that its lists take."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example

from .corpora import annotate_words, read_docs
from .package import SEGMENTER, calibrate, read_examples, threshold_scores
from .timing import Timings
from .training import train_as_configured

Point = dict[str, float]
"""Precision, recall and F1 in percent, and the number of entities found, at a threshold."""

SEGMENTERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "listing": {"overlapping": True},
    "likelier": {"overlapping": True, "threshold": 0.1},
}
"""Settings of the segmenter: without a list, with all likely spans, and with fewer of them."""


def sweep_thresholds(model: str, dev: str, output: str, rounds: int) -> dict[str, Any]:
    """Scores on dev by threshold, and the seconds to annotate dev without and with lists.

    There are three curves: entities of the best segmentation, entities chosen among all likely
    spans, and these spans themselves. output: folder for the model with confidences calibrated on
    dev. rounds: timed passes of each pipeline, in turn.
    """
    nlp = spacy.load(model)
    calibrated, _ = calibrate(nlp, read_examples(dev, nlp))
    calibrated.to_disk(output)
    pipelines = {
        name: spacy.load(output, config={"components": {SEGMENTER: settings}})
        for name, settings in SEGMENTERS.items()
    }
    # This is the pass before those that are timed, too.
    found = {n: threshold_scores(annotated(nlp, dev), nlp) for n, nlp in pipelines.items()}
    timings = Timings()
    for _ in range(rounds):
        for name, pipeline in pipelines.items():
            gold = read_docs(dev, pipeline.vocab)
            timings.add(name, partial(annotate_words, pipeline, gold))
    return {
        "curves": {
            "best segmentation": points(found["plain"][0]),
            "entities": points(found["listing"][0]),
            "spans": points(found["listing"][1]),
        },
        "seconds": timings.seconds,
    }


def train_and_score(
    config: str, train: str, dev: str, model: str, overrides: dict[str, Any]
) -> Point:
    """Precision, recall and F1 of entities on dev, at the best update of a config."""
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


def points(scores: Iterable[tuple[float, Any]]) -> list[Point]:
    return [
        {
            "threshold": threshold,
            "precision": 100 * score.precision,
            "recall": 100 * score.recall,
            "f1": 100 * score.f1,
            "found": score.n_predicted,
        }
        for threshold, score in scores
    ]
