"""Corpora of any size whose new words come at Heaps' rate, and the experiment that streams them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from spacy.attrs import ORTH
from spacy.tokens import DocBin

from benchmarks.lib.growing_corpus import Words, copies, write_corpus
from helpers import PROJECT, blank, sample_docs


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("growing") / "train.spacy"
    DocBin(docs=sample_docs(blank().vocab, "train", 40)).to_disk(path)
    return path


def words_of(docs: DocBin) -> np.ndarray:
    return np.concatenate([tokens[:, docs.attrs.index(ORTH)] for tokens in docs.tokens])


def test_new_words_come_at_heaps_rate(corpus: Path) -> None:
    words = Words.of(DocBin().from_disk(corpus))
    n_tokens, seen = len(words_of(DocBin().from_disk(corpus))), set[int]()
    for number, docs in enumerate(copies(corpus, 6 * n_tokens)):
        seen.update(words_of(docs).tolist())
        expected = len(words.hashes) * (number + 1) ** words.exponent
        assert len(seen) == pytest.approx(expected, rel=0.01)
    assert number == 5
    assert 0.3 < words.exponent < 0.9


def test_all_but_rare_words_stays(corpus: Path, tmp_path: Path) -> None:
    n_tokens = len(words_of(DocBin().from_disk(corpus)))
    made = write_corpus(str(corpus), 2 * n_tokens + 1, str(tmp_path / "made"))
    assert made["tokens"] > 2 * n_tokens
    first, second, third = sorted((tmp_path / "made").iterdir())
    vocab = blank().vocab
    before = list(DocBin().from_disk(corpus).get_docs(vocab))
    for one, other in zip(before, DocBin().from_disk(first).get_docs(vocab), strict=True):
        assert one.text == other.text
    changed = 0
    for one, other in zip(before, DocBin().from_disk(second).get_docs(vocab), strict=True):
        assert [(e.start, e.end, e.label_) for e in one.ents] == [
            (e.start, e.end, e.label_) for e in other.ents
        ]
        assert [t.whitespace_ for t in one] == [t.whitespace_ for t in other]
        changed += sum(a.text != b.text for a, b in zip(one, other, strict=True))
    assert 0 < changed < 0.3 * n_tokens
    assert len(list(DocBin().from_disk(third).get_docs(vocab))) == 1


@pytest.mark.slow(kind="experiments")
def test_the_experiment(corpus: Path, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "benchmarks.experiments.past_memory", str(corpus), str(corpus),
        "--tokens", "4000", "9000", "--work", str(tmp_path), "--output", str(tmp_path / "out.json"),
    ]  # fmt: skip
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    results = json.loads((tmp_path / "out.json").read_text())
    found, (in_memory,) = results["trainings"], results["in_memory"]
    for kind in ("online", "batch"):
        small, large = (training for training in found if training["kind"] == kind)
        assert small["tokens"] < large["tokens"]
        assert small["features"]["cascade_segmenter"] < large["features"]["cascade_segmenter"]
    assert large["microseconds_per_token_and_iteration"] > 0.0
    assert (in_memory["tokens"], in_memory["features"]) == (small["tokens"], small["features"])
    assert in_memory["ents_f"] == pytest.approx(small["ents_f"], abs=0.001)
