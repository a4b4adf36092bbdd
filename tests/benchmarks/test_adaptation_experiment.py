"""The adaptation experiment: parts of the corpus, tables, and all of it on the sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import DocBin

from benchmarks.lib.adaptation import split_corpus
from helpers import PROJECT, blank, run_python, sample_docs, write_sample


def test_parts_of_a_corpus_to_adapt_to(tmp_path: Path) -> None:
    vocab = blank().vocab
    data = tmp_path / "data.spacy"
    docs = sample_docs(vocab, n_docs=20)
    DocBin(docs=docs).to_disk(data)
    arguments = (str(data), str(data), str(tmp_path), [3, 12], 2)
    sizes = split_corpus(*arguments)

    def read(name: str) -> list[Any]:
        return list(DocBin().from_disk(tmp_path / f"{name}.spacy").get_docs(vocab))

    def knows(doc: Any) -> bool:
        return any(span.label_ == "cell_line" for span in doc.ents)

    assert not any(map(knows, read("old") + read("dev_old")))
    assert all(map(knows, read("dev_new")))
    assert sizes["old"]["documents"] + sizes["dev_new"]["documents"] == len(docs)
    for size in (3, 12):
        for draw in (0, 1):
            few = sizes[f"new-{size}-{draw}"]
            assert few["sentences"] == size
            both = sizes[f"old-{size}-{draw}"]
            assert both["entities"] == few["entities"] + sizes["old"]["entities"]
    texts = [[doc.text for doc in read(f"new-{size}-0")] for size in (3, 12)]
    assert texts[1][0].startswith(texts[0][0])
    assert texts[0] != [doc.text for doc in read("new-3-1")]


@pytest.mark.slow(kind="experiments")
def test_adaptation_is_measured(tmp_path: Path) -> None:
    train, dev = (write_sample(tmp_path / f"{part}.spacy", part) for part in ("train", "dev"))
    result = run_python(
        "-m", "benchmarks.experiments.adaptation", str(train), str(dev), "--sizes", "5",
        "--draws", "1", "--ner-train-seconds", "2", "--ner-seconds", "1",
        "--output", str(tmp_path / "adapt.json"), "--work", str(tmp_path / "work"), timeout=900,
        PYTHONPATH=str(PROJECT),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    lines = json.loads((tmp_path / "adapt.json").read_text())["lines"]
    assert [line["title"].split()[0] for line in lines].count("adapted") == 2
    assert all(0.0 <= line[part] <= 100.0 for line in lines for part in ("old", "new"))
