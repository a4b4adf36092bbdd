"""The components of a pipeline that its entities come from."""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import ConfigError
from .base import CascadePipe
from .classifier import CascadeClassifier
from .segmenter import CascadeSegmenter


def recognisers(nlp: Language) -> tuple[CascadeSegmenter | None, CascadeClassifier | None]:
    """The components that find and that type the entities of a pipeline.

    Those of the last component of ours that writes `doc.ents`. None for what there is not: a
    single-phase recogniser has no classifier.
    """
    last_first = [
        pipe
        for _, pipe in reversed(nlp.pipeline)
        if isinstance(pipe, CascadePipe) and hasattr(pipe, "set_ents")
    ]
    writer = next((pipe for pipe in last_first if pipe.set_ents), None)
    if writer is None or isinstance(writer, CascadeSegmenter):
        return writer, None
    alike = [pipe for pipe in last_first if pipe.spans_key == writer.spans_key]
    segmenter = next((pipe for pipe in alike if isinstance(pipe, CascadeSegmenter)), None)
    return segmenter, next((pipe for pipe in alike if isinstance(pipe, CascadeClassifier)), None)


def main_score(nlp: Language) -> str:
    """Name of the score that says most: of all levels of spans where it finds such, or of entities.

    Entities cannot overlap.
    """
    segmenter, _ = recognisers(nlp)
    has_levels = segmenter is not None and len(segmenter.finders) > 1
    return f"spans_{segmenter.spans_key}_f" if segmenter is not None and has_levels else "ents_f"


def refuse_levels(segmenter: CascadeSegmenter, why: str) -> None:
    """Raise `ConfigError` for levels of spans. why: what is asked for, and cannot have them."""
    if len(segmenter.finders) > 1:
        raise ConfigError(
            f"{why}, and '{segmenter.name}' adds spans around others. Take it out of the pipeline "
            'for that, or, as a way of decoding, set decoding = "best".'
        )


def annotated(pipe: Callable[[Doc], Doc], docs: Sequence[Doc]) -> list[Doc]:
    """The Docs as a component of a pipeline leaves them."""
    batched: Any = getattr(pipe, "pipe", None)
    return [pipe(doc) for doc in docs] if batched is None else list(batched(docs))
