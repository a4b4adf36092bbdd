"""Pipelines trained on parts of a corpus, to annotate the other parts as new text."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import InterpolationError
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import Config, ConfigValidationError

from ..errors import CascadeError, ConfigError
from ..files import temporary_folder
from ..pipeline import readers

_SPACY_READER = "spacy.Corpus.v1"
_READERS = (_SPACY_READER, readers.NAME)
_CHECKPOINTS = "spacy_cascade.checkpoints.v1"


def check_folds(n_docs: int, folds: int, path: Path) -> None:
    """Raises `ConfigError` where so many Docs of the file cannot be cut into the folds."""
    if folds < 2:
        raise ConfigError(f"There must be 2 folds or more, not {folds}.")
    if n_docs < folds:
        raise ConfigError(
            f"{path} has {n_docs} Docs, too few for {folds} folds. Give more Docs or fewer folds."
        )


def train_pipeline(
    config: Config, docs: Iterable[Doc], dev_path: Path, vocab: Vocab | bool = True
) -> Language:
    """The pipeline of a training config, trained on docs; of what was saved, the best on dev.

    config: as for `spacy train`, with or without its variables filled in. Its readers of
    corpora do not count but for the settings of spaCy's and our own, its logger neither. vocab: of
    the pipeline, by default one of its own. Raises `ConfigError` for a config that spaCy refuses.
    """
    with temporary_folder() as folder:
        train_path, output = folder / "train.spacy", folder / "output"
        DocBin(docs=docs).to_disk(train_path)
        output.mkdir()
        try:
            own = with_corpora(config, train_path, dev_path)
            finish = saving_callback(own)
            section = own["training"].pop("before_to_disk", None)
            fresh = init_nlp(own)
        except CascadeError:
            raise
        except (ValueError, InterpolationError) as error:
            raise refused("The training config", error) from error
        train(fresh, output, stdout=io.StringIO(), stderr=io.StringIO())
        best = spacy.load(output / "model-best", vocab=vocab)
        # Training would calibrate every pipeline that it saves, and one is enough.
        best.config["training"]["before_to_disk"] = section
        return finish(best)


def entity_f1(nlp: Language, path: Path) -> float:
    """F1 of entities on a corpus, from 0 to 1; 0 where nothing can be said."""
    return float(nlp.evaluate(list(readers.examples_for(nlp, path)))["ents_f"] or 0.0)


def saving_callback(config: Config) -> Callable[[Language], Language]:
    """What is done to a pipeline before it is saved: calibration, where a config says so.

    config: without variables.
    """
    section = config["training"].get("before_to_disk")
    if not section:
        return lambda nlp: nlp
    found: Callable[[Language], Language] = registry.resolve({"callback": section})["callback"]
    return found


def filled_config(config: Config, train_path: Path, dev_path: Path) -> Config:
    """The config with these corpora, all settings, and without variables.

    Raises `ConfigError` for a config that spaCy refuses.
    """
    config = config.copy()
    config.setdefault("paths", {}).update(train=str(train_path), dev=str(dev_path))
    try:
        filled: Config = load_model_from_config(config.interpolate(), auto_fill=True).config
    except CascadeError:
        raise
    except (ValueError, ImportError, InterpolationError) as error:
        raise refused("The training config", error) from error
    return filled


def as_given(own: Config, given: Config) -> Config:
    """The config of a pipeline with the user's corpora and training in place of ours."""
    config = own.copy()
    for section in ("paths", "corpora", "training", "initialize"):
        if section in given:
            config[section] = given[section]
    return config


def with_threads(config: Config, threads: int) -> Config:
    """A copy of a training config with so many threads for each trainer that has threads."""
    changed = config.copy()
    for component in changed.get("components", {}).values():
        for block in trainer_blocks(component):
            if "threads" in block:
                block["threads"] = threads
    return changed


def trainer_blocks(component: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The block of a component's trainer, and of the trainers within it."""
    block = component.get("trainer")
    while block:
        yield block
        block = block.get("trainer")


def refused(what: str, error: Exception) -> ConfigError:
    """The error for a config that spaCy refuses, with its reason in one line."""
    if isinstance(error, ConfigValidationError):
        error = ConfigValidationError.from_error(error, show_config=False)
    reason = " ".join(str(error).split())
    return ConfigError(f"{what} cannot be used. Try it with `spacy train`. spaCy says: {reason}")


def with_corpora(config: Config, train_path: Path, dev_path: Path) -> Config:
    """The config with its variables filled in, reading these corpora and logging nothing."""
    paths = {"train": str(train_path), "dev": str(dev_path)}
    config = config.copy()
    config.setdefault("paths", {}).update(paths)
    config = config.interpolate()
    training, corpora = config["training"], config.get("corpora", {})
    config["corpora"] = {
        part: {**_reader(corpora, training.get(f"{part}_corpus")), "path": path}
        for part, path in paths.items()
    }
    for component in config.get("initialize", {}).get("components", {}).values():
        if component.get("corpus"):  # it would learn features from documents that are left out
            component["corpus"] = config["corpora"]["train"]
    training.update(
        train_corpus="corpora.train",
        dev_corpus="corpora.dev",
        # A service that records training runs should not hear of each fold.
        logger={"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False},
    )
    if (training.get("before_update") or {}).get("@callbacks") == _CHECKPOINTS:
        training["before_update"] = None  # which belong to the training of the whole corpus
    return config


def _reader(corpora: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The config's reader, or spaCy's where it has another that may know no path."""
    section = corpora.get((name or "").removeprefix("corpora."))
    if isinstance(section, dict) and section.get("@readers") in _READERS:
        return section
    return {"@readers": _SPACY_READER}
