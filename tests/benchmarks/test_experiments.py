"""What benchmark scripts count, on a few sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin, Span

from helpers import PROJECT, run_python, sample_docs, write_sample

N_SENTENCES = (6, 12)


def tagged_sample(path: Path, n_docs: int) -> Path:
    """Sentences with tags that shapes of words give, and each capital a chunk."""
    docs = sample_docs(spacy.blank("en").vocab, n_docs=n_docs)
    for doc in docs:
        for token in doc:
            token.tag_ = "NN" if token.is_alpha else "SYM"
        doc.spans["chunks"] = [Span(doc, t.i, t.i + 1, "NP") for t in doc if t.text.isupper()]
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture
def parallel(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return pytest.importorskip("parallel")


@pytest.fixture
def results(parallel: Any, tmp_path: Path) -> dict[str, Any]:
    """Of training in this process."""
    from measure import describe_machine
    from training import compare_threads

    train = str(tagged_sample(tmp_path / "train.spacy", n_docs=3))
    config = str(PROJECT / "configs" / "conll2000.cfg")
    found = [
        {**compare_threads(config, train, [1, 2], n, 4, 0.0), "load_average_before": None}
        for n in N_SENTENCES
    ]
    results = {
        "machine": describe_machine(),
        "config": "conll2000.cfg",
        "updates": 4,
        "iterations": found[0]["iterations"],
        **parallel.summarize([1, 2], found),
        "details": found,
    }
    return json.loads(json.dumps(results))


def test_each_sentence_is_a_sequence_and_threads_change_nothing(
    parallel: Any, results: dict[str, Any], tmp_path: Path
) -> None:
    assert [size["sequences"] for size in results["sizes"]] == list(N_SENTENCES)
    assert all(size["same_weights"] for size in results["sizes"])
    for details in results["details"]:
        assert [len(row) for row in details["seconds"]] == [5, 5]
        assert min(map(min, details["seconds"])) > 0
    table = parallel.make_table(results)
    assert "the same to the last bit" in table
    assert "| 12 |" in table
    pytest.importorskip("matplotlib")
    from parallel_picture import draw

    draw(results, str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_figures_are_made_of_the_right_seconds(parallel: Any) -> None:
    def result(sequences: int, one: list[float], two: list[float]) -> dict[str, Any]:
        return {
            "seconds": [one, two],
            "computed_seconds": [one, one],
            "serial_seconds": [one, [0.2 * second for second in one]],
            "examples": sequences,
            "tokens": 10 * sequences,
            "components": {"a": {"weights": 7}},
            "iterations": 2,
            "same_weights": True,
            "load_average_before": 0.0,
        }

    found = [
        result(1000, [9.0, 9.0, 2.0, 2.0, 2.0], [9.0, 9.0, 1.0, 2.0, 1.0]),
        result(3000, [9.0, 9.0, 6.0, 6.0, 6.0], [9.0, 9.0, 3.0, 3.0, 6.0]),
    ]
    summary = parallel.summarize([1, 2], found)
    small, large = summary["sizes"]
    assert small["iteration_seconds"] == [1.0, 0.5]
    assert large["training_seconds"] == [36.0, 30.0]
    assert small["speed_ups"] == [1.0, 2.0]
    assert large["speed_up_ranges"][1] == [1.0, 2.0]
    assert large["possible_speed_ups"] == [1.0, pytest.approx(1 / 0.6)]
    line = summary["lines"][0]
    assert line["constant"] == pytest.approx(0.0)
    assert line["per_thousand"] == pytest.approx(1.0)
    assert line["r_squared"] == pytest.approx(1.0)


def test_default_numbers_of_threads_end_with_the_cores(
    parallel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cores, numbers in ((1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])):
        monkeypatch.setattr(parallel, "available_cores", lambda cores=cores: cores)
        assert parallel.default_threads() == numbers


def test_the_peer_of_conll2003_sees_the_same_templates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    peer = pytest.importorskip("peer_conll2003")
    data = str(tagged_sample(tmp_path / "train.spacy", n_docs=2))
    rows, tags = next(peer.read(data))
    assert len(rows) == len(tags) == len(peer.features(rows))
    found = set(
        peer.features([("The", "DT", "O"), ("IL-2", "NN", "B-NP"), ("x", "SYM", "I-NP")])[1]
    )
    assert {
        "word@0=IL-2", "lower@1=x", "tag@-1=DT", "chunk@0=B-NP", "tags@0=NN SYM", "suffix=2",
        "briefs@-1=Aa A_0", "word_chunk=IL-2 B-NP", "lower_brief=the A_0", "brief_lower=A_0 x",
        "word@2=\ue000",
    } <= found  # fmt: skip
    result = peer.train_crfsuite_conll2003(data, data, str(tmp_path / "model"), 20)
    assert result["f1"] > 50
    assert result["iterations"] <= 20


def test_summary_of_conll2003(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    conll2003 = pytest.importorskip("conll2003")
    scores = {"ents_f": 0.9, "spans_chunks_f": 0.95}
    batch = {"initialize_seconds": 1.0, "update_seconds": [2.0, 3.0], "scores": scores}
    online = {"initialize_seconds": 1.0, "seconds": 5.0, "scores": scores}
    found = {"memb": {1: batch}, "ocr": {1: online}, "crfsuite": {"f1": 88.0, "seconds": 12.0}}
    rows = conll2003.summarize(found)
    assert rows["memb"]["seconds"] == {"1": 6.0}
    assert rows["memb"]["of_peer"] == {"1": 0.5}
    assert rows["ocr"]["seconds"] == {"1": 5.0}
    assert rows["ocr"]["chunks_f"] == pytest.approx(95.0)
    assert rows["crfsuite"]["ents_f"] == 88.0


@pytest.fixture
def adapting(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return pytest.importorskip("adapting")


def test_parts_of_a_corpus_to_adapt_to(adapting: Any, tmp_path: Path) -> None:
    vocab = spacy.blank("en").vocab
    data = tmp_path / "data.spacy"
    docs = sample_docs(vocab, n_docs=20)
    DocBin(docs=docs).to_disk(data)
    arguments = (str(data), str(data), str(tmp_path), "type", [3, 12], 2)
    sizes = adapting.split_corpus(*arguments)

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


def test_topics_are_told_apart_by_their_words(adapting: Any) -> None:
    vocab = spacy.blank("en").vocab
    topics = ["promoter site binds", "patients blood number"]
    docs = [
        spacy.tokens.Doc(vocab, words=f"{topics[i % 2]} the w{i % 7}".split()) for i in range(60)
    ]
    train, dev = adapting.by_topic(docs, docs[:6])
    assert sum(train) == 30
    assert train[:6] == dev
    assert all(new == train[i % 2] for i, new in enumerate(train))


def test_table_of_adaptation(adapting: Any, tmp_path: Path) -> None:
    adapt = pytest.importorskip("adapt")
    study = adapt.Study(None, "type", [20], 2, 2, 1.0, [5.0])
    f1 = {
        "memb-old": (80.0, 60.0), "memb-adapted-20-0": (79.0, 62.0),
        "memb-adapted-20-1": (80.0, 64.0), "memb-old-20-0": (80.0, 64.0),
        "memb-old-20-1": (80.0, 65.0), "memb-all": (81.0, 70.0), "ocr-old": (79.0, 59.0),
        "ocr-adapted-20-0": (79.0, 60.0), "ocr-adapted-20-1": (79.0, 60.0),
        "ner-old": (70.0, 50.0), "ner-resumed-20/5": (60.0, 51.0),
    }  # fmt: skip
    found = {
        "seconds": dict.fromkeys(f1, 2.0),
        "scores": {name: {"old": {"f1": o}, "new": {"f1": n}} for name, (o, n) in f1.items()},
        "documents": {name: {"documents": 7} for name in ("old", "all", "dev_old", "dev_new")},
    }
    lines = adapt.summarize(study, found)
    assert (lines[1]["old_change"], lines[1]["new_change"]) == (-0.5, 3.0)
    settings = {"draws": 2, "ner_train_seconds": 1.0}
    machine = {"processor": "x", "cores": 1, "system": "y", "python": "3", "packages": {}}
    results = {
        "machine": machine,
        "settings": settings,
        "studies": {"type": {**found, "lines": lines}},
    }
    report = adapt.make_report(results)
    assert "| adapted to 20 sentences | 79.50 | -0.50 | 63.00 | +3.00 | 2.0 |" in report
    assert "| resumed on 20 sentences | 60.00 | -10.00 | 51.00 | +1.00 | 5.0 |" in report


@pytest.mark.slow
def test_adaptation_is_measured(tmp_path: Path) -> None:
    train, dev = (write_sample(tmp_path / f"{part}.spacy", part) for part in ("train", "dev"))
    result = run_python(
        str(PROJECT / "benchmarks" / "adapt.py"), str(train), str(dev), "--sizes", "5",
        "--draws", "1", "--splits", "topic", "--ner-train-seconds", "2", "--ner-seconds", "1",
        "--output", str(tmp_path / "adapt.json"), "--work", str(tmp_path / "work"), timeout=900,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    lines = json.loads((tmp_path / "adapt.json").read_text())["studies"]["topic"]["lines"]
    assert [line["title"].split()[0] for line in lines].count("adapted") == 2
    assert all(0.0 <= line[part] <= 100.0 for line in lines for part in ("old", "new"))
