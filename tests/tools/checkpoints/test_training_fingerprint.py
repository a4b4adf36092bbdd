"""What tells one training from another, and which trainings checkpoints cannot hold."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.language import Language

from helpers import SENTENCES, Sentence, add_segmenter, blank, cascade, make_examples
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.pipeline.learning import restore_training, training_state
from spacy_cascade.tools.checkpoints.callback import (
    check_pipeline,
    check_same,
    trained_pipes,
    training_fingerprint,
)

SAVED = {"training.seed": 0, "components.a.loss.kappa": 6.0, "a": "0f"}


def test_the_same_training_is_the_same() -> None:
    check_same(SAVED, dict(SAVED), "It")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"training.seed": 5}, r"^It belongs .*: \[training\] seed was 0, and is 5 now\. Train"),
        (
            {"components.a.loss.kappa": "x" * 200},
            rf"\[components.a.loss\] kappa .* '{'x' * 99} now",
        ),
        ({"nlp.lang": "en"}, r"\[nlp\] lang was not there, and is 'en' now"),
        ({"training.seed": None}, r"\[training\] seed was 0, and is None now"),
    ],
)
def test_other_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_same(SAVED, {**SAVED, **settings}, "It")


def test_a_setting_that_is_gone_is_named() -> None:
    with pytest.raises(ConfigError, match=r"\[training\] seed was 0, and is not there now"):
        check_same(SAVED, {"components.a.loss.kappa": 6.0, "a": "0f"}, "It")


@pytest.mark.parametrize("starts", [{"a": "0e"}, {}])
def test_another_beginning_is_named(starts: dict[str, str]) -> None:
    now = {name: value for name, value in SAVED.items() if name != "a"} | starts
    with pytest.raises(TrainingError, match=r"^It belongs .*: 'a' began with other labels"):
        check_same(SAVED, now, "It")


def begun(n_examples: int = 6, sentences: list[Sentence] = SENTENCES) -> Language:
    """A cascade that has seen some of the examples, and was not trained yet."""
    nlp = cascade()
    nlp.add_pipe("sentencizer")
    examples = make_examples(nlp, sentences)[:n_examples]
    nlp.initialize(lambda: examples)
    return nlp


def test_settings_that_do_not_matter_are_no_part_of_it() -> None:
    nlp = begun()
    nlp.config["corpora"] = {"train": {"path": "here", "gold_preproc": False}}
    first = training_fingerprint(nlp)
    trainer = nlp.config["components"]["cascade_segmenter"]["trainer"]
    trainer.update(threads=7, workers=3)
    nlp.config["corpora"]["train"]["path"] = "there"
    nlp.config["training"].update(max_steps=9, max_epochs=8, before_update={"every": 2})
    assert training_fingerprint(nlp) == first
    for section, option in (("training", "patience"), ("nlp", "batch_size")):
        nlp.config[section][option] = 77
        assert training_fingerprint(nlp)[f"{section}.{option}"] == 77
    nlp.config["corpora"]["train"]["gold_preproc"] = True
    assert training_fingerprint(nlp)["corpora.train.gold_preproc"] is True
    assert {name.partition(".")[0] for name in first if "." in name} == {
        "nlp", "training", "corpora", "components"
    }  # fmt: skip


def test_it_has_what_components_begin_with() -> None:
    """Those of this package: others are frozen or have no training."""
    first, again, other = (training_fingerprint(begun(n)) for n in (6, 6, 3))
    assert first == again
    assert {name for name in first if first[name] != other[name]} == {
        "cascade_segmenter", "cascade_classifier"
    }  # fmt: skip


def test_it_has_the_annotation_of_the_corpus() -> None:
    """Two types change places: labels, words and features are the same."""
    text, spans = SENTENCES[0]
    types = {"DNA": "protein", "protein": "DNA"}
    changed = [(start, end, types.get(label, label)) for start, end, label in spans]
    first, other = begun(), begun(sentences=[(text, changed), *SENTENCES[1:]])
    starts = [training_fingerprint(nlp)["cascade_segmenter"] for nlp in (first, other)]
    assert first.get_pipe("cascade_segmenter").to_bytes() == (
        other.get_pipe("cascade_segmenter").to_bytes()
    )
    assert starts[0] != starts[1]


@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_training_goes_on_with_the_same_annotation_only(is_corrected: bool) -> None:
    nlp, other = begun(), begun()
    examples, others = make_examples(nlp), make_examples(other)
    nlp.update(examples)
    if is_corrected:
        examples[1].reference.ents = examples[1].reference.ents[:1]
        nlp.update(examples)
    other.update(others)
    pipe, twin = (each.get_pipe("cascade_classifier") for each in (nlp, other))
    state = training_state(pipe)
    if not is_corrected:
        restore_training(twin, state)
        return
    with pytest.raises(TrainingError, match="'cascade_classifier' were annotated otherwise"):
        restore_training(twin, state)


def trained_with(trainer: str = "LBFGS", **training: Any) -> Language:
    """A segmenter beside others, which sees the whole corpus unless the options say else."""
    nlp = blank()
    settings: dict[str, Any] = {"trainer": {"@misc": f"spacy_cascade.{trainer}.v1"}}
    if trainer == "PassiveAggressive":
        settings |= {"loss": {"@misc": "spacy_cascade.Hinge.v2"}, "penalty": None}
    add_segmenter(nlp, **settings)
    nlp.add_pipe("sentencizer")
    whole = {"@batchers": "spacy_cascade.WholeCorpus.v1"}
    nlp.config["training"].update({"batcher": whole, "accumulate_gradient": 1, **training})
    return nlp


PARTS = {"batcher": {"@batchers": "spacy.batch_by_words.v1", "size": 10}}


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize(
    ("trainer", "training"),
    [
        ("LBFGS", {}),
        ("LBFGS", PARTS),
        ("LBFGS", {"accumulate_gradient": 2}),
        ("PassiveAggressive", {}),
        ("PassiveAggressive", PARTS),
    ],
)
def test_what_is_collected_or_grows_cannot_go_on(
    trainer: str, training: dict[str, Any], is_warm: bool
) -> None:
    """The whole corpus in one batch can, and online training from the beginning."""
    nlp = trained_with(trainer, **training)
    nlp.get_pipe("cascade_segmenter").warm_start = is_warm
    if (trainer, training) == ("LBFGS", {}) or (trainer != "LBFGS" and not is_warm):
        check_pipeline(nlp)
        return
    message = f"collects {'features' if is_warm else 'examples'} batch by batch"
    with pytest.raises(ConfigError, match=f"^'cascade_segmenter' {message}"):
        check_pipeline(nlp)
    nlp.config["training"]["frozen_components"] = ["cascade_segmenter"]
    check_pipeline(nlp)


def test_a_seed_and_components_of_this_package_are_needed() -> None:
    nlp = trained_with(seed=0)
    check_pipeline(nlp)
    nlp.config["training"]["seed"] = None
    with pytest.raises(ConfigError, match=r"needs \[training\] seed"):
        check_pipeline(nlp)
    nlp.config["training"]["seed"] = 3
    nlp.add_pipe("tagger")
    with pytest.raises(ConfigError, match=r"'tagger' is trained, too"):
        check_pipeline(nlp)
    nlp.config["training"]["frozen_components"] = ["tagger"]
    check_pipeline(nlp)


def test_trained_are_components_that_learn_and_are_not_frozen() -> None:
    nlp = cascade()
    nlp.add_pipe("tagger")
    names = ["cascade_segmenter", "cascade_classifier"]
    nlp.config["training"]["frozen_components"] = []
    assert list(trained_pipes(nlp)) == [(name, nlp.get_pipe(name)) for name in names]
    nlp.config["training"]["frozen_components"] = names[:1]
    assert [name for name, _ in trained_pipes(nlp)] == names[1:]
