"""Small saved pipelines of every system, which later releases load: `tests/saved/NAME.zip`.

    python tests/support/saved_pipelines.py [NAME …]

writes those that are not there yet, by the present release; the names given are written anew. An
archive has the folder of a pipeline, without tokenizer and vocabulary, which are spaCy's, and what
it writes on a few Docs. A format that is changed keeps its old archives beside the new ones.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from helpers import PROJECT, SENTENCES, annotation, blank, gold_doc
from trained_systems import SYSTEMS

SAVED = PROJECT / "tests" / "saved"
EXPECTED = "expected.json"
OF_SPACY = ["tokenizer", "vocab"]
ALIKE = {
    "crf_online": "crf", "semi_typed": "semi", "chunks": "icrf", "shards": "memb",
    "stream": "ocr", "many_types": "memb", "distilled": "memb",
}  # fmt: skip
"""Systems whose files have the form of another one's."""
N_SENTENCES, TIMES = 3, 6
"""Few sentences, seen more often than any config asks for."""


def write_corpora(folder: Path) -> None:
    """The sentences, again and again, as `train.spacy`; once as `dev.spacy`."""
    vocab = blank().vocab
    docs = [
        gold_doc(vocab, f"{text} {i}", spans)  # a number, so that no two sentences are the same
        for i in range(TIMES)
        for text, spans in SENTENCES[:N_SENTENCES]
    ]
    for doc in docs:
        for token in doc:
            token.tag_ = token.shape_[:2]
        doc.spans["chunks"] = [Span(doc, t.i, t.i + 1, f"{t.tag_}P") for t in doc if not t.is_alpha]
    DocBin(docs=docs).to_disk(folder / "train.spacy")
    DocBin(docs=docs[:N_SENTENCES]).to_disk(folder / "dev.spacy")


def linked(corpora: Path) -> Language:
    """The cascade, and a linker of some of its entities."""
    nlp = SYSTEMS["memb"](corpora)
    terms = corpora / "terms.tsv"
    terms.write_text("IL-2 gene\tG1\tDNA\nSTAT5\tG2\np53\tG3\tprotein\n", encoding="utf8")
    linker: Any = nlp.add_pipe("cascade_linker", config={"lists": {"names": str(terms)}})
    linker.initialize(nlp=nlp)
    return nlp


_CORPORA = re.compile(rb'^(train|dev|path) = "[^"]*/(\w+\.spacy)"', re.MULTILINE)
"""Settings of a config with the folder of the corpora, which is gone."""
MAKERS: dict[str, Callable[[Path], Language]] = {
    **{name: make for name, make in SYSTEMS.items() if name not in ALIKE},
    "linked": linked,
}


def annotated(nlp: Language) -> list[dict[str, Any]]:
    """What a pipeline writes on the sentences, as JSON has it."""
    docs = [Doc(nlp.vocab, words=text.split()) for text, _ in SENTENCES]
    for doc in docs:
        for token in doc:
            token.tag_ = token.shape_[:2]
    found = [
        {
            **annotation(doc),
            "tags": [token.tag_ for token in doc],
            "ids": [entity.kb_id_ for entity in doc.ents],
            "confidences": [entity._.confidence for entity in doc.ents],
        }
        for doc in nlp.pipe(docs)
    ]
    made: list[dict[str, Any]] = json.loads(json.dumps(found))
    return made


def load(name: str, folder: Path) -> tuple[Language, list[dict[str, Any]]]:
    """A saved pipeline, unpacked into a folder, and what it wrote when it was saved."""
    with ZipFile(SAVED / f"{name}.zip") as archive:
        archive.extractall(folder)
    nlp = spacy.load(folder, exclude=OF_SPACY)
    return nlp, json.loads((folder / EXPECTED).read_text(encoding="utf8"))


def save(name: str, nlp: Language) -> None:
    """Write the archive of a pipeline; the same pipeline gives the same bytes."""
    SAVED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder, exclude=OF_SPACY)
        expected = json.dumps(annotated(spacy.load(folder, exclude=OF_SPACY)))
        (Path(folder) / EXPECTED).write_text(expected, encoding="utf8")
        with ZipFile(SAVED / f"{name}.zip", "w", ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    member = ZipInfo(path.relative_to(folder).as_posix())
                    data = _CORPORA.sub(rb'\1 = "\2"', path.read_bytes())
                    archive.writestr(member, data, ZIP_DEFLATED, 9)


def main(*anew: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_corpora(Path(folder))
        for name in anew or [name for name in MAKERS if not (SAVED / f"{name}.zip").exists()]:
            save(name, MAKERS[name](Path(folder)))
            print(f"{name}: {(SAVED / f'{name}.zip').stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
