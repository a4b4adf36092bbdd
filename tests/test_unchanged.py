"""Weights, entities, N-best lists and confidences stay what they were, to the last bit.

`tests/unchanged/` has the fingerprints. On another machine, or with other
releases of the libraries, the last bits may differ: there the results have to agree closely.
JNLPBA is compared where its files are in `corpus/jnlpba` (`weasel run jnlpba-convert`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import DocBin, Span

from benchmarks.lib.variants import config_path
from fingerprints import fingerprint, machine
from helpers import PROJECT, blank, sample_docs

RECORDED = Path(__file__).parent / "unchanged"
SAMPLE = json.loads((RECORDED / "sample.json").read_text(encoding="utf8"))
JNLPBA = json.loads((RECORDED / "jnlpba.json").read_text(encoding="utf8"))
CORPUS = PROJECT / "corpus" / "jnlpba"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, with tags made of shapes and chunks made of tags."""
    folder = tmp_path_factory.mktemp("sample")
    for split in ("train", "dev"):
        docs = sample_docs(blank().vocab, split)
        for doc in docs:
            for token in doc:
                token.tag_ = token.shape_[:2]
            doc.spans["chunks"] = [
                Span(doc, t.i, t.i + 1, f"{t.tag_}P") for t in doc if not t.is_alpha
            ]
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")
    return folder


def check(name: str, corpora: Path, recorded: dict[str, Any]) -> None:
    expected = recorded[name]
    found = json.loads(
        json.dumps(fingerprint(config_path(f"{name}.cfg".replace("_memb", "")), corpora))
    )
    if machine() == recorded["machine"]:
        assert found == expected
    else:
        assert found["n_entities"] == pytest.approx(expected["n_entities"], rel=0.01, abs=1)
        close = pytest.approx(expected["mean_confidence"], abs=0.005)
        assert found["mean_confidence"] == close


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in SAMPLE if name != "machine"])
def test_the_sample(name: str, sample: Path) -> None:
    check(name, sample, SAMPLE)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="JNLPBA is not in corpus/jnlpba")
@pytest.mark.parametrize("name", [name for name in JNLPBA if name != "machine"])
def test_jnlpba(name: str) -> None:
    check(name, CORPUS, JNLPBA)
