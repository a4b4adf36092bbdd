"""Trained pipelines with other settings."""

from spacy.language import Language
from spacy.util import load_model_from_config
from thinc.api import Config


def reconfigured(nlp: Language, config: Config) -> Language:
    """A copy of a trained pipeline under another config, with the same vocabulary.

    config: that of the pipeline with other settings of its components, none of which may change
    what their weights mean.
    """
    copy = load_model_from_config(config, vocab=nlp.vocab, auto_fill=True)
    copy.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    return copy
