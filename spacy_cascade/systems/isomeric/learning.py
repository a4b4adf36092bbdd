"""The earlier one of two components that are trained together, seen by the trainer of both."""

from __future__ import annotations

from typing import Any

from ...errors import TrainingError
from ...pipeline.learning import ExampleSource


def partner(component: Any, name: str) -> Any:
    """The component of that name, which is to be trained together with a later one.

    Raises `TrainingError` where it is not there, is trained by itself, or finds spans that the
    templates of the later one do not look at.
    """
    nlp = component.pipeline
    if nlp is None or name not in nlp.pipe_names:
        raise TrainingError(
            f"'{component.name}' is trained jointly with '{name}', but the pipeline has no "
            "component of that name. Add a cascade_segmenter of that name before it, or name the "
            f"one that is there as 'first' in [components.{component.name}.trainer]."
        )
    earlier: Any = nlp.get_pipe(name)
    if getattr(getattr(earlier, "trainer", None), "iterations", 1):
        raise TrainingError(
            f"'{name}' cannot be trained jointly with '{component.name}': it has to be a "
            'cascade_segmenter. Put @misc = "spacy_cascade.TrainedJointly.v1" into '
            f"[components.{name}.trainer]."
        )
    key = getattr(earlier, "spans_key", None)
    if f"span({key})" not in component.space.plan.placed:
        raise TrainingError(
            f"'{component.name}' does not look at the spans of '{name}'. Add templates such as "
            f"'span({key})@-1..1' to [components.{component.name}.model.templates]."
        )
    return earlier


class PairSource:
    """A source that knows the sources of earlier components."""

    def __init__(self, source: ExampleSource) -> None:
        self._source = source

    def partner(self, name: str) -> ExampleSource:
        """The source of an earlier component of that name, which has the same examples.

        Raises `TrainingError` where it cannot be trained together with this one.
        """
        return self._source.beside(partner(self._source.component, name))
