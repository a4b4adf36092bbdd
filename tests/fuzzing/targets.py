"""What is fuzzed: readers of input that strangers may have made.

A target takes bytes and returns, or raises an error of the package. Anything else is a defect.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PROJECT = Path(__file__).parents[2]
sys.path[:0] = [str(PROJECT / "tests/support"), str(PROJECT / "examples")]

Target = Callable[[bytes], None]


class Fuzzed(NamedTuple):
    """A target, inputs to begin with, and pieces to insert."""

    run: Target
    seeds: Callable[[], list[bytes]]
    pieces: tuple[bytes, ...]


def refusing(data: bytes, run: Target) -> bool:
    """Whether a target refuses an input by an error of the package; other errors get through."""
    from spacy_cascade.errors import CascadeError

    try:
        run(data)
    except CascadeError:
        return True
    return False


# Model files


@cache
def _tagger() -> Any:
    from helpers import blank, make_examples

    nlp = blank()
    tagger = nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[-1]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp, tagger


def _model(data: bytes) -> None:
    """The bytes as a file; where they are JSON, as the header of a file with right checksums."""
    nlp, tagger = _tagger()
    tagger.from_bytes(_with_header(data, _saved_model()))
    nlp("IL-2 needs p53 .")


@cache
def _saved_model() -> bytes:
    return bytes(_tagger()[1].to_bytes())


def _with_header(data: bytes, saved: bytes) -> bytes:
    from spacy_cascade.storage import archive

    if data[:1] not in (b"{", b"["):
        return data
    arrays = dict(archive.read(saved))
    return archive.write({**arrays, "header": np.frombuffer(data, np.uint8)})


def _with_its_header(saved: bytes) -> list[bytes]:
    from spacy_cascade.storage import archive

    return [saved, bytes(dict(archive.read(saved))["header"])]


# Checkpoints


@cache
def _saved_checkpoint() -> bytes:
    from spacy_cascade.tools.checkpoints.files import Checkpoint, Evaluation, pack

    return pack(
        Checkpoint(
            {"nlp.lang": "en", "a": "0f"}, step=2, epoch=1,
            evaluations=[Evaluation(0, {"a": 1.5}, {"f": 0.5, "by": {"X": {"p": None}}})],
            losses={}, best={}, trainings={"a": {"iteration": 3, "move": np.arange(3.0)}},
            begun={"a": 1},
        )
    )  # fmt: skip


def _checkpoint(data: bytes) -> None:
    from spacy_cascade.tools.checkpoints.files import unpack

    unpack(_with_header(data, _saved_checkpoint()), "the input")


# Templates and patterns


@cache
def _keep_entry_points() -> None:
    """Unknown attributes are looked up in the files of all installed packages; once is enough."""
    from spacy_cascade.features import registry

    registry.entry_points = cache(registry.entry_points)  # type: ignore[attr-defined]


def _templates(data: bytes) -> None:
    """A template on each line; after `~` a pattern, which is searched in a word."""
    from spacy_cascade.features.space import FeatureSpace
    from spacy_cascade.features.templates import Templates

    _keep_entry_points()
    lines = data.decode("utf8", "surrogateescape").split("\n")
    patterns = {f"p{i}": line[1:] for i, line in enumerate(lines) if line.startswith("~")}
    templates = [line for line in lines if not line.startswith("~")]
    named = tuple(f"pattern({name})" for name in patterns)
    FeatureSpace(Templates((*templates, *named), patterns, {}))


def _template_seeds() -> list[bytes]:
    from spacy_cascade.features.template_sets import make_classification, make_segmentation

    sets = make_segmentation(), make_classification()
    return [line.encode() + b"\n~[0-9]" for made in sets for line in made.templates] + [
        b"word@-1..1\nprefix(1..3)\n~^[A-Z]+$", b"~(a|b)*c\nlower & pattern(p0)",
    ]  # fmt: skip


# Column files, lexicons


@cache
def _folder() -> Path:
    """In memory where the system has such a place: a file is written for each input."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(prefix="fuzzing-", dir=in_memory)
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _in_file(data: bytes, name: str) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


