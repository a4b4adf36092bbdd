"""All stages together, in this process: what they read, what they keep, and what they refuse."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.systems.words.paths import read_paths
from spacy_cascade.tools.clustering import making, vectors, words
from spacy_cascade.tools.clustering.making import Settings, make_clusters, work_folder
from spacy_cascade.tools.clustering.splitting import TokenizerChoice
from unlabelled_text import ANIMALS, STONES, paragraphs

pytest.importorskip("floret")
pytest.importorskip("sklearn")

SETTINGS = Settings(n_clusters=2, size=8, epochs=30, processes=1, tokenizer=TokenizerChoice("xx"))


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes take seconds to start; `tests/tools/clustering/test_cluster.py` has them."""

    def call(function: Callable[..., Any], arguments: Iterable[Any], *_: Any) -> Iterator[Any]:
        return (function(*one) for one in arguments)

    monkeypatch.setattr(words, "stream_through_processes", call)
    monkeypatch.setattr(vectors, "run_in_processes", call)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("".join(f"{text}\n" for text in paragraphs(60)))
    return path


def themes(path: Path) -> list[set[str]]:
    """The words of each cluster, without the full stop, which is in either."""
    found: dict[str, set[str]] = {}
    for one in read_paths("test", str(path)):
        if one.word != ".":
            found.setdefault(one.path, set()).add(one.word)
    return sorted(found.values(), key=sorted, reverse=True)


def test_words_of_a_theme_are_a_cluster(tmp_path: Path) -> None:
    """A folder with a part of the text in each kind of file gives the words of all of it."""
    parts = [paragraphs()[i::5] for i in range(5)]
    folder = tmp_path / "folder" / "deep"
    folder.mkdir(parents=True)
    plain = ["".join(f"{text}\n" for text in part).encode() for part in parts]
    (folder / "a.txt").write_bytes(plain[0])
    (folder / "b.txt.gz").write_bytes(gzip.compress(plain[1]))
    lines = ["".join(json.dumps({"body": text}) + "\n" for text in part) for part in parts]
    (folder / "c.jsonl").write_text(lines[2])
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(lines[3].encode()))
    docs = [Doc(Vocab(), words=[*text[:-1].split(), "."]) for text in parts[4]]
    DocBin(docs=docs).to_disk(folder / "e.spacy")
    output = tmp_path / "folder" / "clusters.txt.gz"
    settings, told = replace(SETTINGS, json_field="body"), list[str]()
    made = make_clusters([tmp_path / "folder"], output, settings, told.append)
    assert (made.clusters, made.words, made.occurrences) == (2, 17, 400 * 31)
    assert themes(output) == [set(ANIMALS), set(STONES)]
    counts = {one.word: one.count for one in read_paths("test", str(output))}
    assert counts["."] == 400
    assert counts["animala"] == "".join(paragraphs()).count("animala")
    assert len(told) == 3
    assert [path.name for path in output.parent.iterdir() if path.is_file()] == [output.name]
    # The output is no text, though its name ends as that of a text.
    assert make_clusters([tmp_path / "folder"], output, replace(settings, epochs=1)).words == 17


STAGES = ("write_words", "write_forms", "write_vectors", "cluster_words")


def test_a_stopped_run_continues(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stage is stopped half-way in its turn; those before it are not done again."""
    output, whole = tmp_path / "clusters.txt", tmp_path / "whole.txt"
    settings = replace(SETTINGS, epochs=1)
    make_clusters([source], whole, settings)

    def stop(*arguments: Any) -> None:
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
                make_clusters([source], output, settings)
        assert not output.exists()
        assert len(list(work_folder(output).iterdir())) == min(i, 3)
    for stage in STAGES[:-1]:
        monkeypatch.setattr(making, stage, again)
    make_clusters([source], output, settings)
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
            patch.setattr(making, "cluster_words", stop)
            with pytest.raises(KeyboardInterrupt):
                make_clusters([source], output, replace(SETTINGS, **{"epochs": 1, **settings}))
        return list(done)

    assert run() == list(STAGES[:3])
    assert run(n_clusters=3, seed=1) == []
    assert run(epochs=2) == run(epochs=1, size=9) == ["write_vectors"]
    assert run(min_count=2) == ["write_forms", "write_vectors"]
    assert run(tokenizer=TokenizerChoice("en")) == list(STAGES[:3])
    source.write_text("other text\n" * 99)
    os.utime(source, (1, 1))
    assert run(tokenizer=TokenizerChoice("en")) == list(STAGES[:3])


def test_an_empty_text_is_an_error(tmp_path: Path) -> None:
    source, output = tmp_path / "a.txt", tmp_path / "clusters.txt"
    source.write_text("\n \n")
    with pytest.raises(CorpusError, match="No word occurs 5 times in the text: it has 0 words"):
        make_clusters([source], output, SETTINGS)
    assert not output.exists()


@pytest.mark.parametrize("package", ["floret", "sklearn"])
def test_without_the_extra(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf'needs {package}.*pip install "spacy-cascade\[cluster'):
        make_clusters([source], tmp_path / "clusters.txt", SETTINGS)
    assert not work_folder(tmp_path / "clusters.txt").exists()


def test_settings_that_cannot_be() -> None:
    for name in ("min_count", "size", "epochs", "n_clusters", "seed", "processes"):
        with pytest.raises(ConfigError, match=f"--{name.replace('_', '-')} is -1. The smallest"):
            Settings(**{name: -1})
