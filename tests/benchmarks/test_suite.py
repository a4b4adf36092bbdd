"""The suite: its corpora, resuming, scores away from home and on raw text, tables and floors."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config

from benchmarks.lib.corpora import read_columns, read_docs
from benchmarks.lib.processes import ChildError, TaskRunner
from benchmarks.peers import spacy_ner
from benchmarks.peers.evaluation import character_spans, count, judged, reliability, token_spans
from benchmarks.reports import against_peers, settings_report, suite_report, suite_results
from benchmarks.suite import __main__ as command
from benchmarks.suite import (
    auto_search,
    corpora,
    leave_one_out,
    network,
    running,
    scoring,
    shares,
    systems,
)
from benchmarks.suite.arguments import read_settings
from benchmarks.suite.corpora import Shift, SuiteCorpus
from helpers import SENTENCES, blank, make_doc
from spacy_cascade.pipeline.spans.confidences import register_confidence

Entry = dict[str, Any]


@dataclass
class InProcess(TaskRunner):
    """Runs tasks here, and notes which. failing: a task that fails."""

    names: list[str] = field(default_factory=list)
    failing: str = ""

    def run(self, task: str, arguments: Mapping[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        module, _, function = task.partition(":")
        self.names.append(function)
        if function == self.failing:
            raise ChildError("out of memory")
        called = getattr(importlib.import_module(f"benchmarks.{module}"), function)
        # A child tells of its memory, too.
        return {**json.loads(json.dumps(called(**arguments))), "peak_memory_megabytes": 1.0}

    def compile_kernels(self, config: str, corpus: str) -> None:
        pass


def column_text(renamed: Mapping[str, str], repeats: int = 3) -> str:
    """The sample sentences as columns, with other names of labels."""
    lines = []
    for text, spans in SENTENCES * repeats:
        tags = ["O"] * len(text.split())
        for start, end, label in spans:
            tags[start:end] = [f"I-{renamed.get(label, label)}"] * (end - start)
            tags[start] = f"B-{renamed.get(label, label)}"
        lines += [f"{word}\t{tag}" for word, tag in zip(text.split(), tags, strict=True)] + [""]
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two made corpora, `home` and `away`, whose labels have other names."""
    made = {"home": SuiteCorpus("home", train="a.iob", dev="b.iob"), "away": SuiteCorpus("away")}
    shifts = (Shift("home", "away", {"DNA": "gene", "protein": "gene"}),)
    for module in (corpora, running, shares, auto_search, network):
        monkeypatch.setattr(module, "CORPORA", made)
    folder = tmp_path / "data"
    for name, renamed in (("home", {}), ("away", {"DNA": "gene", "cell": "tissue"})):
        (folder / "suite" / name).mkdir(parents=True)
        for part in corpora.PARTS:
            path = folder / "suite" / name / getattr(made[name], part)
            path.write_text(column_text(renamed), encoding="utf8")
    for module in (running, network):
        monkeypatch.setattr(module, "SHIFTS", shifts)
    return folder


@pytest.fixture
def suite(data: Path, tmp_path: Path) -> running.Suite:
    runner = InProcess(tmp_path / "work")
    return running.Suite(runner, data, tmp_path / "suite.jsonl", running.SHIFTS)


def peers_only() -> list[running.Training]:
    pytest.importorskip("pycrfsuite")
    return running.plan(["home", "away"], [systems.ROWS["crfsuite"]], ["tokens"])


# Corpora and labels


def test_files_are_found_in_both_layouts(tmp_path: Path) -> None:
    corpus = SuiteCorpus("news", train="t", dev="d")
    with pytest.raises(corpora.MissingCorpus, match=r"news.*--data"):
        corpus.files(tmp_path)
    for part, folder in (("t", tmp_path / "news"), ("d", tmp_path / "suite" / "news")):
        folder.mkdir(parents=True)
        (folder / part).write_text("")
    found = corpus.files(tmp_path)
    assert [Path(path).relative_to(tmp_path).parts[0] for path in found.values()] == [
        "news", "suite",
    ]  # fmt: skip