def _columns(data: bytes) -> None:
    from spacy.vocab import Vocab

    from spacy_cascade.tools.formats.columns import read_columns
    from spacy_cascade.tools.formats.docs import to_docs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tags that do not follow each other
        list(to_docs(read_columns(_in_file(data, "input.iob2")), Vocab()))


def _lexicon(data: bytes) -> None:
    """The first byte chooses the format by the name of the file."""
    from spacy_cascade.systems.dictionaries.terms import read_spellings

    name = ("terms.txt", "terms.tsv", "terms.jsonl")[data[0] % 3 if data else 0]
    read_spellings("terms", str(_in_file(data[1:], name)), str.split)


# The service


@cache
def _client() -> Any:
    import serve
    from fastapi.testclient import TestClient

    from helpers import trained_cascade

    folder = tempfile.mkdtemp()
    trained_cascade().to_disk(folder)
    serve.MODEL = folder
    client = TestClient(serve.app, raise_server_exceptions=False)
    client.__enter__()
    return client


def _service(data: bytes) -> None:
    from spacy_cascade.errors import CascadeError

    answer = _client().post("/entities", content=data, headers={"content-type": "application/json"})
    if answer.status_code >= 500:
        raise AssertionError(f"status {answer.status_code}")
    if len(answer.content) > 4096 + 400 * len(data):
        raise AssertionError(f"{len(answer.content)} bytes come back for {len(data)}")
    if answer.status_code >= 400:
        raise CascadeError(f"status {answer.status_code}")


_JSON = (
    b"NaN", b"1e999", b"-1", b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"9" * 30,
    b"[" * 40, b'{"a":', b",", b":", b'"',
)  # fmt: skip

TARGETS: dict[str, Fuzzed] = {
    "model": Fuzzed(_model, lambda: _with_its_header(_saved_model()), _JSON),
    "checkpoint": Fuzzed(_checkpoint, lambda: _with_its_header(_saved_checkpoint()), _JSON),
    "templates": Fuzzed(
        _templates, _template_seeds,
        (b"@", b"..", b"-999999999", b"300000000", b"(", b")", b"&", b"~", b"(a+)+$", b"|", b","),
    ),
    "columns": Fuzzed(
        _columns,
        lambda: [
            b"IL-2 B-DNA\ngene I-DNA\n\nbinds O\n", b"a\tNN\tO\nb\tNN\tB-X\n",
            b"-DOCSTART- O\n\na O\n",
        ],
        (b"\n", b"\t", b"\r", b"\x00", b"\xff", b"I-", b"B-", b"L-", b"\xe2\x80\xa8",
         b"# id = 1\n"),
    ),
    "lexicon": Fuzzed(
        _lexicon,
        lambda: [b"\x00IL-2\np53 gene\n", b"\x01IL-2\tG1\tprotein\n",
                 b'\x02{"label": "X", "pattern": [{"LOWER": "a"}], "id": "1"}\n'],
        (*_JSON, b"\t", b"\n", b"\x00", b"\xff", b'"pattern"', b'"LOWER"', b'"OP"'),
    ),
    "service": Fuzzed(
        _service, lambda: [b'{"texts": ["IL-2 gene", ""]}', b'{"texts": []}'],
        (*_JSON, b'"texts"', b"\\u0000", b"\xff"),
    ),
}  # fmt: skip


def numbered(folder: Path) -> Iterator[bytes]:
    """The inputs that were kept in a folder."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        yield path.read_bytes()


def described(error: BaseException, data: bytes) -> str:
    """A defect as text, with the input as JSON so that it can be copied."""
    shown = json.dumps(data[:2000].decode("latin1"))
    return f"{type(error).__name__}: {error}\ninput (latin-1, as JSON): {shown}"
