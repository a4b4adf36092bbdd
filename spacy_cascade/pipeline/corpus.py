"""The corpus that components are initialized from, and what is wrong with it.

It is read once. A component goes through what it has read several times, in blocks, with bounded
memory.
"""

import io
import pickle
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from pathlib import Path
from types import MethodWrapperType
from typing import IO, Any, Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.strings import StringStore
from spacy.training import Example

from ..errors import ConfigError, TrainingError
from ..features.tokens import Tokens, join_tokens
from ..files import temporary_files
from ..trainers.batchers import WHOLE_CORPUS
from .readers import check_corpus

Gold = TypeVar("Gold")
GetExamples: TypeAlias = Callable[[], Iterable[Example]]
"""Gives the examples of a corpus, anew with each call, as spaCy's `initialize` has it."""

_MOST_KEPT = 2_000_000
"""Tokens of the examples that are kept from one component to the next."""
_kept: WeakKeyDictionary[GetExamples, list[Example]] = WeakKeyDictionary()
"""What functions gave to a component, for the next one of the same pipeline."""
_READ_AT_ONCE = 256
_BLOCK = 1 << 16
"""Tokens of a block, where no one says how many."""
_IN_MEMORY = 2_000_000
"""Tokens whose blocks are kept in memory; those of a larger corpus are written to a file."""


def is_placeholder(get_examples: GetExamples) -> bool:
    """Whether spaCy made up the examples, since `nlp.initialize` was given none."""
    return getattr(get_examples, "__module__", None) == "spacy.language"


def reads_config(get_examples: GetExamples) -> bool:
    """Whether spaCy's commands give the examples of `[corpora.train]`, and no Python code."""
    return getattr(get_examples, "__module__", None) == "spacy.training.initialize"


def checked(get_examples: GetExamples, nlp: Language | None, pipe: object) -> Iterable[Example]:
    """The examples. Where there are none, raises `CorpusError` if `[corpora.train]` shows why.

    spaCy's own reader finds nothing in a file that is no `.spacy` file, such as a `.tsv`. And it
    reads the file again for each component: what the function gave to one component is given to
    those behind it, unless there is so much that it has to be read piece by piece.
    """
    learners = [] if nlp is None else [p for _, p in nlp.pipeline if hasattr(p, "n_examples")]
    kept = _kept[get_examples] if get_examples in _kept and pipe in learners[1:] else None
    examples = get_examples() if kept is None else kept
    if pipe not in learners[:-1]:
        if get_examples in _kept:
            del _kept[get_examples]
    elif not isinstance(examples, Sized):
        examples = _keeping(get_examples, examples)
    is_known = isinstance(examples, Sized) and len(examples) > 0
    return examples if is_known else _checked(examples, nlp)


def _keeping(get_examples: GetExamples, examples: Iterable[Example]) -> Iterator[Example]:
    """The examples, which are kept when all of them have been given."""
    kept: list[Example] = []
    n_tokens = 0
    for example in examples:
        n_tokens += len(example.reference)
        if n_tokens <= _MOST_KEPT:
            kept.append(example)
        else:
            kept.clear()
        yield example
    if n_tokens <= _MOST_KEPT:
        with suppress(TypeError):  # It takes no weak reference: it is asked again.
            _kept[get_examples] = kept


def _checked(examples: Iterable[Example], nlp: Language | None) -> Iterator[Example]:
    is_empty = True
    for example in examples:
        is_empty = False
        yield example
    if is_empty and nlp is not None:
        section = nlp.config.interpolate().get("corpora", {}).get("train", {})
        if isinstance(section, Mapping) and section.get("path"):
            check_corpus(Path(section["path"]))


def check_labels(
    found: Collection[str],
    n_examples: int,
    name: str,
    sought: str,
    place: str,
    get_examples: GetExamples,
) -> None:
    """Raise `TrainingError` where a component has no examples, no labels, or an empty label.

    sought: what it learns from. place: what the corpus should have. get_examples: what gave them.
    """
    is_file = reads_config(get_examples)
    if not n_examples:
        raise TrainingError(
            f"'{name}' got no examples to initialize from. "
            + (
                "Check that [corpora.train] path is a .spacy file with Docs; spacy cascade convert "
                "makes one of columns."
                if is_file
                else "Give it some, with annotated references."
            )
        )
    if not found:
        raise TrainingError(
            f"'{name}' found no {sought} in {n_examples} examples. Check that "
            f"{'[corpora.train] has' if is_file else 'their references have'} {place}."
        )
    if "" in found:
        raise TrainingError(
            f"'{name}' found a {sought} whose label is empty. Give it one; or, if "
            "types do not matter, set typed = false in the component."
        )


def forget_words(examples: Iterable[Example]) -> None:
    """Free the words of examples as strings, half as much as their Docs take.

    spaCy keeps them to see later whether an alignment still holds. Without one it never looks.
    """
    for example in examples:
        if getattr(example, "_cached_alignment", True) is None:
            for words in ("_cached_words_x", "_cached_words_y"):
                getattr(example, words, []).clear()


