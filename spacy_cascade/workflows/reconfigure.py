"""Trained pipelines with other settings, and the scores in their meta data."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config
from spacy.vocab import Vocab
from thinc.api import Config

Settings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Options by the name of their component and their own."""

_SHARED = ["vocab", "tokenizer"]
"""A tokenizer belongs to a vocabulary; to read its rules again takes a quarter of a second."""


def to_be_loaded(config: Config, vocab: Vocab) -> Language:
    """A pipeline whose components have the settings of a config, whatever is loaded into them.

    As `spacy.load` makes it: components are named in the meta data that the pipeline is given
    (`pipeline.settings`).
    """
    meta = {"components": list(config["components"])}
    return load_model_from_config(config, vocab=vocab, meta=meta, auto_fill=True)


def reconfigured(nlp: Language, config: Config) -> Language:
    """A copy of a trained pipeline under another config, with the same vocabulary and tokenizer.

    config: that of the pipeline with other settings of its components, none of which may change
    what their weights mean.
    """
    copy = to_be_loaded(config, nlp.vocab)
    copy.from_bytes(nlp.to_bytes(exclude=_SHARED), exclude=_SHARED)
    copy.tokenizer = nlp.tokenizer
    return copy


def with_settings(nlp: Language, *settings: Settings) -> Language:
    """A copy of a trained pipeline with other options of its components; later ones win."""
    config = nlp.config.copy()
    for some in settings:
        for component, options in some.items():
            config["components"][component].update(options)
    return reconfigured(nlp, config)


def take_own_scores(nlp: Language, examples: Sequence[Example]) -> None:
    """Have the pipeline's own scores in its meta data, in place of those that are there.

    Those are of the pipeline before its settings changed, and so what it finds.

    examples: to score on; without any, the meta data lose their scores. Only scores that are there
    already are replaced. Others, such as losses of training, stay.
    """
    before = nlp.meta.get("performance")
    if not before:
        return
    if not examples:
        nlp.meta["performance"] = {}
        return
    scores = nlp.evaluate(examples)
    known = {name: scores[name] for name in before if name in scores}
    # What cannot be scored is 0, as in spaCy's own training.
    own = {name: 0.0 if value is None else value for name, value in known.items()}
    nlp.meta["performance"] = {**before, **own}
