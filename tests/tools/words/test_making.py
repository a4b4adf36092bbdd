"""All stages together, in this process: what they read, what they keep, and what they refuse."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vectors import Vectors as SpacyVectors
from spacy.vocab import Vocab

from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.systems.words.files import read_table
from spacy_cascade.systems.words.table import About, WordTable, values_of
from spacy_cascade.tools.words import making, skip_gram, text
from spacy_cascade.tools.words.making import Settings, work_folder
from spacy_cascade.tools.words.sources import Kind, kind_of
from spacy_cascade.tools.words.splitting import TokenizerChoice
from spacy_cascade.tools.words.word_lists import sampled
from spacy_cascade.tools.words.word_vectors import WordVectors
from tiny_transformers import save_tiny
from unlabelled_text import ANIMALS, STONES, paragraphs

pytest.importorskip("floret")

SETTINGS = Settings(
    sizes=(2, 4), dimensions=8, epochs=30, processes=1, tokenizer=TokenizerChoice("xx")
)


def make(
    sources: Sequence[object], output: Path, settings: Settings = SETTINGS, *told: Any
) -> WordTable:
    return making.make_table(list(map(str, sources)), output, settings, About("test"), *told)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes take seconds to start; `tests/tools/words/test_make_command.py` has them."""

    def call(function: Callable[..., Any], arguments: Iterable[Any], *_: Any) -> Iterator[Any]:
        return (function(*one) for one in arguments)

    monkeypatch.setattr(text, "stream_through_processes", call)
    monkeypatch.setattr(skip_gram, "run_in_processes", call)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("".join(f"{one}\n" for one in paragraphs(60)))
    return path


def coarse(table: WordTable, words: Sequence[str]) -> set[int]:
    """The clusters of words at the coarsest size, from 1; 0 for none."""
    return set(values_of(table.word_codes(words), 0).tolist())


def test_words_of_a_theme_are_a_cluster(tmp_path: Path) -> None:
    """A folder with a part of the text in each kind of file gives the words of all of it."""
    parts = [paragraphs()[i::5] for i in range(5)]
    folder = tmp_path / "folder" / "deep"
    folder.mkdir(parents=True)
    plain = ["".join(f"{one}\n" for one in part).encode() for part in parts]
    (folder / "a.txt").write_bytes(plain[0])
    (folder / "b.txt.gz").write_bytes(gzip.compress(plain[1]))
    lines = ["".join(json.dumps({"body": one}) + "\n" for one in part) for part in parts]
    (folder / "c.jsonl").write_text(lines[2])
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(lines[3].encode()))
    docs = [Doc(Vocab(), words=[*one[:-1].split(), "."]) for one in parts[4]]
    DocBin(docs=docs).to_disk(folder / "e.spacy")
    output = tmp_path / "folder" / "clusters.txt"
    settings, told = replace(SETTINGS, json_field="body"), list[str]()
    work_folder(output).mkdir()
    (work_folder(output) / "f.txt").write_text("No source. " * 9)
    table = make([tmp_path / "folder"], output, settings, told.append)
    assert len(table.arrays()["keys"]) == 17
    assert table.sizes[0] == 2
    found = [coarse(table, ANIMALS), coarse(table, STONES)]
    assert [len(each) for each in found] == [1, 1]
    assert found[0] != found[1]
    assert table.describe(*found[0], 0)
    assert len(told) == 4
    assert told[1] == "Words of 5 files of text"
    assert [path.name for path in output.parent.iterdir() if path.is_file()] == [output.name]
    read = read_table("test", str(output))
    assert read.about == About("test")
    for name, array in table.arrays().items():
        np.testing.assert_array_equal(read.arrays()[name], array)
    # The output is no text, though its name ends as that of a text.
    assert len(make([tmp_path / "folder"], output, replace(settings, epochs=1)).sizes) == 2


STAGES = ("write_words", "write_forms", "write_vectors", "table_of_vectors")


