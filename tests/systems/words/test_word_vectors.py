"""Components that look at the vectors of their vocabulary."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from helpers import (
    LOAD_AND_ANNOTATE,
    TEXTS,
    TRAINER,
    annotation,
    annotations,
    blank,
    make_doc,
    make_examples,
    run_python,
)
from helpers import train as train_on
from made_vectors import add_floret, add_table, remove_vectors
from round_trips import through_bytes, through_disk, through_pickle
from spacy_cascade import ConfigError, ModelFileError
from spacy_cascade.features.names import find_names
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.pipeline.reading import read, token_units
from spacy_cascade.storage import model_file as storage
from spacy_cascade.systems.words.codes import VectorCodes

UNSEEN = ["Unseen words bind STAT5", "cells lack lymphocytes", "the p54 gene ."]
"""Texts with words that training has not seen."""
SETTINGS = {"@misc": "spacy_cascade.VectorClusters.v1", "bits": 4, "seed": 1}


def with_vectors(settings: Any = SETTINGS) -> Language:
    """A segmenter and a classifier of which words are known by nothing but their vectors."""
    nlp = blank()
    for name, extra in (
        ("cascade_segmenter", ["vector(v, 2)@-1..1", "vector(v)@-1 & vector(v, 2)"]),
        ("cascade_classifier", ["vector(v)@any", "vector(v, 3)@last & size"]),
    ):
        templates = {
            "@misc": "spacy_cascade.Templates.v1",
            "templates": ["bias", "vector(v)", *extra],
            "patterns": {},
            "lexicons": {},
            "vectors": {"v": settings},
        }
        model = {"min_count": 1, "templates": templates}
        nlp.add_pipe(name, config={"model": model, "trainer": TRAINER})
    return nlp


@pytest.fixture(scope="module")
def trained() -> Language:
    nlp = with_vectors()
    add_floret(nlp.vocab)
    train_on(nlp, make_examples(nlp))
    return nlp


def names_of(nlp: Language, component: str) -> set[str]:
    pipe: Any = nlp.get_pipe(component)
    units = units_of(pipe, make_examples(nlp))
    text_of = nlp.vocab.strings.__getitem__
    return set(find_names(pipe.space, units, text_of, range(len(pipe.space))).values())


def codes_of(nlp: Language, component: str = "cascade_segmenter") -> VectorCodes:
    pipe: Any = nlp.get_pipe(component)
    made = pipe.space.resources.made["vector(v)"]
    assert isinstance(made, VectorCodes)
    return made


def test_words_are_known_by_their_vectors(trained: Language) -> None:
    assert any(annotated["ents"] for annotated in annotations(trained))
    pipe: Any = trained.get_pipe("cascade_segmenter")
    doc = make_doc(trained.vocab, UNSEEN[0])
    values = token_units(pipe, read(pipe, [doc])).positions.table.attributes
    assert (values[-len(doc) :] > 0).all()


def test_codes_are_named_by_their_frequent_words(trained: Language) -> None:
    """Of words that training has seen, and of others."""
    codes = codes_of(trained)
    cluster = int(codes.clusters_of(["gene"], None)[0])
    group = int(codes.groups[1, cluster])
    names = names_of(trained, "cascade_segmenter")
    assert f"vector(v)={codes.describe(cluster + 1, 4)}" in names
    assert f"vector(v, 2)@1={codes.describe(group + 1, 2)}" in names
    of_types = names_of(trained, "cascade_classifier")
    assert any(name.startswith("vector(v, 3)@last=") for name in of_types)
    pipe: Any = trained.get_pipe("cascade_segmenter")
    tokens = read(pipe, [make_doc(trained.vocab, "unseeable")])
    units = token_units(pipe, tokens)
    attribute = next(a for a in pipe.space.plan.attributes if a.name == "vector(v)")
    lexeme, text_of = (
        int(units.positions.lexemes[units.first[0]]),
        trained.vocab.strings.__getitem__,
    )
    text_of = trained.vocab.strings.__getitem__
    text = units.positions.table.describe(attribute, lexeme, text_of)
    cluster = int(codes.clusters_of(["unseeable"], tokens.vectors)[0])
    assert text == codes.describe(cluster + 1, 4)


@pytest.mark.parametrize("way", [through_disk, through_bytes, through_pickle])
def test_round_trips_and_memory_zones(trained: Language, way: Any, tmp_path: Path) -> None:
    other = way(trained, tmp_path)
    texts = [*TEXTS, *UNSEEN]
    expected = annotations(trained, texts)
    assert annotations(other, texts) == expected
    arrays = codes_of(other).arrays()
    assert all(np.array_equal(arrays[k], v) for k, v in codes_of(trained).arrays().items())
    for _ in range(2):
        with other.memory_zone():
            assert annotations(other, texts) == expected


def test_processes(trained: Language) -> None:
    texts = [*TEXTS, *UNSEEN]
    found = [annotation(doc) for doc in trained.pipe(texts, n_process=2, batch_size=6)]
    assert found == [annotation(doc) for doc in map(trained, texts)]


@pytest.mark.slow(kind="fresh process")
def test_a_fresh_process_without_vectors(trained: Language, tmp_path: Path) -> None:
    """Words of training are found as before; for others there is one warning."""
    trained.to_disk(tmp_path / "model")
    for file in (tmp_path / "model" / "vocab").glob("vectors*"):
        file.unlink()
    command = ("-c", LOAD_AND_ANNOTATE, str(tmp_path / "model"))
    result = run_python(*command, json.dumps(TEXTS))
    expected = [
        [
            [e.start, e.end, e.label_, e._.confidence]
            for e in trained(make_doc(trained.vocab, t)).ents
        ]
        for t in TEXTS
    ]
    assert json.loads(result.stdout) == expected
    assert "has no vectors" not in result.stderr
    result = run_python(*command, json.dumps(UNSEEN))
    assert result.returncode == 0
    assert result.stderr.count("The vocabulary has no vectors") == 1


def test_other_vectors_than_those_of_training(trained: Language) -> None:
    """None: as good as it goes, with a warning. Another width: an error, not a crash."""
    nlp = with_vectors().from_bytes(trained.to_bytes())
    remove_vectors(nlp.vocab)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert annotations(nlp) == annotations(trained)
    with pytest.warns(UserWarning, match="has no vectors"):
        nlp(UNSEEN[0])
    add_floret(nlp.vocab, width=5)
    with pytest.raises(ConfigError, match="5 numbers each"):
        nlp("Further words")


def test_no_vectors_at_all() -> None:
    nlp = with_vectors(5)
    with pytest.raises(ConfigError, match=r"has no vectors.*vectors = .*\[initialize\]"):
        nlp.initialize(lambda: make_examples(nlp))


def test_a_table_and_adaptation(tmp_path: Path) -> None:
    """Words of an adaptation are known without vectors, too."""
    nlp = with_vectors()
    words = sorted({word for text in [*TEXTS, *UNSEEN] for word in text.split()} - {"p54"})
    add_table(nlp.vocab, words)
    train_on(nlp, make_examples(nlp))
    pipe: Any = nlp.get_pipe("cascade_segmenter")
    before = codes_of(nlp).arrays()["keys"].size
    tokens = read(pipe, [make_doc(nlp.vocab, "words")])
    pipe.space.add_to_resources(tokens, np.zeros((1, 5), dtype=np.int32))
    assert codes_of(nlp).arrays()["keys"].size == before  # the table's words are kept already
    assert codes_of(nlp).clusters_of(["p54"], tokens.vectors).tolist() == [-1]


@pytest.mark.parametrize(
    ("part", "change", "complaint"),
    [
        ("clusters", lambda a: a + 100, "clusters beyond its own"),
        ("clusters", lambda a: a[1:], "has shape"),
        ("clusters", lambda a: a.astype(np.int32), "no valid array"),
        ("groups", lambda a: a + 2, "more than 2 groups of 1 bits"),
        ("groups", lambda a: a[1:], "has shape"),
        ("centroids", lambda a: a * np.float32(np.nan), "not finite"),
        ("centroids", lambda a: a[:, 1:], "has shape"),
        ("centroids", lambda a: a[:0], "beyond|has shape"),
        ("mean", lambda a: a[:0], "has shape"),
        ("mean", None, "no valid array"),
        ("keys", lambda a: np.append(a[1:], a[1]), "repeats a key"),
        ("members", lambda a: np.full(3, 255, dtype=np.uint8), "no UTF-8 text"),
        ("more", lambda a: np.zeros(3, dtype=np.float32), "unknown array"),
    ],
)
def test_damaged_arrays_are_refused(
    trained: Language, part: str, change: Any, complaint: str
) -> None:
    pipe: Any = trained.get_pipe("cascade_segmenter")
    header, arrays = storage.unpack(pipe.to_bytes(), "the model")
    name = f"vector_{part}:v"
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays.get(name))
    with pytest.raises(ModelFileError, match=complaint):
        pipe.from_bytes(storage.pack(header, arrays))
    assert annotations(trained)
