"""Headers of checkpoints that were edited by hand: one error that names the field."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade import ModelFileError
from spacy_cascade.storage import archive
from spacy_cascade.tools.checkpoints.files import (
    Checkpoint,
    Evaluation,
    History,
    pack,
    reading,
    unpack,
)
from spacy_cascade.tools.checkpoints.fingerprint import TrainingFingerprint
from spacy_cascade.tools.checkpoints.header import randomness, restore_randomness

Header = dict[str, Any]
SAVED = Checkpoint(
    step=2, epoch=1, origin=TrainingFingerprint({"nlp.lang": "en"}, {"a": "0f"}),
    history=History([Evaluation(0, {"a": 1.5}, {"f": 0.5, "by_type": {"X": {"p": None}}})]),
    randomness=randomness(), trainings={"a": {"iteration": 3}},
)  # fmt: skip
HUGE = 10**400


def header() -> Header:
    table: Header = json.loads(dict(archive.read(pack(SAVED)))["header"].tobytes())
    return table


def packed(text: str) -> bytes:
    return archive.write({"header": np.frombuffer(text.encode(), np.uint8)})


def test_an_untouched_one_comes_back() -> None:
    again = unpack(pack(SAVED), "it")
    assert (again.step, again.epoch, again.origin) == (SAVED.step, SAVED.epoch, SAVED.origin)
    assert again.history.evaluations == SAVED.history.evaluations
    assert again.trainings == SAVED.trainings


def test_a_score_that_is_no_number_counts_as_missing() -> None:
    odd = History([Evaluation(0, {}, {"f": float("nan"), "g": [float("inf"), 1.0]})])
    again = unpack(pack(Checkpoint(1, 0, SAVED.origin, odd, randomness(), {})), "it")
    assert again.history.evaluations[0].scores == {"f": None, "g": [None, 1.0]}


def put(*path: Any, value: Any) -> Callable[[Header], None]:
    def edit(table: Header) -> None:
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
    + [put("origin", value=value) for value in (None, [], {}, {"settings": {}})]
    + [put("origin", "starts", value=value) for value in (None, [], {"a": 1})]
    + [put("losses", value=value) for value in (None, [], {"a": "x"}, {"a": HUGE})]
    + [put("evaluations", value=value) for value in (None, {}, [None], [[]], [{}])]
    + [put("evaluations", 0, "step", value=value) for value in ("0", -1, None, 0.5)]
    + [put("evaluations", 0, "losses", value=value) for value in (None, {"a": None})]
    + [put("evaluations", 0, "scores", value=value) for value in (None, [])]
    + [put("randomness", value=value) for value in (None, [], {}, {"python": []})]
    + [put("trainings", value=value) for value in (None, [], {"a": []})]
    + [put("more", value=1), lambda table: table.pop("losses")],
)  # fmt: skip
def test_an_edited_one_is_refused(edit: Callable[[Header], Any]) -> None:
    table = header()
    edit(table)
    with pytest.raises(ModelFileError, match="is damaged or no checkpoint"):
        unpack(packed(json.dumps(table)), "it")


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (put("step", value=-1), "'step': Input should be greater than or equal to 0"),
        (put("evaluations", 0, "step", value="0"), "'evaluations.0.step': "),
        (put("more", value=1), "'more': "),
        (put("randomness", "numpy", value=[]), "'randomness.numpy': "),
    ],
)
def test_the_wrong_field_is_named(edit: Callable[[Header], Any], field: str) -> None:
    table = header()
    edit(table)
    with pytest.raises(ModelFileError, match=re.escape(field)):
        unpack(packed(json.dumps(table)), "it")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_refused(constant: str) -> None:
    text = json.dumps(header()).replace("1.5", constant)
    with pytest.raises(ModelFileError, match="is damaged or no checkpoint"):
        unpack(packed(text), "it")


def test_deep_nesting_is_refused() -> None:
    text = json.dumps(header()).replace('"en"', "[" * 200_000 + "]" * 200_000)
    with pytest.raises(ModelFileError, match="nested too deep"):
        unpack(packed(text), "it")


@given(st.binary(max_size=40), st.integers(0, 2000))
def test_any_bytes_in_any_place(piece: bytes, place: int) -> None:
    text = bytearray(json.dumps(header()).encode())
    text[place : place + len(piece)] = piece
    with suppress(ModelFileError):
        unpack(archive.write({"header": np.frombuffer(bytes(text), np.uint8)}), "it")


def test_wrong_states_are_named_by_their_generators() -> None:
    for name, edit in {
        "randomness.numpy.position": put("numpy", 2, value=625),
        "randomness.python.version": put("python", 0, value="3"),
    }.items():
        edited = states()
        edit(edited)
        with pytest.raises(ValueError, match=re.escape(f"'{name}': ")):
            restore_randomness(edited)


def states() -> Header:
    made: Header = json.loads(json.dumps(randomness()))
    return made


def test_generators_go_on() -> None:
    saved = states()
    expected = random.random(), np.random.rand()  # noqa: NPY002
    restore_randomness(saved)
    assert (random.random(), np.random.rand()) == expected  # noqa: NPY002


@pytest.mark.parametrize(
    "edit",
    [
        put("numpy", 2, value=value) for value in (10**9, -1, 625, "0", None)
    ]
    + [put("numpy", 1, value=value) for value in ([1], [], None, [2**32] * 624, ["x"] * 624)]
    + [put("numpy", 0, value="PCG64"), put("numpy", 3, value=7), put("numpy", 4, value="x")]
    + [put("python", 0, value=value) for value in (2, "3", HUGE)]
    + [put("python", 1, value=value) for value in ([], [1] * 624, [0] * 624 + [2**31])]
    + [put("python", 2, value="x")],
)  # fmt: skip
def test_states_of_generators_are_checked_before_one_is_set(edit: Callable[[Header], None]) -> None:
    before, edited = states(), states()
    edited["python"][2] = 0.5  # Python sets it before it looks at the numbers.
    edit(edited)
    with pytest.raises(ModelFileError, match="damaged"), reading("it"):
        restore_randomness(edited)
    assert states() == before
