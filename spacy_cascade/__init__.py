"""Cascaded named entity recognition for spaCy: find spans first, then type them.

Importing the package is enough to use the components `cascade_segmenter`,
`cascade_classifier`, `cascade_reranker`, `cascade_tagger`, `cascade_linker` and `cascade_ensemble`;
spaCy finds them by their entry points.
"""

from ._version import __version__
from .annotation.silver import silver
from .bulk.annotator import Annotator
from .deprecation import warn_renamed
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
from .explaining.explain import explain_entities, explain_spans, explain_tags, explain_types
from .explaining.explanations import Contribution, EntityExplanation, Explanation
from .explaining.hypotheses import Hypotheses, Hypothesis, joint_hypotheses
from .explaining.top_features import top_features
from .explaining.uncertainty import UncertainSentence, UncertainSpan, uncertainty
from .pipeline.candidates import Candidate, CandidateGenerator
from .pipeline.classifier import CascadeClassifier, make_classifier
from .pipeline.ensemble import CascadeEnsemble, make_ensemble
from .pipeline.linker import CascadeLinker, make_linker
from .pipeline.reranker import CascadeReranker, make_reranker
from .pipeline.saving import save_pipeline
from .pipeline.segmenter import CascadeSegmenter, make_segmenter
from .pipeline.spans.confidences import confidence_of, register_confidence
from .pipeline.spans.nbest import Segmentation
from .pipeline.tagger import CascadeTagger, make_tagger
from .workflows.fit import Fitted, fit

__all__ = [
    "Annotator",
    "Candidate",
    "CandidateGenerator",
    "CascadeClassifier",
    "CascadeEnsemble",
    "CascadeError",
    "CascadeLinker",
    "CascadeReranker",
    "CascadeSegmenter",
    "CascadeTagger",
    "ConfigError",
    "Contribution",
    "CorpusError",
    "EntityExplanation",
    "Explanation",
    "Fitted",
    "Hypotheses",
    "Hypothesis",
    "MissingStageError",
    "ModelFileError",
    "NotTrainedError",
    "SavingError",
    "Segmentation",
    "TemplateError",
    "TrainingError",
    "UncertainSentence",
    "UncertainSpan",
    "__version__",
    "confidence_of",
    "explain_entities",
    "explain_spans",
    "explain_tags",
    "explain_types",
    "fit",
    "joint_hypotheses",
    "make_classifier",
    "make_ensemble",
    "make_linker",
    "make_reranker",
    "make_segmenter",
    "make_tagger",
    "save_pipeline",
    "silver",
    "top_features",
    "uncertainty",
]

register_confidence()

_RENAMED = {
    "Reading": "Hypothesis",
    "Readings": "Hypotheses",
    "joint_readings": "joint_hypotheses",
}
"""Names of release 0.2."""


def __getattr__(name: str) -> object:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_renamed(f"spacy_cascade.{name}", f"spacy_cascade.{_RENAMED[name]}")
    return globals()[_RENAMED[name]]
