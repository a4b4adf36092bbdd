"""A pipeline that annotates while a copy of it learns in the background."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ....errors import CascadeError, CorpusError
from ....pipeline.readers import examples_for
from ....pipeline.saving import save_pipeline
from ...formats.exchange.json_lines import annotated_text
from ...formats.exchange.source import Row
from ..learn import example_of, learn
from ..stream import Record
from .journal import Journal
from .tasks import check_labels

MODEL = "model"
"""The newest pipeline, in the folder of a learner."""
_TEXTS = "annotated_texts"
"""Their number in the meta data of that pipeline."""
MOST_NEW_LABELS = 1_000
"""That the first pipeline does not have, in all texts."""


_LISTED = 10
"""Texts that could not be learnt, with the reason."""


@dataclass(frozen=True)
class Corpora:
    """What helps to learn: Docs that the first pipeline was trained on, and Docs to compare on."""

    train: Path | None = None
    dev: Path | None = None


@dataclass(frozen=True)
class Status:
    """What the learner does.

    annotated: number of texts. left_out: why the last training could not use some of them. error:
    of the last training, None where it went well.
    """

    version: str
    versions: tuple[str, ...]
    annotated: int
    is_training: bool
    left_out: tuple[str, ...]
    error: str | None


@dataclass(frozen=True)
class Served:
    """A pipeline, and how many annotated texts it has learnt: 0 if it is the first one."""

    nlp: Language
    texts: int
    left_out: tuple[str, ...]


@dataclass
class Learner:
    """Collects annotated texts, and trains on all of them in a thread of its own.

    base: the first pipeline. folder: for the newest one and for the annotation; what is there
    already is taken up again, and no other process may have it meanwhile. Each training begins with
    the first pipeline, so nothing depends on the order of annotation and nothing stays of what was
    deleted. It makes a new pipeline, which takes the place of the one that annotates as a whole.
    Annotation that arrives meanwhile is learnt by the next training.
    """

    base: Path
    folder: Path
    corpora: Corpora = field(default_factory=Corpora)

    def __post_init__(self) -> None:
        self._changed = Condition()
        self._journal = Journal(self.folder)
        nlp = spacy.load(self._saved if self._saved.is_dir() else self.base)
        self._served = Served(nlp, nlp.meta.get(_TEXTS, 0) if self._saved.is_dir() else 0, ())
        self._versions = [self._version(self._served.texts)]
        self._is_wanted = self._is_training = self._is_closed = False
        self._error: str | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End after the training at hand, and free the folder."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()
        self._journal.close()

    @property
    def most_characters(self) -> int:
        """Of a text."""
        return self._served.nlp.max_length

    def pipeline(self) -> tuple[Language, str]:
        """The newest pipeline and its version."""
        with self._changed:
            return self._served.nlp, self._versions[-1]

    def status(self) -> Status:
        """What it is doing, for the page of the service."""
        with self._changed:
            return Status(
                self._versions[-1], tuple(self._versions), len(self._journal.texts()),
                self._is_wanted or self._is_training, self._served.left_out, self._error,
            )  # fmt: skip

    def add(self, changes: Iterable[Record]) -> bool:
        """Keep what was annotated, as `Journal.add` does; whether there was anything new."""
        with self._changed:
            return self._journal.add(changes)

    def texts(self) -> list[Record]:
        """The annotated texts that count, one for each task."""
        with self._changed:
            return self._journal.texts()

    def begin(self) -> None:
        """Train soon on all annotated texts, or forget what was learnt of them; returns at once."""
        with self._changed:
            self._is_wanted = bool(self._journal.texts() or self._served.texts)
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether all training that was asked for ends within so many seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._is_wanted or self._is_training), seconds
            )

    @property
    def _saved(self) -> Path:
        return self.folder / MODEL

    def _version(self, texts: int) -> str:
        return f"{self.base.name}-{texts}"

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_wanted or self._is_closed)
                if self._is_closed:
                    return
                self._is_wanted, self._is_training = False, True
                records = self._journal.texts()
            found: Served | None = None
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
                    self._served, version = found, self._version(found.texts)
                    self._versions += [version] if version != self._versions[-1] else []
                self._changed.notify_all()

    def _learn(self, records: Sequence[Record]) -> Served:
        """The pipeline that has learnt, saved; the first one where that is better."""
        nlp = spacy.load(self.base)  # its vocabulary is not shared with the one that annotates
        new, left_out = self._examples(records, nlp)
        if new:
            old, dev = (
                [] if path is None else list(examples_for(nlp, path))
                for path in (self.corpora.train, self.corpora.dev)
            )
            learnt = learn(nlp, new, old, dev)
            logger.info("%d annotated texts: the pipeline is %s", len(new), learnt.way)
            nlp, texts = learnt.nlp, len(new) if learnt.has_changed else 0
            if learnt.warning:
                logger.warning(learnt.warning)
                left_out.insert(0, learnt.warning)
        else:
            texts = 0
        nlp.meta[_TEXTS] = texts
        if texts or self._saved.is_dir():
            save_pipeline(nlp, self._saved)
        more = [f"and {len(left_out) - _LISTED:,} more"] if len(left_out) > _LISTED else []
        return Served(nlp, texts, (*left_out[:_LISTED], *more))

    def _examples(
        self, records: Sequence[Record], nlp: Language
    ) -> tuple[list[Example], list[str]]:
        """The examples, and why others cannot be used: one text does not keep the rest back."""
        known = {label for labels in nlp.pipe_labels.values() for label in labels}
        new_labels: set[str] = set()
        examples, left_out = list[Example](), list[str]()
        for record in records:
            try:
                text = annotated_text(Row(record, 1, Path(f"task {record.get('task')}")))
                if len(text.text) > nlp.max_length:
                    raise CorpusError(f"{text.where} has more than {nlp.max_length:,} characters.")
                labels = new_labels | check_labels(text, known)
                if len(labels) > MOST_NEW_LABELS:
                    raise CorpusError(
                        f"{text.where} has new labels beyond {MOST_NEW_LABELS:,} of other texts."
                    )
                examples.append(example_of(text, nlp)[0])
                new_labels = labels
            except ValueError as error:
                left_out.append(str(error))
        if left_out:
            logger.warning("%d annotated texts are left out: %s", len(left_out), left_out[0])
        return examples, left_out
