"""The experiments on term lists."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import srsly
from spacy.lang.en import English

from benchmarks.experiments import lexicon_leave_out
from benchmarks.experiments.lexicon_cost import make_terms
from helpers import PROJECT, sample_docs, write_sample


def test_terms_overlap_with_the_text() -> None:
    words = [token.text for doc in sample_docs(English().vocab) for token in doc]
    terms = list(make_terms(words, ["IL-2 gene", "il-2 Gene", "p53"], 500))
    assert terms[:2] == ["IL-2 gene", "p53"]
    assert len({term.lower() for term in terms}) == len(terms) == 500
    assert {len(term.split()) for term in terms[2:]} == {2, 3, 4, 5}
    assert {word for term in terms for word in term.split()} <= {*words, "p53"}


def test_entities_of_a_corpus_are_listed_in_three_ways(tmp_path: Path) -> None:
    class Runner:
        work = tmp_path

        def run(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
            if task.endswith(":write_entities"):
                return lexicon_leave_out.write_entities(**arguments)
            lists = [its["own"] for its in arguments["overrides"].values()]
            f1 = 10.0 * len(lists) + sum(its["leave_out"] for its in lists)
            return {"series": [(0.0, 0.0, 1.0), (0.0, 0.0, f1)]}

    arguments = argparse.Namespace(
        train=write_sample(tmp_path / "train.spacy"),
        dev=write_sample(tmp_path / "dev.spacy", "dev"),
        config=PROJECT / "configs" / "memb.cfg",
    )
    found: Any = lexicon_leave_out.measure(Runner(), arguments)  # type: ignore[arg-type]
    assert found["f1"] == {"no list": 1.0, "all seen": 20.0, "own left out": 22.0}
    patterns = list(srsly.read_jsonl(tmp_path / "entities.jsonl"))
    assert len(patterns) == found["terms"]
    gold = {(e.label_, e.text.lower()) for doc in sample_docs(English().vocab) for e in doc.ents}
    assert {(p["label"], p["pattern"]) for p in patterns} == gold
