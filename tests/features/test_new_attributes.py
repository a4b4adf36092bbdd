"""Attributes and resources of another package: one file and one entry point each."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from other_package.neighbours import Neighbours
from other_package.topics import Topic, Topics
from spacy.language import Language

from helpers import (
    LOAD_AND_ANNOTATE,
    SENTENCES,
    TEXTS,
    TRAINER,
    annotations,
    blank,
    make_doc,
    make_examples,
    run_python,
    train,
)
from spacy_cascade import ModelFileError, TemplateError
from spacy_cascade.features import registry
from spacy_cascade.features.names import find_names
from spacy_cascade.features.registry import attribute_class, register_attribute
from spacy_cascade.features.templates import Templates
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.storage import model_file as storage

register_attribute("topic")(Topic)
register_attribute("neighbours")(Neighbours)

OTHER_PACKAGE = Path(__file__).parent / "other_package"
CLUSTERS = {"gene": 7, "site": 7, "cells": 3, "lymphocytes": 3, "STAT5": 12}
OF_WORDS = ["topic(words)@-1..1", "topic(words)@0 & lower@1"]
OF_SPANS = ["neighbours(1..3)", "neighbours(3) & lower@last", "size & neighbours(2)"]


def write_table(folder: Path) -> Path:
    path = folder / "topics.tsv"
    path.write_text("".join(f"{word}\t{n}\n" for word, n in CLUSTERS.items()), encoding="utf8")
    return path


def with_both(table: Path) -> Language:
    """A segmenter with an attribute of words, and a classifier with one of spans."""
    nlp = blank()
    of_words = {"extra": OF_WORDS, "resources": {"words": str(table)}}
    for name, kind, more in (
        ("cascade_segmenter", "Segmentation", of_words),
        ("cascade_classifier", "Classification", {"extra": OF_SPANS}),
    ):
        templates = {"@misc": f"spacy_cascade.{kind}Templates.v1", **more}
        model = {"min_count": 1, "templates": templates}
        nlp.add_pipe(name, config={"model": model, "trainer": TRAINER})
    train(nlp, make_examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Language:
    table = write_table(tmp_path_factory.mktemp("topics"))
    nlp = with_both(table)
    table.unlink()
    return nlp


def names_of(nlp: Language, component: str) -> dict[str, int]:
    """Names of all features that the component has learnt, and their numbers."""
    pipe = nlp.get_pipe(component)
    units = units_of(pipe, make_examples(nlp))
    found = find_names(pipe.space, units, nlp.vocab.strings.__getitem__, range(len(pipe.space)))
    return {name: number for number, name in found.items()}


def test_a_class_that_is_registered_stays_what_it_is() -> None:
    assert register_attribute("topic")(Topic) is Topic
    assert attribute_class("topic") is Topic


def test_an_installed_class_is_loaded_when_a_template_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once; the names of others are told for one that nobody knows."""
    point = EntryPoint("lazy", "other_package.topics:Topic", registry.GROUP)
    monkeypatch.setattr(registry, "_registered", {"zeta": Neighbours})
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] * (group == point.group))
    with pytest.raises(TemplateError, match=r"'other'\. Known: word, .*, lazy, zeta\. Mend"):
        attribute_class("other")
    assert attribute_class("lazy") is Topic
    monkeypatch.setattr(registry, "entry_points", None)
    assert attribute_class("lazy") is Topic


