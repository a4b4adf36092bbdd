"""Cascaded named entity recognition for spaCy: find spans first, then type them.

Importing the package is enough to use the components `cascade_segmenter`,
`cascade_classifier` and `cascade_reranker`; spaCy finds them by their entry points.
"""

from ._version import __version__
from .errors import (
    CascadeError,
    ConfigError,
    CorpusError,
    ModelFileError,
    NotTrainedError,
    TemplateError,
    TrainingError,
)
from .pipeline.classifier import CascadeClassifier
from .pipeline.factories import make_classifier, make_reranker, make_segmenter
from .pipeline.nbest import Segmentation
from .pipeline.reranker import CascadeReranker
from .pipeline.segmenter import CascadeSegmenter

__all__ = [
    "CascadeClassifier",
    "CascadeError",
    "CascadeReranker",
    "CascadeSegmenter",
    "ConfigError",
    "CorpusError",
    "ModelFileError",
    "NotTrainedError",
    "Segmentation",
    "TemplateError",
    "TrainingError",
    "__version__",
    "make_classifier",
    "make_reranker",
    "make_segmenter",
]
