"""Vectors from files: every form gives the same, and what is wrong with a file is said."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.words import vector_files
from spacy_cascade.tools.words.fast_text import MAGIC, parts_of
from spacy_cascade.tools.words.vector_files import read_vectors, seems_to_have_vectors
from spacy_cascade.tools.words.word_vectors import WordVectors

WORDS = ["the", "Zürich", "IL-2", "日本", "naïve"]
ROWS = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)


def lines(separator: str = " ", end: str = "\n") -> str:
    rows = zip(WORDS, ROWS.tolist(), strict=True)
    return "".join(separator.join([word, *map(repr, row)]) + end for word, row in rows)


def word2vec(end: bytes = b"\n") -> bytes:
    rows = zip(WORDS, ROWS, strict=True)
    return b"5 6\n" + b"".join(w.encode() + b" " + row.tobytes() + end for w, row in rows)


FORMS: dict[str, Callable[[], bytes]] = {
    "a.vec": lambda: f"5 6\n{lines()}".encode(),
    "b.txt": lambda: lines().encode(),
    "c.tsv": lambda: lines("\t").encode(),
    "d.vec": lambda: f"5 6\n{lines(end=' ' + chr(10))}".encode(),
    "e.txt.gz": lambda: gzip.compress(lines().encode()),
    "f.gz": lambda: gzip.compress(f"5 6\n{lines()}".encode()),
    "g.bin": word2vec,
    "h.bin": lambda: word2vec(b""),
    "i.bin.gz": lambda: gzip.compress(word2vec()),
    "j.vec": lambda: f"\ufeff5 6\r\n{lines(end=chr(13) + chr(10))}\r\n".encode(),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_give_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name]())
    assert seems_to_have_vectors(path)
    for n in (2, 5, 9):
        found = read_vectors(path, n)
        assert (found.words, found.left_out) == (WORDS[:n], 0)
        assert found.vectors.dtype == np.float32
        np.testing.assert_array_equal(found.vectors, ROWS[:n])


@pytest.mark.parametrize("name", FORMS)
def test_cut_off_in_the_middle(tmp_path: Path, name: str) -> None:
    """Nowhere in a file do its words end unnoticed, but where a line of one without header ends."""
    data = FORMS[name]()
    path = tmp_path / name
    has_header = name[0] not in "bc"
    for length in range(len(data) * 2 // 3, len(data) - 20, 7):
        path.write_bytes(data[:length])
        if not has_header and data[length - 1 : length + 1].isalnum():
            continue  # Within a number: the rest of it may be one, too.
        if has_header or data[length - 1 : length] not in b"0123456789\n":
            with pytest.raises(CorpusError, match=rf"{name}.*(cut off|damaged).*[Gg]et it anew"):
                read_vectors(path, 9)


def test_few_numbers_and_few_words(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("the 1\nof 2\n")
    np.testing.assert_array_equal(read_vectors(path, 9).vectors, [[1], [2]])
    path.write_text("new york 1 2\nthe 3 4\n")
    np.testing.assert_array_equal(read_vectors(path, 9).vectors, [[3, 4]])
    path.write_text("the 1 2 3 4 5 6 7\n")  # As many fields as the settings of floret's tables.
    assert read_vectors(path, 9).words == ["the"]
    for text in ("the 1 2 3 4 5", "1 5\nthe 1 2 3 4 5\n", "the 1 2 3 4 5\nText.\n"):
        path.write_text(text)
        assert seems_to_have_vectors(path)


@pytest.mark.parametrize("name", ["a.vec", "A.VEC.GZ", "a.bin", "a.bin.gz", "a.floret"])
def test_some_names_are_those_of_vectors(tmp_path: Path, name: str) -> None:
    """Whatever is in the file: its errors say more than that it is no text."""
    (tmp_path / name).write_text("A text.\n")
    assert seems_to_have_vectors(tmp_path / name)


def test_what_is_saved_holds_no_objects(tmp_path: Path) -> None:
    """To read them would run what they say."""
    path = tmp_path / "vectors"
    WordVectors(["a", "é"], ROWS[:2]).save(path)
    np.testing.assert_array_equal(WordVectors.load(path).vectors, ROWS[:2])
    with path.open("wb") as file:
        np.savez(file, words=np.array([97], dtype=np.uint8), vectors=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        WordVectors.load(path)


def test_no_more_than_wanted_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(lines() + "broken\n")
    assert read_vectors(path, 5).words == WORDS
    with pytest.raises(CorpusError, match=r"Line 6 of .*a.txt has 0 numbers where others have 6"):
        read_vectors(path, 6)


def test_words_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    strange = [
        "nan 1 nan",
        "infinite inf 2",
        "huge 1e99 3",
        ". . . 1 2",
        "zero 0 0",
        "new york 5 6",
        "the 7 8",
    ]
    path.write_text("the 1 2\n" + "\n".join(strange) + "\nof 9 9\n")
    found = read_vectors(path, 100)
    assert found.words == ["the", "of"]
    assert found.left_out == len(strange)
    np.testing.assert_array_equal(found.vectors, [[1, 2], [9, 9]])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.vec", "", "a.vec is empty"),
        ("a.vec", "\n \n", "a.vec is empty"),
        ("a.vec", "the,1,2\nof,3,4\n", "no spaces or tabs between a word and the numbers"),
        ("a.vec", "no vectors here\n", "is no word with the numbers of its vector"),
        ("a.vec", "the 1 2\nof 1 2 3\n", "Line 2 of .* has 3 numbers where others have 2"),
        ("a.vec", "2 2\nthe 1 2\nof 1\n", "Line 3 of .* has 1 numbers where others have 2"),
        ("a.vec", "the 1 2\nof 1 x\n", "Line 2 of .* has 'x' among its numbers"),
        ("a.vec", "the 1 2\nof x 1\nto y 1\n", "Line 2 of .* has 'x' among its numbers"),
        ("a.vec", "the 1 2\n3 4\n", "Line 2 of .* has 1 numbers where others have 2"),
        ("a.floret", "50 2 3 6 2 2166136261 < >\n0 1 2\n", "no list of words"),
        ("a.bin", "neither\n", r"no binary file of vectors of fastText, floret or word2vec\.$"),
        ("a.bin", "", "no binary file of vectors"),
        ("a.txt.gz", "the 1 2\n", "Cannot read the vectors in .*a.txt.gz: Not a gzipped file"),
    ],
)  # fmt: skip
def test_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CorpusError, match=message):
        read_vectors(path, 100)


def test_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(word2vec())

    def too_large(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(vector_files.np, "empty", too_large)
    with pytest.raises(
        CorpusError, match=r"do not fit into memory. Take fewer words with --max-wo"
    ):
        read_vectors(path, 100)


def test_text_is_no_file_of_vectors(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in ("", "A text.\nAnother one.\n", "1 2\n3 4\n", "In 1 2 3 cases of 7 8 9\n"):
        path.write_text(text)
        assert not seems_to_have_vectors(path)
    path.write_bytes(b"\xff\xfe\0")
    assert not seems_to_have_vectors(path)


# fastText and floret

MODES = ("fasttext", "floret")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of floret's library: both forms, parts of one character, and as fastText writes it."""
    floret = pytest.importorskip("floret")
    folder = tmp_path_factory.mktemp("models")
    (folder / "text.txt").write_text("the café in Zürich , 日本 and the café of Łódź .\n" * 20)
    settings = {"dim": 6, "epoch": 1, "minCount": 2, "thread": 1, "verbose": 0, "bucket": 500}
    for mode, name, shortest in (*((mode, mode, 2) for mode in MODES), (MODES[0], "single", 1)):
        model = floret.train_unsupervised(
            str(folder / "text.txt"), model="skipgram", mode=mode, minn=shortest, maxn=4,
            **settings,
        )  # fmt: skip
        model.save_model(str(folder / f"{name}.bin"))
    data = (folder / "fasttext.bin").read_bytes()
    # After signature, version and 11 settings stand two that fastText's own files do not have.
    (folder / "own.bin").write_bytes(data[:52] + data[60:])
    return folder


