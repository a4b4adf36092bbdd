"""Training in steps: resumed, frozen, on one thread or two, through spaCy's own loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from helpers import (
    TEXTS,
    TRAINER,
    annotations,
    cascade,
    make_examples,
    sample_examples,
    train,
    trained_cascade,
    write_sample,
)
from reference import design_of
from spacy_cascade.parallel import Workers

NAMES = ["cascade_segmenter", "cascade_classifier"]


def cascade_with(trainer: dict[str, Any], **settings: Any) -> Language:
    return cascade({"trainer": trainer, **settings}, {"trainer": trainer, **settings})


def model_bytes(nlp: Language) -> dict[str, bytes]:
    return {name: nlp.get_pipe(name).to_bytes() for name in nlp.pipe_names}


# Steps


def test_many_short_updates_are_one_long_one() -> None:
    """The optimiser keeps its memory between updates."""
    results = []
    for iterations, updates in ((12, 1), (4, 3), (1, 12)):
        nlp = cascade_with({**TRAINER, "iterations": iterations})
        train(nlp, make_examples(nlp), updates=updates)
        results.append(model_bytes(nlp))
    assert results[0] == results[1] == results[2]


def test_another_corpus_starts_from_the_weights() -> None:
    nlp = cascade()
    first = make_examples(nlp)
    nlp.initialize(lambda: first)
    last = nlp.update(first, losses={})
    again = nlp.update(make_examples(nlp), losses={})
    assert all(again[name] <= last[name] * 1.001 for name in NAMES)


def test_features_are_learnt_from_what_training_sees(tmp_path: Path) -> None:
    """spaCy's corpus reader hides the sentence starts of the reference, but tags may be known."""
    corpus = write_sample(tmp_path / "train.spacy", n_docs=10)
    tagged = {
        "min_count": 1,
        "templates": {
            "@misc": "spacy_cascade.Templates.v1",
            "templates": ["word@-1..1", "word@0 & word@1", "tag"],
            "patterns": {},
            "lexicons": {},
        },
    }
    nlp = cascade({"model": tagged})
    examples = list(Corpus(corpus)(nlp))
    for example in examples:
        for token in example.reference:
            token.tag_ = "NN" if token.ent_iob_ == "B" else "XX"
    assert not examples[0].predicted.has_annotation("SENT_START")
    nlp.initialize(lambda: examples)
    n_features = {name: len(nlp.get_pipe(name).space) for name in NAMES}
    for example in examples:
        for token, source in zip(example.predicted, example.reference, strict=True):
            token.tag_ = source.tag_  # as an annotating tagger would
    nlp.update(examples)
    for name in NAMES:
        counts = design_of(nlp.get_pipe(name)._fit._objective.loss.data).counts(Workers(1))
        assert len(counts) == n_features[name]
        assert counts.min() >= 1.0


# Resuming


def resumed_config(nlp: Language, folder: Path, frozen: list[str], corpus: Path) -> Any:
    config = nlp.config.copy()
    for name in NAMES:
        config["components"][name] = {"source": str(folder)}
    config["paths"].update(train=str(corpus), dev=str(corpus))
    config["training"]["frozen_components"] = frozen
    config["training"]["batcher"] = {"@batchers": "spacy_cascade.WholeCorpus.v1"}
    return config


def converged_cascade() -> tuple[Language, dict[str, float]]:
    nlp = cascade_with({**TRAINER, "iterations": 60})
    return nlp, train(nlp, sample_examples(nlp, n_docs=2), updates=2)[-1]


def test_resuming_from_a_config(tmp_path: Path) -> None:
    """`[components.x] source = PATH`: not initialized again, and adapted."""
    first, last = converged_cascade()
    first.to_disk(tmp_path / "first")
    corpus = write_sample(tmp_path / "train.spacy", n_docs=2)
    config = resumed_config(first, tmp_path / "first", [], corpus)
    nlp = init_nlp(config)
    assert model_bytes(nlp) == model_bytes(first)
    for name in NAMES:
        assert nlp.get_pipe(name).labels == first.get_pipe(name).labels
    examples = sample_examples(nlp, n_docs=2)
    losses = nlp.update(examples, losses={})
    for name in NAMES:
        assert losses[name] < last[name]  # the prior asks nothing of weights that stay
    # A new Doc takes it on from there.
    more = sample_examples(nlp, n_docs=3)
    values = [nlp.update(more, losses={}) for _ in range(3)]
    assert values[-1]["cascade_segmenter"] <= values[0]["cascade_segmenter"]


