"""Damaged model files, and a run over many of them in a process of its own.

    python damage.py MODELS FIRST LAST

prints a JSON table of what came of the cases FIRST to LAST. A case that takes longer than
`LIMIT` seconds ends the process, and so does one that crashes it.
"""

from __future__ import annotations

import faulthandler
import io
import json
import re
import struct
import sys
import time
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_cascade import ModelFileError

LIMIT = 5.0
TIMES, OLD_TIMES = 2, 18
"""How many times the file may be in memory; the old format is compressed."""
OWN_OBJECTS = 1 << 20
"""Bytes that small objects may take beside that."""
TEXTS = [
    "The Zta protein switches Epstein-Barr virus to replication .",
    "IL-2 acted on T cells and monocytes through NF-kappa B .",
]
ARCHIVE = "archive|array|header"
Generator = np.random.Generator


@dataclass
class Model:
    """What stands in a file, to be changed. compressed: as release 0.1 wrote it."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]
    compressed: bool

    @classmethod
    def of(cls, data: bytes) -> Model:
        with np.load(io.BytesIO(data)) as archive:
            arrays = dict(archive)
        header = json.loads(arrays.pop("header").tobytes())
        return cls(header, arrays, header["version"] == 1)

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
        return archive_of(pairs, zipfile.ZIP_DEFLATED if self.compressed else zipfile.ZIP_STORED)


def array_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def archive_of(members: Any, method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            member = zipfile.ZipInfo(name)
            member.create_system, member.compress_type = 3, method
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


# Damage without repair


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
    """The array whose content has a byte, or `ARCHIVE` where it is around the arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            lengths = struct.unpack_from("<2H", data, member.header_offset + 26)
            begin = member.header_offset + 30 + sum(lengths)
            if begin <= place < begin + member.compress_size:
                return quoted(member.filename.removesuffix(".npy"))
    return ARCHIVE


def quoted(name: str) -> str:
    return re.escape(repr(name))


# Edits of the header, checksums mended


def other_value(generator: Generator, model: Model, data: bytes) -> Case:
    field = choice(generator, model.header)
    values = [None, 1.5, -1, 0, 10**30, True, "", "other", [], ["x"], {}, {"a": 1}, [[]]]
    value = choice(generator, [v for v in values if v != model.header[field]])
    named = re.escape(field)
    if field == "identity" and value == {"a": 1}:
        named = "unknown setting 'a'"
    if (field, value) == ("identity", {}):
        named = "templates"
    if (field, value) == ("labels", ["x"]):
        named = "labels|weights|transitions|curvature"
    if field == "version" and value is True:
        named = "version"
    model.header[field] = value
    return Case(model.pack(), named)


def no_value(generator: Generator, model: Model, data: bytes) -> Case:
    field = choice(generator, model.header)
    del model.header[field]
    return Case(model.pack(), re.escape(field))


def other_version(generator: Generator, model: Model, data: bytes) -> Case:
    version = int(choice(generator, [-3, 0, 3, 4, 1000, 1 if not model.compressed else 2]))
    model.header["version"] = version
    return Case(model.pack(), "Update spacy_cascade" if version > 2 else "'version'")


def other_labels(generator: Generator, model: Model, data: bytes) -> Case:
    labels = model.header["labels"]
    sizes = "labels|weights|transitions|curvature"
    variants: list[tuple[Any, str | None]] = [
        ([*labels, labels[-1]], "labels"),
        ([*labels[:-1], ""], "labels"),
        ([*labels[:-1], 7], "labels"),
        ([*labels, "zzz"], sizes),
        (labels[:-1], sizes),
        (sorted(str(i) for i in range(5_000)), sizes),
        ([str(i) for i in range(100_000)], "header"),
        ([*labels[:-1], labels[-1] + " of another kind"], None),
    ]
    if len(labels) > 1:
        variants.append((labels[::-1], "labels"))
    model.header["labels"], named = choice(generator, variants)
    return Case(model.pack(), named)


def other_identity(generator: Generator, model: Model, data: bytes) -> Case:
    identity = model.header["identity"]
    setting = choice(generator, identity)
    old = identity[setting]
    values = [7, "other", ["other"], {"a": "b"}, [{}], {"a": []}]
    if isinstance(old, list):
        values += [old[:-1], [*old, "bias2"], old[::-1]]
    identity[setting] = choice(generator, [value for value in values if value != old])
    return Case(model.pack(), re.escape(setting))


