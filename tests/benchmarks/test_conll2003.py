"""The experiment on CoNLL-2003: the features of the peer, and the summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_corpora import tagged_sample
from benchmarks.experiments import conll2003


def test_the_peer_has_the_same_templates(tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    from benchmarks.peers import crfsuite_conll2003 as peer

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


def test_summary_of_conll2003() -> None:
    scores = {"ents_f": 0.9, "spans_chunks_f": 0.95}
    batch = {1: {"seconds": 6.0, "scores": scores}, 2: {"seconds": 4.0, "scores": scores}}
    found = {"memb": batch, "crfsuite": {"f1": 88.0, "seconds": 12.0}}
    rows = conll2003.summarize(found)
    assert rows["memb"]["seconds"] == {"1": 6.0, "2": 4.0}
    assert rows["memb"]["of_peer"] == {"1": 0.5, "2": pytest.approx(1 / 3)}
    assert rows["memb"]["chunks_f"] == pytest.approx(95.0)
    assert rows["crfsuite"]["ents_f"] == 88.0
