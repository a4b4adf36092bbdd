"""Configs that experiments compare with the shipped ones can be used."""

from __future__ import annotations

import pytest
from spacy.util import load_config, load_model_from_config

from benchmarks.lib.variants import VARIANTS, config_path
from helpers import LANGUAGE


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_make_pipelines(name: str) -> None:
    paths = {"paths.train": "t.spacy", "paths.dev": "d.spacy", "nlp.lang": LANGUAGE}
    config = load_config(config_path(f"{name}.cfg"), overrides=paths)
    nlp = load_model_from_config(config, auto_fill=True, validate=True)
    assert nlp.pipe_names
