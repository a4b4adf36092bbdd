"""Components that learn from a corpus in a file, shard by shard, and from streams."""

from __future__ import annotations

import copy
import errno
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example
from test_streams import watch_readers

from helpers import (
    SENTENCES,
    blank,
    cascade,
    make_example,
    make_examples,
    sample_examples,
    weights,
)
from sharding import N_DOCS, N_STREAMED, SEGMENTERS
from spacy_cascade import ConfigError, SavingError, TrainingError
from spacy_cascade.pipeline.learning import ExampleSource, parts_of, reads_corpus
from spacy_cascade.tools.scale.sharded import Sharded
from spacy_cascade.trainers.lbfgs import LBFGS
from trainings import run_training, training_config, weights_of

NAMES = ("cascade_segmenter", "cascade_classifier")
ITERATIONS = 4
DOC_BY_DOC, WHOLE = 1, 10**6
"""Tokens of a shard that make each Doc one, and the whole corpus."""


def pipeline(tokens: int = 0, **of_classifier: object) -> Language:
    """tokens: of a shard; 0 for a corpus in memory. of_classifier: other settings."""
    trainer = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": ITERATIONS, "threads": 1}
    sharded = {"@misc": "spacy_cascade.Sharded.v1", "tokens": tokens, "trainer": trainer}
    of_both = {"trainer": sharded if tokens else trainer}
    return cascade(of_both, {**of_both, **of_classifier})


def trained(tokens: int = 0, updates: int = 2) -> Language:
    nlp = pipeline(tokens)
    examples = sample_examples(nlp, n_docs=N_DOCS)
    nlp.initialize(lambda: examples)
    for _ in range(updates):
        nlp.update(examples)
    return nlp


def arrays(nlp: Language) -> list[np.ndarray]:
    """Weights, and what saving adds."""
    nlp.to_bytes()
    parts = [part for name in NAMES for part in weights(nlp.get_pipe(name))]
    assert all(part.any() for part in parts[::2])
    return [*parts, *(nlp.get_pipe(name).model.attrs["hessian_diagonal"] for name in NAMES)]


def n_shards(nlp: Language) -> list[int]:
    return [len(nlp.get_pipe(name)._fit._objective.loss.shards.corpus) for name in NAMES]


# The loss


@pytest.mark.parametrize("kind", [*SEGMENTERS, "classifier"])
def test_the_sum_over_shards_is_the_loss_of_the_corpus(kind: str) -> None:
    """Value, gradient and second derivatives, also where Docs have no span for the classifier."""
    nlp = cascade(SEGMENTERS.get(kind, {}), {})
    examples = [*sample_examples(nlp, n_docs=N_DOCS), *make_examples(nlp)]
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe(NAMES[kind == "classifier"])
    trainer, source = LBFGS(threads=1), ExampleSource(pipe, examples, is_other=True)
    whole = trainer.begin(source)._objective
    fit = Sharded(trainer, tokens=DOC_BY_DOC).begin(source)
    assert len(fit._objective.loss.shards.corpus) == len(examples)
    point = np.random.default_rng(0).normal(size=whole.n_parameters)
    value, gradient = fit._objective.value_and_gradient(point)
    wanted, wanted_gradient = whole.value_and_gradient(point)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        fit._objective.hessian_diagonal(point), whole.hessian_diagonal(point), rtol=1e-9, atol=1e-9
    )


# Training


def test_the_weights_are_nearly_those_of_a_corpus_in_memory() -> None:
    """One shard gives the same bits; in many the order of sums is another one."""
    whole = arrays(trained())
    for tokens, n, tolerance in ((WHOLE, 1, 0.0), (DOC_BY_DOC, N_DOCS, 1e-4)):
        found = trained(tokens=tokens)
        assert n_shards(found) == [n, n]
        for one, other in zip(arrays(found), whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance / 100)


