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
from .pipeline.explaining import explain_entities, explain_spans, explain_tags, explain_types
from .pipeline.explanations import Contribution, EntityExplanation, Explanation
from .pipeline.factories import make_classifier, make_reranker, make_segmenter, make_tagger
from .pipeline.nbest import Segmentation
from .pipeline.readings import Reading, Readings, joint_readings
from .pipeline.reranker import CascadeReranker
from .pipeline.segmenter import CascadeSegmenter
from .pipeline.tagger import CascadeTagger
from .pipeline.top_features import top_features

__all__ = [
    "CascadeClassifier",
    "CascadeError",
    "CascadeReranker",
    "CascadeSegmenter",
    "CascadeTagger",
    "ConfigError",
    "Contribution",
    "CorpusError",
    "EntityExplanation",
    "Explanation",
    "MissingStageError",
    "ModelFileError",
    "NotTrainedError",
    "Reading",
    "Readings",
    "Segmentation",
    "TemplateError",
    "TrainingError",
    "__version__",
    "explain_entities",
    "explain_spans",
    "explain_tags",
    "explain_types",
    "joint_readings",
    "make_classifier",
    "make_reranker",
    "make_segmenter",
    "make_tagger",
    "top_features",
]