def other_header(generator: Generator, model: Model, data: bytes) -> Case:
    texts = [
        b"",
        b"{",
        b"[1]",
        b"7",
        b"null",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"version": ' + b"9" * 10_000 + b"}",
        b'{"version": ' + b"9" * 4_000 + b', "format": "spacy_cascade"}',
        b"[" + b"[]," * 80_000 + b"[]]",
        b'"' + "𐌰".encode() * 60_000 + b'"',
    ]
    members = model.members()
    members["header.npy"] = array_bytes(np.frombuffer(choice(generator, texts), np.uint8))
    return Case(model.pack(members), "header|version")


# Edits of arrays, checksums mended


def group(name: str) -> str:
    """Which arrays may be named where one of them has another size than the others."""
    if name.startswith("lexicon"):
        return re.escape(name.split(":")[1])
    if name.startswith("evidence"):
        return "evidence"
    return "keys|weights|transitions|curvature"


def missing_array(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, [name for name in model.arrays if name != "curvature"])
    del model.arrays[name]
    return Case(model.pack(), group(name))


def renamed_array(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
    other = choice(generator, [name + "x", "", "../" + name, "\x00", "header", "größe", "a" * 2000])
    members = [
        (f"{other}.npy" if member == f"{name}.npy" else member, content)
        for member, content in model.members().items()
    ]
    shown = re.escape(repr(other[:50])[1:-1])
    return Case(model.pack(members), f"{shown}|name of array|{re.escape(name)}|too many|no array")


def array_twice(generator: Generator, model: Model, data: bytes) -> Case:
    members = list(model.members().items())
    name, content = choice(generator, members)
    at = int(generator.integers(1, len(members) + 1))
    members.insert(at, (name, content))
    return Case(model.pack(members), re.escape(name.removesuffix(".npy")))


def other_order(generator: Generator, model: Model, data: bytes) -> Case:
    members = list(model.members().items())
    return Case(model.pack([*members[1:], members[0]]), "header")


def other_shape(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
    array = model.arrays[name]
    changes: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda a: a[:-1],
        lambda a: np.concatenate([a, a[:1]]),
        lambda a: a[..., None],
        lambda a: a[:0],
        lambda a: a.reshape(-1)[0],
        lambda a: np.tile(a, 3),
        lambda a: a[None],
    ]
    if array.ndim == 2 and min(array.shape) > 1:
        changes += [lambda a: a.T, lambda a: a[:, :-1], lambda a: a.reshape(-1)]
    model.arrays[name] = choice(generator, changes)(array)
    return Case(model.pack(), group(name))


def other_type(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
    types = ["f8", "i2", "u2", "c16", "i8", "U3", "S2", "O", "f2", "u1", "u8", "i4", "b1", "f4"]
    old = model.arrays[name].dtype
    floats = {np.dtype("f2"), np.dtype("f4")}
    fits = [t for t in types if np.dtype(t) != old and not {np.dtype(t), old} <= floats]
    with np.errstate(all="ignore"):
        model.arrays[name] = model.arrays[name].astype(choice(generator, fits))
    return Case(model.pack(), group(name))


def other_description(generator: Generator, model: Model, data: bytes) -> Case:
    """What an array says of itself: sizes that are not there, nested and endless texts."""
    name = choice(generator, [*model.arrays, "header"])
    texts = [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (-3,), }\n",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }\n",
        "__import__('os').system('true')\n",
        "(" * 60_000,
        "{'descr': '<f4', 'fortran_order': 2, 'shape': (3,), }\n",
        "",
        "\x00" * 60,
    ]
    text = choice(generator, texts).encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    if generator.random() < 0.2:
        content = choice(
            generator, [b"", b"\x93NUMPY", b"text", content[:11], b"\x93NUMPY\x03\x00"]
        )
    return Case(model.pack({**model.members(), f"{name}.npy": content}), quoted(name))


def placed(generator: Generator, array: np.ndarray, value: Any) -> np.ndarray:
    """With another value at some place."""
    changed = array.copy()
    changed.reshape(-1)[generator.integers(changed.size)] = value
    return changed


def bad_values(generator: Generator, model: Model, data: bytes) -> Case:
    """Values that a kernel must not see."""
    name = choice(generator, [n for n in model.arrays if n != "curvature"])
    array = model.arrays[name]
    if "keys" in name:
        value = choice(generator, [0, *array.tolist()])
        model.arrays[name] = np.append(array[:-1], np.uint64(value if value != array[-1] else 0))
    elif name.endswith("_places"):
        model.arrays[name] = placed(generator, array, 0)
        if np.array_equal(model.arrays[name], array):
            model.arrays[name] = ~array
    elif "labels" in name:
        texts = [b"", b"[", b'["a", 7]', b'{"a": "b"}', b'["\\ud800"]', b"[" * 50_000, b'"a"']
        model.arrays[name] = np.frombuffer(choice(generator, texts), np.uint8)
    elif array.dtype.kind == "f":
        value = choice(generator, [np.nan, np.inf, -np.inf])
        model.arrays[name] = placed(generator, array, value)
    elif array.dtype.kind == "i":
        value = choice(generator, [-1, -(2**31), 2**31 - 1] if "complete" in name else [-1, -9999])
        model.arrays[name] = placed(generator, array, value)
    else:
        value = int(generator.integers(2, 256))
        model.arrays[name] = placed(generator, array.view(np.uint8), value).view(np.bool_)
    return Case(model.pack(), quoted(name))


def other_values(generator: Generator, model: Model, data: bytes) -> Case:
    """Another model, but a valid one."""
    names = [n for n in model.arrays if "label" not in n and "places" not in n]
    name = choice(generator, names)
    array = model.arrays[name]
    if "keys" in name:
        array = generator.permutation(np.arange(1, array.size + 1, dtype=np.uint64) * 7919)
    elif array.dtype.kind == "f":
        kind = choice(generator, [np.float16, np.float32])
        largest = float(choice(generator, [1.0, 6e4, np.finfo(kind).max]))
        array = (generator.uniform(-1, 1, array.shape) * largest).astype(kind)
    elif array.dtype.kind == "i" and "complete" not in name:
        array = generator.integers(0, 2**31 - 1, array.shape).astype(np.int32)
    elif array.dtype.kind != "i":
        array = generator.permutation(array.reshape(-1)).reshape(array.shape)
    model.arrays[name] = array
    return Case(model.pack(), None)


# Edits of the archive


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
    methods = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    methods.append(zipfile.ZIP_STORED if model.compressed else zipfile.ZIP_DEFLATED)
    return Case(archive_of(model.members().items(), choice(generator, methods)), "header")


def bomb(generator: Generator, model: Model, data: bytes) -> Case:
    """A member that claims a thousand times its size."""
    name = choice(generator, model.arrays)
    members = {**model.members(), f"{name}.npy": array_bytes(np.zeros(30_000_000, np.uint8))}
    header = members.pop("header.npy")
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w") as archive:
            for member, content in (("header.npy", header), *members.items()):
                entry = zipfile.ZipInfo(member)
                entry.create_system = 3
                entry.compress_type = (
                    zipfile.ZIP_DEFLATED if model.compressed or member == f"{name}.npy" else 0
                )
                archive.writestr(entry, content)
        return Case(buffer.getvalue(), re.escape(name))


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
    return Case(choice(generator, variants), "archive|header")


def overlapping(generator: Generator, model: Model, data: bytes) -> Case:
    """All members of the directory are one and the same."""
    changed = bytearray(data)
    first = data.index(b"PK\x01\x02")
    place = data.index(b"PK\x01\x02", first + 4)
    struct.pack_into("<L", changed, place + 42, 0)
    return Case(bytes(changed), "archive|array")


DAMAGE = [cut] * 4 + [flip] * 5
EDITS = [
    other_value,
    no_value,
    other_version,
    other_labels,
    other_identity,
    other_header,
    missing_array,
    renamed_array,
    array_twice,
    other_order,
    other_shape,
    other_shape,
    other_type,
    other_description,
    bad_values,
    bad_values,
    bad_values,
    other_values,
    other_member,
    many_members,
    other_compression,
    bomb,
    around,
    overlapping,
]


# Running them


@dataclass
class Source:
    """A component, and its model in the new and in the old format."""

    nlp: Language
    name: str
    new: bytes
    old: bytes

    @property
    def pipe(self) -> Any:
        return self.nlp.get_pipe(self.name)


class Runner:
    """Loads damaged models into the components of pipelines, and notes what comes of it."""

    def __init__(self, folder: Path) -> None:
        self.sources: list[Source] = []
        for path in sorted(folder.iterdir()):
            nlp = spacy.load(path, exclude=["tokenizer"])
            for name in nlp.pipe_names:
                old = (path / name / "cascade.npz").read_bytes()
                self.sources.append(Source(nlp, name, nlp.get_pipe(name).to_bytes(), old))
            predict(nlp)
        self.came: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest, self.most_memory = 0.0, 0

    def case(self, number: int) -> tuple[Source, bool, Callable[..., Case], Case]:
        """What to damage, whether in the old format, how, and the damaged file."""
        generator = np.random.default_rng(number)
        source = choice(generator, self.sources)
        is_old = bool(generator.random() < 0.2)
        data = source.old if is_old else source.new
        how = choice(generator, choice(generator, [DAMAGE, EDITS, EDITS]))
        return source, is_old, how, how(generator, Model.of(data), data)

    def run(self, number: int) -> None:
        source, is_old, how, case = self.case(number)
        came = self._came(source, case, is_old)
        self.came[came] += 1
        if came not in ("refused", "another valid model", "the same model"):
            self.wrong.append(f"{number}, {source.name}, {how.__name__}, {is_old}: {came}")

    def _came(self, source: Source, case: Case, is_old: bool) -> str:
        pipe = source.pipe
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        tracemalloc.start()
        begin = time.perf_counter()
        try:
            pipe.from_bytes(case.data)
            error = None
        except Exception as caught:
            error = caught
        self.slowest = max(self.slowest, time.perf_counter() - begin)
        # The file itself is in memory, too.
        memory = tracemalloc.get_traced_memory()[1] + len(case.data)
        tracemalloc.stop()
        try:
            if error is None:
                return self._loaded(source, case, is_old)
            return self._refused(error, case, memory, is_old)
        finally:
            pipe.from_bytes(source.new)
            faulthandler.cancel_dump_traceback_later()

    def _loaded(self, source: Source, case: Case, is_old: bool) -> str:
        if source.pipe.to_bytes() == source.new:
            # Dates and the like, of which the old format has some.
            return "the same model" if is_old or case.named is None else "damage not seen"
        if case.named is not None:
            return f"loaded, though {case.named} is not valid"
        return "another valid model" if predict(source.nlp) else "predictions are not finite"

    def _refused(self, error: Exception, case: Case, memory: int, is_old: bool) -> str:
        message = str(error)
        if type(error) is not ModelFileError:
            return f"{type(error).__name__}: {message[:300]}"
        if case.named is None:
            return f"refused, though valid: {message[:300]}"
        if not re.search(case.named, message):
            return f"{case.named} is not named: {message[:300]}"
        if len(message) > 600 or not message.isprintable():
            return f"no clear error: {message[:1000]!r}"
        times = OLD_TIMES if is_old else TIMES
        beyond = memory - times * len(case.data)
        self.most_memory = max(self.most_memory, beyond)
        if beyond > OWN_OBJECTS:
            return f"took {beyond:,} bytes more than {times} x its {len(case.data):,}: {message}"
        return "refused"


def predict(nlp: Language) -> bool:
    """Whether confidences are numbers from 0 to 1. Other labels may be a documented error."""
    for text in TEXTS:
        doc = Doc(nlp.vocab, words=text.split())
        for _, pipe in nlp.pipeline:
            try:
                doc = pipe(doc)
            except ValueError as error:
                if "was trained for the types" not in str(error):
                    raise
        for spans in doc.spans.values():
            scores = np.array(spans.attrs.get("scores", []), dtype=float)
            if not ((scores >= 0) & (scores <= 1 + 1e-9)).all():
                return False
    return True


def main(folder: str, first: str, last: str) -> None:
    runner = Runner(Path(folder))
    for number in range(int(first), int(last)):
        runner.run(number)
    print(
        json.dumps(
            {
                "came": runner.came,
                "wrong": runner.wrong[:20],
                "slowest": runner.slowest,
                "memory": runner.most_memory,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
