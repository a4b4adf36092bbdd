"""A pipeline that annotates while a copy of it learns in the background."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread

import spacy
from spacy.language import Language
from spacy.util import logger

from ...corpora.formats.prodigy import annotated_text
from ...corpora.formats.source import Row, Source
from ...errors import CascadeError
from ...files import replace_file
from ...pipeline.readers import examples_for
from ...pipeline.saving import save_pipeline
from ..learn import learn
from ..returned import example_of
from ..stream import Record

MODEL, RECORDS = "model", "annotated.jsonl"
"""What the folder of a learner holds: the newest pipeline, and all annotation."""


@dataclass(frozen=True)
class Corpora:
    """What helps to learn: Docs that the first pipeline was trained on, and Docs to compare on."""

    train: Path | None = None
    dev: Path | None = None


@dataclass(frozen=True)
class Status:
    """What the learner does; error: of the last training, None where it went well."""

    version: str
    versions: tuple[str, ...]
    annotated: int
    is_training: bool
    error: str | None


@dataclass
class Learner:
    """Collects annotated texts, and trains on all of them in a thread of its own.

    base: the first pipeline. folder: for the newest one and for the annotation; what is there
    already is taken up again. Each training begins with the first pipeline, so nothing depends on
    the order of annotation, and works on a copy, which takes the place of the one that annotates
    as a whole. Annotation that arrives meanwhile is learnt by the next training.
    """

    base: Path
    folder: Path
    corpora: Corpora = field(default_factory=Corpora)

    def __post_init__(self) -> None:
        saved = self.folder / MODEL
        self._changed = Condition()
        self._records: dict[str, Record] = {}
        if (self.folder / RECORDS).exists():
            rows = Source(self.folder / RECORDS).rows()
            self._records = {str(row.value.get("task")): row.value for row in rows}
        self._nlp = spacy.load(saved if saved.is_dir() else self.base)
        self._versions = [f"{self.base.name}-{len(self._records)}"]
        self._is_wanted = self._is_training = False
        self._error: str | None = None
        Thread(target=self._run, daemon=True).start()

    def pipeline(self) -> tuple[Language, str]:
        """The newest pipeline and its version."""
        with self._changed:
            return self._nlp, self._versions[-1]

    def status(self) -> Status:
        with self._changed:
            return Status(
                self._versions[-1], tuple(self._versions), len(self._records),
                self._is_wanted or self._is_training, self._error,
            )  # fmt: skip

    def add(self, records: Iterable[Record]) -> None:
        """Keep annotated texts, those of the same task in place of earlier ones; save them."""
        with self._changed:
            self._records |= {str(record["task"]): record for record in records}
            lines = [json.dumps(r, ensure_ascii=False) + "\n" for r in self._records.values()]
            replace_file(self.folder / RECORDS, "".join(lines).encode("utf8"))

    def begin(self) -> None:
        """Train soon on all annotated texts; returns at once."""
        with self._changed:
            self._is_wanted = bool(self._records)
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether all training that was asked for ends within so many seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._is_wanted or self._is_training), seconds
            )

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_wanted)
                self._is_wanted, self._is_training = False, True
                records = list(self._records.values())
            found: Language | None = None
            error: str | None = None
            try:
                found = self._learn(records)
            except (CascadeError, OSError) as problem:
                error = str(problem)
            except Exception as problem:  # the thread goes on, whatever happens in a training
                error = f"{type(problem).__name__}: {problem}"
            if error is not None:
                logger.warning("Training on %d annotated texts failed: %s", len(records), error)
            with self._changed:
                self._error, self._is_training = error, False
                if found is not None:
                    self._nlp, version = found, f"{self.base.name}-{len(records)}"
                    self._versions += [version] if version != self._versions[-1] else []
                self._changed.notify_all()

    def _learn(self, records: list[Record]) -> Language | None:
        """A pipeline that has learnt, saved; None where the first one is better."""
        nlp = spacy.load(self.base)  # its vocabulary is not shared with the one that annotates
        path = self.folder / RECORDS
        rows = [Row(record, line, path) for line, record in enumerate(records, 1)]
        new = [example_of(annotated_text(row), nlp)[0] for row in rows]
        old, dev = (
            [] if path is None else list(examples_for(nlp, path))
            for path in (self.corpora.train, self.corpora.dev)
        )
        learnt = learn(nlp, new, old, dev)
        logger.info("%d annotated texts: the pipeline is %s", len(records), learnt.way)
        if not learnt.has_changed:
            return None
        save_pipeline(learnt.nlp, self.folder / MODEL)
        return learnt.nlp
