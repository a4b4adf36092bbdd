"""Archives of arrays: NumPy's `.npz` in its plainest form.

A ZIP archive of `.npy` members that are stored, not compressed: one behind the other, then the
directory, and nothing else. So all that an array claims is there, and arrays are views of the
bytes. What stands around the members follows from their names and contents: a reader makes it
again and compares.

`safetensors` would not make this shorter: models of release 0.2 must load, and it has no checksums.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import ModelFileError
from .arrays import Array

LOCAL, _ENTRY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
MAXIMUM_MEMBERS, _LONGEST_NAME = 1024, 512
MAXIMUM_SIZE = 1 << 32
"""Bytes of an archive: its places have 32 bits."""
_SHOWN = 100
_MEMBER = struct.Struct("<5H3L2H")
"""Version needed, flags, method, time, date, checksum, two sizes, lengths of name and of more."""
_VERSION, _STORED, _TIME, _DATE = 20, 0, 0, 0x21
"""Nothing is compressed, and the date is the first that there is."""
_UNIX, _READABLE = 3 << 8, 0o600 << 16
_UTF8 = 0x800
_PLACE = struct.Struct("<3H2L")
"""Length of a comment, disk, two kinds of attributes, where the member begins."""
ENDING = struct.Struct("<4s4H2LH")
"""Signature, two numbers of disks, two of members, size and place of the directory, comment."""

_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64
_DESCRIPTION = re.compile(
    rb"\{'descr': '([<>|][a-z]\d)', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,10}), ?(\d{1,10})?\), \} *\n"
)
_KINDS = ("f2", "f4", "f8", "u1", "u2", "u8", "i4", "b1")


def write(arrays: Mapping[str, Array]) -> bytes:
    """The archive of arrays of one or two dimensions; equal arrays give equal bytes.

    Raises `ModelFileError` where there are more arrays or bytes than an archive can hold.
    """
    parts: list[bytes] = []
    entries: list[bytes] = []
    position = 0
    for name, array in arrays.items():
        file = f"{name}.npy".encode()
        content = _content(array)
        member = _member(file, content)
        entries.append(_entry(file, member, position))
        parts += [LOCAL, member, file, content]
        position += len(LOCAL) + len(member) + len(file) + len(content)
        if len(file) > _LONGEST_NAME:
            raise ModelFileError(f"Cannot save this: shorten the name of {_shown(file)}.")
    if len(entries) > MAXIMUM_MEMBERS or position >= MAXIMUM_SIZE:
        raise ModelFileError(
            f"Cannot save this: it has {len(entries)} arrays of {position:,} bytes, a file "
            f"can hold {MAXIMUM_MEMBERS} of {MAXIMUM_SIZE:,}. Raise min_count, or use "
            "fewer lexicons."
        )
    return b"".join([*parts, _directory(entries, position)])


def read(data: bytes) -> Iterator[tuple[str, Array]]:
    """Names and arrays of an archive, one after the other; arrays are views of the bytes.

    Raises `ValueError`, at the end at the latest, for anything that `write` does not write.
    """
    view = memoryview(data)
    entries: list[bytes] = []
    position = 0
    while data.startswith(LOCAL, position):
        begin = position + len(LOCAL)
        if len(data) < begin + _MEMBER.size:
            raise ValueError("the end of the archive is missing")
        *_, size, length, _ = _MEMBER.unpack_from(data, begin)
        if length > _LONGEST_NAME:
            raise ValueError(f"the name of array {len(entries) + 1} is too long")
        end_of_name = begin + _MEMBER.size + length
        name = bytes(view[begin + _MEMBER.size : end_of_name])
        content = view[end_of_name : end_of_name + size]
        if len(content) < size:
            raise ValueError(f"the end of the archive is missing: it ends within {_shown(name)}")
        member = _member(name, content)
        _compare(name, member, bytes(view[begin : begin + _MEMBER.size]))
        if len(entries) == MAXIMUM_MEMBERS:
            raise ValueError(f"it has more than {MAXIMUM_MEMBERS} arrays")
        entries.append(_entry(name, member, position))
        if not name.endswith(b".npy"):
            raise ValueError(f"the member {_text(name)[:_SHOWN]!r} is no array")
        yield _text(name).removesuffix(".npy"), _array_of(_shown(name), content)
        position = end_of_name + size
    directory = _directory(entries, position)
    rest = bytes(view[position : position + len(directory) + 1])
    if len(rest) < len(directory) and (directory.startswith(rest) or LOCAL.startswith(rest)):
        raise ValueError("the end of the archive is missing")
    if rest != directory:
        raise ValueError("the directory at the end of the archive does not fit its arrays")


def _compare(name: bytes, expected: bytes, found: bytes) -> None:
    if found == expected:
        return
    if _MEMBER.unpack(found)[:5] != _MEMBER.unpack(expected)[:5]:
        raise ValueError(f"{_shown(name)} is not stored as arrays of this format are")
    raise ValueError(f"the checksum of {_shown(name)} is wrong")


def _member(name: bytes, content: bytes | memoryview) -> bytes:
    """What is said of a member before it and in the directory."""
    size = len(content)
    if size >= MAXIMUM_SIZE:
        raise ModelFileError(f"Cannot save this: {_shown(name)} has {size:,} bytes.")
    flags = 0 if name.isascii() else _UTF8
    checksum = zlib.crc32(content)
    return _MEMBER.pack(_VERSION, flags, _STORED, _TIME, _DATE, checksum, size, size, len(name), 0)


def _entry(name: bytes, member: bytes, position: int) -> bytes:
    made_by = struct.pack("<H", _UNIX | _VERSION)
    return _ENTRY + made_by + member + _PLACE.pack(0, 0, 0, _READABLE, position) + name


def _directory(entries: list[bytes], position: int) -> bytes:
    n, size = len(entries), sum(map(len, entries))
    return b"".join([*entries, ENDING.pack(END, 0, 0, n, n, size, position, 0)])


def _text(name: bytes) -> str:
    return name.decode("utf8", "backslashreplace")


def _shown(name: bytes) -> str:
    return f"the array {_text(name).removesuffix('.npy')[:_SHOWN]!r}"


def _content(array: Array) -> bytes:
    """An array as NumPy's `save` writes it."""
    values = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = f"{{'descr': {values.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape!r}, }}"
    length = len(_MAGIC) + 2 + len(text) + 1
    text += " " * (-length % _ALIGNMENT) + "\n"
    return b"".join([_MAGIC, struct.pack("<H", len(text)), text.encode(), values.tobytes()])