def test_a_stopped_run_continues(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stage is stopped half-way in its turn; those before it are not done again."""
    output, whole = tmp_path / "clusters.txt", tmp_path / "whole.txt"
    settings = replace(SETTINGS, epochs=1)
    make([source], whole, settings)

    def stop(*arguments: Any, **_: Any) -> None:
        if isinstance(arguments[0], Path):
            arguments[0].write_bytes(b"half")
        raise KeyboardInterrupt

    def again(*_: Any) -> None:
        raise AssertionError("it was done before")

    for i, stage in enumerate(STAGES):
        with monkeypatch.context() as patch:
            patch.setattr(making, stage, stop)
            for earlier in STAGES[: i - 1] if i else ():
                patch.setattr(making, earlier, again)
            with pytest.raises(KeyboardInterrupt):
                make([source], output, settings)
        assert not output.exists()
        assert len(list(work_folder(output).glob("[!_]*"))) == min(i, 3)
    for stage in STAGES[:-1]:
        monkeypatch.setattr(making, stage, again)
    make([source], output, settings)
    assert output.read_bytes() == whole.read_bytes()
    assert not work_folder(output).exists()


def test_other_text_or_settings_begin_anew(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what a stopped run has done, only what would be the same is used."""
    output = tmp_path / "clusters.txt"
    done: list[str] = []
    for name in STAGES[:-1]:
        original = getattr(making, name)

        def noted(*arguments: Any, name: str = name, original: Any = original) -> None:
            done.append(name)
            original(*arguments)

        monkeypatch.setattr(making, name, noted)

    def run(**settings: Any) -> list[str]:
        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        done.clear()
        with monkeypatch.context() as patch:
            patch.setattr(making, "table_of_vectors", stop)
            with pytest.raises(KeyboardInterrupt):
                make([source], output, replace(SETTINGS, **{"epochs": 1, **settings}))
        return list(done)

    assert run() == list(STAGES[:3])
    assert run(sizes=(3,), seed=1) == []
    assert run(epochs=2) == run(epochs=2, dimensions=9) == ["write_vectors"]
    assert run(min_count=2) == ["write_forms", "write_vectors"]
    assert run(tokenizer=TokenizerChoice("en")) == list(STAGES[:3])
    source.write_text("other text\n" * 99)
    os.utime(source, (1, 1))
    assert run(tokenizer=TokenizerChoice("en")) == list(STAGES[:3])


def test_an_empty_text_is_an_error(tmp_path: Path) -> None:
    source, output = tmp_path / "a.txt", tmp_path / "clusters.txt"
    source.write_text("\n \n")
    with pytest.raises(CorpusError, match="No word occurs 5 times in the text: it has 0 words"):
        make([source], output, SETTINGS)
    assert not output.exists()


def test_without_the_extra(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "floret", None)
    with pytest.raises(ConfigError, match=r'needs floret.*pip install "spacy-cascade\[words'):
        make([source], tmp_path / "a.words")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r'transformers.*"spacy-cascade\[transformers'):
        make(["somebody/encoder"], tmp_path / "a.words")
    assert not work_folder(tmp_path / "a.words").exists()


def test_settings_that_cannot_be() -> None:
    names = ("min_count", "dimensions", "epochs", "max_words", "max_texts", "seed", "processes")
    for name in names:
        with pytest.raises(ConfigError, match=f"--{name.replace('_', '-')} is -1. The smallest"):
            Settings(**{name: -1})
    for sizes in ((), (4, 2), (2, 2), (1, 2, 3, 4, 5)):
        with pytest.raises(ConfigError, match="--sizes are 1 to 4 ascending numbers"):
            Settings(sizes=sizes)
    for sizes in ((1, 2), (2, 70_000)):
        with pytest.raises(ConfigError, match="--sizes are numbers from 2 to 65,535"):
            Settings(sizes=sizes)


def test_threads_are_the_processes_or_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "available_cores", lambda: 7)
    assert (Settings(processes=3).threads, Settings().threads) == (3, 7)


def test_training_is_silent_and_takes_each_word_for_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """But the end of a line; also one that looks like a label to floret."""
    path = tmp_path / "words"
    path.write_text("a __label__b </s> c\n" * 9)
    skip_gram.write_vectors(tmp_path / "vectors", path, 4, 1, 5, 1)
    found = WordVectors.load(tmp_path / "vectors")
    assert sorted(found.words) == ["__label__b", "a", "c"]
    assert (found.vectors.shape, found.vectors.dtype) == ((3, 4), np.float32)
    assert capfd.readouterr() == ("", "")


# Other sources than text


def blank_with_vectors(folder: Path) -> Path:
    nlp = spacy.blank("xx")
    nlp.vocab.reset_vectors(width=2)
    for word, row in {"cat": [1, 0.1], "dog": [1, 0.2], "iron": [0, 1]}.items():
        nlp.vocab.set_vector(word, np.array(row, dtype="f"))
    nlp.to_disk(folder)
    return folder


def test_a_pipeline_and_a_file_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.vec"
    path.write_text("cat 1 0.1\ndog 1 0.2\niron 0 1\nodd nan 1\n")
    told = list[str]()
    of_file = make([path], tmp_path / "a.words", SETTINGS, told.append)
    of_pipeline = make([blank_with_vectors(tmp_path / "p")], tmp_path / "b.words")
    assert of_file.word_codes(["cat", "dog"]).all()
    assert coarse(of_file, ["cat"]) == coarse(of_file, ["dog"]) != coarse(of_file, ["iron"])
    assert coarse(of_file, ["odd"]) == {0}
    assert told[0] == f"Understood: {path} as a file of word vectors"
    assert told[1].startswith("1 word left out")
    words = ["cat", "dog", "iron"]
    assert of_file.word_codes(words).tolist() == of_pipeline.word_codes(words).tolist()
    first_two = make([path], tmp_path / "c.words", replace(SETTINGS, max_words=2))
    assert first_two.share(["cat", "dog"]) == 1.0
    assert first_two.share(["iron"]) == 0.0


