"""Model files that try to have code run, loaded under the eyes of an audit hook.

    python hostile.py MODELS FOLDER N

A process of its own, because such a hook stays. Prints a JSON table of all that the interpreter
reported while files were loaded: N damaged ones, those of `hostile_files`, and valid ones. MARKER
in FOLDER is what their payloads make.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from damage import Runner
from edits import bomb
from model_files import Model, archive_of, array_bytes

from spacy_cascade import ModelFileError
from spacy_cascade.storage import model_file as storage

MARKER = "marker"


class Payload:
    """An object that makes a folder when it is read from a pickle."""

    def __init__(self, folder: Path) -> None:
        self.marker = folder / MARKER

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.marker),)


def pickles(model: Model, payload: Payload) -> Iterator[bytes]:
    """Pickles in place of an array, of the header, of the archive, and beside them."""
    array = np.array([payload], dtype=object)
    members = model.members()
    for name in ("header", "keys", "weights", "transitions", "more", "__init__"):
        yield model.pack({**members, f"{name}.npy": array_bytes(array)})
    for name in ("data.pkl", "archive/data.pkl", "weights.pkl", "weights"):
        yield model.pack({**members, name: pickle.dumps(payload)})
    yield pickle.dumps(payload)
    yield array_bytes(array)
    yield model.pack({"header.npy": array_bytes(array)})
    yield model.pack({**members, "header.npy": pickle.dumps(payload)})


def code(model: Model, payload: Payload) -> Iterator[bytes]:
    """Python in descriptions of arrays, in names, in the header, and as files."""
    text = f"__import__('os').mkdir({str(payload.marker)!r})"
    members = model.members()
    for description in (text, f"{{'descr': {text}, 'fortran_order': False, 'shape': (3,), }}\n"):
        encoded = description.encode()
        content = b"\x93NUMPY\x01\x00" + len(encoded).to_bytes(2, "little") + encoded + bytes(12)
        for name in ("header.npy", "weights.npy"):
            yield model.pack({**members, name: content})
        long = b"\x93NUMPY\x03\x00" + len(encoded).to_bytes(4, "little") + encoded + bytes(12)
        yield model.pack({**members, "weights.npy": long})
    for name in ("__init__.py", "sitecustomize.py", "os.py", "hook.pth", "hook.so", f"{text}.npy"):
        yield model.pack([*members.items(), (name, text.encode())])
    for field in ("kind", "format", "labels", "identity"):
        for value in (text, [text], {"__class__": text}, {"py/reduce": [text]}, {"$ref": text}):
            yield Model({**model.header, field: value}, model.arrays).pack()
    more = {"__import__": "hostile_module", "!!python/object/apply:os.mkdir": [text]}
    yield Model({**model.header, **more}, model.arrays).pack()


def places(model: Model, payload: Payload) -> Iterator[bytes]:
    """Members that lead out of the archive: by their names, or as links."""
    content = array_bytes(np.zeros(3, np.float32))
    names = ("../marker", str(payload.marker), "C:\\marker", "..\\marker", "marker/", "~/marker")
    for name in names:
        yield model.pack([*model.members().items(), (f"{name}.npy", content)])
        yield model.pack([(f"{name}.npy", content), *model.members().items()])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in model.members().items():
            link = zipfile.ZipInfo(name)
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, b"/etc/passwd" if name.startswith("weights") else data)
    yield buffer.getvalue()


def bombs(model: Model, payload: Payload) -> Iterator[bytes]:
    """Small texts that take much memory, time or depth when they are read."""
    for text in (
        b"[" * 200_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"version": ' + b"9" * 200_000 + b"}",
        b'{"version": 1e999999999}',
        b'{"labels": [' + b"[]," * 60_000 + b"[]]}",
    ):
        header = {"header.npy": array_bytes(np.frombuffer(text, np.uint8))}
        yield model.pack({**model.members(), **header})
    generator = np.random.default_rng(5)
    for _ in range(3):
        yield bomb(generator, model, model.pack()).data
    yield archive_of([("header.npy", bytes(20_000_000))], zipfile.ZIP_DEFLATED)


def hostile_files(data: bytes, folder: Path) -> Iterator[bytes]:
    """All of them, made of a valid one."""
    for make in (pickles, code, places, bombs):
        yield from make(Model.of(data), Payload(folder))


class Watch:
    """Notes what the interpreter reports from within `with`, but for reading one file."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.seen: set[str] = set()
        self._file: str | None = None
        self._is_on = False
        sys.addaudithook(self._hook)

    def __call__(self, file: Path | None) -> Watch:
        self._file = None if file is None else str(file)
        return self

    def __enter__(self) -> None:
        self._is_on = True

    def __exit__(self, *_: object) -> None:
        self._is_on = False

    def forget(self) -> None:
        self.events.clear()
        self.seen.clear()

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_on or event == "builtins.id":  # which copies of settings ask for
            return
        if event == "open" and str(arguments[0]) == self._file and arguments[1] in ("r", "rb"):
            event = "open, of the file itself"
        self.events[event] += 1
        self.seen.add(f"{event} {arguments!r}"[:200])


def load(watch: Watch, pipe: Any, data: bytes, file: Path) -> str:
    """Load bytes in each way there is. Returns what came of it."""
    file.write_bytes(data)
    came = set()
    for way, path in (
        (lambda: storage.unpack(data, "the test"), None),
        (lambda: pipe.from_bytes(data), None),
        (lambda: pipe.from_disk(file.parent), file),
    ):
        with watch(path):
            try:
                way()
                error = None
            except Exception as caught:
                error = caught
        came.add("loaded" if error is None else type(error).__name__)
    # What stands in the arrays is looked at by components only.
    return "refused" if came - {"loaded"} == {ModelFileError.__name__} else " and ".join(came)


def main(models: str, where: str, n: str) -> None:
    warnings.simplefilter("ignore")
    folder = Path(where)
    file = folder / "model" / storage.FILE_NAME
    file.parent.mkdir()
    runner = Runner(Path(models))
    watch = Watch()
    for source in runner.sources:  # all that is imported or compiled when first used
        for data in (source.data[:-1], source.data):
            load(watch, source.pipe, data, file)
    watch.forget()
    came: dict[str, Counter[str]] = {"hostile": Counter(), "damaged": Counter(), "valid": Counter()}
    for source in runner.sources:
        came["valid"][load(watch, source.pipe, source.data, file)] += 1
        for changed in hostile_files(source.data, folder):
            came["hostile"][load(watch, source.pipe, changed, file)] += 1
        source.pipe.from_bytes(source.data)
    for number in range(int(n)):
        source, _, case = runner.case(number)
        came["damaged"][load(watch, source.pipe, case.data, file)] += 1
        source.pipe.from_bytes(source.data)
    left = sorted(path.name for path in folder.rglob("*"))
    events, seen = dict(watch.events), sorted(watch.seen)[:50]
    watch.forget()
    content = pickle.dumps(Payload(folder))
    with watch(None):
        pickle.loads(content)
    print(
        json.dumps(
            {
                "came": came,
                "events": events,
                "seen": seen,
                "left": left,
                "control": [list(watch.events), (folder / MARKER).exists()],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
