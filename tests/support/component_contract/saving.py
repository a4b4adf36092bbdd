"""Checks of how a trained component is saved, copied and loaded."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
from spacy.language import Language

from .case import Case, annotation
from .sample import SAMPLE_TEXTS


def copies_find_the_same(case: Case) -> None:
    """However the pipeline is saved and loaded, it finds the same and is the same again."""
    expected, saved = case.expected, case.trained.to_bytes()
    for way, copied in _ways(case):
        found = [annotation(copied(text)) for text in SAMPLE_TEXTS]
        case.equal(way, expected, found)
        case.true(way, "the same bytes when it is saved again", copied.to_bytes() == saved)


def the_component_alone_is_saved(case: Case) -> None:
    """Bytes and a folder of the component alone give the same labels and the same bytes."""
    component = case.of(case.trained)
    data = component.to_bytes()
    case.true("to_bytes", "equal bytes each time", component.to_bytes() == data)
    for way in ("from_bytes", "from_disk"):
        other = case.of(case.copy())
        if way == "from_bytes":
            other.from_bytes(data)
        else:
            with TemporaryDirectory() as folder:
                component.to_disk(Path(folder) / "component")
                other.from_disk(Path(folder) / "component")
        case.true(way, "the bytes that were loaded", other.to_bytes() == data)
        before, after = (getattr(each, "labels", ()) for each in (component, other))
        case.equal(f"labels after {way}", before, after)


def damaged_bytes_are_refused(case: Case) -> None:
    """Damaged bytes are an error of this package, and leave the component as it was."""
    data = case.of(case.trained).to_bytes()
    nlp, expected = case.copy(), case.expected
    for what, damaged in {
        "no bytes": b"",
        "other bytes": b"PK" + bytes(100),
        "the first half": data[: len(data) // 2],
        "all but the last byte": data[:-1],
        "a changed byte in the middle": _changed(data, len(data) // 2),
        "further bytes": data + b"more",
    }.items():
        case.refused(what, partial(case.of(nlp).from_bytes, damaged))
        found = [annotation(nlp(text)) for text in SAMPLE_TEXTS]
        case.equal(f"the component after {what}", expected, found)


CHECKS = copies_find_the_same, the_component_alone_is_saved, damaged_bytes_are_refused


def _changed(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def _ways(case: Case) -> Iterator[tuple[str, Language]]:
    """Ways to copy a pipeline, and the copies."""
    nlp = case.trained
    with case.no_error("to_bytes and from_bytes"):
        yield "to_bytes and from_bytes", case.untrained().from_bytes(nlp.to_bytes())
    with case.no_error("pickle"):
        yield "pickle", pickle.loads(pickle.dumps(nlp))
    with case.no_error("deepcopy"):
        yield "deepcopy", deepcopy(nlp)
    with TemporaryDirectory() as folder:
        with case.no_error("to_disk and spacy.load"):
            nlp.to_disk(folder)
            yield "to_disk and spacy.load", spacy.load(folder)
        with case.no_error("a second to_disk into the same folder"):
            nlp.to_disk(folder)
            yield "a second to_disk into the same folder", spacy.load(folder)
