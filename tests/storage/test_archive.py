"""What is wrong with an archive, a header or an array is told as it is."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import ModelFileError
from spacy_cascade.numeric.arrays import _BLOCK
from spacy_cascade.storage import archive, sparse
from spacy_cascade.storage.arrays import check_array
from spacy_cascade.storage.header import (
    FORMAT,
    VERSION,
    check_identity,
    header_excess,
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


def same(data: bytes) -> bool:
    found = dict(archive.read(data))
    return list(found) == list(ARRAYS) and all(
        found[name].dtype == array.dtype and np.array_equal(found[name], array)
        for name, array in ARRAYS.items()
    )


def test_what_was_written_is_read() -> None:
    assert same(GOOD)
    assert list(archive.read(archive.write({}))) == []
    with pytest.raises(ValueError, match="allow_pickle"):
        archive.write({"a": np.array([None])})


def test_equal_arrays_are_equal_bytes_on_any_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert archive.write(ARRAYS) == GOOD


def test_an_archive_that_ends_early() -> None:
    """Wherever it ends; each message says that the end is missing."""
    for length in range(len(GOOD)):
        assert "the end of the archive is missing" in refused(GOOD[:length])


def test_an_archive_with_something_around_it() -> None:
    for data in (GOOD + b"x", GOOD[:-2] + b"\1\0x", GOOD[:-2] + b"\1\0", GOOD + bytes(20)):
        assert "the end of the archive is missing" in refused(data)
    assert "not stored as arrays of this format are" in refused(b"x" + GOOD)
    assert "not stored as arrays of this format are" in refused(GOOD + GOOD)


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_is_seen_or_changes_no_array(bit: int) -> None:
    end_of_arrays = GOOD.index(b"PK\1\2")
    for place in range(len(GOOD)):
        edited = bytearray(GOOD)
        edited[place] ^= 1 << bit
        if place < end_of_arrays:
            refused(bytes(edited))
            continue
        with suppress(ValueError):
            assert same(bytes(edited)), place


def zipped(*members: tuple[str, bytes], **fields: Any) -> bytes:
    """An archive of members, all checksums right; fields: of the description of each."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            for field, value in fields.items():
                setattr(info, field, value)
            file.writestr(info, content)
    return buffer.getvalue()


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


CONTENT = npy(np.arange(3, dtype=np.int32))
SHORT = npy(np.zeros(13, dtype=np.uint8))[:-10]
"""It lacks ten bytes, and so has 13 with the last ten of its description."""


def test_members_that_archives_do_not_have() -> None:
    assert refused(zipped(("x.txt", CONTENT))) == "the member 'x.txt' is no array"
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = zipped(("a.npy", CONTENT), ("a.npy", CONTENT))
    assert refused(twice) == "it has the array 'a' twice"
    deflated = zipped(("a.npy", CONTENT), compress_type=zipfile.ZIP_DEFLATED)
    assert refused(deflated) == "the array 'a' is not stored as arrays of this format are"


def test_members_that_lie_over_one_another() -> None:
    """The second entry of the directory leads to the member of the first."""
    data = bytearray(GOOD)
    place = data.rindex(b"PK\1\2") + 42
    data[place : place + 4] = bytes(4)
    assert refused(bytes(data)) == "the array 'größer' is not stored as arrays of this format are"


@pytest.mark.parametrize("places", [(8, 10), (18, 20)], ids=["compressed", "of two sizes"])
def test_a_member_that_is_not_just_stored(places: tuple[int, int]) -> None:
    """By both of its descriptions, of which only this is wrong."""
    data = bytearray(zipped(("a.npy", CONTENT)))
    for place, begin in zip(places, (0, data.rindex(b"PK\1\2")), strict=True):
        data[begin + place] ^= 8
    assert refused(bytes(data)) == "the array 'a' is not stored as arrays of this format are"


@pytest.mark.parametrize(
    ("more", "message"), [(0, "the checksum or the desc"), (1, "the array 'b' is not stored as")]
)
def test_a_member_that_claims_more_than_there_is(more: int, message: str) -> None:
    """Both where it stands and in the directory."""
    data = bytearray(zipped(("a.npy", CONTENT), ("b.npy", CONTENT)))
    begin, entry = data.index(b"PK\3\4", 4), data.rindex(b"PK\1\2")
    for place in (begin + 18, begin + 22, entry + 20, entry + 24):
        data[place : place + 4] = (len(data) - begin + more).to_bytes(4, "little")
    assert refused(bytes(data)).startswith(message)


