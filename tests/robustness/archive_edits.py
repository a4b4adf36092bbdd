"""Damage to a model file as a whole, with checksums mended or not."""

from __future__ import annotations

import io
import re
import struct
import zipfile

import numpy as np
from model_files import Case, Generator, Model, archive_of, array_bytes, choice, quoted

AROUND = "archive|array|header"
"""Damage around the arrays need not be known to be that of one of them, and it may change nothing:
a date, for instance, says nothing of a model."""


def cut(generator: Generator, model: Model, data: bytes) -> Case:
    return Case(data[: generator.integers(len(data))], "the end of the archive is missing")


def flip(generator: Generator, model: Model, data: bytes) -> Case:
    """One to eight bits; what stands there is named, or all of it where that may be unclear."""
    changed = bytearray(data)
    places = generator.integers(0, len(data), choice(generator, [1, 1, 1, 2, 8]))
    for place in places:
        changed[place] ^= 1 << int(generator.integers(8))
    names = {name_at(data, int(place)) for place in places}
    return Case(bytes(changed), "|".join(names) if bytes(changed) != data else None)


def name_at(data: bytes, place: int) -> str:
    """The array whose content has a byte, or `AROUND` where it is around the arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            lengths = struct.unpack_from("<2H", data, member.header_offset + 26)
            begin = member.header_offset + 30 + sum(lengths)
            if begin <= place < begin + member.compress_size:
                return quoted(member.filename.removesuffix(".npy"))
    return AROUND


def other_member(generator: Generator, model: Model, data: bytes) -> Case:
    """Something that is no array of a model."""
    more = choice(
        generator,
        [
            ("notes.txt", b"some text"),
            ("folder/", b""),
            ("../../escape.npy", array_bytes(np.zeros(3, np.float32))),
            ("/etc/escape.npy", array_bytes(np.zeros(3, np.float32))),
            ("more.npy", array_bytes(np.zeros(3, np.float32))),
            ("pickle.npy", array_bytes(np.array([{}], dtype=object))),
        ],
    )
    shown = re.escape(more[0].removesuffix(".npy"))
    return Case(model.pack([*model.members().items(), more]), shown)


def many_members(generator: Generator, model: Model, data: bytes) -> Case:
    content = array_bytes(np.zeros(0, np.uint8))
    more = [(f"{i}.npy", content) for i in range(2000)]
    named = "more than 1024 arrays|directory"
    return Case(model.pack([*model.members().items(), *more]), named)


def other_compression(generator: Generator, model: Model, data: bytes) -> Case:
    methods = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED]
    return Case(archive_of(model.members().items(), choice(generator, methods)), "header")


def bomb(generator: Generator, model: Model, data: bytes) -> Case:
    """A member that claims a thousand times its size."""
    name = choice(generator, model.arrays)
    large = f"{name}.npy"
    members = {**model.members(), large: array_bytes(np.zeros(30_000_000, np.uint8))}
    methods = {
        member: zipfile.ZIP_DEFLATED if member == large else zipfile.ZIP_STORED
        for member in members
    }
    return Case(archive_of(members.items(), methods), quoted(name))


def around(generator: Generator, model: Model, data: bytes) -> Case:
    """Before, behind and between what an archive is made of."""
    end = len(data) - 22
    disk, count, size, begin = 4, 10, 12, 16
    variants = [
        b"#!/bin/sh\n" + data,
        data + b"more",
        data[:-2] + b"\x04\x00more",
        data[:end] + b"PK\x06\x07" + bytes(16) + data[end:],
        data[:end] + bytes(20) + data[end:],
        data + data,
    ]
    for offset, form in ((disk, "<H"), (count, "<H"), (size, "<L"), (begin, "<L")):
        value = int(generator.integers(1, 256 ** struct.calcsize(form)))
        patched = bytearray(data)
        struct.pack_into(form, patched, end + offset, value)
        variants.append(bytes(patched) if bytes(patched) != data else b"")
    return Case(choice(generator, variants), AROUND)


def overlapping(generator: Generator, model: Model, data: bytes) -> Case:
    """All members of the directory are one and the same."""
    changed = bytearray(data)
    first = data.index(b"PK\x01\x02")
    place = data.index(b"PK\x01\x02", first + 4)
    struct.pack_into("<L", changed, place + 42, 0)
    return Case(bytes(changed), AROUND)


DAMAGE = [*[cut] * 4, *[flip] * 5]
"""Without mended checksums."""
ARCHIVE_EDITS = [other_member, many_members, other_compression, bomb, around, overlapping]
