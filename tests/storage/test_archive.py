"""What is wrong with an archive, a header or an array is told as it is."""

from __future__ import annotations

import json
from collections.abc import ItemsView
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import ModelFileError
from spacy_cascade.numeric.arrays import _BLOCK
from spacy_cascade.storage import archive, sparse
from spacy_cascade.storage.archive import LOCAL
from spacy_cascade.storage.arrays import check_array
from spacy_cascade.storage.header import (
    FORMAT,
    VERSION,
    check_fields,
    check_identity,
    check_version,
    read_header,
)
from spacy_cascade.storage.model_file import FILE_NAME, read_file, unpack, write_file

ARRAYS = {"first": np.arange(6, dtype=np.int32).reshape(2, 3), "größer": np.ones(3, np.float16)}
GOOD = archive.write(ARRAYS)
HEADER: dict[str, Any] = {
    "format": FORMAT, "version": VERSION, "kind": "k", "labels": ["A"], "identity": {"a": "b"},
    "settings": {},
}  # fmt: skip


def refused(data: bytes) -> str:
    with pytest.raises(ValueError, match=r"array|archive") as caught:
        list(archive.read(data))
    return str(caught.value)


def test_what_was_written_is_read() -> None:
    found = dict(archive.read(GOOD))
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert list(archive.read(archive.write({}))) == []


def test_an_archive_that_ends_early() -> None:
    """Wherever it ends; each message says that the end is missing."""
    for length in range(len(LOCAL), len(GOOD)):
        assert "the end of the archive is missing" in refused(GOOD[:length])


def test_an_archive_with_more_behind_it_or_another_directory() -> None:
    assert "does not fit" in refused(GOOD + b"x")
    for place in range(GOOD.index(archive._ENTRY) + 4, len(GOOD)):
        edited = bytearray(GOOD)
        edited[place] ^= 1
        assert "does not fit" in refused(bytes(edited))


def member(name: bytes, content: bytes) -> bytes:
    """An archive with one member, whose checksum is right."""
    described = archive._member(name, content)
    entry = archive._entry(name, described, 0)
    data = LOCAL + described + name + content
    return data + archive._directory([entry], len(data))


CONTENT = archive._content(np.arange(3, dtype=np.int32))


def test_names() -> None:
    longest = b"x" * 508 + b".npy"
    assert len(list(archive.read(member(longest, CONTENT)))) == 1
    assert refused(member(b"x" + longest, CONTENT)) == "the name of array 1 is too long"
    assert refused(member(b"x.txt", CONTENT)) == "the member 'x.txt' is no array"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:7], "does not begin like an array"),
        (CONTENT[:9], "does not begin like an array"),
        (b"x" + CONTENT[1:], "does not begin like an array"),
        (CONTENT + b"\0", r"claims the shape \(3,\), but has 13 bytes"),
        (CONTENT[:-1], r"claims the shape \(3,\), but has 11 bytes"),
        (CONTENT.replace(b"<i4", b"<i2"), "holds values of type '<i2'"),
        (CONTENT.replace(b"(3,)", b"(x,)"), "no valid description"),
    ],
)
def test_contents(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(archive.read(member(b"a.npy", content)))


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.zeros(1, dtype=np.uint8)
    archive.write({"x" * 508: one})
    with pytest.raises(ModelFileError, match="shorten the name"):
        archive.write({"x" * 509: one})
    most = {str(i): one for i in range(archive.MAXIMUM_MEMBERS)}
    assert len(list(archive.read(archive.write(most)))) == len(most)
    with pytest.raises(ModelFileError, match="it has 1025 arrays"):
        archive.write({**most, "more": one})
    monkeypatch.setattr(archive, "MAXIMUM_MEMBERS", len(ARRAYS) - 1)
    assert "more than 1 arrays" in refused(GOOD)
    monkeypatch.undo()
    monkeypatch.setattr(archive, "MAXIMUM_SIZE", 1000)
    with pytest.raises(ModelFileError, match=r"'a' has 1,\d\d\d bytes"):
        archive.write({"a": np.zeros(1000, dtype=np.uint8)})
    with pytest.raises(ModelFileError, match="2 arrays of"):
        archive.write({name: np.zeros(500, dtype=np.uint8) for name in "ab"})


class Twice(dict[str, Any]):
    """A table that says everything twice."""

    def items(self) -> ItemsView[str, Any]:
        return [*super().items(), *list(super().items())[1:]]  # type: ignore[return-value]


def test_an_array_that_is_there_twice() -> None:
    header = np.frombuffer(json.dumps(HEADER).encode(), np.uint8)
    with pytest.raises(ModelFileError, match="it has the array 'a' twice"):
        unpack(archive.write(Twice(header=header, a=np.zeros(1))), "it")
    with pytest.raises(ModelFileError, match="does not begin with a header"):
        unpack(archive.write({"a": header}), "it")


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"{", "no JSON"), (b"[" * 8000, "no JSON"), (b"\xff\xfe", "no JSON"), (b"[1]", "no table")],
)
def test_headers_that_are_none(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_header(np.frombuffer(text, np.uint8))


@pytest.mark.parametrize("field", ["format", "version"])
@pytest.mark.parametrize("value", [None, True, 1.5, []])
def test_versions_of_no_kind(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"no valid '{field}'"):
        check_version({**HEADER, field: value}, "it")


def test_versions_and_formats() -> None:
    check_version(HEADER, "it")
    with pytest.raises(ModelFileError, match="its 'format' is another"):
        check_version({**HEADER, "format": "other"}, "it")
    with pytest.raises(ModelFileError, match="Update spacy_cascade"):
        check_version({**HEADER, "version": VERSION + 1}, "it")
    with pytest.raises(ValueError, match="which no release has written"):
        check_version({**HEADER, "version": VERSION - 2}, "it")
    check_version({**HEADER, "version": VERSION - 1}, "it")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("labels", ["A", 1], "not all valid texts"),
        ("labels", ["", "A"], "or one is empty"),
        ("labels", ["B", "A"], "not in order"),
        ("labels", ["A", "A"], "twice"),
        ("identity", {"a": ["b", 1]}, "no valid 'identity', 'a'"),
        ("identity", {"a": {"b": 1}}, "no valid 'identity', 'a'"),
        ("settings", [], "no valid 'settings'"),
        ("settings", {"a": ["\ud800"]}, "the 'settings' of the header are not all valid texts"),
        ("more", 1, "unknown field 'more'"),
    ],
)
def test_fields(field: str, value: object, message: str) -> None:
    check_fields(HEADER)
    with pytest.raises(ValueError, match=message):
        check_fields({**HEADER, field: value})


