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
    SavingError,
    TemplateError,
    TrainingError,
)
from .pipeline.components.classifier import CascadeClassifier
from .pipeline.components.reranker import CascadeReranker
from .pipeline.components.segmenter import CascadeSegmenter
from .pipeline.components.tagger import CascadeTagger
from .pipeline.explaining.explaining import (
    explain_entities,
    explain_spans,
    explain_tags,
    explain_types,
)
from .pipeline.explaining.explanations import Contribution, EntityExplanation, Explanation
from .pipeline.explaining.readings import Reading, Readings, joint_readings
from .pipeline.explaining.top_features import top_features
from .pipeline.factories import make_classifier, make_reranker, make_segmenter, make_tagger
from .pipeline.saving import save_pipeline
from .pipeline.spans.nbest import Segmentation

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
    "SavingError",
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
    "save_pipeline",
    "top_features",
]
