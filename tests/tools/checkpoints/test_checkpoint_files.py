"""What a checkpoint says of its training, and files that were edited by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.training.loop import create_evaluation_callback

from spacy_cascade.errors import ConfigError, ModelFileError
from spacy_cascade.storage import archive
from spacy_cascade.tools.checkpoints import callback as checkpoints
from spacy_cascade.tools.checkpoints.files import (
    Checkpoint,
    Evaluation,
    pack,
    read_checkpoint,
    reading,
    unpack,
)

WEIGHTS = {"f": 0.75, "p": 0.25, "r": None}


def test_the_best_step_is_spacys(generator: np.random.Generator) -> None:
    """By the function that its loop evaluates with; scores are few, so that some are equal."""
    for _ in range(200):
        scores = [
            {name: generator.choice([0.0, 0.5, 1.0]) for name in ("f", "p", "r")}
            for _ in range(generator.integers(1, 6))
        ]
        for each in scores:
            if generator.random() < 0.2:
                each["fp"[generator.integers(2)]] = None
        given = iter(scores)
        nlp = SimpleNamespace(evaluate=lambda _, given=given: next(given))
        evaluate = create_evaluation_callback(nlp, lambda _: [], WEIGHTS)
        results = [evaluate()[0] for _ in scores]
        best = max(i for i, score in enumerate(results) if score == max(results))
        past = [Evaluation(3 * i, {}, each) for i, each in enumerate(scores)]
        assert replace(saved(), evaluations=past).best_step(WEIGHTS) == 3 * best


def saved() -> Checkpoint:
    return Checkpoint(
        {"nlp.lang": "en", "a/b": "0f"}, step=4, epoch=1,
        evaluations=[Evaluation(at, {"a": 1.5}, {"f": 0.5, "by": {"X": None}}) for at in (0, 2)],
        losses={"a": 0.25}, best={"a/b": {"weights": np.ones((2, 3), np.float32)}},
        trainings={"a/b": {"iteration": 3, "large": 2**127, "move 0": np.arange(3.0)}},
        begun={"a/b": 2},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("max_steps", "max_epochs", "message"),
    [
        (0, 0, None),
        (4, 2, None),
        (-1, -1, None),
        (3, 0, r"max_steps = 3 in \[training\] is too low, it needs 4 or more"),
        (0, 1, r"max_epochs = 1 in \[training\] is too low, it needs 2 or more"),
        (1, 0, "max_steps = 1"),
    ],
)
def test_training_has_to_reach_its_checkpoint(
    max_steps: int, max_epochs: int, message: str | None
) -> None:
    """0 stands for no end."""
    training = {"max_steps": max_steps, "max_epochs": max_epochs}
    if message is None:
        checkpoints.check_end(saved(), training, "It")
        return
    with pytest.raises(ConfigError, match=message):
        checkpoints.check_end(saved(), training, "It")


@pytest.mark.parametrize(
    ("every", "resume", "is_there", "restored", "written"),
    [
        (2, True, True, [4], [6, 8]),
        (1, True, True, [4], [5, 6, 7, 8, 9]),
        (3, True, False, [], [3, 6, 9]),
        (3, False, True, [], [3, 6, 9]),
    ],
)
def test_when_it_restores_and_writes(
    every: int, resume: bool, is_there: bool, restored: list[int], written: list[int],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Before the update that the checkpoint stands at, and then before every so many."""
    found: dict[str, list[Any]] = {"restored": [], "written": []}
    at = [0]

    def restore(pipe: object, state: dict[str, Any]) -> None:
        assert state["iteration"] == 3
        found["restored"].append(at[0])

    checkpoint = replace(saved(), begun={})
    for name, stands in {
        "check_pipeline": lambda nlp: None,
        "training_fingerprint": lambda nlp: checkpoint.origin,
        "trained_pipes": lambda nlp: [("a/b", None)],
        "training_state": lambda pipe: {"at": at[0]},
        "restore_training": restore,
        "read_checkpoint": lambda path: checkpoint if is_there else None,
        "pack": lambda made: found["written"].append(made),
        "replace_file": lambda path, made: None,
    }.items():
        monkeypatch.setattr(checkpoints, name, stands)
    training = {"max_steps": 0, "max_epochs": 0, "score_weights": {"f": 1.0}}
    nlp: Any = SimpleNamespace(config={"training": training})
    left, others = tmp_path / ".c.npz.0123456789abcdef", tmp_path / ".c.npz.0123"
    for file in (left, others):
        file.write_bytes(b"half")
    before_update = checkpoints.make_checkpoints(str(tmp_path / "c.npz"), every, resume)
    for at[0] in range(10):
        before_update(nlp, {"step": at[0], "epoch": at[0] // 4})
    assert found["restored"] == restored
    assert [made.step for made in found["written"]] == written
    assert not left.exists(), "what a killed process has left is removed"
    assert others.exists()
    for made in found["written"]:
        assert (made.epoch, made.origin) == (made.step // 4, checkpoint.origin)
        assert len(made.evaluations) == (2 if restored else 0)
        assert made.trainings == {"a/b": {"at": made.step}}


def test_without_a_path_nothing_is_done() -> None:
    assert checkpoints.make_checkpoints(None)(None, {"step": 0, "epoch": 0}) is None


def test_all_that_is_written_is_read(tmp_path: Path) -> None:
    checkpoint = saved()
    assert read_checkpoint(tmp_path / "c.npz") is None
    (tmp_path / "c.npz").write_bytes(pack(checkpoint))
    again = read_checkpoint(tmp_path / "c.npz")
    assert again is not None
    for one, other in ((again.trainings, checkpoint.trainings), (again.best, checkpoint.best)):
        np.testing.assert_equal(one, other)
    assert replace(again, trainings={}, best={}) == replace(checkpoint, trainings={}, best={})


def test_a_score_that_is_no_number_stays_as_it_is() -> None:
    past = [Evaluation(0, {}, {"f": float("nan"), "g": [float("inf")]})]
    odd = replace(saved(), evaluations=past)
    again = unpack(pack(odd), "it")
    np.testing.assert_equal(again.evaluations[0].scores, odd.evaluations[0].scores)
    assert again.best_step({"f": 1.0}) is None


@pytest.mark.parametrize(
    "error",
    [OSError(), KeyError("x"), TypeError(), ValueError(), AttributeError(), OverflowError()],
)
def test_what_goes_wrong_with_contents_is_one_error(error: Exception) -> None:
    """Errors of the package say already what is wrong; others are none of the contents."""
    with (
        pytest.raises(ModelFileError, match=r"^It cannot be read, .*resume = false"),
        reading("It"),
    ):
        raise error
    with pytest.raises(ConfigError, match="as it is"), reading("It"):
        raise ConfigError("as it is")
    with pytest.raises(MemoryError), reading("It"):
        raise MemoryError


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[:-400] + bytes([data[-400] ^ 1]) + data[-399:],
    "empty": lambda data: b"",
    "a model": lambda data: archive.write({"header": np.frombuffer(b'{"format": "x"}', np.uint8)}),
    "a text": lambda data: b"no checkpoint",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    (tmp_path / "c.npz").write_bytes(DAMAGES[damage](pack(saved())))
    with pytest.raises(ModelFileError, match=r"c\.npz cannot be read.*resume = false"):
        read_checkpoint(tmp_path / "c.npz")
    with pytest.raises(ModelFileError, match=r"cannot be read.*IsADirectoryError"):
        read_checkpoint(tmp_path)


HUGE = 10**400


def header() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(dict(archive.read(pack(saved())))["header"].tobytes())
    return table


def packed(text: str) -> bytes:
    """With the arrays of the saved one."""
    arrays = dict(archive.read(pack(saved())))
    return archive.write({**arrays, "header": np.frombuffer(text.encode(), np.uint8)})


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(table: dict[str, Any]) -> None:
        place: Any = table
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        put("step", value=value) for value in (-1, 1.5, "2", None, True, [], HUGE, 2**60)
    ]
    + [put("epoch", value=value) for value in (-1, "1", None, HUGE)]
    + [put("origin", value=value) for value in (None, [], "x")]
    + [put("losses", value=value) for value in (None, [], {"a": "x"}, {"a": HUGE})]
    + [put("evaluations", value=value) for value in (None, {}, [None], [[]], [{}])]
    + [put("evaluations", 0, "step", value=value) for value in ("0", -1, None, 0.5)]
    + [put("evaluations", 0, "losses", value=value) for value in (None, {"a": None})]
    + [put("evaluations", 0, "scores", value=value) for value in (None, [])]
    + [put("best", value=value) for value in (None, [], {"a/b": 1}, {"a/b": {"x": {"array": 9}}})]
    + [put("trainings", "a/b", "x", value={"array": value}) for value in (None, [], HUGE, -1, "x")]
    + [put("format", value="x"), put("version", value=2)]
    + [put("trainings", value=value) for value in (None, [], {"a": []})]
    + [put("begun", "a/b", value=value) for value in (0, "1", None, HUGE)]
    + [put("more", value=1), lambda table: table.pop("losses")],
)  # fmt: skip
def test_an_edited_one_is_refused(edit: Callable[[dict[str, Any]], Any]) -> None:
    table = header()
    edit(table)
    with pytest.raises(ModelFileError, match="cannot be read"):
        unpack(packed(json.dumps(table)), "it")


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (put("step", value=0), "'step': Input should be greater than or equal to 1"),
        (put("evaluations", 0, "step", value="0"), "'evaluations.0.step': "),
        (put("more", value=1), "'more': "),
        (put("version", value=2), "'version': Input should be 1"),
    ],
)
def test_the_wrong_field_is_named(edit: Callable[[dict[str, Any]], Any], field: str) -> None:
    table = header()
    edit(table)
    with pytest.raises(ModelFileError, match=re.escape(field)):
        unpack(packed(json.dumps(table)), "it")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_refused(constant: str) -> None:
    text = json.dumps(header()).replace("1.5", constant)
    with pytest.raises(ModelFileError, match="cannot be read"):
        unpack(packed(text), "it")


def test_deep_nesting_is_refused() -> None:
    text = json.dumps(header()).replace('"en"', "[" * 200_000 + "]" * 200_000)
    with pytest.raises(ModelFileError, match="recursion limit"):
        unpack(packed(text), "it")


@given(st.binary(max_size=40), st.integers(0, 2000))
def test_any_bytes_in_any_place(piece: bytes, place: int) -> None:
    text = bytearray(json.dumps(header()).encode())
    text[place : place + len(piece)] = piece
    with suppress(ModelFileError):
        unpack(archive.write({"header": np.frombuffer(bytes(text), np.uint8)}), "it")
