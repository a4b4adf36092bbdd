"""Members of an ensemble: what each is drawn to have, their training, and the penalty."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import registry
from spacy.vocab import Vocab

from commands import check_errors, few_steps, run_training, small_training
from helpers import (
    LANGUAGE,
    SENTENCES,
    annotations,
    blank,
    gold_doc,
    make_doc,
    make_examples,
    sample_docs,
    write_sample,
)
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.parallel import available_cores
from spacy_cascade.systems.ensembles.members import Member
from spacy_cascade.systems.ensembles.workflow import (
    Drawing,
    EnsembleTask,
    assemble,
    ensemble_of,
    train_ensemble,
    tune_penalty,
)
from spacy_cascade.tools.recipes import Choices, make_config
from spacy_cascade.workflows.reconfigure import with_settings

SETS = [
    f"components.{name}.model.templates" for name in ("cascade_segmenter", "cascade_classifier")
]


def lines(config: Any, place: str) -> list[str]:
    section = config
    for part in place.split("."):
        section = section[part]
    return list(registry.resolve({"set": section})["set"].templates)


@pytest.fixture(scope="module")
def config() -> Any:
    return make_config(Choices(sentences=True, small=True, no_words=True))


@pytest.mark.parametrize("place", SETS)
def test_members_have_a_share_of_the_lines_of_a_template_set(config: Any, place: str) -> None:
    before = lines(config, place)
    for share in (0.3, 0.7):
        drawn = [lines(Drawing(features=share).config(config, n), place) for n in range(9)]
        wanted = 1 + round(share * (len(before) - 1))
        for found in drawn:
            assert found == [line for line in before if line in found]
            assert found[0] == "bias"
            # A line goes together with those that contain it, so not every number can be had.
            assert wanted <= len(found) <= wanted + 3
        assert len(set(map(tuple, drawn))) == 9
    one, other = (Drawing(features=0.5, seed=seed) for seed in (1, 2))
    assert one.config(config, 3) == one.config(config, 3)
    assert lines(one.config(config, 3), place) != lines(other.config(config, 3), place)
    assert Drawing().config(config, 0)["components"] == config["components"]


def test_a_set_that_is_written_out_and_further_templates(config: Any) -> None:
    given = [f"word@{i}" for i in range(-5, 6)]
    changed = config.copy()
    for name, section in (
        ("cascade_segmenter", {"@misc": "spacy_cascade.Templates.v1", "templates": given}),
        ("cascade_classifier", {"@misc": "spacy_cascade.TaggingTemplates.v1", "extra": given}),
    ):
        rest = {"patterns": {}, "lexicons": {}} if "templates" in section else {}
        changed["components"][name]["model"]["templates"] = {**section, **rest}
    drawn = Drawing(features=0.5).config(changed, 1)
    assert 5 <= len(lines(drawn, SETS[0])) <= 8
    kept = set(given).intersection(lines(drawn, SETS[1]))
    assert 0 < len(kept) < len(given)
    changed["components"]["cascade_segmenter"]["model"]["templates"] = {"@misc": "theirs.v1"}
    with pytest.raises(ConfigError, match=r"template set theirs\.v1"):
        Drawing(features=0.5).config(changed, 0)


def test_members_have_a_share_of_the_docs_with_every_label() -> None:
    docs = sample_docs(Vocab())
    every = {entity.label_ for doc in docs for entity in doc.ents}
    drawn = [Drawing(data=0.3).docs(docs, number) for number in range(10)]
    for found in drawn:
        assert {entity.label_ for doc in found for entity in doc.ents} == every
        assert 0.3 * len(docs) - 1 < len(found) < 0.3 * len(docs) + len(every) + 1
        assert found == [doc for doc in docs if doc in found]
    assert len({tuple(map(id, found)) for found in drawn}) == 10
    assert Drawing().docs(docs, 0) == docs
    labels = ["rare", *["frequent"] * 9]
    few = [gold_doc(docs[0].vocab, "It is IL-2", [(2, 3, label)]) for label in labels]
    for number in range(20):
        found = Drawing(data=0.1).docs(few, number)
        assert found[0] is few[0]
        assert len(found) == 2  # one for each label


@pytest.mark.parametrize("settings", [{"features": 0.0}, {"data": 1.5}, {"features": -1.0}])
def test_shares_out_of_range(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="above 0 and up to 1"):
        Drawing(**settings)
    with pytest.raises(ConfigError, match="no cascade_ensemble"):
        ensemble_of(blank())


def test_the_penalty_with_the_best_f1(trained: Language) -> None:
    """The curve is the F1 that spaCy finds; the best of means of three neighbours is taken."""
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble")
    members = []
    for temperature in (4.0, 8.0):
        stages = ("cascade_segmenter", "cascade_classifier")
        unsure = with_settings(trained, {name: {"temperature": temperature} for name in stages})
        data = unsure.to_bytes(exclude=["vocab"])
        members.append(Member.from_bytes(data, f"{temperature}", nlp.vocab))
    made.set_members(members)
    examples = make_examples(nlp)
    penalties = [0.0, 0.2, 0.4, 0.6, 0.8, 0.98]
    f1 = []
    for penalty in penalties:
        ensemble_of(nlp).background_penalty = penalty
        f1.append(nlp.evaluate(examples)["ents_f"])
    assert len(set(f1)) > 2
    parts = [slice(0, 6), *(slice(i, i + 3) for i in range(4))]
    for part in parts:
        values, tuned = f1[part], tune_penalty(ensemble_of(nlp), examples, penalties[part])
        assert tuned.curve == pytest.approx(dict(zip(penalties[part], values, strict=True)))
        around = [values[0], *values, values[-1]]
        means = [sum(around[i : i + 3]) for i in range(len(values))]
        assert tuned.penalty == penalties[part][int(np.argmax(means))]
        assert tuned.f1 == tuned.curve[tuned.penalty]
    with pytest.raises(TrainingError, match="these Docs have none"):
        tune_penalty(ensemble_of(nlp), make_examples(nlp, [("Nothing else is known here .", [])]))


def test_what_is_assembled_has_nothing_of_the_training_of_its_members(
    trained: Language, config: Any, tmp_path: Path
) -> None:
    """But it knows attributes of words as they do."""
    members, empty = tmp_path / "members", tmp_path / "empty"
    for folder in (members, empty):
        folder.mkdir()
    trained.to_disk(members / "000")
    given = config.copy()
    given["nlp"].update(lang=LANGUAGE, tokenizer=trained.config["nlp"]["tokenizer"])
    given["training"].update(
        before_to_disk={"@callbacks": "spacy_cascade.nothing"},
        frozen_components=["cascade_segmenter"],
        annotating_components=["cascade_segmenter"],
        score_weights={"sents_f": 1.0},
    )
    nlp = assemble(given, members)
    training = nlp.config["training"]
    assert training["frozen_components"] == training["annotating_components"] == []
    assert training["before_to_disk"] is None
    assert training["score_weights"].keys() == {"ents_f", "ents_p", "ents_r", "ents_per_type"}
    (word,) = make_doc(nlp.vocab, "Xyz-7")
    assert (word.lower_, word.shape_, word.lang_) == ("xyz-7", "Xxx-d", LANGUAGE)
    assert annotations(nlp)[0]["ents"] == annotations(trained)[0]["ents"]
    with pytest.raises(ConfigError, match="has no trained pipelines"):
        assemble(given, empty)


@pytest.mark.slow(kind="workflows")
def test_members_are_trained_in_processes(config: Any, tmp_path: Path) -> None:
    """Their number changes nothing; members of one drawing of everything are the same."""
    corpora = [write_sample(tmp_path / f"{part}.spacy", part, 12) for part in ("train", "dev")]
    for name in ("cascade_segmenter", "cascade_classifier"):
        config["components"][name]["trainer"]["iterations"] = 2
    seen: list[str] = []
    found = []
    for processes in (1, 2):
        task = EnsembleTask((config,), *corpora, 2, Drawing(features=0.6))
        nlp, report = train_ensemble(task, processes, lambda member: seen.append(member.name))
        examples = list(map(str, SENTENCES))
        found.append((report, annotations(nlp, examples)))
    assert sorted(seen) == ["000", "000", "001", "001"]
    assert found[0] == found[1]
    nlp.to_disk(tmp_path / "OUT")
    loaded = spacy.load(tmp_path / "OUT")
    assert [member.name for member in ensemble_of(loaded).members] == ["000", "001"]
    sets = [member.segmenter.space.templates.templates for member in ensemble_of(nlp).members]
    assert all(one != other for one, other in pairwise(sets))
    of_member = ensemble_of(nlp).members[0].nlp.config["components"]["cascade_segmenter"]
    assert of_member["trainer"]["threads"] == max(1, available_cores() // 2)  # of two processes
    assert loaded.config["components"]["cascade_ensemble"]["background_penalty"] == (
        found[0][0].tuned.penalty
    )


run = partial(run_training, "combine", "ensemble")


@pytest.mark.slow(kind="commands")
def test_the_command_writes_a_pipeline_and_says_how_good_it_is(tmp_path: Path) -> None:
    given = small_training(tmp_path)
    more = ("--members", 2, "--also", given["config"], "--processes", 2, *few_steps())
    said, _ = run(given, tmp_path / "OUT", *more)
    assert "member 000" in said
    assert "2 members, the best of them 00" in said
    assert "ensemble: F1" in said
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.pipe_names == ["cascade_ensemble"]
    member = nlp.get_pipe("cascade_ensemble").members[1]
    assert member.nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 2


def test_errors_of_the_command_are_one_line(tmp_path: Path) -> None:
    given = small_training(tmp_path)
    absent = {**given, "train": tmp_path / "absent.spacy"}
    check_errors(
        run,
        ((given, tmp_path / "OUT", "--members", 0), "at least one member, not 0"),
        ((given, tmp_path / "OUT", "--feature-share", 0), "above 0 and up to 1, not 0"),
        ((given, tmp_path / "OUT", "--doc-share", 1.2), "above 0 and up to 1, not 1.2"),
        ((given, tmp_path / "OUT", "--membres", 5), "no option or argument --membres"),
        ((given, tmp_path / "OUT", "--also", tmp_path / "no.cfg"), "no.cfg"),
        ((absent, tmp_path / "OUT"), "There is no corpus at"),
    )
    assert not (tmp_path / "OUT").exists()
