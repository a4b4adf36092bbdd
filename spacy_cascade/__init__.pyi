from ._version import __version__
from .annotation.silver import silver
from .bulk.annotator import Annotator
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
from .pipeline.spans.confidences import confidence_of
from .pipeline.spans.nbest import Segmentation
from .pipeline.tagger import CascadeTagger, make_tagger
from .pipeline.tokenizing import tokenize
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
    "tokenize",
    "top_features",
    "uncertainty",
]
