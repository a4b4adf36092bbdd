"""Clusters of words against a slow twin; what a model keeps of them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.training import Example

from helpers import add_segmenter, blank, make_examples, train
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.attributes import Words
from spacy_cascade.features.names import find_names
from spacy_cascade.features.resources import InvalidArray
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.template_sets import make_classification, make_segmentation
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.systems.words.attributes import Cluster
from spacy_cascade.systems.words.clusters import ClusterFile, WordClusters
from spacy_cascade.systems.words.paths import ClusteredWord, write_paths

WORDS = [
    ClusteredWord("00", "the", 900),
    ClusteredWord("0100", "IL-2", 50),
    ClusteredWord("0100", "gp120", 20),
    ClusteredWord("0100", "gp41", 10),
    ClusteredWord("0100", "CD28", 5),
    ClusteredWord("0101", "cell", 80),
    ClusteredWord("11", "0000", 7),
    ClusteredWord("10", "il-0", 7),
]


def made(words: list[ClusteredWord] = WORDS) -> WordClusters:
    return WordClusters.of("mine", words, ClusterFile("paths"))


def path_of(clusters: WordClusters, word: str) -> str | None:
    (cluster,) = clusters.clusters_of([word]).tolist()
    return clusters.name_of(cluster, None) if cluster >= 0 else None


@pytest.mark.parametrize(
    ("word", "path"),
    [("the", "00"), ("The", "00"), ("CELL", "0101"), ("1987", "11"), ("IL-2", "0100"),
     ("IL-6", "10"), ("il-2", "10"), ("unknown", None)],
)  # fmt: skip
def test_a_word_is_looked_up_as_written_then_in_lower_case_then_without_digits(
    word: str, path: str | None
) -> None:
    assert path_of(made(), word) == path


texts = st.text("aA1b2", min_size=1, max_size=3)
entries = st.dictionaries(texts, st.text("01", min_size=1, max_size=5), min_size=1)


def slow_path(entries: dict[str, str], word: str) -> str | None:
    for form in (word, word.lower()):
        if form in entries:
            return entries[form]
    for form in (word, word.lower()):
        zeros = "".join("0" if character.isdigit() else character for character in form)
        if zeros in entries:
            return entries[zeros]
    return None


@settings(max_examples=50)
@given(
    entries,
    st.lists(texts | st.text("aA0b", min_size=1, max_size=3)),
    st.none() | st.integers(1, 6),
)
def test_values_are_those_of_a_slow_twin(entries, words, bits) -> None:
    clusters = made([ClusteredWord(path, word, 1) for word, path in entries.items()])
    attribute = Cluster("cluster", "mine", "paths.txt", bits)
    values = attribute.values(Words(words, clusters.word_codes(words)), clusters)
    paths = [slow_path(entries, word) for word in words]
    assert values.tolist() == [0 if p is None else hash_string(p[:bits]) for p in paths]


@pytest.mark.parametrize(
    ("path", "bits", "described"),
    [("0100", None, "0100 (IL-2, gp120, gp41)"), ("01", 2, "01 (cell, IL-2, gp120)"),
     ("11", 3, "11 (0000)"), ("011", 3, None)],
)  # fmt: skip
def test_a_group_is_named_by_the_most_frequent_words_of_its_clusters(
    path: str, bits: int | None, described: str | None
) -> None:
    attribute = Cluster("cluster", "mine", "paths.txt", bits)
    assert attribute.describe("any", hash_string(path), made()) == described


def test_lines_that_count(tmp_path: Path) -> None:
    """Of a word that is listed twice the more frequent one; rare words can be left out."""
    twice = [ClusteredWord("0", "a", 1), ClusteredWord("1", "a", 3), ClusteredWord("01", "a", 2)]
    write_paths(tmp_path / "paths", [*twice, *WORDS])
    assert path_of(WordClusters.read("mine", str(tmp_path / "paths")), "a") == "1"
    clusters = WordClusters.read("mine", ClusterFile(str(tmp_path / "paths"), 50))
    assert [path_of(clusters, word) for word in ("IL-2", "gp120")] == ["0100", None]


@pytest.mark.parametrize("min_count", [1, 10**6])
def test_a_file_without_words_is_an_error(min_count: int, tmp_path: Path) -> None:
    write_paths(tmp_path / "paths", WORDS if min_count > 1 else [])
    with pytest.raises(TemplateError, match="The clusters 'mine' have no words"):
        WordClusters.read("mine", ClusterFile(str(tmp_path / "paths"), min_count))


def test_saved_and_pickled_clusters_say_the_same() -> None:
    clusters, words = made(), ["IL-2", "IL-6", "x", "CELL"]
    arrays = clusters.arrays()
    shapes = WordClusters.shapes(arrays, "paths")
    assert {name: (a.shape, a.dtype.str[1:]) for name, a in arrays.items()} == shapes
    WordClusters.check(arrays)
    for again in (WordClusters.restore(arrays, "gone"), pickle.loads(pickle.dumps(clusters))):
        assert again.word_codes(words).tolist() == clusters.word_codes(words).tolist()
        values = clusters.group_values(2)
        assert again.group_values(2).tolist() == values.tolist()
        assert again.describe(int(values[2]), 2) == "01 (cell, IL-2, gp120)"


@pytest.mark.parametrize(
    ("part", "value"),
    [("clusters", np.array([9] * len(WORDS), dtype=np.uint16)),
     ("paths", np.array([1, 2, 3, 4, 5], dtype=np.uint64)),
     ("paths", np.array([2, 3, 4, 5, 1 << 62], dtype=np.uint64)),
     ("members", np.frombuffer(b"\xff" * 5, dtype=np.uint8))],
)  # fmt: skip
def test_arrays_without_sense_are_refused(part: str, value: np.ndarray) -> None:
    with pytest.raises(InvalidArray) as error:
        WordClusters.check({**made().arrays(), part: value})
    assert error.value.part == part


def test_named_sets_look_at_each_file_of_clusters() -> None:
    for make in (make_segmentation, make_classification):
        added = set(map(str, make(clusters={"a": "a.txt", "b": "b.txt"}).expanded()))
        added -= set(map(str, make().expanded()))
        assert added
        assert {text.replace("(a", "(b") for text in added if "(a" in text} == {
            text for text in added if "(b" in text
        }


GENES, NOUNS = ["abc", "bcd", "cde", "def", "fgh"], ["house", "road", "water", "river", "stone"]


def text_of(name: str, noun: str) -> str:
    return f"We saw {name} in {noun} ."


def test_words_that_training_did_not_have_are_known_by_their_cluster(tmp_path: Path) -> None:
    """Of templates that look at clusters only; the file is not needed any more."""
    words = [("010", name) for name in GENES] + [("011", noun) for noun in NOUNS]
    words += [("1", word) for word in ("We", "saw", "in", ".")]
    write_paths(tmp_path / "paths.txt", [ClusteredWord(path, word, 9) for path, word in words])
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "patterns": {}, "lexicons": {},
        "templates": ["bias", "cluster(mine, 3)@-1..1", "cluster(mine)"],
        "clusters": {"mine": str(tmp_path / "paths.txt")},
    }  # fmt: skip
    nlp, prior = blank(), {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0}
    model = {"min_count": 1, "templates": templates}
    add_segmenter(nlp, model=model, penalty=prior, typed=True, set_ents=True)
    texts = [(text_of(*pair), [(2, 3, "GENE")]) for pair in zip(GENES[:3], NOUNS, strict=False)]
    train(nlp, make_examples(nlp, texts))
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "paths.txt").unlink()
    other = spacy.load(tmp_path / "model")
    for name in (*GENES, "ABC", "Fgh"):
        with other.memory_zone():
            assert [e.text for e in other(text_of(name, NOUNS[-1])).ents] == [name]
    pipe, doc = other.get_pipe("cascade_segmenter"), other(text_of(GENES[0], NOUNS[0]))
    units, text = units_of(pipe, [Example(doc, doc)]), other.vocab.strings.__getitem__
    names = find_names(pipe.space, units, text, range(len(pipe.space))).values()
    assert {"cluster(mine)=010 (abc, bcd, cde)", "cluster(mine, 3)@1=1 (., We, in)"} <= {*names}
