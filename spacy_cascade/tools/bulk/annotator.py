"""`Annotator`: a pipeline as a function from batches to batches, for engines that have workers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_package_path, is_package

from ...errors import ConfigError, ModelFileError
from ...features.strings import is_valid
from ...pipeline.unseen_words import WordSample
from ..tokenizers.tokenizing import tokenize
from .extras import arrow
from .long_docs import joined, parts_of
from .results import Entity, arrow_type, entities_of, frame_of
from .sources.base import Failed, Texts

Result = TypeVar("Result")


_LEARNT_TOKENS = 1_000_000
"""Tokens without memory zones at first, so that frequent words need not be made anew in each."""


@dataclass
class _Loaded:
    """A pipeline of this process.

    sample: of the words that `annotate` has met. lock: one thread at a time may have a memory zone
    of it. tokens: annotated so far. has_warned: of unseen words.
    """

    nlp: Language
    sample: WordSample
    lock: Any = field(default_factory=RLock)
    tokens: int = 0
    has_warned: bool = False

    def warn_once(self) -> None:
        """Warn where the texts have far more unseen words than usual, one time in a process."""
        if not self.has_warned and self.sample.warning:
            self.has_warned = True
            warnings.warn(self.sample.warning, stacklevel=3)


_BLOCK = 1 << 20
_LOADED: dict[tuple[str, str, int], _Loaded] = {}
"""By path, fingerprint and process: a forked process must not use the locks of another one."""
_LOADING = RLock()


class Batches:
    """Which texts go through a component at once, and what is around each batch of them."""

    def __init__(self, size: int) -> None:
        self.size = size

    def of(self, n: int) -> Iterator[tuple[int, int]]:
        """Begin and end (exclusive) of each batch of n texts."""
        for begin in range(0, n, self.size):
            yield begin, min(begin + self.size, n)

    def around(self, begin: int, end: int) -> AbstractContextManager[object]:
        """The context that a batch is annotated in; here one that does nothing."""
        return nullcontext()


class Annotated(NamedTuple):
    """What was found in a text. tokens: number of tokens. error: None, or why nothing was found."""

    entities: list[Entity]
    tokens: int
    error: str | None


class Annotator:
    """Annotates batches of texts with a trained pipeline.

    An annotator is small and can be pickled. Each process loads the pipeline once, when it
    annotates the first batch. All annotators of a process with the same pipeline share it; threads
    take turns.

    path: folder of the pipeline, or name of an installed one; all processes find it there. text:
    column with the texts. entities: name of the column for the results. spans_key: results are the
    spans of `doc.spans[spans_key]` instead of `doc.ents`. batch_size: number of texts that go
    through a component at once.

    Raises `ConfigError` if there is no pipeline at the path. A process that finds another pipeline
    there than this one raises `ModelFileError`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        text: str = "text",
        entities: str = "entities",
        spans_key: str | None = None,
        batch_size: int = 256,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}. The smallest possible value is 1.")
        self.path = str(find_pipeline(path))
        self.fingerprint = fingerprint_of(Path(self.path))
        self.text = text
        self.entities = entities
        self.spans_key = spans_key
        self.batch_size = batch_size

    @property
    def errors(self) -> str:
        """Name of the column that says why a text could not be annotated; null for all others."""
        return f"{self.entities}_error"

    def __call__(self, batch: Any) -> Any:
        """The batch with two more columns: the entities of each text, and errors.

        batch: a `pyarrow.Table` or `RecordBatch`, a `pandas.DataFrame`, or a dictionary of columns
        such as Ray's batches of NumPy arrays. The result is of the same kind and has the same rows
        in the same order; the batch itself does not change. Each entity has `start`, `end`
        (characters), `label`, `kb_id` and `confidence`. A row that fails has no entities, and its
        error. Raises `ConfigError` for a batch of another kind, without the column of texts, or
        with columns of these names.
        """
        frame = frame_of(batch)
        found = self.annotate(frame.values(self.text))
        entities = [None if one.error else one.entities for one in found]
        return frame.with_results(
            {self.entities: entities}, {self.errors: [one.error for one in found]}
        )

    @staticmethod
    def arrow_type() -> Any:
        """The Arrow type of the column of entities. Needs the extra `parquet`."""
        return arrow_type(arrow("The Arrow type"))

    def annotate(self, texts: Texts) -> list[Annotated]:
        """What is found in each text, in one memory zone.

        texts: also Docs, which keep their tokens and annotation. What is no text is an error of
        that text alone. Warns once where texts have far more words that training has not seen than
        those that the pipeline was calibrated on (`pipeline.unseen_words`).
        """
        loaded = self._loaded()

        def use(_: int, doc: Doc) -> Annotated:
            loaded.sample.add(doc)
            return Annotated(entities_of(doc, self.spans_key), len(doc), None)

        found = self.each(texts, use)
        loaded.warn_once()
        return [Annotated([], 0, f.reason) if isinstance(f, Failed) else f for f in found]

    def each(
        self, texts: Texts, use: Callable[[int, Doc], Result], batches: Batches | None = None
    ) -> list[Result | Failed]:
        """What `use` returns for each text, in one memory zone.

        texts: also a function that makes Docs inside the zone, with the vocabulary that it is
        given. use: called with the number of a text, from 0, and its annotated Doc. The Docs are
        gone afterwards, so it must not keep them or anything of spaCy. What it raises is an error
        of that text alone. batches: those of `batch_size` if not given.
        """
        batches = batches or Batches(self.batch_size)
        with self._zone() as loaded:
            nlp = loaded.nlp
            texts = texts(nlp.vocab) if callable(texts) else texts
            found: list[Result | Failed] = []
            for begin, end in batches.of(len(texts)):
                with batches.around(begin, end):
                    docs = _annotated(nlp, texts[begin:end])
                    loaded.tokens += sum(len(doc) for doc in docs if isinstance(doc, Doc))
                    found += [_used(use, i, doc) for i, doc in enumerate(docs, start=begin)]
            return found

    def load(self) -> Language:
        """The pipeline of this process. Do not use it while another thread annotates."""
        return self._loaded().nlp

    def _loaded(self) -> _Loaded:
        key = (self.path, self.fingerprint, os.getpid())
        with _LOADING:
            if key not in _LOADED:
                nlp = self._undisturbed()
                _LOADED[key] = _Loaded(nlp, WordSample(nlp))
            return _LOADED[key]

    def _undisturbed(self) -> Language:
        """The pipeline, all of whose files were there from the beginning to the end of loading."""
        while True:
            begin = self._checked_state()
            try:
                nlp = spacy.load(self.path)
            except (OSError, ValueError):
                if self._checked_state() == begin:
                    raise
                continue
            if self._checked_state() == begin:
                return nlp

    @contextmanager
    def _zone(self) -> Iterator[_Loaded]:
        """The pipeline for this thread alone, in a memory zone once frequent words are known."""
        loaded = self._loaded()
        with loaded.lock:
            is_new = loaded.tokens < _LEARNT_TOKENS
            with nullcontext() if is_new else loaded.nlp.memory_zone():
                yield loaded

    def _checked_state(self) -> tuple[int, int]:
        """What is another one where the folder was replaced, even by a copy of it."""
        folder, found = Path(self.path), None
        with suppress(FileNotFoundError):  # as between two renames
            status, found = folder.stat(), fingerprint_of(folder)
        if found != self.fingerprint:
            raise ModelFileError(
                f"The pipeline at {self.path} is not the one that this run began with. Put that "
                "one back, or begin anew with this one. Train new pipelines into other folders."
            )
        return status.st_ino, status.st_ctime_ns


