"""What components with a model have in common."""

from __future__ import annotations

import pytest
from spacy.pipeline import TrainablePipe

from helpers import blank
from spacy_cascade.pipeline.base import CascadePipe, is_learner

COMPONENTS = ("cascade_segmenter", "cascade_classifier", "cascade_reranker", "cascade_tagger")


@pytest.mark.parametrize("factory", COMPONENTS)
def test_a_component_inherits_in_three_steps(factory: str) -> None:
    kind = type(blank().add_pipe(factory))
    assert kind.__mro__[:3] == (kind, CascadePipe, TrainablePipe)


def test_a_reranker_is_not_trained_by_a_trainer_of_the_config() -> None:
    made = {factory: blank().add_pipe(factory) for factory in COMPONENTS}
    learners = [factory for factory, pipe in made.items() if is_learner(pipe)]
    assert learners == ["cascade_segmenter", "cascade_classifier", "cascade_tagger"]