def test_labels_that_both_corpora_have() -> None:
    shift = Shift("conll2003", "btc")
    assert shift.labels(["PER", "LOC", "ORG", "MISC"], ["PER", "LOC", "ORG"]) == {
        "PER": "PER", "LOC": "LOC", "ORG": "ORG",
    }  # fmt: skip
    (anatomy,) = [s for s in corpora.SHIFTS if s.source == "bionlp13cg"]
    found = anatomy.labels(["Cell", "Cancer", "Organism", "Simple_chemical"], ["Anatomy"])
    assert found == {"Cell": "Anatomy", "Cancer": "Anatomy", "Anatomy": "Anatomy"}
    back = Shift("anatem", "bionlp13cg", anatomy.renamed)
    assert back.labels(["Anatomy"], ["Cell", "Cancer", "Organism"]) == found


def test_entities_are_mapped_and_neighbours_stay_apart() -> None:
    vocab = blank().vocab
    found, gold = make_doc(vocab, "a b c d"), make_doc(vocab, "a b c d")
    found.ents = [Span(found, 0, 1, "Cell"), Span(found, 1, 2, "Organ"), Span(found, 3, 4, "Gene")]
    gold.ents = [Span(gold, 0, 2, "Anatomy"), Span(gold, 2, 3, "Chemical")]
    labels = {"Cell": "Anatomy", "Organ": "Anatomy", "Anatomy": "Anatomy"}
    assert token_spans(found, labels) == {(0, 1, "Anatomy"), (1, 2, "Anatomy")}
    counted = count([gold], [found], lambda doc: token_spans(doc, labels))
    assert counted["by_doc"] == [[0, 2, 1]]
    assert counted["by_label"] == {"Anatomy": [0, 2, 1]}


def test_raw_text_is_compared_by_characters() -> None:
    """Other tokens, the same characters."""
    vocab = blank().vocab
    gold = Doc(vocab, words=["NF", "-", "kappa", "binds"], spaces=[False, False, True, False])
    found = Doc(vocab, words=["NF-kappa", "binds"], spaces=[True, False])
    gold.ents, found.ents = [Span(gold, 0, 3, "protein")], [Span(found, 0, 1, "protein")]
    assert count([gold], [found], character_spans)["by_doc"] == [[1, 1, 1]]
    assert count([gold], [found])["by_doc"] == [[0, 1, 1]]


def test_reliability_of_confidences() -> None:
    """In the bin of 0.9 one of two is right, in that of 0.3 none; others have no confidence."""
    vocab = blank().vocab
    register_confidence()
    found, gold = make_doc(vocab, "a b c d e"), make_doc(vocab, "a b c d e")
    spans = [Span(found, i, i + 1, label) for i, label in enumerate(["x", "x", "y", "z"])]
    found.spans["cascade"] = spans[:3]
    found.spans["cascade"].attrs["scores"] = [0.9, 0.9, 0.3]
    found.ents = spans
    gold.ents = [Span(gold, 0, 1, "x"), Span(gold, 1, 2, "y"), Span(gold, 2, 4, "y")]
    known = reliability([gold], [found])
    assert known == pytest.approx({"error": (2 * 0.4 + 0.3) / 3, "excess": 2.1 / 3 - 1 / 3})
    as_one = {"x": "n", "y": "n"}
    assert judged([gold], [found], as_one) == [(0.9, True), (0.9, True), (0.3, False)]
    assert reliability([gold], [found], {"z": "z"}) is None


