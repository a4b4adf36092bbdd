"""`cascade_ensemble`: what it finds, against its members; its files; and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import (
    SENTENCES,
    TEXTS,
    add_segmenter,
    annotation,
    annotations,
    blank,
    bounds,
    confidences,
    make_doc,
    make_examples,
    train,
    trained_cascade,
)
from round_trips import by_sourcing, through_bytes, through_disk, through_pickle
from spacy_cascade import ConfigError, ModelFileError, NotTrainedError
from spacy_cascade.systems.ensembles.members import Member, check_alike
from spacy_cascade.workflows.calibrate import calibrate
from spacy_cascade.workflows.reconfigure import with_settings

UNSURE = {"temperature": 3.0}
NETWORK = {
    "model": {
        "network": {
            "@misc": "spacy_cascade.WordWindow.v1", "width": 16, "hidden": 16, "epochs": 150,
        },
    },
}  # fmt: skip
NEW = "Both T cells and the STAT5 site bind Jurkat p53 cells ."
EVERYTHING = [*TEXTS, NEW]


def single_phase() -> Language:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True, temperature=2.0)
    train(nlp, make_examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cascades and a single-phase recogniser."""
    path = tmp_path_factory.mktemp("members")
    made = {
        "a": trained_cascade(UNSURE, UNSURE),
        "b": trained_cascade({"temperature": 5.0, "scheme": "IOB2"}, {"temperature": 4.0}),
        "c": single_phase(),
    }
    for name, nlp in made.items():
        nlp.to_disk(path / name)
    return path


def ensemble(folder: Path, *names: str, **settings: Any) -> Language:
    """A pipeline with an ensemble of some pipelines of a folder."""
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble", config=settings)
    loaded = [spacy.load(folder / name, vocab=nlp.vocab) for name in names]
    made.set_members([Member.of(*pair) for pair in zip(loaded, names, strict=True)])
    return nlp


@pytest.fixture(scope="module")
def pair(folder: Path) -> Language:
    """An ensemble of two; only for prediction."""
    return ensemble(folder, "a", "b")


def listed(folder: Path, name: str) -> list[dict[tuple[int, int, str], float]]:
    """The likely spans in each text with their best types, by a pipeline's own components."""
    every = {"overlapping": True, "threshold": 0.0}
    nlp = with_settings(spacy.load(folder / name), {"cascade_segmenter": every})
    docs = [nlp(make_doc(nlp.vocab, text)) for text in EVERYTHING]
    return [
        dict(zip(bounds(doc.spans["cascade"]), confidences(doc) or [], strict=True)) for doc in docs
    ]


@pytest.mark.parametrize("penalty", [0.0, 0.8])
def test_an_ensemble_of_one_equals_its_member(folder: Path, penalty: float) -> None:
    check_ensemble_of_one(folder, "a", penalty)


def test_a_member_may_have_networks(tmp_path: Path) -> None:
    trained_cascade(NETWORK, NETWORK).to_disk(tmp_path / "d")
    check_ensemble_of_one(tmp_path, "d", 0.0)


def check_ensemble_of_one(folder: Path, member: str, penalty: float) -> None:
    """As a member decides that lists all likely spans and has the threshold of the penalty."""
    alone = with_settings(
        spacy.load(folder / member),
        {
            "cascade_segmenter": {"overlapping": True, "threshold": 0.0},
            "cascade_classifier": {"threshold": (1 - penalty) / 2},
        },
    )
    nlp = ensemble(folder, member, background_penalty=penalty)
    n_found = 0
    for text in EVERYTHING:
        one, other = nlp(make_doc(nlp.vocab, text)), alone(make_doc(alone.vocab, text))
        assert bounds(one.ents) == bounds(other.ents)
        assert [e._.confidence for e in one.ents] == pytest.approx(
            [e._.confidence for e in other.ents], rel=1e-12
        )
        n_found += len(one.ents)
    assert n_found > 5


