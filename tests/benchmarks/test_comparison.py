"""The comparison with peers: counts, systems, learning curves, tables and the report."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from benchmarks.lib import bootstrap, corpora
from benchmarks.peers import systems
from benchmarks.peers.evaluation import count
from benchmarks.reports import figure_report, readme_tables
from helpers import PROJECT, SENTENCES, blank, gold_doc, sample_docs

# Bootstrap


def test_bootstrap_is_that_of_a_loop_over_docs(generator: np.random.Generator) -> None:
    gold = generator.integers(50, 200, 30)
    counts = {
        name: np.stack([generator.binomial(gold, p), gold, gold], axis=1)
        for name, p in (("good", 0.8), ("fair", 0.7))
    }
    (found,) = bootstrap.differences(counts, n_samples=4000).values()
    gaps = []
    for _ in range(4000):
        docs = generator.integers(0, 30, 30)
        sums = {name: sum(of_docs[i] for i in docs) for name, of_docs in counts.items()}
        f1 = {name: 200 * r / (f + g) for name, (r, f, g) in sums.items()}
        gaps.append(f1["good"] - f1["fair"])
    assert found.low == pytest.approx(np.quantile(gaps, 0.025), abs=0.2)
    assert found.high == pytest.approx(np.quantile(gaps, 0.975), abs=0.2)
    assert found.share_above == pytest.approx(np.mean(np.array(gaps) > 0), abs=0.03)


def test_a_mean_over_corpora_is_that_of_a_loop_over_docs(generator: np.random.Generator) -> None:
    """Docs are drawn in each corpus for itself, so that noise of several corpora averages out."""
    pairs = []
    for n_docs, share in ((20, 0.8), (40, 0.6)):
        gold = generator.integers(50, 200, n_docs)
        of_both = (generator.binomial(gold, share), generator.binomial(gold, share - 0.1))
        pairs.append(tuple(np.stack([right, gold, gold], axis=1) for right in of_both))
    found = bootstrap.mean_difference(pairs, n_samples=4000)
    gaps = []
    for _ in range(4000):
        of_corpora = []
        for ours, theirs in pairs:
            docs = generator.integers(0, len(ours), len(ours))
            scores = [200 * r / (f + g) for r, f, g in (c[docs].sum(0) for c in (ours, theirs))]
            of_corpora.append(scores[0] - scores[1])
        gaps.append(np.mean(of_corpora))
    assert found.value == pytest.approx(np.mean(gaps), abs=0.1)
    assert found.low == pytest.approx(np.quantile(gaps, 0.025), abs=0.2)
    assert found.high == pytest.approx(np.quantile(gaps, 0.975), abs=0.2)


def test_equal_models_differ_by_nothing() -> None:
    counts = np.array([[1, 2, 3], [2, 2, 2], [0, 0, 0]])
    (found,) = bootstrap.differences({"a": counts, "b": counts}).values()
    assert (found.value, found.low, found.high, found.is_clear) == (0.0, 0.0, 0.0, False)
    assert bootstrap.f1(np.zeros(3)) == 0.0


# Scores


def changed(doc: Doc) -> Doc:
    """Without the first entity, and with the second one called something else."""
    copy = doc.copy()
    entities = list(copy.ents)[1:]
    for entity in entities[:1]:
        entity.label_ = "DNA"
    copy.ents = entities
    return copy


def test_counts_are_those_of_spacys_scorer() -> None:
    vocab = blank().vocab
    gold = [gold_doc(vocab, *sentence) for sentence in SENTENCES]
    found = [changed(doc) for doc in gold]
    counted = count(gold, found)
    examples = [Example(f, g) for f, g in zip(found, gold, strict=True)]
    scores = Scorer().score_spans(examples, "ents")
    assert bootstrap.f1_of(counted["by_label"].values()) == pytest.approx(100 * scores["ents_f"])
    assert np.sum(counted["by_doc"], axis=0).tolist() == np.sum(
        list(counted["by_label"].values()), axis=0
    ).tolist()  # fmt: skip
    for label, counts in counted["by_label"].items():
        expected = 100 * scores["ents_per_type"][label]["f"]
        assert bootstrap.f1_of([counts]) == pytest.approx(expected)


# Systems


def test_a_peer_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "is_installed", lambda name: name != "python-crfsuite")
    lines = systems.missing(systems.SYSTEMS.values())
    assert set(lines) == {"crfsuite", "crfsuite_pa"}
    assert lines["crfsuite"] == (
        "python-crfsuite, L-BFGS is left out: python-crfsuite is not installed. Add it with "
        'pip install "spacy-cascade[bench]".'
    )
    monkeypatch.setattr(systems, "is_installed", lambda name: True)
    assert systems.missing(systems.SYSTEMS.values()) == {}


# Learning curves and types


def test_larger_parts_have_smaller_ones(tmp_path: Path) -> None:
    vocab = blank().vocab
    docs = sample_docs(vocab, n_docs=10)
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    texts = []
    for share in (0.01, 0.3, 1.0):
        path = str(tmp_path / "part.spacy")
        found = corpora.first_docs(str(tmp_path / "train.spacy"), path, share, seed=0)
        part = corpora.read_docs(path, vocab)
        texts.append([doc.text for doc in part])
        assert found["tokens"] == sum(map(len, part))
    assert [len(part) for part in texts] == [1, 3, 10]
    assert texts[2][:3] == texts[1]
    assert texts[1][:1] == texts[0]


# Tables of pages


def test_values_fill_a_text() -> None:
    values = {"a, b": 1234.5, "c": 0.5}
    assert figure_report.fill("{a, b|thousands} and {c|.2f}", values) == "1,000 and 0.50"
    with pytest.raises(KeyError):
        figure_report.fill("{d|.1f}", values)


def test_tables_of_the_pages_are_made_of_the_results() -> None:
    texts = [page.read_text(encoding="utf8") for page in readme_tables.PAGES]
    assert all(
        any(f"<!-- table: {name} -->" in text for text in texts) for name in readme_tables.TABLES
    )
    for text in texts:
        assert readme_tables.with_tables(text) == text, "run benchmarks.reports.readme_tables"


# All of it


@pytest.mark.slow(kind="experiments")
def test_a_report_on_the_sample(tmp_path: Path) -> None:
    """Every part but that of threads, a few seconds of training, one peer left out by name."""
    for name in ("train", "dev"):
        docs = sample_docs(blank().vocab, name)
        DocBin(docs=docs).to_disk(tmp_path / f"{name}.spacy")
    output = tmp_path / "report.json"
    command = [
        sys.executable, "-m", "benchmarks.experiments.comparison",
        str(tmp_path / "train.spacy"), str(tmp_path / "dev.spacy"),
        "--output", str(output), "--work", str(tmp_path / "work"), "--rounds", "1",
        "--models", "memb", "ocr", "crfsuite", "ner", "--peer-iterations", "20",
        "--parts", "reranking", "learning", "labels", "--shares", "0.5",
        "--ner-seconds", "3", "--ner-part-seconds", "1",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(output.read_text())
    models = results["models"]
    assert list(models) == ["memb", "ocr", "ocr_tuned", "ocr_trained", "crfsuite", "ner"]
    for name in ("memb", "ocr", "crfsuite"):
        assert models[name]["f1"] > 40, name
        assert models[name]["features"] > 100
        assert models[name]["seconds"] > 0
        assert models[name]["tokens_per_second"] > 1000
    assert 0 <= models["memb"]["calibration"]["after"] < 0.5
    assert models["ner"]["seconds"] >= 3
    assert len(results["differences"]) == 6
    assert [share for share, _ in results["learning"]["curves"]["memb"]] == [50, 100]
    assert [n for n, _ in results["labels"]["curves"]["cascade"]] == [1, 2, 4, 8, 16, 32]
    report = output.with_suffix(".md").read_text()
    for line in ("# Comparison", "## Differences of F1", "## N best", "| OCR, trained reranker |"):
        assert line in report
    if "matplotlib" in sys.modules or importlib.util.find_spec("matplotlib"):
        for name in ("time", "nbest", "learning", "labels"):
            assert f"](report_{name}.png)" in report
            assert (tmp_path / f"report_{name}.png").stat().st_size > 1000
    assert "threads.png" not in report
