"""Ways of a pipeline out and in again."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import spacy
from spacy.language import Language

from helpers import blank


def through_disk(nlp: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    return spacy.load(folder)


def through_bytes(nlp: Language, folder: Path) -> Language:
    return blank().from_config(nlp.config).from_bytes(nlp.to_bytes())


def through_components(nlp: Language, folder: Path) -> Language:
    other = blank().from_config(nlp.config)
    for name in nlp.pipe_names:
        other.get_pipe(name).from_bytes(nlp.get_pipe(name).to_bytes())
    return other


def through_component_folders(nlp: Language, folder: Path) -> Language:
    other = blank().from_config(nlp.config)
    for name in nlp.pipe_names:
        nlp.get_pipe(name).to_disk(folder / name)
        other.get_pipe(name).from_disk(folder / name)
    return other


def through_pickle(nlp: Language, folder: Path) -> Language:
    return pickle.loads(pickle.dumps(nlp))


def through_deepcopy(nlp: Language, folder: Path) -> Language:
    return copy.deepcopy(nlp)


def by_sourcing(nlp: Language, folder: Path) -> Language:
    other = blank()
    for name in nlp.pipe_names:
        other.add_pipe(name, source=nlp)
    return other


WAYS = [
    through_disk,
    through_bytes,
    through_components,
    through_component_folders,
    through_pickle,
    through_deepcopy,
    by_sourcing,
]