@pytest.mark.parametrize("name", ["fasttext", "single", "floret", "own"])
def test_models_give_the_vectors_of_their_library(trained: Path, name: str) -> None:
    import floret

    made_by = "fasttext" if name == "own" else name
    model = floret.load_model(str(trained / f"{made_by}.bin"))
    # Of its own form the library says of some words that they have no parts, and gives the first
    # one another vector than its rows have.
    rows = model.get_input_matrix()
    parts = {word: model.get_subwords(word)[1] for word in model.get_words() if word != "</s>"}
    truth = {word: rows[each].mean(axis=0) for word, each in parts.items() if len(each)}
    found = read_vectors(trained / f"{name}.bin", 100)
    assert found.vectors.dtype == np.float32
    of = dict(zip(found.words, found.vectors, strict=True))
    words = [word for word, vector in truth.items() if vector.any()]
    assert len(words) > 5
    for word in words:
        np.testing.assert_allclose(of[word], truth[word], rtol=1e-5, atol=1e-7)
    assert [word for word in found.words if word != "</s>"] == [w for w in parts if w in of]
    first = read_vectors(trained / f"{name}.bin", 3)
    assert first.words == found.words[: 3 - first.left_out]


@pytest.mark.parametrize(("name", "shortest"), [("fasttext", 2), ("single", 1)])
def test_parts_are_those_of_the_library(trained: Path, name: str, shortest: int) -> None:
    import floret

    model = floret.load_model(str(trained / f"{name}.bin"))
    words = [word for word in model.get_words() if word != "</s>"]
    owner, hashes = parts_of(words, shortest, 4)
    assert (owner.dtype, hashes.dtype) == (np.int64, np.uint32)
    assert parts_of(["</s>"], shortest, 4)[0].size == 0
    for i, word in enumerate(words):
        _, rows = model.get_subwords(word)
        assert sorted(hashes[owner == i] % 500 + len(model.get_words())) == sorted(rows[1:])