def test_it_writes_what_its_options_say(folder: Path) -> None:
    """Entities of others stay; Docs may be empty."""
    nlp = ensemble(folder, "a", "c")
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 0, 2, "preset")])
    assert bounds(nlp(doc).ents)[0] == (0, 2, "preset")
    empty = list(nlp.pipe([Doc(nlp.vocab), Doc(nlp.vocab, words=["IL-2"]), Doc(nlp.vocab)]))
    assert [len(doc.ents) for doc in empty] == [0, 1, 0]
    assert nlp.evaluate(make_examples(nlp))["ents_f"] == 1
    made: Any = nlp.get_pipe("cascade_ensemble")
    made.cfg = {"confidence": False, "set_ents": False}
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    assert (bounds(doc.ents), confidences(doc)) == ([], None)
    assert len(doc.spans["cascade"]) == 3
    with pytest.raises(ConfigError, match="less than or equal to 1"):
        made.background_penalty = 2
    with pytest.raises(ConfigError, match="Did you mean 'background_penalty'"):
        made.cfg = {"background_penalti": 0.5}


def test_confidences_are_means_of_the_members(folder: Path) -> None:
    names = "a", "b", "c"
    nlp = ensemble(folder, *names, background_penalty=0.9)
    n_found = 0
    for text, *tables in zip(EVERYTHING, *(listed(folder, name) for name in names), strict=True):
        doc = nlp(make_doc(nlp.vocab, text))
        for entity in doc.ents:
            key = (entity.start, entity.end, entity.label_)
            if all(key in table for table in tables):  # each lists a span with its best type only
                expected = np.mean([table[key] for table in tables])
                assert entity._.confidence == pytest.approx(expected, rel=1e-9)
                n_found += 1
    assert n_found > 5


def test_batches_change_nothing(pair: Language) -> None:
    docs = [make_doc(pair.vocab, text) for text in EVERYTHING]
    together = [annotation(doc) for doc in pair.pipe(docs, batch_size=4)]
    alone = annotations(pair, EVERYTHING)
    for one, other in zip(together, alone, strict=True):
        assert one["ents"] == other["ents"]
        assert one["scores"]["cascade"] == pytest.approx(other["scores"]["cascade"], rel=1e-9)


def test_a_member_with_components_before_its_segmenter(folder: Path, tmp_path: Path) -> None:
    """They run on copies, so the Doc gets nothing from them."""
    nlp = spacy.load(folder / "a")
    ruler: Any = nlp.add_pipe("span_ruler", first=True, config={"spans_key": "ruled"})
    ruler.add_patterns([{"label": "any", "pattern": "IL-2"}])
    nlp.to_disk(tmp_path / "ruled")
    plain = ensemble(folder, "a")
    with_ruler = ensemble(tmp_path, "ruled")
    doc = with_ruler(make_doc(with_ruler.vocab, TEXTS[0]))
    assert annotation(doc) == annotations(plain, TEXTS[:1])[0]


def test_calibration_divides_log_odds_and_keeps_the_entities(pair: Language) -> None:
    nlp = pair
    before = annotations(nlp)
    examples = make_examples(nlp, [*SENTENCES, (NEW, [(1, 3, "cell")])])
    fitted, (found,) = calibrate(nlp, examples)
    assert found.component == "cascade_ensemble"
    assert found.loss < found.loss_before
    assert fitted.get_pipe("cascade_ensemble").temperature == found.temperature != 1
    assert [doc["ents"] for doc in annotations(fitted)] == [doc["ents"] for doc in before]


# Files


@pytest.mark.parametrize("way", [through_disk, through_bytes, through_pickle, by_sourcing])
def test_round_trips(
    pair: Language, tmp_path: Path, way: Callable[[Language, Path], Language]
) -> None:
    assert annotations(way(pair, tmp_path)) == annotations(pair)