def _annotated(nlp: Language, texts: Sequence[Any]) -> list[Doc | Failed]:
    """A Doc for each text, all at once, and one by one if that fails."""
    problems = [_problem(text) for text in texts]
    good = [text for text, problem in zip(texts, problems, strict=True) if problem is None]
    docs: list[Doc | Failed]
    try:
        docs = [*_annotated_together(nlp, good)]
    except Exception:
        docs = []
    if len(docs) < len(good):  # some failed, or an error handler left them out
        docs = [_annotated_alone(nlp, text) for text in good]
    rest = iter(docs)
    return [next(rest) if problem is None else problem for problem in problems]


def _annotated_together(nlp: Language, texts: Sequence[str | Doc]) -> list[Doc]:
    """A Doc for each text, or none at all if the pipeline left out any."""
    docs = [_new_doc(nlp, text) for text in texts]
    divided = [parts_of(doc, nlp.max_length) for doc in docs]
    found = list(nlp.pipe(chain.from_iterable(divided)))
    if len(found) < sum(map(len, divided)):
        return []
    rest = iter(found)
    return [
        joined(doc, list(islice(rest, len(parts))))
        for doc, parts in zip(docs, divided, strict=True)
    ]


def _annotated_alone(nlp: Language, text: str | Doc) -> Doc | Failed:
    try:
        doc = _new_doc(nlp, text)
        return joined(doc, [nlp(part) for part in parts_of(doc, nlp.max_length)])
    except Exception as error:
        return Failed.of(error)


def _new_doc(nlp: Language, text: str | Doc) -> Doc:
    """A Doc to annotate: a copy, because a component that fails leaves it half annotated."""
    return text.copy() if isinstance(text, Doc) else tokenize(nlp, text)


def _used(use: Callable[[int, Doc], Result], i: int, doc: Doc | Failed) -> Result | Failed:
    try:
        return doc if isinstance(doc, Failed) else use(i, doc)
    except Exception as error:
        return Failed.of(error)


def _problem(text: Any) -> Failed | None:
    """Why something is no text, or None."""
    if isinstance(text, Doc):
        return None
    if isinstance(text, Failed):
        return text
    if text is None or text != text:
        return Failed("there is no text")
    if not isinstance(text, str):
        return Failed(f"the text is {type(text).__name__}, not a string")
    return None if is_valid(text) else Failed("the text has half of a surrogate pair")


def find_pipeline(path: str | Path) -> Path:
    """The folder of a pipeline, which is given by its path or as the name of a package.

    Raises `ConfigError` if there is none.
    """
    folder = Path(path)
    if folder.is_dir():
        return folder.resolve()
    if is_package(str(path)):
        return get_package_path(str(path)).resolve()
    raise ConfigError(
        f"There is no pipeline at {path}. Give the folder of a trained pipeline, such as "
        "OUT/model-best, or the name of an installed one."
    )


def fingerprint_of(folder: Path) -> str:
    """SHA-256 of the names and the contents of all files of a pipeline.

    Raises `ModelFileError` if a file cannot be read.
    """
    digest = sha256()
    try:
        for file in sorted(folder.rglob("*")):
            if not file.is_file() or "__pycache__" in file.parts:
                continue
            name = file.relative_to(folder).as_posix()
            digest.update(f"{len(name)} {name} {file.stat().st_size}\n".encode())
            with file.open("rb") as opened:
                while block := opened.read(_BLOCK):
                    digest.update(block)
    except OSError as error:
        raise ModelFileError(
            f"Cannot read {error.filename or folder}: {error.strerror}. Check the pipeline."
        ) from error
    return digest.hexdigest()
