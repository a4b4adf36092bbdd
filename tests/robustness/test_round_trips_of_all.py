"""Pipelines of every kind come back the same, on every way out and in again."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from helpers import annotation, blank, run_python, sample_docs
from round_trips import WAYS
from sample_pipelines import PIPELINES

pytestmark = pytest.mark.slow(kind="round trips")

N_DOCS = 1000
AT_ONCE = 64
_MORE_THAN_ALL_TRIPS = 300
"""So that a twentieth are enough to meet every way."""


def through_pickled_components(nlp: Language, folder: Path) -> Language:
    other = blank().from_config(nlp.config)
    for name in nlp.pipe_names:
        pipe = pickle.loads(pickle.dumps(nlp.get_pipe(name)))
        other.get_pipe(name).from_bytes(pipe.to_bytes())
    return other


ALL_WAYS = [*WAYS, through_pickled_components]


@pytest.fixture(scope="module")
def texts(cases: Callable[[int], int]) -> list[list[str]]:
    """Words of sentences of the sample, of which some stand in for others."""
    generator = np.random.default_rng(1)
    docs = [*sample_docs(blank().vocab), *sample_docs(blank().vocab, "dev")]
    sentences = [[token.text for token in sentence] for doc in docs for sentence in doc.sents]
    words = sorted({word for sentence in sentences for word in sentence})
    made = []
    for i in generator.integers(0, len(sentences), cases(N_DOCS)):
        changed = generator.random(len(sentences[i])) < 0.2
        others = generator.choice(words, len(sentences[i])).tolist()
        pairs = zip(sentences[i], others, changed, strict=True)
        made.append([new if is_new else old for old, new, is_new in pairs])
    return made


def annotated(nlp: Language, texts: Iterable[list[str]]) -> list[dict[str, Any]]:
    docs = nlp.pipe((Doc(nlp.vocab, words=words) for words in texts), batch_size=AT_ONCE)
    return [everything(doc) for doc in docs]


def everything(doc: Doc) -> dict[str, Any]:
    """Entities, spans, confidences to the last bit, tags and sentences."""
    return {
        **annotation(doc),
        "tags": [token.tag_ for token in doc],
        "sentences": [token.is_sent_start for token in doc],
    }


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    return {name: make() for name, make in PIPELINES.items()}


@pytest.fixture(scope="module")
def expected(
    pipelines: dict[str, Language], texts: list[list[str]]
) -> dict[str, list[dict[str, Any]]]:
    return {name: annotated(nlp, texts) for name, nlp in pipelines.items()}


def test_all_ways_lead_back(
    pipelines: dict[str, Language],
    expected: dict[str, list[dict[str, Any]]],
    texts: list[list[str]],
    generator: np.random.Generator,
    cases: Callable[[int], int],
    tmp_path: Path,
    figure: Callable[[str, str], None],
) -> None:
    trips = list(product(pipelines, ALL_WAYS))
    chosen = generator.permutation(len(trips))[: cases(_MORE_THAN_ALL_TRIPS)]
    for name, way in (trips[i] for i in chosen.tolist()):
        folder = tmp_path / f"{name}_{way.__name__}"
        folder.mkdir()
        nlp = pipelines[name]
        other = way(nlp, folder)
        assert annotated(other, texts) == expected[name], (name, way.__name__)
        assert annotated(nlp, texts) == expected[name], (name, way.__name__)
        for pipe in nlp.pipe_names:
            assert other.get_pipe(pipe).to_bytes() == nlp.get_pipe(pipe).to_bytes()
    n_spans = sum(len(doc["ents"]) for docs in expected.values() for doc in docs)
    assert n_spans > len(texts)
    figure(
        f"{len(texts):,} Docs before and after each of {len(chosen)} round trips, "
        f"{len(ALL_WAYS)} ways of {len(pipelines)} pipelines",
        f"identical, confidences to the last bit; {n_spans:,} entities",
    )


DIGESTS = """
import hashlib, json, sys
import spacy
found = {}
for path in sys.argv[1:]:
    data = spacy.load(path).to_bytes()
    found[path] = hashlib.sha256(data).hexdigest()
print(json.dumps(found))
"""


def test_bytes_are_stable(
    pipelines: dict[str, Language], tmp_path: Path, figure: Callable[[str, str], None]
) -> None:
    """Asked for twice, after a second round trip, and in a process with another order of sets.

    spaCy's sentencizer would not do: it saves a set in any order.
    """
    expected, n_files = {}, 0
    for name, nlp in pipelines.items():
        folders = [tmp_path / f"{name}_{part}" for part in ("first", "second")]
        nlp.to_disk(folders[0])
        again = spacy.load(folders[0])
        again.to_disk(folders[1])
        first, second = map(files, folders)
        assert first.keys() == second.keys()
        assert [file for file in first if first[file] != second[file]] == []
        n_files += len(first)
        assert nlp.to_bytes() == nlp.to_bytes()
        data = again.to_bytes()
        expected[str(folders[0])] = hashlib.sha256(data).hexdigest()
    done = run_python("-c", DIGESTS, *expected, PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
    figure(
        f"{n_files} files of {len(pipelines)} pipelines after two round trips, and their bytes in "
        "a process with another hash seed",
        "the same",
    )
