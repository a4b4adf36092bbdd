"""Cascaded named entity recognition for spaCy: find spans first, then type them.

Importing the package is enough to use the components `cascade_segmenter` and
`cascade_classifier`; spaCy finds them by their entry points.
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
from .pipeline.factories import make_classifier, make_segmenter
from .pipeline.segmenter import CascadeSegmenter

__all__ = [
    "CascadeClassifier",
    "CascadeError",
    "CascadeSegmenter",
    "ConfigError",
    "CorpusError",
    "ModelFileError",
    "NotTrainedError",
    "TemplateError",
    "TrainingError",
    "__version__",
    "make_classifier",
    "make_segmenter",
]
