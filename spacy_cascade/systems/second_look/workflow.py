"""A second pass whose features see what a first pass found elsewhere in the Doc."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError
from ...files import temporary_folder
from ...pipeline.readers import read_docs
from ...workflows.folds import as_given, check_folds, entity_f1, filled_config, train_pipeline
from ...workflows.jackknife import jackknife
from ...workflows.reconfigure import to_be_loaded

KEY = "first_pass"
"""`doc.spans` key of what the first pass finds."""
PREFIX = "first_"
"""Begins the names of the components of the first pass."""

SEGMENTER, CLASSIFIER = "cascade_segmenter", "cascade_classifier"
TEMPLATES: Mapping[str, Sequence[str]] = {
    SEGMENTER: (f"word_elsewhere({KEY})@-1..1",),
    CLASSIFIER: (f"word_elsewhere({KEY})@first", f"word_elsewhere({KEY})@last"),
}
"""What the second pass looks at besides, by the factory of the component."""

_CALIBRATION = "spacy_cascade.calibrate.v1"


@dataclass(frozen=True)
class SecondLook:
    """Entity F1 of both pipelines on the development corpus, and how the second was trained.

    n_trainings: of the first pass, without that on the whole corpus.
    """

    first_f1: float
    second_f1: float
    n_trainings: int

    @property
    def is_better(self) -> bool:
        """Whether the second pass is worth its time."""
        return self.second_f1 > self.first_f1


def second_look(
    config: Config, train_path: Path, dev_path: Path, *, folds: int = 5
) -> tuple[Language, SecondLook]:
    """A pipeline of two passes, or of the first one where that is as good, and its figures.

    The first pass is the pipeline of the config. It is trained without each of the folds, so that
    the second one learns from spans as the first one finds them in new text (`jackknife`). The
    second pass has the same settings and looks at `TEMPLATES` besides. The config's calibration
    and decoding are those of the entities, which the second pass writes.

    train_path, dev_path: `.spacy` files. Raises `ConfigError` for a config that does not define a
    segmenter or that has a reranker, and as `jackknife` does.
    """
    stages, first, second, n_trainings = train_passes(config, train_path, dev_path, folds=folds)
    f1 = [entity_f1(nlp, dev_path) for nlp in (first, second)]
    result = SecondLook(f1[0], f1[1], n_trainings)
    kept = second if result.is_better else first
    kept.config = _as_given(kept.config, config, kept is second, stages)
    return kept, result


class Passes(NamedTuple):
    """Two trained pipelines: of the first pass alone, and of both passes.

    stages: names of the components of the first one that find the entities. n_trainings: of the
    first pass, without that on the whole corpus.
    """

    stages: list[str]
    first: Language
    both: Language
    n_trainings: int


def train_passes(config: Config, train_path: Path, dev_path: Path, *, folds: int) -> Passes:
    """Train the first pass and both, whichever is better; as for `second_look`."""
    filled = filled_config(config, train_path, dev_path)
    stages = _stages(filled)
    docs = read_docs(train_path, Vocab())
    check_folds(len(docs), folds, train_path)  # before the first pass is trained
    first = train_pipeline(filled, docs, dev_path)
    found = jackknife(_first_config(filled, stages), train_path, dev_path, folds=folds)
    with temporary_folder() as folder:
        _as_first_pass(first, filled, stages).to_disk(folder)
        both = train_pipeline(_second_config(filled, stages, folder), found.docs, dev_path)
    return Passes(stages, first, both, found.n_trainings)


def _stages(config: Config) -> list[str]:
    """Names of the components that find the entities. Raises `ConfigError` where there are none."""
    components = config["components"]
    factories = {name: components[name].get("factory") for name in config["nlp"]["pipeline"]}
    if "cascade_reranker" in factories.values():
        raise ConfigError(
            "A second look needs a pipeline without a reranker. Leave out the cascade_reranker, "
            "and train it on the result with `spacy cascade rerank train`."
        )
    stages = [name for name, factory in factories.items() if factory in TEMPLATES]
    found = [factories[name] for name in stages]
    if found not in ([SEGMENTER], [SEGMENTER, CLASSIFIER]):
        raise ConfigError(
            f"A second look needs one {SEGMENTER}, with or without one {CLASSIFIER} after it; the "
            f"config has {list(factories)}. Give a config as `spacy cascade init` writes it."
        )
    return stages


def _first_config(config: Config, stages: Sequence[str]) -> Config:
    """The config for the first pass: its spans under `KEY`, the best ones, with confidences."""
    changed = config.copy()
    for name in stages:
        changed["components"][name].update(spans_key=KEY)
    calibration = changed["training"].get("before_to_disk") or {}
    if calibration.get("@callbacks") == _CALIBRATION:
        calibration["decoding"] = "best"
    return changed


def _as_first_pass(first: Language, config: Config, stages: Sequence[str]) -> Language:
    """The trained pipeline with other names of the stages, which write `KEY` and no entities.

    Its spans have no confidences, which nothing looks at, except where a threshold needs them.
    """
    changed = first.config.copy()
    changed["nlp"]["pipeline"] = [_first_name(name, stages) for name in first.component_names]
    for name in stages:
        # Calibration has set the temperatures, and decoding what a first pass must not have.
        own = dict(config["components"][name])
        own["temperature"] = changed["components"][name]["temperature"]
        own["confidence"] = bool(own["threshold"] or own["label_thresholds"])
        changed["components"].pop(name)
        changed["components"][PREFIX + name] = {**own, "spans_key": KEY, "set_ents": False}
    made = to_be_loaded(changed, first.vocab)
    for name, pipe in first.components:
        copy: Any = made.get_pipe(_first_name(name, stages))
        if hasattr(pipe, "to_bytes"):
            copy.from_bytes(pipe.to_bytes())
    return made


def _second_config(config: Config, stages: Sequence[str], saved: Path) -> Config:
    """The config of both passes, in which only the second one is trained.

    saved: folder of the first pass, from which everything else is taken as it is.
    """
    changed = config.copy()
    names = [_first_name(name, stages) for name in config["nlp"]["pipeline"]]
    place = names.index(PREFIX + stages[-1]) + 1
    others = {name: {"source": str(saved)} for name in names}
    own = {name: _looking_elsewhere(name, config["components"][name]) for name in stages}
    changed["nlp"].update(pipeline=[*names[:place], *stages, *names[place:]])
    changed["components"] = {**others, **own}
    annotating = changed["training"].get("annotating_components") or []
    changed["training"].update(
        frozen_components=names,
        annotating_components=[name for name in annotating if name in others or name in own],
    )
    return changed


def _looking_elsewhere(name: str, component: dict[str, Any]) -> dict[str, Any]:
    """Settings of a component of the second pass. Raises `ConfigError` for unknown templates."""
    changed: dict[str, Any] = Config(component).copy()
    templates = changed["model"]["templates"]
    lines = "extra" if "extra" in templates else "templates"
    if lines not in templates:
        raise ConfigError(
            f"The templates of '{name}' take no further ones. Give it a template set of this "
            "package, or one that is written out, under [components.*.model.templates]."
        )
    templates[lines] = [*templates[lines], *TEMPLATES[changed["factory"]]]
    return changed


def _first_name(name: str, stages: Sequence[str]) -> str:
    return PREFIX + name if name in stages else name


def _as_given(own: Config, given: Config, is_second: bool, stages: Sequence[str]) -> Config:
    """The config of a trained pipeline with the user's corpora and training in place of ours."""
    config = as_given(own, given)
    if is_second:
        # So that `adapt`, too, shows the second pass what the first one finds.
        config["training"]["annotating_components"] = [PREFIX + name for name in stages]
    return config