@pytest.mark.parametrize(
    ("saved", "stated", "message"),
    [
        (["x", "y"], ["x"], r"\('y' is not in the configuration\)"),
        (["x"], ["x", "z"], r"\('z' is only in the configuration\)"),
        ("x", ["x"], r"\('x' instead of \['x'\]\)"),
        (["x"], "x", r"\(\['x'\] instead of 'x'\)"),
        (["x", "y"], ["y", "x"], r"\(\['x', 'y'\] instead of \['y', 'x'\]\)"),
    ],
)
def test_the_first_setting_that_differs_is_named(
    saved: object, stated: object, message: str
) -> None:
    header = {**HEADER, "identity": {"a": saved}}
    with pytest.raises(ModelFileError, match=f"another 'a' than .*{message}"):
        check_identity(header, "k", {"a": stated})
    check_identity(header, "k", {"a": saved})


def test_long_settings_are_cut_off() -> None:
    with pytest.raises(ModelFileError) as caught:
        check_identity({**HEADER, "identity": {"a": "x" * 9000}}, "k", {"a": "y"})
    assert len(str(caught.value)) < 400


def weights(n: int) -> np.ndarray:
    """Half precision, mostly zero, one of them negative."""
    values = np.zeros((n, 3), dtype=np.float16)
    values[0, 1], values[-1, -1] = 2.5, -0.0
    return values


@pytest.mark.parametrize("n", [7, 8, 9, 16, 21])
def test_few_values_are_restored_to_the_last_bit(n: int) -> None:
    values = weights(n)
    arrays = sparse.shortest("w", values)
    assert list(arrays) == ["w_places", "w_values"]
    sparse.check("w", arrays, values.shape)
    found = sparse.restore("w", arrays, values.shape)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found.view(np.uint16), values.view(np.uint16))
    n_beyond = -values.size % 8
    for bit in range(8):
        edited = {**arrays, "w_places": arrays["w_places"].copy()}
        edited["w_places"][-1] ^= 1 << bit
        with pytest.raises(ModelFileError, match="beyond" if bit < n_beyond else "places for"):
            sparse.check("w", edited, values.shape)


@pytest.mark.parametrize("kind", ["f", "u1"])
def test_arrays_that_stand_for_weights(kind: str) -> None:
    dense = {"w": ((5, 3), kind)}
    values = np.zeros(4, dtype=np.float16)
    assert sparse.expected_arrays("w", {}, (5, 3), kind) == dense
    assert sparse.expected_arrays("w", {"w": values}, (5, 3), kind) == dense
    places = {"w_places": ((2,), "u1")}
    assert sparse.expected_arrays("w", {"w_values": values}, (5, 3), kind) == {
        **places, "w_values": ((4,), kind),
    }  # fmt: skip
    assert sparse.expected_arrays("w", {"w_places": values}, (5, 3), kind) == {
        **places, "w_values": ((0,), kind),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [("f", np.float16(1), np.nan), ("i4", np.int32(1), -1), ("b", np.uint8(1), 2)],
)
def test_one_wrong_value_in_any_block(kind: str, good: Any, bad: float) -> None:
    values = np.full(2 * _BLOCK + 5, good)
    viewed = values.view(np.bool_) if kind == "b" else values
    check_array("a", viewed, values.shape, kind)
    for place in (0, _BLOCK - 1, _BLOCK, len(values) - 1):
        before = values[place]
        values[place] = bad
        with pytest.raises(ModelFileError, match="'a'"):
            check_array("a", viewed, values.shape, kind)
        values[place] = before


@pytest.mark.parametrize("n", [2, _BLOCK, _BLOCK + 1, 2 * _BLOCK + 1])
def test_a_key_that_is_there_twice_anywhere(n: int) -> None:
    keys = np.arange(1, n + 1, dtype=np.uint64)
    check_array("a", keys, keys.shape, "u8")
    for place in {0, (n - 1) // 2, n - 2}:
        edited = keys.copy()
        edited[place] = edited[place + 1]
        with pytest.raises(ModelFileError, match="repeats a key"):
            check_array("a", edited[::-1], keys.shape, "u8")
    with pytest.raises(ModelFileError, match="repeats a key"):
        check_array("a", keys - np.uint64(1), keys.shape, "u8")


def test_files(tmp_path: Path) -> None:
    write_file(tmp_path, b"data")
    assert (tmp_path / FILE_NAME).read_bytes() == b"data"
    assert read_file(tmp_path) == (b"data", str(tmp_path / FILE_NAME))
    with pytest.raises(ModelFileError, match=r"Cannot read .*missing.*Is the pipeline complete\?"):
        read_file(tmp_path / "missing")
    (tmp_path / "folder" / FILE_NAME).mkdir(parents=True)
    with pytest.raises(ModelFileError, match=r"it is no file\. Is the pipeline"):
        read_file(tmp_path / "folder")