class CorpusBlocks(Generic[Gold]):
    """Blocks of whole Docs: their tokens, and what was read of the reference of each.

    The first ones are kept in memory. Others go to a temporary file, which is removed with the
    object, or when the process ends. Only this object reads it: a pickle from elsewhere can run
    anything.
    """

    def __init__(self) -> None:
        self._n_tokens = 0
        self._in_memory: list[tuple[Tokens, list[Gold]]] = []
        self._file: IO[bytes] | None = None
        self._shared: dict[int, object] = {}

    def append(self, tokens: Tokens, gold: list[Gold]) -> None:
        """Add a block. Raises `SavingError` where the disk is full."""
        self._n_tokens += len(tokens.words)
        if self._n_tokens <= _IN_MEMORY:
            self._in_memory.append((tokens, gold))
            return
        with temporary_files():
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
            self._file.seek(0, io.SEEK_END)
            _Pickler(self._file, self._shared).dump((tokens, gold))

    def __iter__(self) -> Iterator[tuple[Tokens, list[Gold]]]:
        yield from self._in_memory
        if self._file is None:
            return
        end, position = self._file.seek(0, io.SEEK_END), 0
        while position < end:
            self._file.seek(position)
            block = _Unpickler(self._file, self._shared).load()
            position = self._file.tell()
            yield block


_SHARED = (StringStore, MethodWrapperType)
"""What blocks refer to, and no file has to hold: texts of hashes."""


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], shared: dict[int, object]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._of_file = shared

    def persistent_id(self, value: object) -> int | None:
        if not isinstance(value, _SHARED):
            return None
        # A method is another object each time that it is asked for.
        owner = value.__self__ if isinstance(value, MethodWrapperType) else value
        key = 2 * id(owner) + isinstance(value, MethodWrapperType)
        self._of_file.setdefault(key, value)
        return key


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], shared: dict[int, object]) -> None:
        super().__init__(file)
        self._of_file = shared

    def persistent_load(self, key: int) -> object:
        return self._of_file[key]


def read_blocks(
    examples: Iterable[Example],
    read: Callable[[Sequence[Example]], tuple[Tokens, list[Gold]]],
    n_tokens: int | None = None,
) -> Iterator[tuple[Tokens, list[Gold]]]:
    """The blocks of examples, with so many tokens or a few more; read: what is kept of some."""
    pending: list[Tokens] = []
    gold: list[Gold] = []
    for part, is_end in _parts_of_blocks(examples, _BLOCK if n_tokens is None else n_tokens):
        tokens, of_part = read(part)
        pending.append(tokens)
        gold.extend(of_part)
        if is_end:
            yield join_tokens(pending), gold
            pending, gold = [], []
    if pending:
        yield join_tokens(pending), gold


def _parts_of_blocks(
    examples: Iterable[Example], n_tokens: int
) -> Iterator[tuple[list[Example], bool]]:
    """Some examples at a time, and whether a block ends with them."""
    part: list[Example] = []
    n = 0
    for example in examples:
        part.append(example)
        n += len(getattr(example, "predicted", ()))  # what is no example is refused when it is read
        is_end = n >= n_tokens
        if is_end or len(part) == _READ_AT_ONCE:
            yield part, is_end
            part, n = [], 0 if is_end else n
    if part:
        yield part, True


def examples_from(
    get_examples: GetExamples,
    corpus: Callable[[Language], Iterable[Example]] | None,
    nlp: Language | None,
    pipe: Any,
) -> tuple[GetExamples, Iterable[Example]]:
    """What gives the examples that a component is initialized from, and the first ones it gives.

    corpus: a reader, whose examples are taken instead. Raises `ConfigError` for a corpus that spaCy
    streams (`max_epochs = -1`): without a reader, as spaCy then shows the first examples only; for
    a trainer that needs the whole corpus in memory; and with batches that are the whole corpus.
    """
    if nlp is not None and _is_streamed(nlp):
        _check_stream(pipe, corpus is not None, nlp.config["training"].get("batcher"))
    if corpus is None:
        return get_examples, checked(get_examples, nlp, pipe)
    if nlp is None:
        raise ConfigError(
            f"'{pipe.name}' is initialized from a corpus, but without a pipeline to read it with. "
            "Call nlp.initialize, or give initialize the argument nlp."
        )
    reader, pipeline = corpus, nlp
    return lambda: reader(pipeline), reader(pipeline)


def _is_streamed(nlp: Language) -> bool:
    max_epochs = nlp.config.get("training", {}).get("max_epochs")
    if isinstance(max_epochs, str):  # a variable
        max_epochs = nlp.config.interpolate()["training"]["max_epochs"]
    return bool(max_epochs == -1)


def _check_stream(pipe: Any, has_corpus: bool, batcher: Any) -> None:
    trainer = pipe.trainer
    if trainer.sees_all and not trainer.reads_corpus:
        raise ConfigError(
            f"'{pipe.name}' cannot be trained by {type(trainer).__name__} on a stream ([training] "
            "max_epochs = -1): each of its steps needs the whole corpus. Set max_epochs = 0 and "
            f'@batchers = "{WHOLE_CORPUS}" in [training]; or train with the corpus in a file, with '
            f'@misc = "spacy_cascade.Sharded.v1" in [components.{pipe.name}.trainer] and L-BFGS in '
            f"[components.{pipe.name}.trainer.trainer], or online with @misc = "
            '"spacy_cascade.PassiveAggressive.v1".'
        )
    if not has_corpus:
        raise ConfigError(
            f"'{pipe.name}' would learn its features from the first 100 examples: spaCy shows no "
            "more of a stream ([training] max_epochs = -1). Write corpus = ${corpora.train} into "
            f"[initialize.components.{pipe.name}], and it reads the corpus once before training."
        )
    if isinstance(batcher, Mapping) and batcher.get("@batchers") == WHOLE_CORPUS:
        raise ConfigError(
            f"'{pipe.name}' would get the whole stream ([training] max_epochs = -1) as one batch, "
            'in memory. Put @batchers = "spacy.batch_by_words.v1" into [training.batcher].'
        )
