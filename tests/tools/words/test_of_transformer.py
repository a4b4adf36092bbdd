"""Tables of tiny transformers, with each kind of tokenizer, against single passes through them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tqdm import tqdm

from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.systems.words.pieces import texts_of
from spacy_cascade.systems.words.table import About
from spacy_cascade.tools.words import transformer as transformers_of_text
from spacy_cascade.tools.words.of_transformer import table_of_contexts, table_of_transformer
from spacy_cascade.tools.words.principal import linear_map, principal_components
from spacy_cascade.tools.words.transformer import Transformer
from spacy_cascade.tools.words.vocabulary import read_vocabulary
from tiny_transformers import KINDS, TEXT, save_tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    for kind, folder in found.items():
        save_tiny(folder, kind)
    return found


@pytest.fixture(params=KINDS)
def folder(folders: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    return folders[request.param]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def outputs(transformer: Transformer, rows: list[list[int]]) -> list[Any]:
    """Means of the last three layers, one row at a time."""
    found = []
    for row in rows:
        with torch.no_grad():
            layers = transformer._model(torch.tensor([row]), output_hidden_states=True)
        found.append(torch.stack(layers.hidden_states[-3:]).mean(0)[0].numpy())
    return found


def test_pieces_are_what_the_tokenizer_makes_of_words(folder: Path) -> None:
    """Each word of the text is its own pieces one after the other, by the tokenizer itself."""
    transformer = Transformer.load(str(folder), 1)
    vocabulary = read_vocabulary(transformer.tokenizer, str(folder))
    is_lower = folder.name.startswith("word-piece")
    assert vocabulary.is_lower == is_lower
    assert len(set(vocabulary.texts)) == len(vocabulary.texts) > 60
    assert not [text for text in vocabulary.texts if "unused" in text or " " in text[1:]]
    text_of: dict[int, str] = {}
    for number, text in zip(vocabulary.numbers, vocabulary.texts, strict=True):
        text_of.setdefault(number, text)
    for word in ("animala", "Stoneb", "the", "animalbananimal"):
        numbers = transformer.tokenizer(" " + word, add_special_tokens=False)["input_ids"]
        # A mark alone, before a piece that nothing else begins with, is no piece of a word.
        made = "".join(text_of.get(number, " ") for number in numbers)
        assert made == f" {word.lower() if is_lower else word}"
    assert "animala" in vocabulary.whole_words


def test_each_piece_is_passed_through_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformer = Transformer.load(str(folder), 1)
    numbers = read_vocabulary(transformer.tokenizer, str(folder)).numbers
    bars = list[Any]()

    def noted(*arguments: Any, **settings: Any) -> Any:
        bars.append(tqdm(*arguments, file=io.StringIO(), **settings))
        return bars[-1]

    monkeypatch.setattr(transformers_of_text, "progress", noted)
    found = transformer.of_pieces(numbers)
    assert [(bar.n, bar.total) for bar in bars] == [(len(numbers), len(numbers))]
    cls, sep = (transformer.tokenizer.convert_tokens_to_ids(name) for name in ("[CLS]", "[SEP]"))
    wanted = [row[1] for row in outputs(transformer, [[cls, n, sep] for n in numbers[:20]])]
    np.testing.assert_allclose(found[:20], wanted, atol=1e-5)
    assert found.shape == (len(numbers), 16)


def test_the_same_table_each_time(folder: Path) -> None:
    first, second = (table_of_transformer(str(folder), About("t"), sizes=(3, 9)) for _ in "ab")
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, second.arrays()[name])
    assert first.share(["animala", "animalzz", "Stoneab"]) == 1.0
    assert first.about.is_lower == folder.name.startswith("word-piece")
    assert len(first.sizes) == 2
    words = ["animala", "Stoneb", "the"]
    chosen = table_of_transformer(str(folder), About("t"), words, sizes=(3, 9))
    assert sum(chosen.sizes[:1]) <= 3
    members = str(chosen.arrays()["members"].data, "utf8")
    assert {word for line in members.split("\n") for word in line.split("\t")} == set(words)


def test_words_of_another_script(folders: dict[str, Path]) -> None:
    source = str(folders["word-piece"])
    with pytest.raises(CorpusError, match=r"No piece is part of any of the 1 words"):
        table_of_transformer(source, About("t"), ["щщщ"], sizes=(2,))
    table = table_of_transformer(source, About("t"), ["the", "щщщ", "and"], sizes=(2,))
    assert "щ" not in str(table.arrays()["members"].data, "utf8")


def test_means_over_contexts(folder: Path) -> None:
    """Of a word in several pieces and in several texts, against passes of one text at a time."""
    transformer = Transformer.load(str(folder), 1)
    texts = [text.replace(".", " .").replace(",", " ,").split() for text in [*TEXT[-3:], *TEXT[:3]]]
    words = ["the", "animala", "Zürich"]
    found = transformer.over_contexts(texts, words)
    sums, counts = np.zeros((3, 16)), np.zeros(3)
    lead = " " if folder.name.startswith("byte-pair") else ""
    for text in texts:
        pieces = [
            transformer.tokenizer(lead + w, add_special_tokens=False)["input_ids"] for w in text
        ]
        (row,) = outputs(
            transformer, [[*transformer._before, *chain(*pieces), *transformer._after]]
        )
        begin = len(transformer._before)
        for word, its_pieces in zip(text, pieces, strict=True):
            if word in words:
                sums[words.index(word)] += row[begin : begin + len(its_pieces)].mean(axis=0)
                counts[words.index(word)] += 1
            begin += len(its_pieces)
    assert counts.min() >= 1
    np.testing.assert_allclose(found, sums / counts[:, None], atol=1e-5)


def test_long_texts_are_read_in_parts(folder: Path) -> None:
    transformer = Transformer.load(str(folder), 1)
    texts = [["the"] * 1000, ["of" * 500, "the"]]
    found = transformer.over_contexts(texts, ["the"])
    assert np.isfinite(found).all()
    sizes = [len(pieces) for pieces, _, _ in transformer._parts(texts[:1], {"the": 0})]
    n = len(transformer.tokenizer(" the", add_special_tokens=False)["input_ids"])
    most = 126 // n
    assert sizes == [most * n] * (1000 // most) + [1000 % most * n]


def test_words_of_text_are_listed_and_others_made_of_pieces(folder: Path) -> None:
    transformer = Transformer.load(str(folder), 1)
    words = sorted({word for text in TEXT for word in text.split()})
    means = transformer.over_contexts([text.split() for text in TEXT], words)
    table = table_of_contexts(transformer, str(folder), About("t"), words, means, (4, 8))
    arrays = table.arrays()
    assert len(arrays["keys"]) == len(words)
    assert len(arrays["rows"]) == len(texts_of(arrays["pieces"])) > 60
    assert table.share(["Stonezz", "animalb"]) == 1.0


def test_damaged_transformers_and_unknown_ones(folders: dict[str, Path], tmp_path: Path) -> None:
    for name in folders["unigram"].iterdir():
        (tmp_path / name.name).write_bytes(name.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ConfigError, match="Cannot load a transformer from"):
        Transformer.load(str(tmp_path), 1)
    weights.unlink()
    with pytest.raises(ConfigError, match=r"Cannot load a transformer from .* model.safetensors"):
        Transformer.load(str(tmp_path), 1)
    config = tmp_path / "config.json"
    settings = json.loads(config.read_text())
    config.write_text(json.dumps({**settings, "model_type": "nonesuch"}))
    with pytest.raises(ConfigError, match=r"Cannot load a transformer from .*nonesuch"):
        Transformer.load(str(tmp_path), 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("It is gone", "It is gone."),
        ("  Gone!\nIts cause.", "Gone!"),
        ("Where?", "Where?"),
        ("No.", "No."),
        (" \n", "OSError."),
    ],
)  # fmt: skip
def test_the_error_ends_as_a_sentence(
    monkeypatch: pytest.MonkeyPatch, text: str, line: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(text)

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", fail)
    message = f"Cannot load a transformer from here: {line} Give a folder"
    with pytest.raises(ConfigError, match=re.escape(message)):
        Transformer.load("here", 1)


class Pieces:
    """A tokenizer of some pieces."""

    all_special_ids = (0,)
    unk_token = "?"

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces

    def get_vocab(self) -> dict[str, int]:
        return {piece: i for i, piece in enumerate(self._pieces)}

    def tokenize(self, text: str) -> list[str]:
        return list(text)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([], "The tokenizer of here has no vocabulary of pieces of words"),
        (["[CLS]", "<s>", "▁▁"], "has no vocabulary of pieces"),
        (["?", "a", "b"], "does not mark which of its pieces begin a word"),
    ],
)  # fmt: skip
def test_tokenizers_without_pieces(pieces: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_vocabulary(Pieces(*pieces), "here")


def test_pieces_of_half_a_character_are_left_out() -> None:
    found = read_vocabulary(Pieces("?", "Ġa", "Ġé", "Ã©", "ĠÃ©", "Ã", "Ċ", "ĠĠ", "b"), "here")
    assert found.texts == [" a", "é", " é", "b", " b"]
    assert found.numbers == [1, 3, 4, 8, 8]


def test_principal_components_keep_distances() -> None:
    points = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32) * [9, 5, 1, 0.01]
    found = principal_components(points, 3)
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found), np.abs(centred @ axes[:3].T), atol=1e-4)
    assert (np.diff(found.std(axis=0)) < 0).all()
    np.testing.assert_array_equal(found, principal_components(points.copy(), 3))
    assert principal_components(points, 9).shape == (50, 4)


def test_a_linear_map_is_found() -> None:
    random = np.random.default_rng(0)
    given, weights = random.normal(size=(500, 4)), random.normal(size=(4, 3))
    mapped = linear_map(given, given @ weights + 7)(given)
    np.testing.assert_allclose(mapped, given @ weights + 7, atol=0.2)
