"""Pipelines saved as a whole or not at all."""

from pathlib import Path

from spacy.language import Language

from ..files import replace_folder


def save_pipeline(nlp: Language, path: str | Path) -> None:
    """Save a pipeline as `nlp.to_disk` does, but so that an old one stays until it is complete.

    Files that are not the pipeline's stay in the folder. Raises `SavingError` where the disk is
    full or the folder cannot be written; the old pipeline is then still there
    (`files.replace_folder`).
    """
    replace_folder(path, nlp.to_disk)
