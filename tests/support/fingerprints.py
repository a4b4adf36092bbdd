"""Fingerprints of trained pipelines: weights and annotation to the last bit.

A change of the code that should change no result is checked by comparing the fingerprints from
before with those from after. Run as a script, this file trains systems (`trained_systems.py`) and
records their fingerprints in `tests/unchanged`, beside those that are there; without names all of
the file:

    python tests/support/fingerprints.py sample memb icrf
    python tests/support/fingerprints.py jnlpba

It reads what is public alone: thinc models, span groups with their scores, `Span._.confidence` and
`nbest`. Where "arrays" differ and "values" do not, the same weights are kept in another layout.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Corpus
from spacy.util import registry
from thinc.api import Model

from helpers import PROJECT
from trained_systems import SYSTEMS, write_sample

RECORDED = PROJECT / "tests" / "unchanged"
JNLPBA = PROJECT / "corpus" / "jnlpba"
READER = "spacy_cascade.Corpus.v1"
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


def recorded(corpus: str) -> dict[str, Any]:
    """The fingerprints that were recorded on a corpus, and the machine that made them."""
    path = RECORDED / f"{corpus}.json"
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return made


def fingerprint(name: str, corpora: Path) -> dict[str, Any]:
    """Train a system on `train.spacy` and `dev.spacy` of a folder; its print on dev."""
    nlp = SYSTEMS[name](corpora)
    path, inputs = corpora / "dev.spacy", nlp.config["corpora"]["dev"].get("gold_inputs")
    reader = Corpus(path) if inputs is None else registry.readers.get(READER)(path, inputs)
    return fingerprint_of(nlp, [example.predicted for example in reader(nlp)])


def fingerprint_of(nlp: Language, docs: Iterable[Doc]) -> dict[str, Any]:
    """Digests of all weights, and of all that the pipeline writes on the Docs."""
    docs = list(nlp.pipe(docs))
    arrays = {name: dict(arrays_of(pipe)) for name, pipe in nlp.pipeline}
    segmenters = [(name, pipe) for name, pipe in nlp.pipeline if hasattr(pipe, "nbest")]
    sure = [entity._.confidence or 0 for doc in docs for entity in doc.ents]
    return {
        "weights": {
            name: {
                "values": digest([_sorted_values(of_one.values())]),
                "arrays": {key: digest([array.tobytes()]) for key, array in of_one.items()},
            }
            for name, of_one in arrays.items()
            if of_one
        },
        "entities": digest(_json(_bounds(doc.ents)) for doc in docs),
        "tags": digest(_json([token.tag_ for token in doc]) for doc in docs),
        "span_groups": digest(
            _json([(key, _bounds(group)) for key, group in sorted(doc.spans.items())])
            for doc in docs
        ),
        "confidences": digest(map(_confidences, docs)),
        "n_best": {name: digest(_n_best(pipe, doc) for doc in docs) for name, pipe in segmenters},
        "n_entities": sum(len(doc.ents) for doc in docs),
        "mean_confidence": float(np.mean(sure or [0.0])),
    }


def without_names(found: dict[str, Any]) -> dict[str, Any]:
    """A fingerprint in which nothing depends on what a component calls its arrays."""
    weights = {
        name: {**of_one, "arrays": sorted(of_one["arrays"].values())}
        for name, of_one in found["weights"].items()
    }
    return {**found, "weights": weights}


def digest(pieces: Iterable[bytes]) -> str:
    """The first half of the SHA-256 of all pieces, one after another."""
    made = hashlib.sha256()
    for piece in pieces:
        made.update(piece)
    return made.hexdigest()[:32]


def arrays_of(pipe: Any) -> Iterator[tuple[str, np.ndarray]]:
    """All numbers that a component has learnt, with names.

    They are the parameters of all layers of its model, and the arrays that these keep beside them;
    for a component of pipelines, such as an ensemble, those of all their components.
    """
    model = getattr(pipe, "model", None)
    for number, layer in enumerate(model.walk() if isinstance(model, Model) else ()):
        parameters = [name for name in layer.param_names if layer.has_param(name)]
        kept = [name for name, value in layer.attrs.items() if isinstance(value, np.ndarray)]
        for name in parameters:
            yield f"{number}/{name}", np.ascontiguousarray(layer.get_param(name))
        for name in kept:
            yield f"{number}/{name}", np.ascontiguousarray(layer.attrs[name])
    for member in getattr(pipe, "members", ()):
        for name, inner in member.nlp.pipeline:
            for key, array in arrays_of(inner):
                yield f"{member.name}/{name}/{key}", array


def _sorted_values(arrays: Iterable[np.ndarray]) -> bytes:
    """All numbers but zero in order: however arrays are cut, padded, ordered or named."""
    numbers = np.concatenate([np.zeros(0), *(np.ravel(array) for array in arrays)])
    return np.sort(numbers[numbers != 0]).tobytes()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _bounds(spans: Iterable[Span]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in spans]


def _exact(value: float | None) -> str | None:
    return None if value is None else float(value).hex()


def _confidences(doc: Doc) -> bytes:
    groups = [group for _, group in sorted(doc.spans.items())]
    return _json(
        [
            [[_exact(span._.confidence) for span in spans] for spans in (doc.ents, *groups)],
            [list(map(_exact, group.attrs.get("scores", ()))) for group in groups],
        ]
    )


def _n_best(segmenter: Any, doc: Doc) -> bytes:
    return _json(
        [
            [(_bounds(one.spans), _exact(one.score), _exact(one.probability)) for one in ranked]
            for ranked in segmenter.nbest(doc, N_BEST)
        ]
    )


def record(corpus: str, corpora: Path, names: Iterable[str]) -> None:
    """Record the fingerprints of systems on the corpora of a folder, one by one."""
    found = {**recorded(corpus), "machine": machine()}
    for name in names:
        begin = time.perf_counter()
        found[name] = fingerprint(name, corpora)
        text = json.dumps(found, indent=1) + "\n"
        (RECORDED / f"{corpus}.json").write_text(text, encoding="utf8")
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)


def main(corpus: str, *names: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpora = JNLPBA if corpus == "jnlpba" else Path(folder)
        if corpus == "sample":
            write_sample(corpora)
        record(corpus, corpora, names or [one for one in recorded(corpus) if one != "machine"])


if __name__ == "__main__":
    main(*sys.argv[1:])