def test_words_of_floret_vectors_are_those_of_a_text_or_a_list(
    source: Path, tmp_path: Path
) -> None:
    nlp = spacy.blank("xx")
    data = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    nlp.vocab.vectors = SpacyVectors(
        mode="floret", data=data, hash_count=2, minn=2, maxn=3, strings=nlp.vocab.strings
    )
    nlp.to_disk(tmp_path / "floret")
    with pytest.raises(ConfigError, match=r"which has no list of words. Give text beside it"):
        make([tmp_path / "floret"], tmp_path / "a.words")
    of_text = make([tmp_path / "floret", source], tmp_path / "a.words")
    assert len(of_text.arrays()["keys"]) == 17
    assert of_text.share([*ANIMALS, *STONES]) == 1.0
    listed = tmp_path / "list.tsv"
    listed.write_text("animala\t9\n\nother 3\nanimala 1\n")
    settings = replace(SETTINGS, vocabulary=listed)
    of_list = make([tmp_path / "floret"], tmp_path / "b.words", settings)
    assert len(of_list.arrays()["keys"]) == 2
    listed.write_text("\n")
    with pytest.raises(CorpusError, match=r"The list of words .* is empty"):
        make([tmp_path / "floret"], tmp_path / "c.words", settings)


def test_a_transformer_alone_and_with_text(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path / "model"
    save_tiny(folder, "word-piece", layers=1)
    alone = make([folder], tmp_path / "a.words")
    assert len(alone.arrays()["keys"]) == 0
    assert alone.share(["animalzzz", "stonea"]) == 1.0
    with_text = make([source, folder], tmp_path / "b.words", replace(SETTINGS, max_texts=20))
    assert len(with_text.arrays()["keys"]) == 17
    assert with_text.share(["animalzzz"]) == 1.0
    listed = tmp_path / "list.txt"
    listed.write_text("animala\nstoneb\n")
    of_list = make([folder], tmp_path / "c.words", replace(SETTINGS, vocabulary=listed))
    assert "stonea" not in str(of_list.arrays()["members"].data, "utf8")
    with pytest.raises(ConfigError, match="--vocabulary is for a transformer without text"):
        make([source, folder], tmp_path / "d.words", replace(SETTINGS, vocabulary=listed))


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["no_such_package"], "The package no_such_package is not installed"),
        (["no/such.vec"], "There is no text or file of vectors at no/such.vec"),
        (["no/such.txt"], "There is no text or file of vectors at no/such.txt"),
        (["no/such.GZ"], "There is no text or file of vectors at no/such.GZ"),
        (["a.vec", "b.vec"], "a.vec as a file of word vectors and b.vec as a file of .* are two"),
        (["a.vec", "a.txt"], "a.txt was understood as text, and a.vec as a file of word vectors"),
        (["empty"], "The pipeline empty has no word vectors"),
        (["broken"], "Cannot load the pipeline broken"),
        (["foreign"], "Cannot load the pipeline foreign.*nolanguage"),
        (["one.vec"], "one.vec has vectors of 1 words. Clusters are made of more"),
    ],
)  # fmt: skip
def test_sources_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.vec", "b.vec", "a.txt"):
        Path(name).write_text("cat 1 2\ndog 1 3\n" if name.endswith("vec") else "A text.\n")
    Path("one.vec").write_text("cat 1 2\nnone nan 2\n")
    spacy.blank("xx").to_disk("empty")
    Path("broken").mkdir()
    Path("broken/config.cfg").write_text("[nlp\n")
    Path("foreign").mkdir()
    for name in ("config.cfg", "meta.json"):
        Path("foreign", name).write_text(
            Path("empty", name).read_text().replace("xx", "nolanguage")
        )
    output = tmp_path / "there.words"
    output.write_text("as before")
    with pytest.raises((ConfigError, CorpusError), match=message):
        make(sources, output)
    assert output.read_text() == "as before"


def test_an_installed_package_is_a_pipeline_and_a_path_of_a_hub_a_transformer() -> None:
    assert kind_of("spacy") is Kind.PIPELINE
    assert kind_of("owner/name") is Kind.TRANSFORMER


def test_a_sample_has_each_line_equally_often(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"%d\n" % i for i in range(10)))
    counts = np.zeros(10)
    for seed in range(1000):
        lines = sampled(path, 3, seed)
        assert lines == sorted(lines)
        counts[list(map(int, lines))] += 1
    assert counts.sum() == 3000
    assert abs(counts - 300).max() < 60
    assert len(sampled(path, 99, 0)) == 10
