"""Templates of a config that feature induction has found in a corpus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from configparser import InterpolationError
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Config

from ...errors import CascadeError, ConfigError
from ...features.names import find_names
from ...pipeline.learning import LearningPipe
from ...pipeline.readers import examples_for
from ...tools.explaining.scored import text_reader
from ...workflows.folds import refused
from .component import InducedFeature


@dataclass(frozen=True)
class InducedTemplate:
    """A template that features were induced of.

    n_features: how many. gain: the sum of theirs. round: in which the first of them was added.
    example: the one that gained most, as `lower@-1=the & suffix(3)=ion`. label: the one that this
    feature gained most for. weight: that of the feature and the label when it was added.
    """

    template: str
    n_features: int
    gain: float
    round: int
    example: str
    label: str
    weight: float


@dataclass(frozen=True)
class ComponentReport:
    """What was induced for a component.

    n_tests: features that its templates have. n_features: those that were induced. n_hard: units
    that were wrong before each round. templates: by falling gain.
    """

    component: str
    n_tests: int
    n_features: int
    n_hard: tuple[int, ...]
    templates: tuple[InducedTemplate, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def induce(config: Config, train_path: Path) -> tuple[Config, list[ComponentReport]]:
    """A training config with induced templates in place of its own, and what was induced.

    config: as for `spacy train`. Each component whose trainer has an induction makes one update;
    those before it, too, if it sees what they find. The config that is returned has no induction:
    it trains with all features of the templates that are frequent enough.

    Raises `ConfigError` where no trainer has an induction or spaCy refuses the config, and
    `CorpusError` where the corpus cannot be read.
    """
    nlp = _made(config)
    names = [name for name, pipe in nlp.pipeline if _induction(pipe) is not None]
    if not names:
        raise ConfigError(
            "No trainer of the config has an induction. Add a block "
            '[components.cascade_segmenter.trainer.induction] with @misc = "spacy_cascade.'
            'Induction.v1", as configs/induced.cfg has it.'
        )
    examples = list(examples_for(nlp, train_path))
    nlp.initialize(lambda: examples)
    annotating = config.get("training", {}).get("annotating_components", [])
    others = [name for name in nlp.pipe_names if name not in {*names, *annotating}]
    nlp.update(examples, annotates=annotating, exclude=others)
    frozen = config.copy()
    for name in names:
        block, found = frozen["components"][name], nlp.get_pipe_config(name)
        block["model"] = found["model"]
        block["trainer"] = found["trainer"]
    pipes: list[Any] = [nlp.get_pipe(name) for name in names]
    return frozen, [report_on(pipe, examples) for pipe in pipes]


def report_on(pipe: LearningPipe[Any], examples: Sequence[Example]) -> ComponentReport:
    """What a component that was just trained has induced; examples: those of its training."""
    induced = pipe.induced
    assert induced is not None, "asked only after induction"
    n_features, gains = Counter(f.template for f in induced.features), _gains(induced.features)
    best: dict[str, InducedFeature] = {}
    first: dict[str, int] = {}
    for feature in induced.features:
        known = best.setdefault(feature.template, feature)
        if feature.gain > known.gain:
            best[feature.template] = feature
        first.setdefault(feature.template, feature.round)
    names = _names(pipe, examples, {feature.number for feature in best.values()})
    templates = [
        InducedTemplate(
            template, n_features[template], gains[template], first[template],
            names.get(feature.number, template), feature.label, feature.weight,
        )
        for template, feature in sorted(best.items(), key=lambda item: -gains[item[0]])
    ]  # fmt: skip
    return ComponentReport(
        pipe.name, induced.n_tests, len(induced.features), induced.n_hard, tuple(templates)
    )


def _made(config: Config) -> Language:
    try:
        return load_model_from_config(config.interpolate(), auto_fill=True)
    except CascadeError:
        raise
    except (ValueError, InterpolationError) as error:
        raise refused("The training config", error) from error


def _induction(pipe: object) -> object:
    return getattr(getattr(pipe, "trainer", None), "induction", None)


def _gains(features: Iterable[InducedFeature]) -> dict[str, float]:
    gains: defaultdict[str, float] = defaultdict(float)
    for feature in features:
        gains[feature.template] += feature.gain
    return gains


def _names(
    pipe: LearningPipe[Any], examples: Sequence[Example], wanted: set[int]
) -> dict[int, str]:
    text_of = text_reader(pipe, (example.reference for example in examples))
    return find_names(pipe.space, pipe.units_of(examples), text_of, wanted)
