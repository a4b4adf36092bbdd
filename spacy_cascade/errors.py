"""The errors that this package raises on purpose.

Every message says what was wrong, where, and what to do. All errors are `ValueError`s, so code
that catches the errors of spaCy also catches these.
"""

from __future__ import annotations


class CascadeError(ValueError):
    """Base of all errors of this package."""


class CorpusError(CascadeError):
    """A corpus file or its annotation is invalid."""


class TemplateError(CascadeError):
    """A feature template, attribute, pattern or lexicon is invalid."""


class ConfigError(CascadeError):
    """A setting of a component, loss or trainer is invalid."""


class TrainingError(CascadeError):
    """The training data or the training loop do not suit the component."""


class MissingStageError(CascadeError):
    """Docs lack annotation that an earlier component should have set."""


class NotTrainedError(CascadeError):
    """A component was used before it was trained or loaded."""


class ModelFileError(CascadeError):
    """A saved model is damaged, in another format, or of an unknown version."""


class SavingError(CascadeError):
    """A file or folder cannot be written; the old one is unchanged."""
