"""Tasks of small corpora that have many parts, and an engine that needs no processes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from helpers import cascade, sample_examples
from spacy_cascade.pipeline.learning import task_of
from spacy_cascade.tools.scale.messages import Answer, Question
from spacy_cascade.tools.scale.server import ShardServer
from spacy_cascade.tools.scale.shards import Shard
from spacy_cascade.trainers.base import Task
from spacy_cascade.trainers.lbfgs import LBFGS, make_objective
from spacy_cascade.trainers.objective import Objective

SMALL_PIECE = 64
"""With pieces of so many entries, a few Docs have as many parts as a large corpus."""
N_DOCS = 6
SEGMENTS: dict[str, Any] = {
    "@architectures": "spacy_cascade.SemiMarkov.v1",
    "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
    "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    "min_count": 1,
}
SEGMENTERS: dict[str, dict[str, Any]] = {
    "pairs": {"model": {"min_count": 1, "label_pairs": True}},
    "typed": {"typed": True, "set_ents": True},
    "local": {
        "model": {
            "@architectures": "spacy_cascade.MaximumEntropyMarkov.v1",
            "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        }
    },
    "segments": {"model": SEGMENTS},
}


@cache
def task(name: str) -> Task:
    """That of a segmenter, or of the classifier, with the sample corpus."""
    nlp = cascade(SEGMENTERS.get(name, {}), {})
    examples = sample_examples(nlp, n_docs=N_DOCS)
    nlp.initialize(lambda: examples)
    pipe: Any = nlp.get_pipe("cascade_classifier" if name == "classifier" else "cascade_segmenter")
    made: Task = task_of(pipe, examples)
    return made


def objective(task: Task, **settings: Any) -> Objective:
    trainer = LBFGS(**settings)
    return make_objective(task, trainer.thread_pool(), trainer)


def results(problem: Objective, seed: int = 0) -> list[bytes]:
    """Value, gradient and second derivatives at a random point, to the last bit."""
    point = np.random.default_rng(seed).normal(size=problem.n_parameters)
    value, gradient = problem.value_and_gradient(point)
    diagonal = problem.hessian_diagonal(point)
    return [np.float64(value).tobytes(), gradient.tobytes(), diagonal.tobytes()]


class Inline:
    """An engine whose workers are objects."""

    def __init__(self) -> None:
        self.servers: list[ShardServer] = []

    def start(self, shards: Iterable[Shard]) -> Inline:
        self.servers = [ShardServer(shard) for shard in shards]
        return self

    def ask(self, question: Question) -> list[Answer]:
        return [server.answer(question) for server in self.servers]
