"""Training configs from a few choices: what `spacy cascade init` writes.

Settings that were found by search are those of the defaults of the factories and of `configs/`,
with which tests compare what is made here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from spacy.util import load_model_from_config
from thinc.api import Config

from ..errors import ConfigError
from ..pipeline.readers import NAME, TAGS

Section = dict[str, Any]


class Recipe(str, Enum):
    """How the entities are found and typed."""

    memb = "memb"
    ocr = "ocr"
    crf = "crf"


class Domain(str, Enum):
    """Kind of text, which says how it is cut into tokens."""

    biomedical = "biomedical"
    general = "general"


@dataclass(frozen=True)
class Choices:
    """What a training config is made of.

    lang: spaCy's code of the language. tags: whether parts of speech are looked at.
    small: whether the corpus has a few hundred sentences. labels: the types; those of the
    corpus where there are none.
    """

    lang: str = "en"
    recipe: Recipe = Recipe.memb
    domain: Domain = Domain.biomedical
    tags: bool = False
    small: bool = False
    labels: tuple[str, ...] = ()


_TOKENIZERS = {
    Domain.biomedical: "spacy_cascade.WholeNamesTokenizer.v1",
    Domain.general: "spacy.Tokenizer.v1",
}

_TAG_TEMPLATES = [
    "tag@-2..2", "tag@-2 & tag@-1", "tag@-1 & tag", "tag & tag@1", "tag@1 & tag@2",
    "lower@-1 & tag", "tag & lower@1", "seen_inside@-1 & tag", "tag & seen_inside@1",
    "tag & brief_class",
]  # fmt: skip

_MEMB = {"trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 12}}
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


def make_config(choices: Choices) -> Config:
    """A complete training config, as `spacy train` takes it with both paths.

    Raises `ConfigError` where spaCy does not know the language.
    """
    of_recipe = _COMPONENTS[choices.recipe]
    components = {name: {"factory": name, **settings} for name, settings in of_recipe.items()}
    reader = NAME if choices.tags else "spacy.Corpus.v1"
    inputs = {"gold_inputs": [TAGS]} if choices.tags else {}
    partial = {
        "paths": {"train": None, "dev": None},
        "system": {"seed": 0, "gpu_allocator": None},
        "nlp": {
            "lang": choices.lang,
            "pipeline": list(components),
            "batch_size": 256,
            "tokenizer": {"@tokenizers": _TOKENIZERS[choices.domain]},
        },
        "components": components,
        "corpora": {
            "train": {"@readers": reader, "path": "${paths.train}", **inputs},
            "dev": {"@readers": reader, "path": "${paths.dev}", **inputs},
        },
        "training": {
            "dropout": 0.0,
            "before_to_disk": {"@callbacks": "spacy_cascade.calibrate.v1", "path": "${paths.dev}"},
            "score_weights": dict(_SCORES),
            **_TRAINING[choices.recipe],
        },
    }
    try:
        nlp = load_model_from_config(Config(partial, is_interpolated=False), auto_fill=True)
    except ImportError as error:
        raise ConfigError(
            f"spaCy does not know the language '{choices.lang}'. Give its code, such as en, de or "
            "xx (several)."
        ) from error
    config: Config = nlp.config
    first, *_ = filled = config["components"]
    if choices.tags:
        filled[first]["model"]["templates"]["extra"] = list(_TAG_TEMPLATES)
    if choices.small:
        for component in filled.values():
            component["model"]["min_count"] = 1
    if choices.labels:
        last = list(filled)[-1]
        config["initialize"]["components"] = {last: {"labels": sorted(set(choices.labels))}}
    return config


def config_text(config: Config) -> str:
    """The config as text, each section followed by those inside of it.

    thinc writes sections by their depth, which puts the parts of a component far apart.
    """
    blocks = {text.split("]", 1)[0][1:]: text for text in config.to_str().split("\n\n")}
    number = {name: i for i, name in enumerate(blocks)}

    def place(name: str) -> list[int]:
        parts = name.split(".")
        return [number[".".join(parts[:end])] for end in range(1, len(parts) + 1)]

    return "\n\n".join(blocks[name] for name in sorted(blocks, key=place)) + "\n"
