"""Archives of arrays: NumPy's `.npz`, written and read by `zipfile`, with stored members only.

Nothing is compressed, so all that an array claims is in the file, and arrays are views of its
bytes. NumPy's own reader is not used. It copies each array, and it hands the description of an
array to Python's compiler, which deeply nested text makes fail in many ways.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import ModelFileError
from .arrays import Array

MAXIMUM_MEMBERS = 1024
MAXIMUM_SIZE = 2_000_000_000
"""Bytes of all arrays. With what stands around them, positions stay below those of ZIP64."""
_LONGEST_NAME = 512
_LARGEST_DIRECTORY = MAXIMUM_MEMBERS * (46 + _LONGEST_NAME)
_UNIX = 3
_END = struct.Struct("<4s6xHL6x")
"""Signature, number of members, size of the directory; nothing may follow."""
_SHOWN = 100

_BEFORE_DESCRIPTION = len(b"\x93NUMPY\x01\x00") + 2
_DESCRIPTION = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([<|](?:f2|f4|f8|u1|u2|u8|i4|b1))', "
    rb"'fortran_order': False, 'shape': \((\d{1,10}), ?(\d{1,10})?\), \} *\n",
    re.DOTALL,
)


def write(arrays: Mapping[str, Array]) -> bytes:
    """The archive of arrays of one or two dimensions; equal arrays give equal bytes.

    Raises `ModelFileError` where there are more arrays or bytes than an archive can hold.
    """
    n_bytes = sum(array.nbytes for array in arrays.values())
    if len(arrays) > MAXIMUM_MEMBERS or n_bytes > MAXIMUM_SIZE:
        raise ModelFileError(
            f"Cannot save this: it has {len(arrays)} arrays of {n_bytes:,} bytes, a file can "
            f"hold {MAXIMUM_MEMBERS} of {MAXIMUM_SIZE:,}. Raise min_count, or use fewer lexicons."
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            if len(info.filename.encode()) > _LONGEST_NAME:
                raise ModelFileError(f"Cannot save this: shorten the name of {_shown(name)}.")
            info.create_system = _UNIX
            values = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            with archive.open(info, "w") as member:
                np.lib.format.write_array(member, values, (1, 0), allow_pickle=False)
    return buffer.getvalue()


def read(data: bytes) -> Iterator[tuple[str, Array]]:
    """Names and arrays of an archive, one after the other; arrays are views of the bytes.

    Each member has to begin where the one before it ends, and the directory where the last one
    ends. Raises `ValueError`, at the end at the latest, for anything else.
    """
    directory = _directory(data)
    view, position = memoryview(data), 0
    names = set()
    for info in directory.infolist():
        name, size = info.filename.removesuffix(".npy"), info.file_size
        is_stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == size
        if info.header_offset != position or not is_stored or size > len(data) - position:
            raise ValueError(f"{_shown(name)} is not stored as arrays of this format are")
        header = info.FileHeader()
        begin, end = position + len(header), position + len(header) + size
        if not data.startswith(header, position) or zlib.crc32(view[begin:end]) != info.CRC:
            raise ValueError(f"the checksum or the description of {_shown(name)} is wrong")
        if name in names:
            raise ValueError(f"it has {_shown(name)} twice")
        if name == info.filename:
            raise ValueError(f"the member {name[:_SHOWN]!r} is no array")
        names.add(name)
        yield name, _array_of(_shown(name), view[begin:end])
        position = end
    if position != directory.start_dir:
        raise ValueError("the directory at the end of the archive does not fit its arrays")


def _directory(data: bytes) -> zipfile.ZipFile:
    """The directory of an archive, of which no member has been looked at."""
    end = data[-_END.size :].ljust(_END.size, b"\0")
    signature, n_members, size = _END.unpack(end)
    if signature != b"PK\5\6" or not end.endswith(b"\0\0"):
        raise ValueError("the end of the archive is missing")
    if n_members > MAXIMUM_MEMBERS or size > _LARGEST_DIRECTORY:
        raise ValueError(f"it has more than {MAXIMUM_MEMBERS} arrays, or names that are too long")
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        # Damage makes `zipfile` raise errors of many kinds.
        raise ValueError(f"the directory of the archive is damaged: {error}") from None


def _shown(name: str) -> str:
    return f"the array {name[:_SHOWN]!r}"


def _array_of(what: str, content: memoryview) -> Array:
    """The array that NumPy wrote, 1-D or 2-D, as a view; else raise `ValueError`."""
    stated = _DESCRIPTION.match(content)
    if stated is None:
        shown = repr(bytes(content[_BEFORE_DESCRIPTION:_SHOWN]).strip())[:_SHOWN]
        raise ValueError(f"{what} has no valid description of an array: {shown}")
    length, kind, *sizes = stated.groups(default=b"")
    shape = tuple(int(size) for size in sizes if size)
    dtype, begin = np.dtype(kind.decode()), _BEFORE_DESCRIPTION + int.from_bytes(length, "little")
    n_bytes = len(content) - begin
    if begin != stated.end() or math.prod(shape) * dtype.itemsize != n_bytes:
        raise ValueError(f"{what} claims the shape {shape}, but has {n_bytes:,} bytes")
    return np.frombuffer(content[begin:], dtype).reshape(shape)
