"""What stands in a model file, to be changed and packed again with all checksums right."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

Generator = np.random.Generator


@dataclass
class Model:
    """What stands in a file, to be changed."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @classmethod
    def of(cls, data: bytes) -> Model:
        with np.load(io.BytesIO(data)) as archive:
            arrays = dict(archive)
        header = json.loads(arrays.pop("header").tobytes())
        return cls(header, arrays)

    def members(self) -> dict[str, bytes]:
        text = json.dumps(self.header, sort_keys=True, ensure_ascii=False)
        return {
            "header.npy": array_bytes(np.frombuffer(text.encode("utf8", "replace"), np.uint8)),
            **{f"{name}.npy": array_bytes(array) for name, array in self.arrays.items()},
        }

    def pack(self, members: dict[str, bytes] | list[tuple[str, bytes]] | None = None) -> bytes:
        """An archive of members, all sizes and checksums right."""
        if members is None:
            members = self.members()
        pairs = members.items() if isinstance(members, dict) else members
        return archive_of(pairs, zipfile.ZIP_STORED)


def array_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def archive_of(members: Any, method: int | dict[str, int]) -> bytes:
    """As the standard library writes it; method: of compression, of all members or of each."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            member = zipfile.ZipInfo(name)
            member.create_system = 3
            member.compress_type = method if isinstance(method, int) else method[name]
            archive.writestr(member, content)
    return buffer.getvalue()


@dataclass
class Case:
    """A file, and what an error has to name; nothing for a model that is another, but valid."""

    data: bytes
    named: str | None


def choice(generator: Generator, things: Any) -> Any:
    things = list(things)
    return things[generator.integers(len(things))]


def quoted(name: str) -> str:
    return re.escape(repr(name))
