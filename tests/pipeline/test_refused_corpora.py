"""Corpora that a component cannot be initialized from: streams, other files, and empty ones."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spacy.training import Example

from helpers import SENTENCES, cascade, make_examples
from spacy_cascade import ConfigError, CorpusError, TrainingError
from spacy_cascade.pipeline import corpus

PASSIVE_AGGRESSIVE = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1"},
}


@pytest.mark.parametrize(
    ("settings", "has_reader", "batcher", "message"),
    [
        (PASSIVE_AGGRESSIVE, True, None, None),
        (PASSIVE_AGGRESSIVE, True, "spacy.batch_by_words.v1", None),
        (PASSIVE_AGGRESSIVE, True, corpus.WHOLE_CORPUS, "would get the whole stream"),
        (PASSIVE_AGGRESSIVE, False, None, "would learn its features from the first 100 examples"),
        ({}, True, None, "cannot be trained by LBFGS on a stream"),
    ],
)
def test_a_stream_needs_a_reader_and_a_trainer_that_takes_parts(
    settings: dict[str, Any], has_reader: bool, batcher: str | None, message: str | None
) -> None:
    nlp = cascade(settings)
    pipe: Any = nlp.get_pipe("cascade_segmenter")
    nlp.config["training"] = {"max_epochs": -1}
    if batcher is not None:
        nlp.config["training"]["batcher"] = {"@batchers": batcher}
    reader = (lambda _: make_examples(nlp)) if has_reader else None
    with nullcontext() if message is None else pytest.raises(ConfigError, match=message):
        pipe.initialize(lambda: make_examples(nlp), nlp=nlp, corpus=reader)
    nlp.config["training"]["max_epochs"] = "${mine.epochs}"
    nlp.config["mine"] = {"epochs": 0}
    pipe.initialize(lambda: make_examples(nlp), nlp=nlp)
    assert pipe.n_examples == len(SENTENCES)


@pytest.mark.parametrize(
    ("found", "n", "is_file", "message"),
    [
        ({"A"}, 0, False, r"'it' got no examples.*annotated references\."),
        ({"A"}, 0, True, r"'it' got no examples.*\[corpora\.train\] path is a \.spacy file"),
        (set(), 2, False, r"'it' found no span in 2 examples.*their references have entities\."),
        (set(), 2, True, r"'it' found no span in 2 examples.*\[corpora\.train\] has entities\."),
        ({"A", ""}, 2, False, "'it' found a span whose label is empty"),
        ({"A"}, 2, False, None),
    ],
)
def test_a_corpus_that_teaches_nothing_is_refused(
    found: set[str], n: int, is_file: bool, message: str | None
) -> None:
    def get() -> list[Example]:
        return []

    get.__module__ = "spacy.training.initialize" if is_file else __name__
    with nullcontext() if message is None else pytest.raises(TrainingError, match=message):
        corpus.check_labels(found, n, "it", "span", "entities", get)


def test_a_pipeline_without_a_training_config_reads_no_stream() -> None:
    nlp: Any = SimpleNamespace(config={})
    assert not corpus._is_streamed(nlp)


@pytest.mark.parametrize("has_path", [False, True])
def test_a_file_that_is_no_corpus_is_told_where_nothing_was_read(
    has_path: bool, tmp_path: Path
) -> None:
    nlp, path = cascade(), tmp_path / "train.tsv"
    path.write_text("IL-2 B-DNA")
    nlp.config["corpora"] = {"train": {"path": str(path)} if has_path else {}}
    pipe = nlp.get_pipe("cascade_segmenter")
    with pytest.raises(CorpusError, match=r"train\.tsv") if has_path else nullcontext():
        assert list(corpus.checked(lambda: iter(()), nlp, pipe)) == []
    assert list(corpus.checked(lambda: iter(()), None, pipe)) == []
    given = make_examples(nlp)
    for made in (given, iter(given)):
        assert list(corpus.checked(lambda made=made: made, nlp, pipe)) == given
