"""The components that choose entities among the spans that a segmenter lists."""

from collections.abc import Iterator

from spacy.language import Language

from .classifier import CascadeClassifier


def choosers(nlp: Language | None, key: str) -> Iterator[CascadeClassifier]:
    """The classifiers of a pipeline that write entities from the spans of a key."""
    for _, pipe in [] if nlp is None else nlp.pipeline:
        if isinstance(pipe, CascadeClassifier) and pipe.set_ents and pipe.spans_key == key:
            yield pipe


def least_needed(nlp: Language, key: str) -> float:
    """The least confidence with which a span of a key can become an entity, 0 for any.

    A span is at most as likely to be an entity of some type as its bounds are.
    """
    thresholds = [
        threshold
        for chooser in choosers(nlp, key)
        for threshold in (chooser.threshold, *chooser.label_thresholds.values())
    ]
    return min(thresholds, default=0.0)