# The same result whatever the machine does


def test_threads_change_no_byte() -> None:
    results = []
    for threads in (1, 3):
        nlp = cascade_with({**TRAINER, "iterations": 2, "threads": threads})
        train(nlp, sample_examples(nlp, n_docs=10), updates=1)
        results.append(model_bytes(nlp))
    assert results[0] == results[1]


TRAIN_AGAIN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from helpers import trained_cascade
nlp = trained_cascade()
for name in nlp.pipe_names:
    Path(sys.argv[2], name).write_bytes(nlp.get_pipe(name).to_bytes())
"""


@pytest.mark.slow(kind="fresh process")
def test_another_process_trains_the_same_bytes(tmp_path: Path) -> None:
    """Also where texts hash otherwise."""
    helpers = str(Path(__file__).parents[1] / "support")
    subprocess.run(
        [sys.executable, "-c", TRAIN_AGAIN, helpers, str(tmp_path)],
        env={**os.environ, "PYTHONHASHSEED": "17"},
        check=True,
    )
    for name, data in model_bytes(trained_cascade()).items():
        assert (tmp_path / name).read_bytes() == data


def test_the_order_of_examples_changes_no_prediction() -> None:
    first, second = cascade(), cascade()
    train(first, make_examples(first))
    train(second, make_examples(second)[::-1])
    for one, other in zip(annotations(first), annotations(second), strict=True):
        assert one["ents"] == other["ents"]
        assert one["scores"]["cascade"] == pytest.approx(other["scores"]["cascade"], abs=1e-2)


def test_training_again_forgets_the_former_training(trained: Language) -> None:
    nlp = cascade()
    train(nlp, make_examples(nlp, [(TEXTS[0], [(0, 1, "DNA"), (1, 2, "cell"), (2, 3, "protein")])]))
    train(nlp, make_examples(nlp))
    assert annotations(nlp) == annotations(trained)


# spaCy's loop


@pytest.mark.slow(kind="spaCy's loop")
def test_the_training_loop_keeps_the_best_model(tmp_path: Path) -> None:
    corpus, dev = (
        write_sample(tmp_path / f"{split}.spacy", split, n_docs=6) for split in ("train", "dev")
    )
    config = load_config(Path(__file__).parents[2] / "configs" / "memb.cfg")
    config["paths"] = {"train": str(corpus), "dev": str(dev)}
    config["training"]["max_steps"] = 4
    config.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "out")
    best, last = (spacy.load(tmp_path / "out" / f"model-{name}") for name in ("best", "last"))
    scores = best.meta["performance"]
    assert scores["ents_f"] >= last.meta["performance"]["ents_f"] > 0.0
    evaluated = best.evaluate(list(Corpus(dev)(best)))
    for name in ("ents_f", "ents_p", "segments_f", "types_acc"):
        assert evaluated[name] == pytest.approx(scores[name])
    assert {f"{name}_loss" for name in NAMES} <= set(scores)


@pytest.mark.slow(kind="spaCy's loop")
def test_the_training_loop_collects_minibatches(tmp_path: Path) -> None:
    corpus = write_sample(tmp_path / "train.spacy", n_docs=6)
    config = load_config(Path(__file__).parents[2] / "configs" / "memb.cfg")
    config["paths"] = {"train": str(corpus), "dev": str(corpus)}
    config["training"]["batcher"] = {
        "@batchers": "spacy.batch_by_sequence.v1", "size": 2, "get_length": None
    }  # fmt: skip
    config["training"].update(max_steps=12, eval_frequency=6, patience=0)
    config.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "out")
    assert spacy.load(tmp_path / "out" / "model-best").meta["performance"]["ents_f"] > 0.5
