"""Names of what components choose among."""

from __future__ import annotations

from typing import Any

from ..pipeline.base import CascadePipe
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.segmenter import CascadeSegmenter
from ..pipeline.spans.nbest import REJECTED

START = "start"
"""Name of the label that stands before the first token and nowhere else."""


def label_names(pipe: CascadePipe[Any]) -> list[str]:
    """Names of the labels of a component's lattice, in order."""
    if isinstance(pipe, CascadeSegmenter):
        return pipe.tag_set.tags
    if isinstance(pipe, CascadeClassifier):
        return [REJECTED] * bool(pipe.cfg["reject"]) + list(pipe.labels)
    return [START, *pipe.labels]
