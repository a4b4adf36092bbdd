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
from .pipeline.classifier import CascadeClassifier, make_classifier
from .pipeline.saving import save_pipeline
from .pipeline.segmenter import CascadeSegmenter, make_segmenter
from .pipeline.spans.confidences import confidence_of
from .pipeline.spans.nbest import Segmentation
from .pipeline.spans.rows import EntityRow, entity_rows
from .systems.dictionaries.candidates import Candidate, CandidateGenerator
from .systems.dictionaries.linker import CascadeLinker, make_linker
from .systems.ensembles.component import CascadeEnsemble, make_ensemble
from .systems.reranking.component import CascadeReranker, make_reranker
from .systems.tagging.component import CascadeTagger, make_tagger
from .tools.annotation.silver import silver
from .tools.bulk.annotator import Annotator
from .tools.explaining.explain import explain_entities, explain_spans, explain_tags, explain_types
from .tools.explaining.explanations import Contribution, EntityExplanation, Explanation
from .tools.explaining.hypotheses import Hypotheses, Hypothesis, joint_hypotheses
from .tools.explaining.top_features import top_features
from .tools.explaining.uncertainty import UncertainSentence, UncertainSpan, uncertainty
from .tools.tokenizers.tokenizing import tokenize
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
    "EntityRow",
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
    "entity_rows",
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
