"""What one and two threads and processes are given to annotate."""

from __future__ import annotations

from pathlib import Path

import spacy
from spacy.tokens import Doc

from benchmarks.lib import two_cores
from benchmarks.lib.corpora import write_docs


def test_short_sentences_come_again_until_there_are_enough(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    lengths = [11, 12, 20, 21]
    words = [f"{n}-{i}" for n in lengths for i in range(n)]
    starts = [word.endswith("-0") for word in words]
    path = tmp_path / "corpus.spacy"
    write_docs([Doc(nlp.vocab, words=words, sent_starts=starts)], path)
    texts = two_cores.short_texts(str(path), 5)
    assert [text.split()[0] for text in texts] == ["12-0", "20-0", "12-0", "20-0", "12-0"]


def test_threads_give_the_docs_of_a_stream_in_its_order() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    texts = [f"Text {i}." for i in range(3 * two_cores.PART + 1)]
    for n_threads in (1, 2):
        assert [doc.text for doc in two_cores._in_threads(nlp, texts, n_threads)] == texts
