"""Tables in files and in models, and the tables that the package has of English."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config

from helpers import add_segmenter, annotation, annotations, blank, make_examples, train
from round_trips import through_bytes, through_disk, through_pickle
from similar_spans import tokens_of
from spacy_cascade import ModelFileError, TemplateError, fit
from spacy_cascade.features.names import find_names
from spacy_cascade.features.resources import InvalidArray
from spacy_cascade.features.template_sets import (
    make_classification,
    make_segmentation,
    make_templates,
)
from spacy_cascade.pipeline.initializing import units_of
from spacy_cascade.storage import archive
from spacy_cascade.systems.words.files import read_table, write_table
from spacy_cascade.systems.words.pieces import WordPieces, bytes_of
from spacy_cascade.systems.words.sources import Included, IncludedTable, make_english, read_tables
from spacy_cascade.systems.words.table import About, WordTable
from spacy_cascade.tools.words.tables import table_of_pieces, table_of_vectors

GENES, NOUNS = ["abc", "bcd", "cde", "def", "fgh"], ["house", "road", "water", "river", "stone"]
OTHERS = ["We", "saw", "in", "."]
ENGLISH = {"english": {"@misc": "spacy_cascade.English.v1"}}


def made() -> WordTable:
    """Three directions with some noise."""
    words = [*GENES, *NOUNS, *OTHERS]
    kind = np.repeat([0, 1, 2], [len(GENES), len(NOUNS), len(OTHERS)])
    noise = 0.1 * np.random.default_rng(0).normal(size=(len(words), 6))
    about = About("Made up", "https://example.org", "A. N. Author", "CC0")
    return table_of_vectors(words, np.eye(3, 6)[kind] + noise, about, sizes=(3, 6))


def of_pieces(sizes: tuple[int, ...] = (2, 4)) -> WordTable:
    vectors = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
    pieces = WordPieces.of([" a", "b", " c", "d"], vectors, is_lower=True)
    return table_of_pieces(pieces, ["ab", "cd", "abb", "cdb", "a"], About("p"), sizes)


@pytest.mark.parametrize("make", [made, of_pieces])
def test_what_is_written_is_read(make: Callable[[], WordTable], tmp_path: Path) -> None:
    table, words = make(), [*GENES, "abd", "unknown", "THE", "saw"]
    for name in ("one", "two"):
        write_table(tmp_path / name, make())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for again in (
        read_table("x", str(tmp_path / "one")),
        WordTable.restore(table.arrays(), "gone"),
        pickle.loads(pickle.dumps(table)),
    ):
        assert again.word_codes(words).tolist() == table.word_codes(words).tolist()
        assert [again.describe(1, i) for i in range(2)] == [table.describe(1, i) for i in range(2)]
        assert again.about == table.about


DAMAGES: dict[str, tuple[Callable[[], WordTable], str, Any]] = {
    "clusters": (made, "clusters", lambda a: a + np.uint16(60)),
    "short": (made, "clusters", lambda a: a[1:]),
    "many": (made, "sizes", lambda a: np.repeat(a, 3)),
    "none": (made, "sizes", lambda a: a[:0]),
    "empty": (made, "sizes", lambda a: a * np.int32(0)),
    "no tree": (of_pieces, "groups", lambda a: a[::-1]),
    "gap": (of_pieces, "groups", lambda a: a * np.uint16(2)),
    "back": (of_pieces, "groups", lambda a: np.array([[0, 1, 0, 1], a[1]], np.uint16)),
    "crossed": (
        lambda: of_pieces((2, 4, 5)),
        "groups",
        lambda a: np.array([[0, 1, 1, 1, 1], a[1], a[2]], np.uint16),
    ),
    "no groups": (of_pieces, "groups", lambda a: a[:, :0]),
    "members": (made, "members", lambda a: np.full(3, 255, np.uint8)),
    "few members": (made, "members", lambda a: a[:4]),
    "about": (made, "about", lambda a: a[:-1]),
    "twice": (made, "keys", lambda a: np.append(a[1:], a[1])),
    "more": (made, "more", lambda a: np.zeros(3, np.float32)),
    "pieces": (of_pieces, "pieces", lambda a: a[:2]),
    "rows": (of_pieces, "rows", lambda a: a[1:]),
    "nan": (of_pieces, "mean", lambda a: a * np.float32(np.nan)),
    "centroids": (of_pieces, "centroids", lambda a: a[1:]),
    "no mean": (of_pieces, "mean", None),
    "no scales": (of_pieces, "scales", None),
    "no pieces": (of_pieces, "pieces", None),
    "no text": (of_pieces, "pieces", lambda a: a | np.uint8(128)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_refused(damage: str, tmp_path: Path) -> None:
    make, part, change = DAMAGES[damage]
    arrays = make().arrays()
    if change is None:
        del arrays[part]
    else:
        arrays[part] = change(arrays.get(part))
    (tmp_path / "x.words").write_bytes(archive.write(arrays))
    with pytest.raises(TemplateError, match="is damaged"):
        read_table("x", str(tmp_path / "x.words"))


@pytest.mark.parametrize("sizes", [[], [1, 2, 3, 4, 5], [0, 2], [1 << 16], [2, 1 << 16]])
def test_sizes_that_no_table_has(sizes: list[int]) -> None:
    listed = {"keys": np.zeros(0, np.uint64), "clusters": np.zeros((len(sizes), 0), np.uint16)}

    def check(sizes: list[int]) -> None:
        members = {"members": bytes_of(["x"] * sum(sizes))}
        counted = {"sizes": np.array(sizes, dtype=np.int32), **members}
        WordTable.check({**made().arrays(), **listed, **counted})

    with pytest.raises(InvalidArray) as error:
        check(sizes)
    assert (error.value.part, error.value.problem) == ("sizes", "has numbers that are no sizes")
    listed["clusters"] = np.zeros((4, 0), np.uint16)
    check([1, 2, 3, (1 << 16) - 1])


def test_words_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table, words = made(), ["saw", "unknown"]
    codes = table.word_codes(words).tolist()
    monkeypatch.setattr("spacy_cascade.systems.words.table.hash_strings", None)
    assert table.word_codes(words[::-1]).tolist() == codes[::-1]
    assert table.word_codes([]).tolist() == []


def test_vectors_are_those_of_the_pieces() -> None:
    words, table = ["abcd", "", "xyz"], of_pieces()
    assert table.pieces is not None
    np.testing.assert_array_equal(table.word_vectors(words), table.pieces.vectors(words))
    assert made().word_vectors(words) is None


def test_the_share_of_known_words() -> None:
    """Where a table is used that knows less than a fifth of a corpus, a warning says so."""
    table = made()
    assert [table.share(words) for words in ([], ["abc", "Zz"], ["abc"])] == [0.0, 0.5, 1.0]
    for words, n in ((["abc", *"vwxyz"], 1), (["abc", *"wxyz"], 0), ([], 0)):
        blocks = [(tokens_of([[word]]), np.zeros((1, 4), np.int32)) for word in words]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert table.learn_in_blocks(partial(iter, blocks)) is table
        assert [warning.filename for warning in found] == [__file__] * n


def test_too_many_clusters() -> None:
    arrays = {"sizes": np.array([1 << 17], dtype=np.int32)}
    with pytest.raises(TemplateError, match="65,535 clusters"):
        WordTable.of(["a"], np.zeros((1, 1), np.int32), About(), arrays)


# Templates


def names_of(templates: Any) -> list[str]:
    return [str(template) for template in templates.expanded()]


def test_templates_of_one_size_and_of_all() -> None:
    make = ["cluster(mine, 2)", "cluster(*)@1"]
    names = names_of(make_templates(make, {}, {}, words={"mine": "a", "other": "b"}))
    assert names[0].startswith("cluster(mine, 2)")
    assert len(names) == 9


@pytest.mark.parametrize(
    ("text", "words", "problem"),
    [("cluster(mine, 5)", {"mine": "a"}, "from 1 to 4"), ("cluster(mine, 0)", {"mine": "a"}, "1"),
     ("cluster(mine, 0..2)", {"mine": "a"}, "from 1 to 4"),
     ("cluster(x)", {"mine": "a"}, "no table of words 'x'.*add it under 'words'"),
     ("cluster(mine)", {"mine": 5}, "the path of a file, or spacy_cascade.English.v1")],
)  # fmt: skip
def test_templates_that_are_wrong(text: str, words: dict[str, Any], problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        make_templates([text], {}, {}, words=words)


def test_named_sets_look_at_each_table() -> None:
    for make in (make_segmentation, make_classification):
        added = set(names_of(make(words={"a": "a.words", "b": {"x": "b", "y": "c"}})))
        added -= set(names_of(make()))
        of = [
            {text.replace(f"({name},", "(") for text in added if f"({name}," in text}
            for name in ("a", "b_x", "b_y")
        ]
        assert of[0] == of[1] == of[2] != set()


# Components


def text_of(name: str, noun: str) -> str:
    return f"We saw {name} in {noun} ."


def with_words(words: Any, texts: Any) -> Language:
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "patterns": {}, "lexicons": {}, "words": words,
        "templates": ["bias", "cluster(*)@-1..1"],
    }  # fmt: skip
    nlp, prior = blank(), {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0}
    model = {"min_count": 1, "templates": templates}
    add_segmenter(nlp, model=model, penalty=prior, typed=True, set_ents=True)
    train(nlp, make_examples(nlp, texts))
    return nlp


def test_words_that_training_did_not_have_are_known_by_their_cluster(tmp_path: Path) -> None:
    """Of templates that look at clusters only; the file is not needed any more."""
    write_table(tmp_path / "mine.words", made())
    texts = [(text_of(*pair), [(2, 3, "GENE")]) for pair in zip(GENES[:3], NOUNS, strict=False)]
    nlp = with_words({"mine": str(tmp_path / "mine.words")}, texts)
    about = {"url": "https://example.org", "author": "A. N. Author", "license": "CC0"}
    assert nlp.meta["sources"] == [{"name": "Made up", **about}]
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "mine.words").unlink()
    other = spacy.load(tmp_path / "model")
    assert other.meta["sources"] == nlp.meta["sources"]
    for name in (*GENES, "ABC", "Fgh"):
        with other.memory_zone():
            assert [e.text for e in other(text_of(name, NOUNS[-1])).ents] == [name]
    pipe, doc = other.get_pipe("cascade_segmenter"), other(text_of(GENES[0], NOUNS[0]))
    units, text = units_of(pipe, [Example(doc, doc)]), other.vocab.strings.__getitem__
    names = find_names(pipe.space, units, text, range(len(pipe.space))).values()
    assert any("cluster(mine, 1)=" in name and "(abc, bcd, cde)" in name for name in names)


def test_a_table_of_another_script_is_named(tmp_path: Path) -> None:
    write_table(tmp_path / "mine.words", made())
    texts = [("Мы видели ген в доме .", [(2, 3, "GENE")])]
    with pytest.warns(UserWarning, match="'Made up' knows 17% of the words .* another language"):
        with_words({"mine": str(tmp_path / "mine.words")}, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_words({"mine": str(tmp_path / "mine.words")}, [("We saw", [(0, 1, "X")])])


# English


@pytest.fixture(scope="module")
def english() -> Language:
    texts = [
        ("We saw Alice in Paris .", [(2, 3, "PER"), (4, 5, "LOC")]),
        ("They met Bob in Berlin .", [(2, 3, "PER"), (4, 5, "LOC")]),
    ]
    return with_words(ENGLISH, texts)


TEXTS = ["We met Charlotte in London .", "They saw a misspeled wrod in Pariss ."]


def test_english_words_are_known(english: Language) -> None:
    found = [(e.text, e.label_) for e in english(TEXTS[0]).ents]
    assert found == [("Charlotte", "PER"), ("London", "LOC")]
    assert len(english.meta["sources"]) == 2
    assert all(source["license"] for source in english.meta["sources"])


@pytest.mark.parametrize("way", [through_disk, through_bytes, through_pickle])
def test_a_saved_pipeline_has_a_checksum(english: Language, way: Any, tmp_path: Path) -> None:
    assert annotations(way(english, tmp_path), TEXTS) == annotations(english, TEXTS)
    assert len(english.get_pipe("cascade_segmenter").to_bytes()) < 100_000
    assert len(pickle.dumps(deepcopy(english).get_pipe("cascade_segmenter"))) < 100_000


def test_another_table_than_that_of_training(
    english: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = english.to_bytes()
    other = np.zeros(32, np.uint8)
    monkeypatch.setattr("spacy_cascade.systems.words.sources._checksum", lambda source: other)
    with pytest.raises(ModelFileError, match=r"another table of words '\w+' than the one"):
        load_model_from_config(english.config).from_bytes(saved)


def test_processes(english: Language) -> None:
    found = [annotation(doc) for doc in english.pipe(TEXTS * 4, n_process=2, batch_size=2)]
    assert found == [annotation(doc) for doc in map(english, TEXTS * 4)]


def test_tables_are_read_once() -> None:
    read = [IncludedTable.read("x", Included("glove")) for _ in range(2)]
    assert read[0] is read[1] is deepcopy(read[0]) is pickle.loads(pickle.dumps(read[0]))
    assert list(read_tables(ENGLISH)) == [f"english_{name}" for name in make_english()]


def test_their_words() -> None:
    """GloVe lists words; pieces know every word."""
    tables = read_tables(ENGLISH)
    words = ["London", "lymphocytes", "misspeled", "NF-kappaB", "qzxv"]
    listed = tables["english_glove"].word_codes(words) > 0
    assert listed[:2].all()
    assert not listed[-1]
    assert tables["english_pieces"].word_codes(words).all()
    assert sum(Included(name).path.stat().st_size for name in make_english()) < 12e6


def test_fit_looks_at_the_words_of_the_language() -> None:
    texts = [
        ("Alice met Bob in Paris", [(0, 5, "PER"), (10, 13, "PER"), (17, 22, "LOC")]),
        ("Carol saw Dave in Berlin", [(0, 5, "PER"), (10, 14, "PER"), (18, 24, "LOC")]),
    ]
    for lang, n_tables in (("en", 2), ("de", 0)):
        nlp = spacy.blank(lang)
        fit(nlp, texts * 2, texts, updates=1)
        pipe: Any = nlp.get_pipe("cascade_segmenter")
        assert sum(key.startswith("words(") for key in pipe.space.resources.made) == n_tables
