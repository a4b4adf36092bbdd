"""Configs that experiments compare with the shipped ones: what they change in one of these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .package import SEGMENTER, STAGES
from .paths import CONFIGS, WORK

Changes = Mapping[str, Any]
"""Values by their dotted names; a section, and what it holds, where the value is a mapping."""
ONE_PHASE = "one phase"
"""What `spacy cascade init --recipe crf` writes, in place of a shipped config."""
CHAINS = ("cascade_chunker", "cascade_entities")
"""Components of `conll2003.cfg`."""
LIKELIHOOD = {"@misc": "spacy_cascade.Likelihood.v2"}
HINGE = {"@misc": "spacy_cascade.Hinge.v2", "kappa": 1.0}


def _online(component: str, **settings: Any) -> Changes:
    """A component that is trained by passive-aggressive updates."""
    trainer = {
        "@misc": "spacy_cascade.PassiveAggressive.v1", "cost_augmented": True, "average": True,
        "average_power": 1, "passes": 3, "seed": "${system.seed}", **settings,
    }  # fmt: skip
    place = f"components.{component}"
    return {f"{place}.loss": HINGE, f"{place}.penalty": None, f"{place}.trainer": trainer}


def _minibatches(size: int, **settings: Any) -> Changes:
    batcher = {
        "@batchers": "spacy.batch_by_words.v1", "size": size, "tolerance": 0.2,
        "discard_oversize": False, "get_length": None,
    }  # fmt: skip
    training = {"batcher": batcher, "patience": 0, "max_steps": 0, **settings}
    return {f"training.{name}": value for name, value in training.items()}


_APART: Changes = {
    **{f"components.{name}.loss": LIKELIHOOD for name in CHAINS},
    "components.cascade_entities.penalty.sigma": 1.0,
}
VARIANTS: Mapping[str, tuple[str, Changes]] = {
    "crf": (ONE_PHASE, {}),
    "crf_online": (
        ONE_PHASE,
        {
            **_online(SEGMENTER, C=0.005, cut_after=60),
            **_minibatches(28000, max_epochs=4, eval_frequency=7),
        },
    ),
    "induced": (
        "memb",
        {
            f"components.{name}.trainer": {
                "@misc": "spacy_cascade.Induction.v1",
                "trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 12, "threads": 0},
            }
            for name in STAGES
        },
    ),
    "stream": (
        "ocr",
        {
            **_minibatches(30000, max_epochs=-1, max_steps=1000, eval_frequency=50),
            **{f"components.{name}.trainer.curvature": False for name in STAGES},
            **{f"initialize.components.{name}.corpus": "${corpora.train}" for name in STAGES},
        },
    ),
    "conll2003_crf_crf": ("conll2003", _APART),
    "conll2003_icrf": (
        "conll2003",
        {
            **_APART,
            "components.cascade_chunker.trainer": {"@misc": "spacy_cascade.TrainedJointly.v1"},
            "components.cascade_entities.trainer": {
                "@misc": "spacy_cascade.JointLBFGS.v1", "first": "cascade_chunker", "C": 0.0003,
                "iterations": 15, "threads": 0,
            },
            "training.logger": {"@loggers": "spacy_cascade.TermsLogger.v1"},
        },
    ),
    "conll2003_ocr": (
        "conll2003",
        {
            **_online("cascade_chunker", C=0.01),
            **_online("cascade_entities", C=0.01),
            **_minibatches(20000, max_epochs=5, eval_frequency=12),
        },
    ),
}  # fmt: skip


def config_path(file: str) -> Path:
    """The file of a shipped config, or of one of `VARIANTS`, which is written into `WORK`."""
    name = file.removesuffix(".cfg")
    if name not in VARIANTS:
        return CONFIGS / file
    from spacy.util import load_config
    from thinc.api import Config

    from spacy_cascade.files import replace_file
    from spacy_cascade.tools.recipes import Choices, Recipe, make_config

    base, changes = VARIANTS[name]
    if base == ONE_PHASE:
        config: Any = make_config(Choices(recipe=Recipe.crf))
    else:
        config = load_config(CONFIGS / f"{base}.cfg")
    for dotted, value in changes.items():
        *sections, last = dotted.split(".")
        section: Any = config
        for one in sections:
            section = section.setdefault(one, {})
        section[last] = Config(value).copy() if isinstance(value, Mapping) else value
    path = WORK / "configs" / f"{name}.cfg"
    replace_file(path, config.to_str(interpolate=False).encode())
    return path