def test_parts_of_a_corpus_are_collected_first() -> None:
    nlp, whole = pipeline(tokens=20), pipeline(tokens=20)
    for each, size in ((nlp, 2), (whole, len(SENTENCES))):
        examples = make_examples(each)
        each.initialize(lambda: examples)  # noqa: B023
        for begin in range(0, len(examples), size):
            each.update(examples[begin : begin + size])
    for found, wanted in zip(arrays(nlp), arrays(whole), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_loaded_pipeline_is_adapted() -> None:
    data = trained().to_bytes()
    adapted = []
    for tokens in (0, 10):
        nlp = pipeline(tokens).from_bytes(data)
        new = [make_example(nlp, text, [(s, e, f"new {label}") for s, e, label in spans])
               for text, spans in SENTENCES]  # fmt: skip
        before = len(nlp.get_pipe(NAMES[0]).space)
        for _ in range(2):
            nlp.update(new)
        assert "new cell" in nlp.get_pipe(NAMES[1]).labels
        assert len(nlp.get_pipe(NAMES[0]).space) > before
        adapted.append(arrays(nlp))
    for found, wanted in zip(*adapted, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_parts_are_whole_docs() -> None:
    nlp = blank()
    examples = make_examples(nlp)
    lengths = [len(example.predicted) for example in examples]
    parts = [list(part) for part in parts_of(examples, lengths[0] + 1)]
    assert [example for part in parts for example in part] == examples
    assert [len(part) for part in parts] == [2, 2, 2]
    assert list(parts_of([], 5)) == []


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    nlp = pipeline(tokens=10)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", refuse)
        with pytest.raises(SavingError, match="TMPDIR"):
            nlp.update(examples)
    nlp.update(examples)  # goes on when there is room


# Readers


def reading(nlp: Language, reader: Callable[[Language], Any]) -> None:
    """Initialize the components from a reader; spaCy shows them one example."""
    shown = make_examples(nlp)[:1]
    for name in NAMES:
        nlp.get_pipe(name).initialize(lambda: shown, nlp=nlp, corpus=reader)


def test_a_reader_gives_the_corpus_whatever_updates_are_given() -> None:
    nlp, whole = pipeline(tokens=10), pipeline(tokens=10)
    reading(nlp, make_examples)
    examples = make_examples(whole)
    whole.initialize(lambda: examples)
    for example in make_examples(nlp)[:3]:
        assert nlp.update([example])[NAMES[0]] == whole.update(examples)[NAMES[0]]
    for found, wanted in zip(arrays(nlp), arrays(whole), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("settings", [{}, {"reject": True}])
def test_what_initialize_has_read_is_trained_on_once(settings: dict[str, Any]) -> None:
    """Without reading it again, but where a component learns from proposals; then it is freed."""
    nlp, n_read = pipeline(tokens=10, **settings), list[int]()
    pipe = nlp.get_pipe(NAMES[1])

    def reader(_: Language) -> Iterator[Example]:
        n_read.append(1)
        yield from make_examples(nlp)

    pipe.initialize(list, nlp=nlp, corpus=reader)
    before = sum(n_read)
    for _ in range(2):
        pipe.update(make_examples(nlp)[:1])
        assert pipe._reader.kept is None
    assert sum(n_read) - before == len(settings)
    found = weights(pipe)
    pipe.initialize(list, nlp=nlp, corpus=reader)
    pipe._reader.kept = None
    for _ in range(2):
        pipe.update(make_examples(nlp)[:1])
    for one, other in zip(weights(pipe), found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_shards_a_reader_gives_labels_and_features_alone() -> None:
    nlp = pipeline()
    reading(nlp, make_examples)
    examples, pipe = make_examples(nlp), nlp.get_pipe(NAMES[0])
    nlp.update(examples[:2])
    assert not weights(pipe)[0].any()
    nlp.update(examples[2:])
    assert weights(pipe)[0].any()


def test_a_reader_that_reads_once_is_an_error_where_training_begins_anew() -> None:
    pipe = (nlp := pipeline(tokens=10)).get_pipe(NAMES[0])
    given = iter(make_examples(nlp))
    pipe.initialize(list, nlp=nlp, corpus=lambda _: given)
    pipe.update(make_examples(nlp))
    pipe.reset_fit()
    with pytest.raises(TrainingError, match="has to read anew with each call"):
        pipe.update(make_examples(nlp))


def test_readers_stay_behind_when_a_component_is_copied_loaded_or_begun_anew() -> None:
    nlp = pipeline(tokens=10)
    reading(nlp, make_examples)
    nlp.update(make_examples(nlp))
    pipe = nlp.get_pipe(NAMES[0])
    assert reads_corpus(pipe)
    for other in (copy.deepcopy(pipe), pickle.loads(pickle.dumps(pipe))):
        assert not reads_corpus(other)
    nlp.from_bytes(nlp.to_bytes())
    assert not reads_corpus(pipe)
    pipe.initialize(lambda: make_examples(nlp), nlp=nlp)
    assert not reads_corpus(pipe)


# Streams


QUICK = {
    "training__max_steps": 1, "training__before_to_disk": None, "training__batcher__size": 100,
    **{f"components__{name}__trainer__{option}": value
       for name in NAMES
       for option, value in {"trainer__iterations": ITERATIONS, "tokens": 600}.items()},
    **{f"components__{name}__model__min_count": 1 for name in NAMES},
}  # fmt: skip


@pytest.mark.slow(kind="streams")
def test_a_stream_is_trained_on_and_not_held(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By spaCy's own loop; the weights are those of a corpus that is not streamed."""
    config = training_config("memb_stream", corpora, **QUICK)
    whole = copy.deepcopy(config)
    watched = watch_readers(config, monkeypatch)
    run_training(config, tmp_path / "stream")
    # Each component reads once. A shard has few, and spaCy's loop and readers have some in hand.
    assert sum(each.n_read for each in watched) >= 2 * N_STREAMED
    assert 0 < max(each.most for each in watched) < N_STREAMED / 2
    whole["training"] |= {"max_epochs": 0, "batcher": {"@batchers": "spacy_cascade.WholeCorpus.v1"}}
    run_training(whole, tmp_path / "whole")
    assert weights_of(tmp_path / "stream") == weights_of(tmp_path / "whole")


def test_a_stream_in_one_batch_is_refused() -> None:
    nlp = pipeline(tokens=10)
    batcher = {"@batchers": "spacy_cascade.WholeCorpus.v1"}
    nlp.config["training"] = {"max_epochs": -1, "batcher": batcher}

    def fail(*_: Any) -> Iterator[Example]:
        raise AssertionError("read")
        yield

    with pytest.raises(ConfigError, match=r"whole stream.*in memory.*batch_by_words"):
        nlp.get_pipe(NAMES[0]).initialize(fail, nlp=nlp, corpus=fail)
    with pytest.raises(ConfigError, match="first 100 examples"):
        nlp.get_pipe(NAMES[0]).initialize(fail, nlp=nlp)