@pytest.mark.parametrize("name", ["fasttext", "own", "floret"])
def test_models_that_are_cut_off(trained: Path, tmp_path: Path, name: str) -> None:
    data = (trained / f"{name}.bin").read_bytes()
    path = tmp_path / "cut.bin"
    for length in [4, 20, 60, 100, 200, 400, len(data) // 3]:
        path.write_bytes(data[:length])
        with pytest.raises(CorpusError, match=r"cut.bin.*(cut off|damaged)"):
            read_vectors(path, 100)


def test_other_versions_and_compressed_files(trained: Path, tmp_path: Path) -> None:
    data = (trained / "own.bin").read_bytes()
    path = tmp_path / "other.bin"
    path.write_bytes(data[:4] + struct.pack("<i", 11) + data[8:])
    with pytest.raises(CorpusError, match="of version 11 of fastText's files, not 12"):
        read_vectors(path, 100)
    path = tmp_path / "other.bin.gz"
    path.write_bytes(gzip.compress(data))
    with pytest.raises(CorpusError, match="a compressed one: unpack it first"):
        read_vectors(path, 100)


def packed(
    width: int = 2,
    buckets: int = 3,
    shortest: int = 1,
    longest: int = 3,
    hashes: int = 1,
    n_words: int = 1,
    n_rows: int = 4,
    form: int = 2,
    n_pruned: int = -1,
    is_compressed: int = 0,
) -> bytes:
    """A model of one word, or none, in a form of floret's; 2 is the compact one."""
    settings = (width, 5, 1, 1, 5, 1, 1, 2, buckets, shortest, longest, form, hashes, 0, 1e-4)
    words = struct.pack("<iiiqq", n_words, n_words, 0, 9, n_pruned)
    words += (b"the\0" + struct.pack("<qb", 9, 0)) * n_words
    sizes = struct.pack("<?qq", is_compressed, n_rows, width)
    rows = np.ones((n_rows, width), dtype="<f4").tobytes()
    return MAGIC + struct.pack("<i14id", 12, *settings) + words + sizes + rows


@pytest.mark.parametrize(
    "settings",
    [{}, {"longest": 100}, {"hashes": 4}, {"buckets": 1, "n_rows": 2}, {"width": 1},
     {"shortest": 0}, {"shortest": 3}, {"form": 1, "shortest": 3, "longest": 2},
     {"form": 1, "longest": 0, "buckets": 0, "n_rows": 1}, {"form": 1, "hashes": 9}],
)  # fmt: skip
def test_settings_at_their_ends(tmp_path: Path, settings: dict[str, int]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(packed(**settings))
    assert read_vectors(path, 9).words == ["the"]


@pytest.mark.parametrize(
    "settings",
    [
        {"width": 0},
        {"longest": 101},
        {"shortest": -1},
        {"shortest": 4},
        {"hashes": 0},
        {"hashes": 5},
        {"longest": 1, "buckets": 0, "n_rows": 1},
        {"buckets": 0, "n_rows": 0, "longest": 0, "n_words": 0},
        {"n_rows": 3},
        {"n_rows": 5},
    ],
)  # fmt: skip
def test_settings_that_no_model_has(tmp_path: Path, settings: dict[str, int]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(packed(**settings))
    rows, width = settings.get("n_rows", 4), settings.get("width", 2)
    with pytest.raises(CorpusError, match=f"is damaged: it has {rows} rows of {width} numbers"):
        read_vectors(path, 9)


@pytest.mark.parametrize("settings", [{"is_compressed": 1}, {"n_pruned": 1}])
def test_compressed_models(tmp_path: Path, settings: dict[str, int]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(packed(**settings))
    with pytest.raises(CorpusError, match="Give the model before its compression"):
        read_vectors(path, 9)


def test_a_model_is_opened_for_reading_alone(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder may be one that nobody can write to."""
    modes, opened = list[str](), open

    def noted(file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
        modes.append(mode)
        return opened(file, mode, *more, **options)

    monkeypatch.setattr("builtins.open", noted)
    read_vectors(trained / "own.bin", 9)
    assert set(modes) == {"rb"}