def _array_of(what: str, content: bytes | memoryview) -> Array:
    """The array that NumPy's `save` wrote, 1-D or 2-D, as a view; else raise `ValueError`."""
    begin = len(_MAGIC) + 2
    if bytes(content[: len(_MAGIC)]) != _MAGIC or len(content) < begin:
        raise ValueError(f"{what} does not begin like an array")
    end = begin + int.from_bytes(content[len(_MAGIC) : begin], "little")
    found = _DESCRIPTION.fullmatch(content[begin:end])
    if found is None:
        shown = bytes(content[begin : min(end, begin + _SHOWN)]).decode("ascii", "backslashreplace")
        raise ValueError(f"{what} has no valid description of an array: {shown.strip()!r}")
    kind, order, *sizes = (part.decode() for part in found.groups(default=b""))
    if kind[1:] not in _KINDS:
        raise ValueError(f"{what} holds values of type {kind!r}")
    dtype = np.dtype(kind)
    shape = tuple(int(size) for size in sizes if size)
    if math.prod(shape) * dtype.itemsize != len(content) - end:
        n_bytes = len(content) - end
        raise ValueError(f"{what} claims the shape {shape}, but has {n_bytes:,} bytes")
    values = np.frombuffer(content[end:], dtype)
    return values.reshape(shape, order="F" if order == "True" else "C")
