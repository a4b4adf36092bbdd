"""Calibrating the confidences of a pipeline (`pipeline.calibration`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ConfigError, TrainingError
from ..pipeline.calibration import Outcomes, best_temperature, gives_confidences, log_loss
from ..pipeline.recognisers import annotated
from ..pipeline.unseen_words import count_words, options_after
from .reconfigure import Settings, with_settings


@dataclass(frozen=True)
class Calibrated:
    """The temperature of a component, and its mean log loss at 1 and at that temperature.

    options: all that calibrating sets, by name.
    """

    component: str
    n_spans: int
    temperature: float
    loss_before: float
    loss: float
    options: Mapping[str, float | None]

    @property
    def settings(self) -> Settings:
        """The options that the calibrated component has."""
        return {self.component: self.options}


def calibrate(nlp: Language, examples: Iterable[Example]) -> tuple[Language, list[Calibrated]]:
    """A copy of the pipeline with temperatures fitted to the examples, and what was found.

    examples: with entities, and not those that it was trained on. Each component is judged by
    itself: a segmenter by whether its spans are right, a classifier by whether the types of spans
    with the right bounds are. nlp stays as it is. Raises `ConfigError` where no component gives
    confidences, `TrainingError` where one finds nothing in the examples.
    """
    found = temperatures(nlp, list(examples))
    return with_settings(nlp, *(result.settings for result in found)), found


def temperatures(nlp: Language, examples: Sequence[Example]) -> list[Calibrated]:
    """What `calibrate` finds for each component with confidences; it raises the same errors."""
    docs = [example.predicted for example in examples]
    found = [_calibrate(nlp, name, outcomes, docs) for name, outcomes in outcomes_of(nlp, examples)]
    if not found:
        raise ConfigError(
            f"No component of the pipeline gives confidences; it has {nlp.pipe_names}. Give one "
            "with a cascade_segmenter or a cascade_classifier whose 'confidence' is true."
        )
    return found


def outcomes_of(nlp: Language, examples: Sequence[Example]) -> Iterator[tuple[str, Outcomes]]:
    """What each component with confidences finds in examples, after those before it."""
    docs = [example.predicted.copy() for example in examples]
    n_left = sum(gives_confidences(pipe) for _, pipe in nlp.pipeline)
    for name, pipe in nlp.pipeline:
        if gives_confidences(pipe):
            seen = [Example(doc, e.reference) for doc, e in zip(docs, examples, strict=True)]
            yield name, pipe.outcomes(seen)
            n_left -= 1
        if not n_left:
            return
        docs = annotated(pipe, docs)


def _calibrate(nlp: Language, name: str, outcomes: Outcomes, docs: Sequence[Doc]) -> Calibrated:
    if not len(outcomes.right):
        raise TrainingError(
            f"'{name}' finds no spans in these Docs whose confidence could be judged. Give Docs "
            "with annotated entities, of the kind that it was trained on."
        )
    temperature = best_temperature(outcomes)
    before, after = (log_loss(outcomes, t) for t in (1.0, temperature))
    pipe = nlp.get_pipe(name)
    options = {"temperature": temperature, **options_after(pipe, count_words(pipe, docs))}
    return Calibrated(name, len(outcomes.right), temperature, before, after, options)
