"""Streamed corpora (`max_epochs = -1`): trained on without being held, through spaCy's own loop."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.initialize import init_nlp

from helpers import SENTENCES, cascade, make_example, make_examples, weights
from sharding import N_STREAMED
from spacy_cascade import ConfigError
from spacy_cascade.pipeline import corpus, learning
from trainings import run_training, training_config

NAMES = ("cascade_segmenter", "cascade_classifier")
QUICK = {
    "training__max_steps": 12, "training__eval_frequency": 6, "training__batcher__size": 300,
    "components__cascade_segmenter__model__min_count": 1,
    "components__cascade_classifier__model__min_count": 1,
}  # fmt: skip


class Watched:
    """A reader that counts the references that are alive while it reads."""

    def __init__(self, path: Path) -> None:
        self.path, self.most, self.n_read = path, 0, 0
        self.alive: WeakSet[Doc] = WeakSet()

    def __call__(self, nlp: Language) -> Iterator[Example]:
        for example in Corpus(self.path)(nlp):
            self.alive.add(example.reference)
            yield example
            self.n_read += 1
            del example
            if len(self.alive) > self.most:
                gc.collect()  # What the collector has yet to find is not held.
                self.most = max(self.most, len(self.alive))


def watch_readers(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Watched]:
    """Have a training read by watched readers, in small blocks; the list gets them as it runs."""
    for name, value in (("_READ_AT_ONCE", 2), ("_IN_MEMORY", 500), ("_BLOCK", 200)):
        monkeypatch.setattr(corpus, name, value)
    watched: list[Watched] = []

    def make(path: Path) -> Watched:
        watched.append(Watched(path))
        return watched[-1]

    spacy.registry.readers("test.Watched.v1", func=make)
    reader = {"@readers": "test.Watched.v1", "path": config["paths"]["train"]}
    config["corpora"]["train"] = reader
    for name in NAMES:
        config["initialize"]["components"][name]["corpus"] = reader
    return watched


@pytest.mark.slow(kind="streams")
def test_a_stream_is_trained_on_and_not_held(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that was read is let go of again, and several passes end with max_steps."""
    config = training_config("stream", corpora, **QUICK)
    watched = watch_readers(config, monkeypatch)
    run_training(config, tmp_path)
    assert sum(each.n_read for each in watched) > 3 * N_STREAMED
    # Those of one batch, and what spaCy's loop and a reader have in hand.
    assert 0 < max(each.most for each in watched) < N_STREAMED / 2
    nlp = spacy.load(tmp_path / "model-last")
    assert nlp.meta["performance"]["ents_f"] > 0.2


def test_the_weights_are_those_of_the_same_batches(corpora: Path, tmp_path: Path) -> None:
    n_steps = 6
    config = training_config("stream", corpora, **{**QUICK, "training__max_steps": n_steps})
    run_training(config, tmp_path)
    nlp = init_nlp(config)
    assert [nlp.get_pipe(name).n_examples for name in NAMES] == [N_STREAMED] * 2
    examples = list(Corpus(corpora / "train.spacy")(nlp))
    batcher = spacy.util.registry.resolve({"batcher": config["training"]["batcher"]})["batcher"]
    batches = [batch for _ in range(9) for batch in batcher(examples)]
    for batch in batches[: n_steps + 1]:  # spaCy makes one more
        nlp.update(sorted(batch, key=lambda example: len(example.predicted)))
    nlp.to_disk(tmp_path / "twin")
    last, twin = (spacy.load(tmp_path / model) for model in ("model-last", "twin"))
    for name in NAMES:  # but for the temperatures: only one of them is calibrated
        found, wanted = (each.get_pipe(name).to_bytes(exclude=["cfg"]) for each in (last, twin))
        assert found == wanted


@pytest.mark.parametrize(
    ("trainer", "has_corpus", "message"),
    [
        (
            "LBFGS",
            True,
            r"cannot be trained by LBFGS on a stream.*max_epochs = 0.*Sharded\.v1.*PassiveAggress",
        ),
        ("LBFGS", False, r"cannot be trained by LBFGS on a stream"),
        ("PassiveAggressive", False, r"first 100 examples.*corpus = \$\{corpora.train\}.*\[init"),
    ],
)
def test_what_would_not_work_is_refused_before_anything_is_read(
    trainer: str, has_corpus: bool, message: str
) -> None:
    online = {"loss": {"@misc": "spacy_cascade.Hinge.v2"}, "penalty": None}
    settings: dict[str, Any] = {} if trainer == "LBFGS" else online
    nlp = cascade({**settings, "trainer": {"@misc": f"spacy_cascade.{trainer}.v1"}}, {})
    nlp.config["training"] = {"max_epochs": -1}

    def fail(*_: Any) -> Iterator[Example]:
        raise AssertionError("read")
        yield

    with pytest.raises(ConfigError, match=message):
        nlp.get_pipe("cascade_segmenter").initialize(
            fail, nlp=nlp, corpus=fail if has_corpus else None
        )


def test_max_epochs_may_be_a_variable() -> None:
    nlp = cascade()
    nlp.config["vars"] = {"passes": -1}
    nlp.config["training"] = {"max_epochs": "${vars.passes}"}
    with pytest.raises(ConfigError, match="on a stream"):
        nlp.initialize(lambda: make_examples(nlp))


def online_cascade() -> Language:
    trainer = {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1}
    settings = {
        "loss": {"@misc": "spacy_cascade.Hinge.v2"}, "penalty": None, "trainer": trainer,
    }  # fmt: skip
    return cascade(settings, settings)


def test_adaptation_to_a_stream_holds_no_references(tmp_path: Path) -> None:
    nlp = online_cascade()
    nlp.initialize(lambda: make_examples(nlp))
    nlp.update(make_examples(nlp))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    seen: WeakSet[Doc] = WeakSet()
    for number in range(30):
        example = make_example(loaded, *SENTENCES[number % len(SENTENCES)])
        seen.add(example.reference)
        loaded.update([example])
        del example
    gc.collect()
    assert len(seen) == 0
    assert all(len(loaded.get_pipe(name)._seen) == len(SENTENCES) for name in NAMES)


def test_words_are_forgotten_while_a_stream_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which changes no weight."""
    kept, forgetful = online_cascade(), online_cascade()
    for nlp, most in ((kept, 1 << 18), (forgetful, 5)):
        monkeypatch.setattr(learning, "MAXIMUM_LEXEMES", most)
        nlp.initialize(lambda: make_examples(nlp))  # noqa: B023
        for example in make_examples(nlp) * 2:
            nlp.update([example])
    tables = [len(nlp.get_pipe("cascade_segmenter").space.lexemes) for nlp in (kept, forgetful)]
    assert tables[1] < tables[0]
    for name in NAMES:
        for found, wanted in zip(
            weights(forgetful.get_pipe(name)), weights(kept.get_pipe(name)), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
