"""Cascaded named entity recognition for spaCy: find spans first, then type them.

Importing the package is enough to use the components `cascade_segmenter`,
`cascade_classifier`, `cascade_reranker` and `cascade_tagger`; spaCy finds them by their
entry points.
"""

from ._version import __version__
from .errors import (
    CascadeError,
    ConfigError,
    CorpusError,
    MissingStageError,
    ModelFileError,
    NotTrainedError,
    TemplateError,
    TrainingError,
)
from .pipeline.classifier import CascadeClassifier
from .pipeline.factories import make_classifier, make_reranker, make_segmenter, make_tagger
from .pipeline.nbest import Segmentation
from .pipeline.reranker import CascadeReranker
from .pipeline.segmenter import CascadeSegmenter
from .pipeline.tagger import CascadeTagger

__all__ = [
    "CascadeClassifier",
    "CascadeError",
    "CascadeReranker",
    "CascadeSegmenter",
    "CascadeTagger",
    "ConfigError",
    "CorpusError",
    "MissingStageError",
    "ModelFileError",
    "NotTrainedError",
    "Segmentation",
    "TemplateError",
    "TrainingError",
    "__version__",
    "make_classifier",
    "make_reranker",
    "make_segmenter",
    "make_tagger",
]