def test_summary_of_counts() -> None:
    found = scoring.summarize({"by_doc": [[1, 2, 4], [1, 2, 0]], "by_label": {}})
    assert found["precision"] == 50.0
    assert found["recall"] == 50.0
    assert found["f1"] == 50.0
    assert found["f1_interval"][0] <= 50.0 <= found["f1_interval"][1]
    assert scoring.summarize({"by_doc": [[0, 0, 0]], "by_label": {}})["f1"] == 0.0


# Running


@pytest.mark.slow(kind="experiments")
def test_every_training_is_run_once(suite: running.Suite) -> None:
    trainings = peers_only()[:3]
    lines = list(suite.run(trainings))
    assert len(lines) == 4
    assert lines[0] == "3 trainings, 0 of them done before"
    assert lines[1].startswith("1/3 home, crfsuite L-BFGS, tokens: 120 tokens, F1 ")
    runner: Any = suite.runner
    runner.names.clear()
    assert list(suite.run(trainings)) == ["3 trainings, 3 of them done before"]
    assert runner.names == []
    assert len(list(suite.run(trainings[:1], again=True))) == 2
    assert len(suite_results.read_entries(suite.output)) == 3


@pytest.mark.slow(kind="experiments")
def test_a_run_that_was_stopped_goes_on(suite: running.Suite) -> None:
    trainings = peers_only()[:3]
    begun: Iterator[str] = suite.run(trainings)
    next(begun), next(begun)
    with suite.output.open("a") as file:
        file.write('{"corpus": "away", "system": "crfsu')  # killed while it wrote
    first, *_ = suite.run(trainings)
    assert first == "3 trainings, 1 of them done before"
    entries = suite_results.read_entries(suite.output)
    assert [suite_results.key_of(e) for e in entries] == [t.key for t in trainings]


def test_the_fixed_settings_come_first() -> None:
    rows = [systems.ROWS["crfsuite"], systems.ROWS["init"]]
    found = running.plan(["jnlpba", "wikigold"], rows, ["tokens", "raw"])
    assert [(t.corpus.name, t.row.name, t.input) for t in found[:6]] == [
        (corpus, *training)
        for corpus in ("wikigold", "jnlpba")
        for training in (("crfsuite", "tokens"), ("init", "tokens"), ("init", "raw"))
    ]
    # The grid of the large corpus is smaller.
    assert [t.corpus.name for t in found[6:]] == ["wikigold"] * 3 + ["jnlpba"]


@pytest.mark.slow(kind="experiments")
def test_one_training_that_fails_does_not_stop_the_others(suite: running.Suite) -> None:
    runner: Any = suite.runner
    runner.failing = "train_as_configured"
    rows = [systems.ROWS["memb"], systems.ROWS["crfsuite"]]
    pytest.importorskip("pycrfsuite")
    run = suite.run(running.plan(["home"], rows, ["tokens"])[:2])
    lines = [next(run) for _ in range(3)]
    assert "failed: out of memory" in lines[1]
    assert "F1" in lines[2]
    with pytest.raises(running.TrainingsFailed, match="1 of 2"):
        next(run)
    assert not list((suite.runner.work / "models").iterdir())


@pytest.mark.slow(kind="experiments")
def test_our_models_at_home_away_and_on_raw_text(suite: running.Suite) -> None:
    row = systems.with_settings(
        systems.ROWS["init"],
        {"count 1": {f"components.{c}.model.min_count": 1 for c in ("cascade_segmenter",)}},
    )
    trainings = running.plan(["home"], [row], ["tokens", "raw"])[:3]
    assert len(list(suite.run(trainings))) == 4
    given, raw, tuned = suite_results.read_entries(suite.output)
    assert given["input"] == "tokens"
    assert raw["input"] == "raw"
    assert (given["is_fixed"], tuned["is_fixed"]) == (True, False)
    assert given["f1"] > 50
    assert raw["f1"] > 30
    assert given["bytes"] > 1000
    assert given["seconds"] >= given["computed_seconds"] * 0.1 > 0
    # "cell" is called "tissue" there, and "DNA" and "protein" count as one type.
    assert set(given["shifted"]["away"]["by_label"]) == {"gene"}
    assert given["shifted"]["away"]["f1"] > 50
    assert tuned["settings"] == {"components.cascade_segmenter.model.min_count": 1}
    assert not list((suite.runner.work / "models").iterdir())


