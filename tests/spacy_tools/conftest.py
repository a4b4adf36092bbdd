"""A folder as a user of the command line has it, with one pipeline that tests here share."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import LANGUAGE, PROJECT, corpora_in, run_spacy, write_sample


@pytest.fixture(scope="session")
def first_use(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`train.spacy`, `dev.spacy`, `ner.cfg` and `OUT/model-best`, made as on a first use.

    The words of the sample are its tokens, so that tests can count on them.
    """
    folder = tmp_path_factory.mktemp("first_use")
    for split in ("train", "dev"):
        source = PROJECT / "assets" / "sample" / f"{split}.iob2"
        run_spacy("cascade", "convert", source, folder / f"{split}.spacy", "--spacing", "words")
    run_spacy("cascade", "init", folder / "ner.cfg", "--small")
    run_spacy("train", folder / "ner.cfg", "--output", folder / "OUT", *corpora_in(folder))
    return folder


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same files, of few Docs and of no language, which are soon made and loaded."""
    folder = tmp_path_factory.mktemp("workspace")
    for split, n_docs in (("train", 12), ("dev", 4)):
        write_sample(folder / f"{split}.spacy", split, n_docs)
    run_spacy("cascade", "init", folder / "ner.cfg", "--small", "--lang", LANGUAGE)
    few = ("--training.max_steps", 2)
    run_spacy("train", folder / "ner.cfg", "--output", folder / "OUT", *few, *corpora_in(folder))
    return folder
