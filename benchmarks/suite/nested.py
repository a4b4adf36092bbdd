"""Nested entities against flat ones: F1 of all levels, of outermost and of inner spans, and speed.

python -m benchmarks.suite.nested gum danplus --data FOLDER

FOLDER has a folder `gum` and a folder `danplus` with `train.jsonl` and `dev.jsonl`
(`benchmarks.lib.nested`). Both pipelines are what `init` chooses: for the spans of all levels, and
for the outermost ones alone. Tokens and sentences are given. `gum` is scored on dev, with all of
its documents and with those that are not in train, too; `danplus`, where few spans are inside
others, by cross-validation over train. Seconds are those of a processor, the speed is that of the
nested pipeline over that of the flat one on dev, confidences included.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..lib.nested import DOCUMENT, ENTITIES, Counts, count_rows, outermost, read_nested, rows_of
from ..lib.package import train_levels
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import data_parser

LANGUAGES = {"gum": "en", "danplus": "da"}
FOLDS = 5
FOUND = "cascade"
_ROUNDS = 12


def train_and_score(
    train: Sequence[str], test: Sequence[str], folder: str, lang: str, kind: str
) -> Result:
    """Train on some documents and score on others; test: `[file, names of documents …]`.

    train: likewise. Without names, all documents of a file count. kind: `flat` or `nested`.
    """
    known, held = ([*_chosen(*part)] for part in (train, test))
    paths = {name: f"{folder}/{name}.spacy" for name in ("train", "dev")}
    for name, docs in zip(paths, (known, held), strict=True):
        DocBin(docs=docs, store_user_data=True).to_disk(paths[name])
    trained = train_levels(**paths, lang=lang, kind=kind, model=f"{folder}/{kind}")
    nlp = spacy.load(f"{folder}/{kind}")
    docs = [Doc(nlp.vocab, words=[t.text for t in d], sent_starts=_starts(d)) for d in held]
    found = [list(doc.spans[FOUND]) for doc in nlp.pipe(docs)]
    return {**trained, "counts": _counts(found, held), "documents": [_name(doc) for doc in held]}


def _chosen(path: str, *names: str) -> list[Doc]:
    return [doc for doc in read_nested(path, Vocab()) if not names or _name(doc) in names]


def _name(doc: Doc) -> str:
    return str(doc.user_data[DOCUMENT])


def _starts(doc: Doc) -> list[bool | int | None]:
    return [bool(token.is_sent_start) for token in doc]


def _counts(found: Sequence[Any], held: Sequence[Doc]) -> list[dict[str, list[int]]]:
    """For each document how many spans are right, found and gold: all, outermost, inner ones."""
    counts = []
    for spans, doc in zip(found, held, strict=True):
        gold = list(doc.spans[ENTITIES])
        outer = [rows_of(outermost(own)) for own in (spans, gold)]
        every = [rows_of(own) for own in (spans, gold)]
        levels = {"all": every, "outermost": outer}
        levels["inner"] = [own - its for own, its in zip(every, outer, strict=True)]
        counts.append({name: list(count_rows(*sides)) for name, sides in levels.items()})
    return counts


def _scores(counts: Sequence[dict[str, list[int]]]) -> Result:
    return {
        level: Counts(*map(sum, zip(*(each[level] for each in counts), strict=True))).scores()
        for level in ("all", "outermost", "inner")
    }


def of_gum(runner: TaskRunner, data: Path, work: Path) -> Result:
    """Both pipelines on dev, and their speeds."""
    files = {part: str(data / "gum" / f"{part}.jsonl") for part in ("train", "dev")}
    known = {_name(doc) for doc in read_nested(files["train"], Vocab())}
    row: Result = {"corpus": "gum"}
    for kind in ("flat", "nested"):
        task = {"train": [files["train"]], "test": [files["dev"]], "folder": str(work)}
        trained = runner.run("suite.nested:train_and_score", {**task, "lang": "en", "kind": kind})
        pairs = zip(trained["counts"], trained["documents"], strict=True)
        apart = [counts for counts, name in pairs if name not in known]
        row[kind] = {
            "dev": _scores(trained["counts"]),
            "not_in_train": _scores(apart),
            "seconds": trained["seconds"],
        }
        row["documents"] = {"dev": len(trained["counts"]), "not_in_train": len(apart)}
    task = {"one": str(work / "flat"), "other": str(work / "nested")}
    corpus = {"corpus": str(work / "dev.spacy"), "rounds": _ROUNDS}
    row["speed"] = runner.run("lib.pace:compare", {**task, **corpus})
    return row


def of_danplus(runner: TaskRunner, data: Path, work: Path) -> Result:
    """Both pipelines by cross-validation over train."""
    path = str(data / "danplus" / "train.jsonl")
    names = [_name(doc) for doc in read_nested(path, Vocab())]
    row: Result = {"corpus": "danplus", "folds": FOLDS}
    for kind in ("flat", "nested"):
        counts: list[dict[str, list[int]]] = []
        for fold in range(FOLDS):
            folder = work / f"fold-{fold}"
            folder.mkdir(parents=True, exist_ok=True)
            rest = [name for i, name in enumerate(names) if i % FOLDS != fold]
            parts = {"train": [path, *rest], "test": [path, *names[fold::FOLDS]]}
            settings = {"folder": str(folder), "lang": "da", "kind": kind}
            counts += runner.run("suite.nested:train_and_score", {**parts, **settings})["counts"]
        row[kind] = _scores(counts)
    return row


ROWS = {"gum": of_gum, "danplus": of_danplus}


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """A row for each corpus."""
    rows = []
    for name in arguments.corpora:
        work = arguments.work / f"nested-{name}"
        work.mkdir(parents=True, exist_ok=True)
        rows.append(ROWS[name](runner, arguments.data, work))
        print(rows[-1], flush=True)
    return {"rows": rows}


def main() -> None:
    parser = data_parser(__doc__, "nested.json")
    parser.add_argument("corpora", nargs="+", choices=sorted(ROWS))
    run(parser, "nested", measure)


if __name__ == "__main__":
    main()
