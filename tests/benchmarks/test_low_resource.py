"""The experiment on unlabelled text: its draws and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.lib.corpora import read_docs, split_blocks
from benchmarks.suite.low_resource import make_report
from helpers import write_sample


def test_parts_are_disjoint_blocks(tmp_path: Path) -> None:
    source = str(write_sample(tmp_path / "train.spacy", n_docs=12))
    parts = [str(tmp_path / f"{name}.spacy") for name in ("labelled", "unlabelled")]
    sizes = split_blocks(source, *parts, share=0.2, seed=1, most=200)
    labelled, unlabelled = map(read_docs, parts)
    total = sum(map(len, read_docs(source)))
    assert sizes["tokens"] == sum(map(len, labelled)) >= 0.2 * total
    assert sizes["tokens"] - len(labelled[-1]) < 0.2 * total
    assert sizes["entities"] == sum(len(doc.ents) for doc in labelled) > 0
    assert 200 <= sizes["unlabelled_tokens"] == sum(map(len, unlabelled)) < 200 + 10 * 100
    texts = [{doc.text for doc in docs} for docs in (labelled, unlabelled)]
    assert texts[0].isdisjoint(texts[1])
    for doc in [*labelled, *unlabelled]:
        assert sum(bool(token.is_sent_start) for token in doc) <= 10
    again = split_blocks(source, *parts, share=0.2, seed=1, most=200)
    assert again == sizes
    assert [doc.text for doc in read_docs(parts[0])] == [doc.text for doc in labelled]


def row(corpus: str, seed: int, method: str, scores: tuple[float, float, float]) -> dict[str, Any]:
    before, student, best = scores
    added = {"spans": 12, "expected": 0.5, "right": 0.75, "background_right": None}
    learnt = {
        "labelled_f1": before, "best_f1": best,
        "rounds": [{"added": added, "student_f1": student, "product_f1": None}],
    }  # fmt: skip
    sizes = {"documents": 2, "tokens": 100 + seed, "entities": 10, "unlabelled_tokens": 900}
    return {
        "corpus": corpus, "share": 0.01, "seed": seed, **sizes, "method": method, "learnt": learnt,
    }  # fmt: skip


def test_means_are_of_corpora_and_not_of_draws() -> None:
    rows = [
        row("one", 0, "self", (0.2, 0.3, 0.3)),
        row("one", 1, "self", (0.4, 0.3, 0.4)),
        row("two", 0, "self", (0.5, 0.6, 0.7)),
    ]
    machine = {"processor": "x", "system": "y", "python": "3", "packages": {}}
    report = make_report({"machine": machine, "rows": rows})
    assert "| one | 2 | 100 | 10 | 30.00 | 30.00 | 35.00 |" in report
    assert "| mean |  |  |  | 40.00 | 45.00 | 52.50 |" in report
    assert "- self: +12.50 F1 kept, +5.00 in the first round; better in 2 of 3 draws" in report
    assert "| two | 1% | self | 12 | 50.0 | 75.0 | - |" in report
