"""Fingerprints of trained pipelines: weights and annotation to the last bit.

A change of the code that should change no result is checked by comparing the fingerprints from
before with those from after. Run as a script, this file trains shipped configs and records them:

    python tests/support/fingerprints.py corpus/jnlpba fingerprints.json memb ocr icrf crf
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, resolve_dot_names

PROJECT = Path(__file__).parents[2]
N_BEST = 5


def machine() -> dict[str, str]:
    """All that the last bit of a floating-point number may depend on, besides this package."""
    return {
        "processor": llvmlite.binding.get_host_cpu_name(),
        "system": platform.system(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "spacy": spacy.__version__,
        "blas": os.environ.get("OPENBLAS_CORETYPE", ""),
    }


def fingerprint(config_path: Path, corpora: Path) -> dict[str, Any]:
    """Train the config on `train.spacy` and `dev.spacy` of a folder; the best pipeline's print."""
    overrides = {f"paths.{split}": str(corpora / f"{split}.spacy") for split in ("train", "dev")}
    config = load_config(config_path, overrides=overrides, interpolate=True)
    with tempfile.TemporaryDirectory() as output:
        table = io.StringIO()
        train(init_nlp(config), Path(output), stdout=table, stderr=table)
        nlp = spacy.load(Path(output) / "model-best")
    (reader,) = resolve_dot_names(nlp.config.interpolate(), ["corpora.dev"])
    return fingerprint_of(nlp, [example.predicted for example in reader(nlp)])


def fingerprint_of(nlp: Language, docs: list[Doc]) -> dict[str, Any]:
    """The digests of all weights, and of all that the pipeline finds in the Docs."""
    docs = list(nlp.pipe(docs))
    confidences = [entity._.confidence or 0 for doc in docs for entity in doc.ents]
    segmenters = [pipe for _, pipe in nlp.pipeline if hasattr(pipe, "nbest")]
    return {
        "weights": {
            name: {key: digest([value.tobytes()]) for key, value in _arrays(pipe)}
            for name, pipe in nlp.pipeline
            if hasattr(pipe, "cfg")
        },
        "annotation": digest(map(_annotation, docs)),
        "n_best": {pipe.name: digest(_n_best(pipe, doc) for doc in docs) for pipe in segmenters},
        "n_entities": sum(len(doc.ents) for doc in docs),
        "mean_confidence": float(np.mean(confidences or [0.0])),
    }


def digest(parts: Iterable[bytes]) -> str:
    """The SHA-256 of all parts, one after another."""
    made = hashlib.sha256()
    for part in parts:
        made.update(part)
    return made.hexdigest()


def _arrays(pipe: Any) -> Iterator[tuple[str, np.ndarray]]:
    for name in pipe.model.param_names:
        yield name, np.ascontiguousarray(pipe.model.get_param(name))


def _annotation(doc: Doc) -> bytes:
    found = {
        "ents": [(e.start, e.end, e.label_) for e in doc.ents],
        "tags": [token.tag_ for token in doc],
        "spans": {
            key: [
                [(s.start, s.end, s.label_) for s in group],
                [float(score).hex() for score in group.attrs.get("scores", ())],
            ]
            for key, group in sorted(doc.spans.items())
        },
    }
    return json.dumps(found).encode()


def _n_best(segmenter: Any, doc: Doc) -> bytes:
    """At the temperature 1."""
    temperature, segmenter.temperature = segmenter.temperature, 1.0
    ranked = segmenter.nbest(doc, N_BEST)
    segmenter.temperature = temperature
    found = [
        [
            (
                [(s.start, s.end, s.label_) for s in segmentation.spans],
                float(segmentation.score).hex(),
                None if segmentation.probability is None else segmentation.probability.hex(),
            )
            for segmentation in of_sentence
        ]
        for of_sentence in ranked
    ]
    return json.dumps(found).encode()


def record(corpora: Path, output: Path, names: Iterable[str]) -> None:
    """Write the fingerprints of shipped configs to a JSON file, beside what is there."""
    recorded = json.loads(output.read_text()) if output.exists() else {}
    recorded["machine"] = machine()
    for name in names:
        recorded[name] = fingerprint(PROJECT / "configs" / f"{name}.cfg", corpora)
        output.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
