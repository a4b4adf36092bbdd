from __future__ import annotations

from spacy_cascade.trainers.batchers import make_whole_corpus_batcher


def test_the_whole_corpus_is_one_batch():
    batcher = make_whole_corpus_batcher()
    assert list(batcher(iter(range(5)))) == [[0, 1, 2, 3, 4]]
