"""Archives of format version 1, as NumPy's `savez_compressed` writes them.

What a member claims need not be in the file, so there is a limit on all of them together.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from .archive import END, ENDING, array_name, array_of
from .arrays import Array

_EXPANSION = 16
"""How many times the file its arrays may take; those of small taggers take nine times."""
_MAXIMUM_DIRECTORY = 1 << 16
_UTF8 = 0x800


def is_compressed(data: bytes) -> bool:
    """Whether the first member is compressed, as all are in version 1."""
    return data[8:10] == b"\x08\x00"


def read(data: bytes) -> Iterator[tuple[str, Array]]:
    """Names and arrays, one after the other. Raises `ValueError` for anything else."""
    _check_directory(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        _check_claims(members, len(data))
        for member in members:
            name = array_name(member.filename)
            if member.compress_type != zipfile.ZIP_DEFLATED or member.flag_bits & ~_UTF8:
                raise ValueError(f"the array {name!r} is not compressed as arrays of version 1 are")
            try:
                with archive.open(member) as file:
                    # With a size it reads no further, whatever the stream holds.
                    content = file.read(member.file_size)
            except Exception as error:
                # Damage makes zipfile and zlib raise all sorts of errors.
                raise ValueError(f"the array {name!r} cannot be read: {error}") from None
            yield name, array_of(f"the array {name!r}", content)


def _check_directory(data: bytes) -> None:
    """Of the forms that a directory can have, only that which `savez_compressed` writes."""
    begin = len(data) - ENDING.size
    if begin < 0 or not data.startswith(END, begin):
        raise ValueError("the end of the archive is missing")
    _, disk, first_disk, n_here, n, size, position, comment = ENDING.unpack_from(data, begin)
    is_plain = disk == first_disk == comment == 0 and n_here == n and position + size == begin
    if not is_plain or size > _MAXIMUM_DIRECTORY or data[begin - 20 : begin - 16] == b"PK\x06\x07":
        raise ValueError("the directory at the end of the archive does not fit its arrays")


def _check_claims(members: list[zipfile.ZipInfo], size: int) -> None:
    claimed = sum(member.file_size for member in members)
    if claimed > _EXPANSION * size:
        largest = max(members, key=lambda member: member.file_size).filename
        raise ValueError(
            f"its arrays claim {claimed:,} bytes, more than {_EXPANSION} times the file; most of "
            f"them the array {largest.removesuffix('.npy')!r}"
        )