def test_a_directory_that_hides_a_member() -> None:
    """What no entry leads to is refused, at the place where it stands."""
    first = GOOD[: GOOD.index(b"PK\3\4", 4)]
    for place in (len(first), GOOD.index(b"PK\1\2")):
        data = GOOD[:place] + first + GOOD[place:]
        assert "stored as" in refused(data) or "does not fit" in refused(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:7], "no valid description"),
        (CONTENT[:9], "no valid description"),
        (b"x" + CONTENT[1:], "no valid description"),
        (CONTENT + b"\0", r"claims the shape \(3,\), but has 13 bytes"),
        (CONTENT[:-1], r"claims the shape \(3,\), but has 11 bytes"),
        (CONTENT[:8] + b"\0\0" + CONTENT[10:], r"claims the shape \(3,\), but has 130 bytes"),
        (
            SHORT[:8] + bytes([SHORT[8] - 10]) + SHORT[9:],
            r"claims the shape \(13,\), but has 13 bytes",
        ),
        (CONTENT.replace(b"<i4", b"<i2"), "no valid description of an array: .*'<i2'"),
        (CONTENT.replace(b"<i4", b">i4"), "no valid description of an array: .*'>i4'"),
        (CONTENT.replace(b"(3,)", b"(x,)"), "no valid description"),
        (CONTENT.replace(b"False", b"True "), "no valid description"),
        (npy(np.zeros((2, 2, 2))), "no valid description"),
    ],
)
def test_contents(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(archive.read(zipped(("a.npy", content))))


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.zeros(1, dtype=np.uint8)
    assert len(list(archive.read(archive.write({"x" * 508: one})))) == 1
    with pytest.raises(ModelFileError, match="shorten the name"):
        archive.write({"x" * 509: one})
    most = {f"{i:0508}": one for i in range(archive.MAXIMUM_MEMBERS)}
    assert len(list(archive.read(archive.write(most)))) == len(most)
    with pytest.raises(ModelFileError, match="it has 1025 arrays"):
        archive.write({**most, "more": one})
    more = zipped(*[(f"{i}.npy", CONTENT) for i in range(1025)])
    assert "more than 1024 arrays" in refused(more)
    long = zipped(*[(f"{i:0600}.npy", CONTENT) for i in range(1024)])
    assert "names that are too long" in refused(long)
    monkeypatch.setattr(archive, "MAXIMUM_SIZE", 1000)
    with pytest.raises(ModelFileError, match="2 arrays of 1,001 bytes, a file can hold"):
        archive.write({"a": np.zeros(1000, dtype=np.uint8), "b": one})
    archive.write({"a": np.zeros(1000, dtype=np.uint8)})


def test_a_model_begins_with_its_header() -> None:
    with pytest.raises(ModelFileError, match="does not begin with a header"):
        unpack(archive.write({"a": np.zeros(3, np.uint8)}), "it")
    with pytest.raises(ModelFileError, match="does not begin with a header"):
        unpack(archive.write({}), "it")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "no valid table: Invalid JSON"),
        (b"[" * 8000, "no valid table: Invalid JSON"),
        (b"\xff\xfe", "no valid table: Invalid JSON"),
        (b"[1]", "no valid table: Input should be"),
        (b"[" + b"[]," * 9000 + b"[]]", "the header is too long"),
    ],
)
def test_headers_that_are_none(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_header(np.frombuffer(text, np.uint8), "it")
    for array in (np.frombuffer(text, np.int8), np.frombuffer(text, np.uint8)[None]):
        with pytest.raises(ValueError, match="the header is no text"):
            read_header(array, "it")


@pytest.mark.parametrize(
    ("value", "excess"),
    [
        ("x" * (2**18 - 9), None),
        ("x" * (2**18 - 8), "take 262,145 bytes as text, and a file can hold 262,144"),
        ([0] * (2**13 - 1), None),
        ([0] * 2**13, "take 8,193 values, and a file can hold 8,192"),
    ],
    ids=["text", "longer", "values", "more"],
)
def test_how_much_a_header_can_hold(value: object, excess: str | None) -> None:
    found = header_excess({"a": value})
    assert found is None if excess is None else found is not None and found.endswith(excess)


@pytest.mark.parametrize(
    ("saved", "stated", "message"),
    [
        (["x", "y"], ["x"], r"\('y' is not in the configuration\)"),
        (["x"], ["x", "z"], r"\('z' is only in the configuration\)"),
        ("y", ["x"], r"\('y' instead of \['x'\]\)"),
        (["x"], "y", r"\(\['x'\] instead of 'y'\)"),
        (None, ["x"], r"\(None instead of \['x'\]\)"),
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


@pytest.mark.parametrize(("n_there", "n_arrays"), [(62, 2), (63, 1)])
def test_what_takes_fewer_bytes_is_kept(n_there: int, n_arrays: int) -> None:
    """Places take a byte for eight values; where both take as much, there is one array."""
    values = (np.arange(72, dtype=np.uint8) < n_there).astype(np.uint8).reshape(8, 9)
    arrays = sparse.shortest("w", values)
    assert len(arrays) == n_arrays
    np.testing.assert_array_equal(sparse.restore("w", arrays, (8, 9)), values)


def test_no_values_have_no_places() -> None:
    arrays = {"w_places": np.zeros(0, np.uint8), "w_values": np.zeros(0, np.float16)}
    sparse.check("w", arrays, (0, 3))
    assert sparse.restore("w", arrays, (0, 3)).shape == (0, 3)


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