def test_the_peer_counts_a_feature_whatever_its_tag(tmp_path: Path) -> None:
    peer = pytest.importorskip("benchmarks.peers.crfsuite")
    text = "a\tB-x\n\na\tB-y\n\na\tO\n\nb\tO\n\n"
    (tmp_path / "train.tsv").write_text(text)
    sentences = read_columns(str(tmp_path / "train.tsv"))
    features = peer.sentence_features
    is_frequent: Callable[[str], bool] = peer._frequent(sentences, features, 3)
    assert is_frequent("word@0=a")
    assert is_frequent("bias")
    assert not is_frequent("word@0=b")
    assert peer._frequent(sentences, features, 1)("word@0=never seen")


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Two columns of made clusters: the length of the word, and its first letter, if small.

    Returns what was looked up.
    """
    peer = pytest.importorskip("benchmarks.peers.crfsuite")
    asked: list[list[str]] = []

    def made(texts: Sequence[str]) -> list[list[str]]:
        asked.append(list(texts))
        return [[f"{len(t)}" for t in texts], [t[0] if t.islower() else "" for t in texts]]

    monkeypatch.setattr(peer, "word_clusters", made)
    monkeypatch.setitem(peer.FEATURES, "crfsuite_clusters", peer.ClusterFeatures())
    return asked


def test_clusters_at_five_places(clusters: list[list[str]]) -> None:
    peer = pytest.importorskip("benchmarks.peers.crfsuite")
    features_of = peer.FEATURES["crfsuite_clusters"]
    plain, found = (f(["We", "met", "a", "dog"]) for f in (peer.sentence_features, features_of))
    more = [row[len(before) :] for before, row in zip(plain, found, strict=True)]
    assert more[0] == [
        "cluster0@0=2",
        "cluster0@1=3",
        "cluster1@1=m",
        "cluster0@2=1",
        "cluster1@2=a",
    ]
    assert more[3] == ["cluster0@-2=3", "cluster1@-2=m", "cluster0@-1=1", "cluster1@-1=a",
                       "cluster0@0=3", "cluster1@0=d"]  # fmt: skip
    assert features_of(["a", "cat"])[1][-2:] == ["cluster0@0=3", "cluster1@0=c"]
    assert clusters == [["We", "a", "dog", "met"], ["cat"]], "each word is looked up once"


@pytest.mark.slow(kind="experiments")
def test_a_peer_with_clusters_is_trained_and_scored_with_them(
    suite: running.Suite, clusters: list[list[str]]
) -> None:
    training, *_ = running.plan(["home"], [systems.ROWS["crfsuite_words"]], ["tokens"])
    entry = suite.train(training)
    assert entry["has_words"]
    assert entry["f1"] > 50
    assert clusters
    plain = suite.train(running.plan(["home"], [systems.ROWS["crfsuite"]], ["tokens"])[0])
    assert not plain["has_words"]
    assert plain["training"]["features"] < entry["training"]["features"]


def test_vectors_for_the_words_of_all_corpora(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocab = blank().vocab
    for name, text in (("a", "a dog"), ("b", "a cat")):
        DocBin(docs=[make_doc(vocab, text)]).to_disk(tmp_path / f"{name}.spacy")
    monkeypatch.setattr(
        spacy_ner,
        "word_vectors",
        lambda texts: np.array([[len(t), ord(t[0]), 1] for t in texts], dtype=np.float32),
    )
    sources = [str(tmp_path / f"{name}.spacy") for name in "ab"]
    made = spacy_ner.write_vectors(sources, str(tmp_path / "vectors"), "xx")
    assert made == {"words": 3, "dimensions": 3}
    vectors = spacy.load(tmp_path / "vectors").vocab
    assert vectors["dog"].vector.tolist() == [3, ord("d"), 1]
    assert not vectors["bird"].has_vector


@pytest.mark.parametrize("vectors", [None, "folder"])
@pytest.mark.parametrize("optimize", ["efficiency", "accuracy"])
def test_ner_is_trained_until_patience_ends(
    optimize: str, vectors: str | None, tmp_path: Path
) -> None:
    path = str(tmp_path / "ner.cfg")
    spacy_ner.write_ner_config(path, "t", "d", "en", optimize, spacy_ner.SPACY_READER, vectors)
    config = load_config(path).interpolate()
    assert (config["training"]["max_steps"], config["training"]["max_epochs"]) == (0, 0)
    assert config["training"]["patience"] == 1600
    assert config["initialize"]["vectors"] == vectors
    embed = config["components"]["tok2vec"]["model"]["embed"]
    assert embed["include_static_vectors"] == (vectors is not None)
    assert [config["corpora"][part]["path"] for part in ("train", "dev")] == ["t", "d"]


# Tables


def entry(corpus: str, system: str, f1: float, **other: Any) -> Entry:
    is_peer = system not in ("init", "memb")
    right = round(f1)
    return {
        "corpus": corpus, "system": system, "title": system, "is_peer": is_peer,
        "setting": "as it is", "is_fixed": True, "input": "tokens", "f1": f1, "shifted": {},
        "tokens": len(corpus), "by_doc": [[right, 100, 100]] * 5, "f1_interval": [f1 - 1, f1 + 1],
        "computed_seconds": 2.0, "bytes": 2_000_000, **other,
    }  # fmt: skip


def made_entries() -> list[Entry]:
    return [
        entry("bb", "init", 80.0, shifted={"a": {"f1": 50.0}}),
        entry("bb", "init", 78.0, input="raw"),
        entry("bb", "crf", 70.0, shifted={"a": {"f1": 40.0}}),
        entry("bb", "crf", 79.0, setting="tuned", is_fixed=False, shifted={"a": {"f1": 51.0}}),
        entry("a", "init", 60.0),
        entry("a", "crf", 62.0),
        entry("a", "crf", 61.0, setting="tuned", is_fixed=False),
    ]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line[1:-1].split("|")]


def test_the_table_is_made_of_the_results() -> None:
    lines = suite_report.suite_table(made_entries()).splitlines()
    assert [cells(line) for line in (lines[0], *lines[2:])] == [
        ["dev F1", "init", "crf", "crf, best of grid", "`init` − best peer"],
        ["a", "60.00", "**62.00**", "**62.00**", "-2.00 (-2.0 to -2.0)"],
        ["bb", "**80.00**", "70.00", "79.00", "+1.00 (+1.0 to +1.0)"],
        ["**mean**", "70.00", "66.00", "**70.50**", "-0.50"],
        ["mean rank", "2.0", "2.2", "1.8", ""],
        ["bb → a", "50.00", "40.00", "**51.00**", "-1.00"],
        ["**mean, shifted**", "50.00", "40.00", "**51.00**", "-1.00"],
    ]


def test_calibration_is_shown_where_it_was_measured() -> None:
    known = {"error": 0.0123, "excess": -0.004}
    entries = made_entries()
    assert "Expected calibration error" not in suite_report.report(entries)
    entries[0]["shifted"]["a"]["calibration"] = {"error": 0.2, "excess": 0.15}
    entries[4]["calibration"] = known
    entries[5]["calibration"] = None
    lines = suite_report.calibration_table(entries).splitlines()
    assert [cells(line) for line in (lines[0], *lines[2:])] == [
        ["ECE (excess)", "init"],
        ["a", "0.012 (-0.004)"],
        ["bb", ""],
        ["bb → a", "0.200 (+0.150)"],
    ]
    assert "Expected calibration error" in suite_report.report(entries)


def test_rows_with_word_knowledge_are_for_english() -> None:
    known = [row for row in systems.ROWS.values() if row.is_english]
    assert {row.name for row in known} == {
        "alone", "crfsuite_words", "crfsuite_pa_words", "ner_words",
    }  # fmt: skip
    found = running.plan(["conll2002-nl", "conll2003"], known, ["tokens"])
    assert {training.corpus.name for training in found} == {"conll2003"}


WORDS: Entry = {"has_words": True}


def test_each_side_is_compared_with_its_own_peer() -> None:
    """On `bb` knowledge was measured for both sides, on `ccc` for ours alone, on `a` for none."""
    entries = [
        entry("bb", "init", 85.0, **WORDS),
        entry("bb", "alone", 80.0, is_peer=False),
        entry("bb", "crf", 70.0),
        entry("bb", "crf", 79.0, setting="tuned", is_fixed=False),
        entry("bb", "crf_words", 78.0, **WORDS),
        entry("bb", "crf_words", 82.0, setting="tuned", is_fixed=False, **WORDS),
        entry("a", "init", 60.0),
        entry("a", "init", 99.0, setting="tuned", is_fixed=False),
        entry("a", "init", 98.0, input="raw"),
        entry("a", "crf", 62.0),
        entry("ccc", "init", 50.0, **WORDS),
        entry("ccc", "crf", 40.0),
    ]
    lines = against_peers.comparison_table(entries).splitlines()
    assert [cells(line) for line in (lines[0], *lines[2:])] == [
        ["dev F1", "from the corpus alone", "best peer", "difference",
         "as it comes", "best peer", "difference"],
        ["a", "60.00", "62.00", "-2.00 (-2.0 to -2.0)", "60.00", "62.00", "-2.00 (-2.0 to -2.0)"],
        ["bb", "80.00", "79.00", "+1.00 (+1.0 to +1.0)", "85.00", "82.00", "+3.00 (+3.0 to +3.0)"],
        ["ccc", "", "", "", "", "", ""],
        ["**mean**", "70.00", "70.50", "-0.50 (-0.5 to -0.5)",
         "72.50", "72.00", "+0.50 (+0.5 to +0.5)"],
    ]  # fmt: skip
    alone, comes, *none = against_peers.headline_lines(entries)
    assert alone.startswith("| F1, mean of 2 corpora, *from the corpus alone* | 70.0 | 70.5 | ")
    assert comes.startswith("| F1, mean of 2 corpora, *as it comes* | 72.5 | 72.0 | ")
    assert comes.endswith("difference +0.5 (+0.5 to +0.5) |")
    assert none == []


def test_a_system_that_was_measured_again_counts_once(tmp_path: Path) -> None:
    """With all its settings, on that corpus alone."""
    alone, knowing = tmp_path / "alone.jsonl", tmp_path / "knowing.jsonl"
    for each in (
        entry("a", "init", 60.0),
        entry("a", "init", 61.0, setting="tuned", is_fixed=False),
        entry("b", "init", 62.0),
        entry("a", "crf", 50.0),
    ):
        suite_results.add_entry(alone, each)
    suite_results.add_entry(knowing, entry("a", "init", 70.0, **WORDS))
    found = suite_results.read_both(alone, knowing)
    assert sorted(e["f1"] for e in found) == [50.0, 62.0, 70.0]
    assert len(suite_results.read_both(alone, tmp_path / "none.jsonl")) == 4


def test_without_results_nothing_is_compared() -> None:
    assert against_peers.comparison_table([]) == ""
    assert against_peers.comparison_table([entry("a", "crf", 60.0)]) == ""
    assert against_peers.headline_lines([entry("a", "init", 60.0, **WORDS)]) == []
    only = [entry("a", "init", 60.0), entry("a", "ner", 50.0)]
    first, ner = against_peers.headline_lines(only)
    assert "*from the corpus alone* | 60.0 | 50.0 |" in first
    assert ner == "| | | 50.0 | spaCy `ner`, 60 or 120 s |"


def test_a_system_on_some_corpora_has_neither_mean_nor_rank() -> None:
    """And takes none from others."""
    entries = [*made_entries(), entry("a", "later", 90.0)]
    lines = {cells(line)[0]: cells(line) for line in suite_report.suite_table(entries).splitlines()}
    assert lines["dev F1"][1:5] == ["init", "crf", "crf, best of grid", "later"]
    assert lines["**mean**"][1:5] == ["70.00", "66.00", "**70.50**", ""]
    assert lines["mean rank"][1:5] == ["2.0", "2.2", "1.8", ""]
    best = suite_report.best_setting_table([*entries, entry("bb", "later", 1.0, setting="x")])
    assert all(line.count("|") == best.splitlines()[0].count("|") for line in best.splitlines())


def test_settings_are_compared_with_the_fixed_one() -> None:
    further = {"setting": "more", "is_fixed": False}
    entries = [
        *made_entries(),
        entry("bb", "init", 82.0, shifted={"a": {"f1": 49.0}}, **further),
    ]
    lines = settings_report.settings_table(entries).splitlines()
    assert [cells(line) for line in (lines[0], *lines[2:])] == [
        ["dev F1", "as it is", "more"],
        ["bb", "80.00", "+2.00 (+2.0 to +2.0)"],
        ["**mean**", "80.00", "+2.00"],
        ["bb → a", "50.00", "-1.00"],
        ["**mean**", "50.00", "-1.00"],
    ]
    assert settings_report.settings_table(made_entries()) == ""


def test_what_tables_of_words_gain_away_from_home() -> None:
    entries = [
        entry("bb", "init", 82.0, shifted={"a": {"f1": 52.5}}),
        entry("bb", "alone", 80.0, shifted={"a": {"f1": 50.0}}),
    ]
    lines = settings_report.words_table(entries).splitlines()
    assert [cells(line) for line in (lines[0], *lines[2:])] == [
        ["dev F1", "without tables of words", "with those of the package"],
        ["bb → a", "50.00", "+2.50"],
        ["**mean**", "50.00", "+2.50"],
    ]


# Leave-one-out


def test_the_choice_for_a_corpus_does_not_look_at_it() -> None:
    """With its own column, `special` would be chosen everywhere."""
    scores = {
        "plain": {("a",): 50.0, ("b",): 60.0, ("c",): 70.0},
        "special": {("a",): 90.0, ("b",): 59.0, ("c",): 69.0},
    }
    found = leave_one_out.leave_one_out(scores)
    assert {column: choice.setting for column, choice in found.items()} == {
        ("a",): "plain", ("b",): "special", ("c",): "special",
    }  # fmt: skip
    assert found["a",] == leave_one_out.Choice("plain", 50.0, 90.0)
    assert "| mean |  | 59.33 | 73.33 |" in leave_one_out.choice_table(found)


def test_shifted_columns_of_a_corpus_are_left_out_with_it() -> None:
    """`special` is good away from home, into the corpus and out of it, and nowhere else."""
    scores = {
        "plain": {("a",): 50.0, ("b",): 60.0, ("b", "a"): 20.0, ("a", "b"): 20.0, ("c",): 41.0},
        "special": {("a",): 50.0, ("b",): 59.0, ("b", "a"): 80.0, ("a", "b"): 80.0, ("c",): 40.0},
    }
    found = leave_one_out.leave_one_out(scores)
    assert found["a",].setting == "plain"
    assert found["c",].setting == "special"
    assert found["a", "b"].setting == "plain"  # only c is left


# The command


def rows_of(module: Any, data: Path, work: Path, **options: Any) -> list[dict[str, Any]]:
    """What a command of the suite measures on `home`."""
    return module.rows_of(InProcess(work), argparse.Namespace(data=data, **options), "home")


@pytest.mark.slow(kind="experiments")
def test_what_the_search_gains_is_scored_on_documents_that_it_did_not_see(
    data: Path, tmp_path: Path
) -> None:
    (row,) = rows_of(auto_search, data, tmp_path / "work", trainings=2)
    assert row["trainings"] == 2
    assert row["auto"]["chosen_by"] >= row["rules"]["chosen_by"] > 0
    folder = tmp_path / "work" / "corpora" / "home"
    halves = [read_docs(str(folder / f"dev-{half}.spacy")) for half in ("chosen_by", "kept_out")]
    both = [doc.text for half in halves for doc in half]
    assert sorted(both) == sorted(doc.text for doc in read_docs(str(folder / "dev.raw.spacy")))
    assert len(set(both)) == len(both)


@pytest.mark.slow(kind="experiments")
def test_what_a_network_gains_and_costs(data: Path, tmp_path: Path) -> None:
    options = {"words": [], "vectors": None, "rounds": 2, "ner": True}
    (row,) = rows_of(network, data, tmp_path / "work", **options)
    assert row["network"]["bytes"] > row["features"]["bytes"]
    assert row["network"]["away"].keys() == row["features"]["away"].keys() == {"away"}
    for its in ("features", "network"):
        assert min(row[its]["f1"], row[its]["seconds"], row[its]["peak_memory_megabytes"]) > 0
    assert row["memb"]["seconds"] > 0
    assert min(row[what][words] for what in ("speed", "raw_text") for words in ("known", "new")) > 0


def test_floors() -> None:
    entries = [entry("a", "init", 60.0), entry("b", "init", 70.0), entry("c", "memb", 1.0)]
    assert command.below(entries, {"a": 60.0, "b": 69.0}) == []
    assert command.below(entries, {"a": 60.5, "b": 70.0, "c": 0.5}) == [
        "c: there is no result",
        "a: F1 60.00 on dev is below the floor of 60.50",
    ]


@pytest.mark.parametrize(("f1", "status"), [(90.0, 0), (20.0, 1)])
def test_the_fast_check_fails_below_a_floor(
    f1: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def train(_: running.Suite, training: running.Training) -> Entry:
        return entry(training.corpus.name, training.row.name, f1, seconds=1.0)

    monkeypatch.setattr(running.Suite, "train", train)
    command_line = ["suite", "--fast", "--work", str(tmp_path), "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command_line)
    assert command.main() == status
    assert ("wikigold: F1 20.00 on dev is below" in capsys.readouterr().err) == bool(status)


def test_missing_data_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--work", str(tmp_path), "--data", str(tmp_path / "none"), "--fast"]
    monkeypatch.setattr(sys, "argv", ["suite", *arguments])
    assert command.main() == 1
    assert "wikigold" in capsys.readouterr().err


def test_settings_of_the_command_line() -> None:
    given = ["count 1", "components.a.model.min_count=1", "nlp.lang=en", "x.y=null"]
    assert read_settings([given]) == {
        "count 1": {"components.a.model.min_count": 1, "nlp.lang": "en", "x.y": None}
    }
    rows = command.chosen_rows(["init", "ner"], [given])
    assert [list(row.settings) for row in rows] == [
        ["as it is", "count 1"], ["as it is", "until patience ends"],
    ]  # fmt: skip


def test_docs_keep_their_sentences_as_columns(suite: running.Suite) -> None:
    sizes = suite.prepared.sizes("home")["train"]
    assert sizes["labels"] == {"DNA": 9, "protein": 15, "cell": 12}
    assert sizes["sentences"] == 18
    assert len(read_columns(str(suite.prepared.folder("home") / "train.tsv"))) == 18
    docs = DocBin().from_disk(suite.prepared.folder("home") / "train.spacy")
    assert len(docs) == 2