def test_members_are_read_from_a_folder_by_initialize(folder: Path, tmp_path: Path) -> None:
    nlp = initialized_from(folder)
    assert [member.name for member in nlp.get_pipe("cascade_ensemble").members] == ["a", "b", "c"]
    assert annotations(nlp) == annotations(ensemble(folder, "a", "b", "c"))
    with pytest.raises(ConfigError, match="no trained pipelines"):
        initialized_from(tmp_path)
    with pytest.raises(ConfigError, match="There is no folder"):
        initialized_from(tmp_path / "nowhere")


def test_an_incomplete_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    nlp = ensemble(folder, "a", "b")
    nlp.to_disk(tmp_path)
    inside = tmp_path / "cascade_ensemble"
    (inside / "members/b").rename(tmp_path / "elsewhere")
    with pytest.raises(ModelFileError, match="does not hold the members"):
        spacy.load(tmp_path)
    for name in ("members.json", "cfg"):
        (inside / name).rename(tmp_path / name)
        with pytest.raises(ModelFileError, match=rf"Cannot read \S+{name}: "):
            spacy.load(tmp_path)
        (tmp_path / name).rename(inside / name)


def test_damaged_bytes_are_refused_and_leave_the_component(folder: Path) -> None:
    nlp = ensemble(folder, "a", "b")
    pipe: Any = nlp.get_pipe("cascade_ensemble")
    for data in (b"", b"\xc1", b"\x01", pipe.to_bytes()[:50]):
        with pytest.raises(ModelFileError, match="damaged"):
            pipe.from_bytes(data)
    nothing = srsly.msgpack_dumps({})
    with pytest.raises(ModelFileError, match="bytes of the member z are damaged"):
        Member.from_bytes(nothing, "z", nlp.vocab)
    for cfg, message in (({"temperature": -1.0}, "settings are not valid"), ([], "no table of")):
        with pytest.raises(ModelFileError, match=message):
            pipe.from_bytes(srsly.msgpack_dumps({"cfg": cfg, "members": []}))
    assert [member.name for member in pipe.members] == ["a", "b"]


def test_members_share_the_vocabulary_which_is_saved_once(pair: Language) -> None:
    for member in pair.get_pipe("cascade_ensemble").members:
        assert "vocab" not in srsly.msgpack_loads(member.to_bytes())


# What is refused


def initialized_from(path: Path) -> Language:
    nlp = blank()
    nlp.add_pipe("cascade_ensemble", config={"members": str(path)})
    nlp.initialize()
    return nlp


def test_no_members() -> None:
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble")
    with pytest.raises(ConfigError, match="at least one member"):
        made.set_members([])
    with pytest.raises(ConfigError, match=r"has no members\. Name a folder"):
        nlp.initialize()
    with pytest.raises(NotTrainedError, match="has no members yet"):
        nlp("IL-2")


def test_members_that_do_not_go_together(folder: Path) -> None:
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble")
    one, other, alone = (spacy.load(folder / name, vocab=nlp.vocab) for name in "abc")
    with pytest.raises(ConfigError, match="vocabulary of its own"):
        made.set_members([Member.of(spacy.load(folder / "a"), "a")])
    alone.get_pipe("cascade_segmenter").add_label("other")
    with pytest.raises(ConfigError, match=r"same labels\. a has DNA, cell, protein; z has"):
        made.set_members([Member.of(one, "a"), Member.of(alone, "z")])
    other.tokenizer.add_special_case("gimme", [{65: "gim"}, {65: "me"}])
    with pytest.raises(ConfigError, match="different tokenizers"):
        made.set_members([Member.of(one, "a"), Member.of(other, "z")])
    with pytest.raises(ConfigError, match="different tokenizers"):
        check_alike(None, [Member.of(one, "a"), Member.of(other, "z")])
    check_alike(None, [Member.of(one, "a")])
    other.remove_pipe("cascade_classifier")
    for nothing in (other, blank()):
        with pytest.raises(ConfigError, match="The member z finds no entities"):
            Member.of(nothing, "z")
