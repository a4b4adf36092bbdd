"""The errors that this package raises on purpose.

Every message says what was wrong, where, and what to do. All of them are
`ValueError`s, so code that guards spaCy calls keeps working.
"""

from __future__ import annotations


class CascadeError(ValueError):
    """Base of all errors of this package."""


class CorpusError(CascadeError):
    """A corpus file or its annotation cannot be read as stated."""


class TemplateError(CascadeError):
    """A feature template, attribute, pattern or lexicon is not valid."""


class ConfigError(CascadeError):
    """A setting of a component, objective or trainer is not valid."""


class TrainingError(CascadeError):
    """Training data or the training loop do not fit the component."""


class MissingStageError(CascadeError):
    """Docs have not got what an earlier component should have set."""


class NotTrainedError(CascadeError):
    """A component was asked to predict before it was initialized or loaded."""


class ModelFileError(CascadeError):
    """A saved model is damaged, foreign, or of an unknown version."""


class SavingError(CascadeError):
    """Something cannot be written; what was there before is still there."""
