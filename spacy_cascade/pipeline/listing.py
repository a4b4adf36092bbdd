"""Which spans a segmenter lists for the component that chooses entities among them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from spacy.training import Example

from ..types import Floats1d
from .classifier import CascadeClassifier
from .span_learning import SpanLearningPipe
from .spans.results import thresholds_of


class ListingPipe(SpanLearningPipe):
    """A component whose spans may be a list, from which a classifier chooses entities."""

    threshold: float
    label_thresholds: Mapping[str, float]
    overlapping: bool
    set_ents: bool
    spans_key: str
    _needed = 0.0
    """As `_least_needed` was last, for a copy in a process without the pipeline."""

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer, told whether entities are chosen from the spans."""
        is_chosen = self.set_ents or any(True for _ in self._choosers())
        scores: dict[str, Any] = super().score(examples, is_chosen_from=is_chosen, **kwargs)
        return scores

    def __reduce__(self) -> Any:
        self._least_needed()
        return super().__reduce__()

    def _thresholds(self) -> Floats1d:
        return thresholds_of(self.threshold, self.label_thresholds, self.labels, self.name)

    def _listed_from(self) -> Floats1d:
        """The least confidence of each label's spans, float64 `[C]`.

        A list without a threshold of its own has what can become an entity.
        """
        thresholds = self._thresholds()
        if not self.overlapping or self.threshold:
            return thresholds
        has_own = [label in self.label_thresholds for label in self.labels]
        return np.where(has_own, thresholds, self._least_needed())

    def _least_needed(self) -> float:
        """The least confidence with which one of its spans can become an entity, 0 for any.

        A span is at most as likely to be an entity of some type as its bounds are.
        """
        if self.pipeline is not None:
            thresholds = [
                threshold
                for chooser in self._choosers()
                for threshold in (chooser.threshold, *chooser.label_thresholds.values())
            ]
            self._needed = min(thresholds, default=0.0)
        return self._needed

    def _choosers(self) -> Iterator[CascadeClassifier]:
        """The classifiers that write entities from its spans."""
        for _, pipe in [] if self.pipeline is None else self.pipeline.pipeline:
            if not isinstance(pipe, CascadeClassifier) or pipe.spans_key != self.spans_key:
                continue
            if pipe.set_ents:
                yield pipe
