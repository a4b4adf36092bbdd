"""Training configs from choices: what `spacy cascade init` writes.

Settings that were found by search are those of the defaults of the factories and of `configs/`,
with which tests compare what is made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from spacy.util import load_model_from_config
from thinc.api import Config

from ...errors import ConfigError
from ...pipeline.augmenters import NAME as PLAIN_COPIES
from ...pipeline.included_words import included_words
from ...pipeline.readers import NAME, SENTENCES, TAGS
from ...pipeline.scripts import is_usable
from ...types import Json
from .settings import with_settings


class Recipe(str, Enum):
    """How the entities are found and typed."""

    memb = "memb"
    semi = "semi"
    memm = "memm"
    ocr = "ocr"
    crf = "crf"


class Domain(str, Enum):
    """Kind of text, which says how it is cut into tokens."""

    biomedical = "biomedical"
    general = "general"


@dataclass(frozen=True)
class Choices:
    """The choices behind a training config; the defaults are those for an unknown corpus.

    lang: spaCy's code of the language. domain: which tokenizer. tags: whether parts of speech are
    looked at. sentences: whether a sequence is a sentence; a `sentencizer` finds them in use.
    small: whether the corpus has a few hundred sentences. labels: the types; those of the corpus
    where there are none. train, dev: corpora. words: tables of words by name. no_words: leave out
    those that the package has of the language. network: whether a network scores words, too.
    nested: key of the group of nested gold spans to learn; None for entities, which do not overlap.
    plain_copies: whether copies of documents in lower case and without accents are learnt, too.
    """

    lang: str = "en"
    recipe: Recipe = Recipe.memb
    domain: Domain = Domain.biomedical
    tags: bool = False
    sentences: bool = False
    small: bool = False
    labels: tuple[str, ...] = ()
    train: Path | None = None
    dev: Path | None = None
    words: Mapping[str, Json] = field(default_factory=dict)
    no_words: bool = False
    network: bool = False
    nested: str | None = None
    plain_copies: bool = False

    @property
    def tables(self) -> dict[str, Json]:
        """The tables of words that components look at, for `words` of template sets."""
        included = {} if self.no_words else included_words(self.lang)
        return {**included, **self.words}


Section = dict[str, Any]

_SPACY_READER = "spacy.Corpus.v1"
_SENTENCIZER = "sentencizer"
"""It leaves sentence starts that a Doc has, such as those of a corpus."""

TOKENIZERS = {
    Domain.biomedical: "spacy_cascade.WholeNamesTokenizer.v1",
    Domain.general: "spacy.Tokenizer.v1",
}

_TAG_TEMPLATES = [
    "tag@-2..2", "tag@-2 & tag@-1", "tag@-1 & tag", "tag & tag@1", "tag@1 & tag@2",
    "lower@-1 & tag", "tag & lower@1", "seen_inside@-1 & tag", "tag & seen_inside@1",
    "tag & brief_class",
]  # fmt: skip

_LEVELS = "cascade_levels"
"""They look at the spans below; tables of words and networks add nothing that these do not know."""
NETWORK = "spacy_cascade.WordWindow.v1"
"""The registered name of a network of words."""
_MEMB = {"trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 12}}
_SEMI = {
    **_MEMB,
    "model": {
        "@architectures": "spacy_cascade.SemiMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    },
}
_MEMM = {
    **_MEMB,
    "model": {
        "@architectures": "spacy_cascade.MaximumEntropyMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
    },
}
_ONLINE = {
    "@misc": "spacy_cascade.PassiveAggressive.v1",
    "average_power": 1,
    "seed": "${system.seed}",
}
_CRF = {
    "model": {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "templates": {"@misc": "spacy_cascade.JnlpbaTemplates.v1"},
        "min_count": 20,
    },
    "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 0.4743},
    "trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 6},
    "scheme": "IOB2",
    "typed": True,
    "set_ents": True,
}

_COMPONENTS: Mapping[Recipe, Mapping[str, Section]] = {
    Recipe.memb: {"cascade_segmenter": _MEMB, "cascade_classifier": _MEMB},
    Recipe.semi: {"cascade_segmenter": _SEMI, "cascade_classifier": _MEMB},
    Recipe.memm: {"cascade_segmenter": _MEMM, "cascade_classifier": _MEMB},
    Recipe.ocr: {
        "cascade_segmenter": {
            "loss": {"@misc": "spacy_cascade.Hinge.v2", "kappa": 3.5, "false_negative_weight": 1.2},
            "penalty": None,
            "trainer": {**_ONLINE, "C": 0.01334, "passes": 3, "cut_after": 60},
        },
        "cascade_classifier": {
            "loss": {"@misc": "spacy_cascade.Hinge.v2"},
            "penalty": None,
            "trainer": {**_ONLINE, "C": 0.005, "passes": 5},
        },
    },
    Recipe.crf: {"cascade_segmenter": _CRF},
}

_WHOLE = {
    "batcher": {"@batchers": "spacy_cascade.WholeCorpus.v1"},
    "patience": 2,
    "eval_frequency": 1,
}
_TRAINING: Mapping[Recipe, Section] = {
    Recipe.memb: {**_WHOLE, "max_steps": 5},
    Recipe.semi: {**_WHOLE, "max_steps": 5},
    Recipe.memm: {**_WHOLE, "max_steps": 5},
    Recipe.ocr: {
        "batcher": {"@batchers": "spacy.batch_by_words.v1", "size": 30000, "tolerance": 0.2},
        "patience": 0,
        "eval_frequency": 2,
        "max_steps": 0,
        "max_epochs": 3,
    },
    Recipe.crf: {**_WHOLE, "max_steps": 9},
}

_SCORES = {
    "ents_f": 1.0,
    "ents_p": 0.0,
    "ents_r": 0.0,
    "ents_per_type": None,
    "segments_f": 0.0,
    "segments_p": None,
    "segments_r": None,
}
"""What counts; the others are shown, but for those that are None."""
_SCORES_OF_NESTED = {
    "ents_f": 0.0,
    "spans_cascade_f": 1.0,
    "spans_cascade_p": 0.0,
    "spans_cascade_r": 0.0,
    "spans_cascade_per_type": None,
    "spans_cascade_per_level": None,
}
"""All levels count; `doc.ents` has the outermost spans."""
_NO_SCORES_OF_SENTENCES = dict.fromkeys(("sents_f", "sents_p", "sents_r"))


def make_config(choices: Choices) -> Config:
    """A complete training config, as `spacy train` takes it.

    Raises `ConfigError` where spaCy does not know the language, and for a network online.
    """
    check_language(choices.lang)
    if choices.network and choices.recipe is Recipe.ocr:
        raise ConfigError(
            "A network is trained on the whole corpus, and the recipe ocr takes it in parts. Take "
            "another recipe, or leave out the network."
        )
    partial = Config(_partial_config(choices), is_interpolated=False)
    config: Config = load_model_from_config(partial, auto_fill=True).config
    learning = [config["components"][name] for name in _components(choices)]
    of_words = [component for component in learning if component["factory"] != _LEVELS]
    if choices.tags:
        learning[0]["model"]["templates"]["extra"] = list(_TAG_TEMPLATES)
    for component in of_words:
        if choices.tables:
            component["model"]["templates"]["words"] = choices.tables
        if choices.network and "network" in component["model"]:
            component["model"]["network"] = {"@misc": NETWORK}
    if choices.small:
        for component in learning:
            component["model"]["min_count"] = 1
    if choices.labels:
        for component in learning:
            component["gold_labels"] = sorted(set(choices.labels))
    return config


def _components(choices: Choices) -> Mapping[str, Section]:
    """The sections of the components that learn, without their factories."""
    of_recipe = _COMPONENTS[choices.recipe]
    if choices.nested is None:
        return of_recipe
    if choices.recipe is not Recipe.memb:
        raise ConfigError(
            f"Levels of nested spans are found by the recipe memb, not by {choices.recipe.value}. "
            "Leave the recipe out, or learn the entities of doc.ents alone."
        )
    gold = {"gold_key": choices.nested}
    return {
        "cascade_segmenter": {**_MEMB, **gold, "gold_level": "innermost"},
        _LEVELS: {**_MEMB, **gold},
        "cascade_classifier": {**_MEMB, **gold, "prefer": "outermost"},
    }


def check_language(code: str) -> None:
    """Raise `ConfigError` where spaCy does not know the language, or needs more for it."""
    if not is_usable(code):
        raise ConfigError(
            f"spaCy does not know the language '{code}', or needs another package for it. Give its "
            "code, such as en, de or xx (several)."
        )


def with_filled(config: Config, settings: Mapping[str, Json]) -> Config:
    """The config with other settings, and with what their sections leave out."""
    if not settings:
        return config
    filled: Config = load_model_from_config(with_settings(config, settings), auto_fill=True).config
    return filled


def _partial_config(choices: Choices) -> Section:
    """What differs from the defaults of spaCy and of the components."""
    before: Mapping[str, Section] = {_SENTENCIZER: {}} if choices.sentences else {}
    of_recipe = {**before, **_components(choices)}
    components = {name: {"factory": name, **settings} for name, settings in of_recipe.items()}
    wanted = {SENTENCES: choices.sentences, TAGS: choices.tags}
    inputs = [name for name, is_wanted in wanted.items() if is_wanted]
    reader = {"@readers": NAME, "gold_inputs": inputs} if inputs else {"@readers": _SPACY_READER}
    paths = {"train": choices.train, "dev": choices.dev}
    copies = {"augmenter": {"@augmenters": PLAIN_COPIES}} if choices.plain_copies else {}
    return {
        "paths": {name: None if path is None else str(path) for name, path in paths.items()},
        "system": {"seed": 0, "gpu_allocator": None},
        "nlp": {
            "lang": choices.lang,
            "pipeline": list(components),
            "batch_size": 256,
            "tokenizer": {"@tokenizers": TOKENIZERS[choices.domain]},
        },
        "components": components,
        "corpora": {
            "train": {**reader, **copies, "path": "${paths.train}"},
            "dev": {**reader, "path": "${paths.dev}"},
        },
        "training": {
            "dropout": 0.0,
            "annotating_components": list(before),
            "before_to_disk": {"@callbacks": "spacy_cascade.calibrate.v1", "path": "${paths.dev}"},
            "score_weights": {
                **_SCORES,
                **(_NO_SCORES_OF_SENTENCES if before else {}),
                **(_SCORES_OF_NESTED if choices.nested else {}),
            },
            **_TRAINING[choices.recipe],
        },
    }
