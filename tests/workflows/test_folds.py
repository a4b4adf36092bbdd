"""Configs of trainings on parts of a corpus: what is changed in them, and what stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import PROJECT, SENTENCES, gold_doc
from spacy_cascade import ConfigError
from spacy_cascade.workflows.folds import (
    as_given,
    check_folds,
    entity_f1,
    filled_config,
    saving_callback,
    train_pipeline,
    with_corpora,
    with_threads,
)
from spacy_cascade.workflows.jackknife import read_config

TRAIN, DEV = Path("a.spacy"), Path("b.spacy")
SPACY_READER, OWN_READER = "spacy.Corpus.v1", "spacy_cascade.Corpus.v1"


def test_there_are_as_many_docs_as_folds() -> None:
    check_folds(2, 2, TRAIN)
    with pytest.raises(ConfigError, match="2 folds or more, not 1"):
        check_folds(5, 1, TRAIN)
    with pytest.raises(ConfigError, match="has 2 Docs, too few for 3 folds"):
        check_folds(2, 3, TRAIN)


def test_threads_are_those_of_all_trainers_that_have_threads() -> None:
    given = {
        "wrapped": {"trainer": {"threads": 4, "trainer": {"threads": 2, "iterations": 3}}},
        "online": {"trainer": {"C": 1.0}},
        "none": {"factory": "sentencizer"},
    }
    found = with_threads(Config({"components": given}), 1)["components"]
    assert found == {
        "wrapped": {"trainer": {"threads": 1, "trainer": {"threads": 1, "iterations": 3}}},
        "online": given["online"],
        "none": given["none"],
    }
    assert given["wrapped"]["trainer"]["threads"] == 4
    assert with_threads(Config(), 1) == {}


def test_the_training_of_the_user_takes_the_place_of_ours() -> None:
    parts = ("nlp", "paths", "corpora", "training", "initialize")
    own = Config({part: {"is_ours": True} for part in parts})
    given = Config({part: {"is_ours": False} for part in parts if part != "initialize"})
    found = as_given(own, given)
    assert {part for part in parts if found[part]["is_ours"]} == {"nlp", "initialize"}
    assert own["paths"]["is_ours"]


def test_a_filled_config_has_all_settings_and_no_variables() -> None:
    given = Config({
        "nlp": {"lang": "xx", "pipeline": ["cascade_segmenter"]},
        "components": {"cascade_segmenter": {"factory": "cascade_segmenter"}},
        "corpora": {"dev": {"@readers": SPACY_READER, "path": "${paths.dev}"}},
    })  # fmt: skip
    filled = filled_config(given, TRAIN, DEV)
    assert filled["paths"] == {"train": "a.spacy", "dev": "b.spacy"} | dict.fromkeys(
        ("vectors", "init_tok2vec")
    )
    assert filled["corpora"]["dev"]["path"] == "b.spacy"
    assert filled["components"]["cascade_segmenter"]["trainer"]["iterations"] > 0
    assert "paths" not in given
    given["components"]["cascade_segmenter"]["nonsense"] = 1
    with pytest.raises(ConfigError, match=r"The training config cannot be used.*nonsense"):
        filled_config(given, TRAIN, DEV)
    given["components"]["cascade_segmenter"] = {"factory": "cascade_segmenter", "n_best": 0}
    with pytest.raises(ConfigError, match=r"^n_best"):
        filled_config(given, TRAIN, DEV)


@pytest.mark.parametrize("variable", ["${paths.nowhere}", "${corpora.dev.path}", "${paths"])
def test_variables_that_have_no_value_are_named(variable: str) -> None:
    """One stands for itself."""
    given = Config({
        "nlp": {"lang": "xx"}, "corpora": {"dev": {"path": variable}}, "training": {},
    })  # fmt: skip
    for attempt in (
        lambda: filled_config(given, TRAIN, DEV),
        lambda: train_pipeline(given, [], DEV),
    ):
        with pytest.raises(ConfigError, match=r"The training config cannot be used.*interpolation"):
            attempt()


def test_nothing_is_done_before_saving_where_nothing_is_said(trained: Language) -> None:
    for training in ({}, {"before_to_disk": None}):
        assert saving_callback(Config({"training": training}))(trained) is trained


def test_f1_of_entities_is_a_number_also_where_there_are_none(
    trained: Language, tmp_path: Path
) -> None:
    path = tmp_path / "dev.spacy"
    docs = [gold_doc(trained.vocab, *sentence) for sentence in SENTENCES[:2]]
    DocBin(docs=docs).to_disk(path)
    assert entity_f1(trained, path) == 1.0
    DocBin(docs=[Doc(trained.vocab, words=["Nothing"])]).to_disk(path)
    assert entity_f1(trained, path) == 0.0


def reader_of(section: Any) -> dict[str, Any]:
    config = Config({
        "corpora": {"mine": section}, "training": {"train_corpus": "corpora.mine"},
    })  # fmt: skip
    found: dict[str, Any] = with_corpora(config, TRAIN, DEV)["corpora"]["train"]
    return found


@pytest.mark.parametrize("name", [SPACY_READER, OWN_READER])
def test_readers_that_know_paths_keep_their_settings(name: str) -> None:
    given = {"@readers": name, "limit": 1, "path": "c.spacy"}
    assert reader_of(given) == {"@readers": name, "limit": 1, "path": "a.spacy"}


@pytest.mark.parametrize("given", [{"@readers": "another"}, {"limit": 1}, None])
def test_other_readers_are_replaced_by_that_of_spacy(given: Any) -> None:
    assert reader_of(given) == {"@readers": SPACY_READER, "path": "a.spacy"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        ({"@callbacks": "spacy_cascade.checkpoints.v1", "path": "c"}, None),
        ({"@callbacks": "another"}, {"@callbacks": "another"}),
    ],
)
def test_a_part_is_trained_without_a_log_and_without_checkpoints(before: Any, after: Any) -> None:
    config = Config({
        "training": {"before_update": before, "seed": 3},
        "initialize": {"components": {"one": {"corpus": None}, "two": {"corpus": {"limit": 1}}}},
    })  # fmt: skip
    found = with_corpora(config, TRAIN, DEV)
    assert found["training"] == {
        "before_update": after, "seed": 3, "train_corpus": "corpora.train",
        "dev_corpus": "corpora.dev",
        "logger": {"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False},
    }  # fmt: skip
    corpora = {
        part: {"@readers": SPACY_READER, "path": path}
        for part, path in (("train", "a.spacy"), ("dev", "b.spacy"))
    }
    assert found["corpora"] == corpora
    components = found["initialize"]["components"]
    assert components == {"one": {"corpus": None}, "two": {"corpus": corpora["train"]}}


def test_a_pipeline_is_trained_with_a_vocabulary_and_finished_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The callback that is called before it is saved sees the best one alone; nothing is said."""
    finished: list[Language] = []

    @registry.callbacks("tests.finish.v1")
    def make() -> Any:
        return lambda nlp: finished.append(nlp) or nlp

    config = read_config(PROJECT / "configs/tagger.cfg", {"training.max_steps": 1})
    config["training"]["before_to_disk"] = {"@callbacks": "tests.finish.v1"}
    vocab = Vocab()
    docs = [Doc(vocab, words=["it", "binds"], tags=["PRP", "VBZ"])]
    path = tmp_path / "dev.spacy"
    DocBin(docs=docs).to_disk(path)
    nlp = train_pipeline(config, docs, path, vocab)
    assert tuple(capsys.readouterr()) == ("", "")
    assert finished == [nlp]
    assert nlp.vocab is vocab
    assert nlp.config["training"]["before_to_disk"] == {"@callbacks": "tests.finish.v1"}
    assert [token.tag_ for token in nlp(Doc(vocab, words=["it", "binds"]))] == ["PRP", "VBZ"]