def test_templates_with_them() -> None:
    found = Templates((*OF_WORDS[1:], *OF_SPANS[:1]), {}, {}, {"words": "topics.tsv"}).expanded()
    assert [template.text for template in found] == [
        "topic(words)@first+0 & lower@first+1", "neighbours(1)", "neighbours(2)", "neighbours(3)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("topic(other)", "there is no resource 'other'. Known: words; add it under 'resources'"),
        ("neighbours(0)", "'neighbours' looks 1 token away or more"),
        ("neighbours(1)@last", "'neighbours' has no place"),
        ("topics(words)", "unknown attribute 'topics'. Known: word, .* neighbours, .*topic"),
    ],
)
def test_templates_that_make_no_sense(line: str, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        Templates((line,), {}, {}, {"words": "topics.tsv"})


def test_they_are_features_with_names_and_weights(trained: Language) -> None:
    of_words = names_of(trained, "cascade_segmenter")
    assert {
        "topic(words)=c7", "topic(words)@-1=c3", "topic(words)=c3 & lower@1=.",
    } <= set(of_words)  # fmt: skip
    of_spans = names_of(trained, "cascade_classifier")
    assert {"neighbours(1)=1", "neighbours(3)=2", "size=2 & neighbours(2)=1"} <= set(of_spans)
    weights = trained.get_pipe("cascade_segmenter").model.get_param("W")
    assert weights[of_words["topic(words)=c7"]].any()


@pytest.mark.parametrize("how", ["disk", "pickle", "copy"])
def test_they_are_saved_without_the_file(trained: Language, how: str, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    other = {
        "disk": lambda: spacy.load(tmp_path / "model"),
        "pickle": lambda: pickle.loads(pickle.dumps(trained)),
        "copy": lambda: copy.deepcopy(trained),
    }[how]()
    assert annotations(other) == annotations(trained)
    assert names_of(other, "cascade_segmenter") == names_of(trained, "cascade_segmenter")
    made = other.get_pipe("cascade_segmenter").space.resources.made["topic(words)"]
    assert isinstance(made, Topics)
    assert sorted(made.numbers.tolist()) == sorted(CLUSTERS.values())


def test_another_file_gives_other_values(tmp_path: Path) -> None:
    """Words that were met before get the values of the new table; a file has to be there."""
    with pytest.raises(TemplateError, match="Cannot read the topics 'words'"):
        with_both(tmp_path / "none.tsv")
    table = write_table(tmp_path)
    nlp = with_both(table)
    table.write_text("gene\t1\n", encoding="utf8")
    nlp.initialize(lambda: make_examples(nlp))
    found = {name for name in names_of(nlp, "cascade_segmenter") if name.startswith("topic")}
    assert {name for name in found if "&" not in name} == {
        "topic(words)=c1", "topic(words)@-1=c1", "topic(words)@1=c1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("topic_numbers:words", lambda a: a * 1000, "numbers:words.* topics beyond 1000"),
        ("topic_numbers:words", lambda a: -a, "negative numbers"),
        ("topic_numbers:words", lambda a: a[1:], "has shape"),
        ("topic_numbers:words", None, "no valid array 'topic_numbers:words'"),
        ("topic_keys:words", None, "'topic_keys:words'"),
        ("topic_keys:words", lambda a: np.append(a[1:], a[1]), "repeats a key"),
        ("topic_more:words", lambda _: np.zeros(3, np.float32), "unknown array"),
    ],
)
def test_damaged_arrays_are_refused(
    trained: Language, name: str, change: Any, complaint: str
) -> None:
    pipe = trained.get_pipe("cascade_segmenter")
    header, arrays = storage.unpack(pipe.to_bytes(), "the model")
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays.get(name))
    with pytest.raises(ModelFileError, match=complaint):
        pipe.from_bytes(storage.pack(header, arrays))
    assert annotations(trained)


@pytest.mark.slow(kind="fresh process")
def test_an_entry_point_is_enough(trained: Language, tmp_path: Path) -> None:
    """In a fresh process that imports nothing but spaCy."""
    trained.to_disk(tmp_path / "model")
    installed = tmp_path / "installed"
    about = installed / "other_package-1.0.dist-info"
    shutil.copytree(OTHER_PACKAGE, installed / "other_package")
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other_package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[spacy_cascade_attributes]\n"
        "topic = other_package.topics:Topic\n"
        "neighbours = other_package.neighbours:Neighbours\n"
    )
    arguments = ("-c", LOAD_AND_ANNOTATE, str(tmp_path / "model"), json.dumps(TEXTS))
    done = run_python(*arguments, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    expected = [trained(make_doc(trained.vocab, text)).ents for text, _ in SENTENCES]
    assert json.loads(done.stdout) == [
        [[e.start, e.end, e.label_, e._.confidence] for e in ents] for ents in expected
    ]
    done = run_python(*arguments)
    assert "unknown attribute 'topic'" in done.stderr
