"""The experiment on two chains: its systems and ways to decode."""

from __future__ import annotations

from typing import Any

import numpy as np
from spacy.util import load_config, load_model_from_config

from benchmarks.experiments.icrf import (
    Hypotheses,
    chunks_and_entities,
    decode,
    entities_and_types,
    fold,
)
from benchmarks.lib.corpora import read_docs
from benchmarks.lib.variants import config_path
from helpers import LANGUAGE, write_sample
from spacy_cascade.inference.lattice import free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.structure import Potentials


def test_parts_of_a_corpus_share_nothing(tmp_path: Any) -> None:
    source = str(write_sample(tmp_path / "train.spacy", n_docs=8))
    paths = {name: str(tmp_path / f"{name}.spacy") for name in ("kept", "held_back")}
    texts = []
    for seed in (0, 1):
        sizes = fold(source, **paths, share=0.5, most=2, seed=seed)
        parts = {name: [doc.text for doc in read_docs(path)] for name, path in paths.items()}
        assert {name: len(part) for name, part in parts.items()} == sizes
        assert sizes["held_back"] == 2
        assert not set(parts["kept"]) & set(parts["held_back"])
        texts.append(parts["kept"])
    assert texts[0] != texts[1]


def test_systems_can_be_made() -> None:
    for system in {
        s.chains: s for s in [*chunks_and_entities(), *entities_and_types("x")]
    }.values():
        overrides = {
            **system.settings,
            "paths.train": "t.spacy",
            "paths.dev": "d.spacy",
            "nlp.lang": LANGUAGE,
        }
        config = load_config(config_path(system.config), overrides=overrides)
        nlp = load_model_from_config(config, auto_fill=True)
        assert len(nlp.pipe_names) == 2
        assert nlp.config["corpora"]["train"]["@readers"] == "spacy_cascade.Corpus.v1"


def test_ways_to_decode() -> None:
    """Two sentences of a token each; the second rank is better in the one, none in the other."""
    structure = LinearChain(free_lattice(2, label_pairs=False))
    starts = np.array([0, 1, 2])

    def potentials(scores: list[list[float]]) -> Potentials:
        return Potentials(np.array(scores), np.zeros(structure.n_transitions), starts)

    ranks = [potentials([[1.0, 0.0], [0.0, 3.0]]), potentials([[0.0, 4.0], [9.0, 0.0]])]
    first = np.array([[5.0, 5.0], [4.5, -np.inf]])
    found = Hypotheses(
        starts=starts,
        first=first,
        first_logs=np.log([[0.6, 1.0], [0.4, 1e-300]]),
        second=np.array([[1.0, 3.0], [4.0, 9.0]]),
        second_logs=np.log([[0.6, 0.9], [0.99, 0.99]]),
        paths=np.array([[1, 2], [2, 1]], dtype=np.int32),
        potentials=ranks,
    )
    assert decode(found, 1, "product", structure).tolist() == [1, 2]
    assert decode(found, 2, "product", structure).tolist() == [2, 2]
    assert decode(found, 2, "scores", structure).tolist() == [2, 2]
    # 0.6·1 against 0.4·4.
    assert decode(found, 2, "mixture", structure).tolist() == [2, 2]
