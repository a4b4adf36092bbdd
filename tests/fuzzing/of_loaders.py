"""Loaders of what the package, and other tools, have saved: models, tables, lists, journals."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzzing.target import (
    JSON_PIECES,
    TEXT_PIECES,
    Fuzzed,
    chosen,
    folder,
    in_file,
    split_head,
)

SYSTEMS = "tagger", "semi", "higher_order", "many_labels", "linked", "reranked"
"""Saved pipelines whose files have all forms that there are."""
TEXT = "IL-2 needs p53 ."


# Model files


@cache
def _components() -> dict[str, tuple[Any, Any, bytes]]:
    """Components by name: each with a Doc that the ones before it have annotated, and its file."""
    from saved_pipelines import load

    found = {}
    for system in SYSTEMS:
        nlp, _ = load(system, folder() / system)
        doc = nlp.make_doc(TEXT)
        for name, pipe in nlp.pipeline:
            found[f"{system}.{name}"] = pipe, doc.copy(), bytes(pipe.to_bytes())
            doc = pipe(doc)
    return found


def _model(data: bytes) -> None:
    """A file, after the name of its component; JSON is the header of one with right checksums."""
    head, content = split_head(data)
    pipe, doc, saved = _components()[chosen(head, _components())]
    pipe.from_bytes(_with_header(content, saved))
    try:
        pipe(doc.copy())
    finally:
        pipe.from_bytes(saved)


def _with_header(data: bytes, saved: bytes) -> bytes:
    from spacy_cascade.storage import archive

    if data[:1] not in (b"{", b"["):
        return data
    arrays = dict(archive.read(saved))
    return archive.write({**arrays, "header": np.frombuffer(data, np.uint8)})


def _with_its_header(saved: bytes) -> list[bytes]:
    from spacy_cascade.storage import archive

    return [saved, bytes(dict(archive.read(saved))["header"])]


def _models() -> list[bytes]:
    return [
        name.encode() + b"\n" + content
        for name, (_, _, saved) in _components().items()
        for content in _with_its_header(saved)
    ]


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


# Lists of terms, tables of words, vectors


def _lexicon(data: bytes) -> None:
    """Terms of a lexicon and of a linker; the first line is the name of the file."""
    from spacy_cascade.systems.dictionaries.term_ids import TermIds
    from spacy_cascade.systems.dictionaries.terms import read_spellings

    head, content = split_head(data)
    name = chosen(head, ("terms.txt", "terms.tsv", "terms.jsonl", "terms.txt.gz"))
    path = str(in_file(content, name))
    read_spellings("terms", path, str.split)
    TermIds.read({"terms": path}, str.split)


def _words(data: bytes) -> None:
    from spacy_cascade.systems.words.files import read_table

    table = read_table("words", str(in_file(data, "input.words")))
    table.share(["IL-2", "binds", "p53", "x"])


@cache
def _word_seeds() -> list[bytes]:
    from spacy_cascade.systems.words.files import Listed, of_list, write_table
    from spacy_cascade.systems.words.table import About

    path = folder() / "seed.words"
    write_table(path, of_list([Listed("01", "IL-2", 3), Listed("0010", "p53", 1)], About("a")))
    return [path.read_bytes(), b"0010\tIL-2\t3\n0110\tp53\t2\n", b"IL-2 7\np53 7\nbinds 3\n"]


def _vectors(data: bytes) -> None:
    """The first line is the name of the file."""
    from spacy_cascade.tools.words.vector_files import read_vectors, seems_to_have_vectors
    from spacy_cascade.tools.words.word_lists import read_list

    head, content = split_head(data)
    path = in_file(content, chosen(head, ("input.vec", "input.bin", "input.txt")))
    if path.suffix == ".txt":
        read_list(path, 100)
    if seems_to_have_vectors(path):
        read_vectors(path, 1000)


def _vector_seeds() -> list[bytes]:
    """Text and binary files of word2vec's, and a model of fastText's."""
    import struct

    numbers = struct.pack("<5f", 1, 2, 3, 4, 5)
    fast_text = (
        struct.pack("<ii", 793712314, 12)
        + struct.pack("<12id", 5, 5, 5, 1, 5, 1, 3, 1, 2, 2, 3, 100, 1e-4)
        + struct.pack("<iiiqq", 2, 2, 0, 9, 0)
        + b"IL-2\0" + struct.pack("<qb", 3, 0) + b"p53\0" + struct.pack("<qb", 2, 0)
        + b"\0" + struct.pack("<qq", 4, 5) + numbers * 4
    )  # fmt: skip
    return [
        b"input.vec\n2 5\nIL-2 1 2 3 4 5\np53 1 2 3 4 5\n",
        b"input.vec\nIL-2 1 2 3 4 5\np53 1e3 -2 3 4 5.5\n",
        b"input.txt\nIL-2 0.1 2 3 4 5\n",
        b"input.bin\n2 5\nIL-2 " + numbers + b"\np53 " + numbers + b"\n",
        b"input.bin\n" + fast_text,
    ]


# Texts and Docs


_WRITERS: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
_TEXTS = "input.txt", "input.jsonl", "input.txt.gz", "input.jsonl.bz2", "input.jsonl.xz"


def _texts(data: bytes) -> None:
    """Texts without annotation, as commands and `annotate` read them; the first line is the name.

    What a compressed file has is mutated, or all of it where a minus stands before the name.
    """
    from spacy_cascade.text_sources import read_texts
    from spacy_cascade.tools.bulk.sources.base import Names
    from spacy_cascade.tools.bulk.sources.finding import source_of

    head, content = split_head(data)
    name = chosen(head.lstrip(b"-"), _TEXTS)
    compress = _WRITERS.get(Path(name).suffix)
    if compress is not None and not head.startswith(b"-"):
        content = compress(content)
    path = in_file(content, name)
    source = source_of(path, name, Names())
    source.columns()
    for wanted in source.ranges(40):
        list(source.read(wanted))
    if not name.endswith((".bz2", ".xz")):
        list(read_texts(path, "text"))


def _text_seeds() -> list[bytes]:
    lines = b'{"text": "IL-2 binds", "id": 3}\n\n{"text": "b\\ud83d\\ude00", "id": 0.5}\n'
    return [
        b"input.txt\nIL-2 binds\n\nb\n", b"input.jsonl\n" + lines, b"input.txt.gz\nIL-2 binds\nb\n",
        b"-input.txt.gz\n" + gzip.compress(b"IL-2 binds\nb\n", mtime=0),
        b"input.jsonl.bz2\n" + lines, b"-input.jsonl.bz2\n" + bz2.compress(lines),
        b"input.jsonl.xz\n" + lines, b"-input.jsonl.xz\n" + lzma.compress(lines),
    ]  # fmt: skip


def _docs(data: bytes) -> None:
    """What stands in a `.spacy` file before it is compressed."""
    from spacy.vocab import Vocab

    from spacy_cascade.errors import CascadeError
    from spacy_cascade.pipeline.readers import read_docs
    from spacy_cascade.pipeline.spans.confidences import confidence_of
    from spacy_cascade.tools.formats.placing import text_of

    for doc in read_docs(in_file(zlib.compress(data), "input.spacy"), Vocab()):
        try:
            text_of(doc, confidence_of)
        except ValueError as error:
            if not str(error).startswith("[E"):
                raise
            raise CascadeError("spaCy says so") from error  # of a label that is no string of it


def _doc_seeds() -> list[bytes]:
    from spacy.tokens import DocBin

    from helpers import SENTENCES, blank, gold_doc

    vocab = blank().vocab
    docs = [gold_doc(vocab, *sentence) for sentence in SENTENCES[:2]]
    kept = DocBin(docs=docs, store_user_data=True).to_bytes()
    grouped = [gold_doc(vocab, *SENTENCES[0], key="sc")]
    return [zlib.decompress(kept), zlib.decompress(DocBin(docs=grouped).to_bytes())]


# What the package keeps for itself


def _journal(data: bytes) -> None:
    """Annotation of an earlier process of the Label Studio backend."""
    from spacy_cascade.tools.annotation.label_studio.journal import RECORDS, Journal

    place = folder() / "journal"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / RECORDS).write_bytes(data)
    journal = Journal(place)
    try:
        before = journal.texts()
        journal.add([{"text": "a", "spans": [], "task": 1, "annotation": 1}])
        assert len(before) <= len(journal.texts())
    finally:
        journal.close()


_JOURNAL = (
    b'{"text": "IL-2", "spans": [{"start": 0, "end": 4, "label": "X"}], "task": 7, '
    b'"annotation": 3}\n{"task": 7, "annotation": 3, "answer": "ignore"}\n'
    b'{"text": "b", "spans": [], "task": null, "annotation": "x"}\n'
)


@cache
def _kernel() -> tuple[Any, Any, bytes]:
    """The cache of a kernel, in a folder of its own, a signature, and the file of that."""
    from numba import int64, njit

    from spacy_cascade.kernel_cache import KernelCache

    kernel = njit(_next)
    kernel.compile((int64,))
    (signature,) = kernel.signatures
    kept = KernelCache(kernel)
    vars(kept)["_folders"] = (folder(),)
    kept.save_overload(signature, kernel.overloads[signature])
    return kept, signature, (folder() / kept.file_name(signature)).read_bytes()


def _next(number: int) -> int:
    return number + 1


def _kernels(data: bytes) -> None:
    """A damaged file of machine code counts as missing; no damage passes its checksum."""
    from spacy_cascade.errors import CascadeError

    kept, signature, saved = _kernel()
    path = in_file(data, kept.file_name(signature))
    path.chmod(0o600)
    if kept.load_overload(signature, kept._compiled.targetctx) is None:
        raise CascadeError("no machine code")
    assert data == saved, "damaged machine code is used"


LOADERS: dict[str, Fuzzed] = {
    "model": Fuzzed(_model, _models, JSON_PIECES),
    "checkpoint": Fuzzed(
        _checkpoint, lambda: _with_its_header(_saved_checkpoint()), JSON_PIECES
    ),
    "templates": Fuzzed(
        _templates, _template_seeds,
        (b"@", b"..", b"-999999999", b"300000000", b"(", b")", b"&", b"~", b"(a+)+$", b"|", b","),
    ),
    "lexicon": Fuzzed(
        _lexicon,
        lambda: [b"terms.txt\nIL-2\np53 gene\n", b"terms.tsv\nIL-2\tG1\tprotein\n",
                 b'terms.jsonl\n{"label": "X", "pattern": [{"LOWER": "a"}], "id": "1"}\n'],
        (*JSON_PIECES, *TEXT_PIECES, b'"pattern"', b'"LOWER"', b'"OP"'),
    ),
    "words": Fuzzed(_words, _word_seeds, (*TEXT_PIECES, *JSON_PIECES)),
    "vectors": Fuzzed(
        _vectors, _vector_seeds, (b" ", b"nan", b"inf", b"1e999", b"\x00" * 8, *TEXT_PIECES)
    ),
    "texts": Fuzzed(_texts, _text_seeds, (*TEXT_PIECES, *JSON_PIECES)),
    "docs": Fuzzed(_docs, _doc_seeds, (b"\xff" * 8, b"\x80", b"\xc0", b"\xdd\xff\xff\xff\xff")),
    "kernels": Fuzzed(_kernels, lambda: [_kernel()[2]], TEXT_PIECES),
    "journal": Fuzzed(_journal, lambda: [_JOURNAL], (*JSON_PIECES, *TEXT_PIECES)),
}  # fmt: skip
