"""Word clusters in a pipeline: unseen words, a fresh process without the file, memory zones."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.training import Example

from helpers import TRAINER, blank, run_python, train
from spacy_cascade.features.names import find_names
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.systems.words.paths import ClusteredWord, write_paths

GENES = ["abc", "bcd", "cde", "def", "efg", "fgh"]
NOUNS = ["house", "road", "water", "river", "light", "stone"]
SEEN = 3
"""Of each kind, so many words occur in training."""


def text_of(name: str, noun: str) -> str:
    return f"We saw {name} in {noun} ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline whose templates look at clusters only, beside the file of clusters."""
    folder = tmp_path_factory.mktemp("clustered")
    words = [("010", name) for name in GENES] + [("011", noun) for noun in NOUNS]
    words += [("1", word) for word in ("We", "saw", "in", ".")]
    write_paths(folder / "paths.txt", [ClusteredWord(path, word, 9) for path, word in words])
    nlp = blank()
    templates = {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": ["bias", "cluster(mine, 3)@-1..1", "cluster(mine)"],
        "patterns": {},
        "lexicons": {},
        "clusters": {"mine": str(folder / "paths.txt")},
    }
    model = {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "templates": templates,
        "min_count": 1,
    }
    nlp.add_pipe(
        "cascade_segmenter",
        config={
            "model": model,
            "typed": True,
            "set_ents": True,
            "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0},
            "trainer": TRAINER,
        },
    )
    examples = [
        Example.from_dict(nlp.make_doc(text_of(name, noun)), {"entities": [(7, 10, "GENE")]})
        for name, noun in zip(GENES[:SEEN], NOUNS[:SEEN], strict=True)
    ]
    train(nlp, examples)
    nlp.to_disk(folder / "model")
    (folder / "paths.txt").unlink()
    return folder


@pytest.mark.parametrize("name", [*GENES, "ABC", "Fgh"])
def test_words_that_training_did_not_have_are_known_by_their_cluster(
    folder: Path, name: str
) -> None:
    nlp = spacy.load(folder / "model")
    for _ in range(2):
        with nlp.memory_zone():
            assert [entity.text for entity in nlp(text_of(name, NOUNS[-1])).ents] == [name]


@pytest.mark.slow(kind="fresh process")
def test_a_fresh_process_needs_no_file(folder: Path) -> None:
    code = (
        f"import spacy; print(spacy.load({str(folder / 'model')!r})('We saw fgh in stone .').ents)"
    )
    assert run_python("-c", code).stdout.strip() == "(fgh,)"


def test_features_are_named_by_the_words_of_their_cluster(folder: Path) -> None:
    nlp = spacy.load(folder / "model")
    pipe = nlp.get_pipe("cascade_segmenter")
    units = units_of(pipe, [Example(doc, doc) for doc in [nlp(text_of(GENES[0], NOUNS[0]))]])
    names = find_names(pipe.space, units, nlp.vocab.strings.__getitem__, range(len(pipe.space)))
    assert "cluster(mine)=010 (abc, bcd, cde)" in names.values()
    assert "cluster(mine, 3)@1=1 (., We, in)" in names.values()
