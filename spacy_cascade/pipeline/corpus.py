"""The corpus that components are initialized from, and what is wrong with it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.training import Example

from ..errors import TrainingError
from .readers import check_corpus

GetExamples: TypeAlias = Callable[[], Iterable[Example]]
"""Gives the examples of a corpus, anew with each call, as spaCy's `initialize` has it."""


def is_placeholder(get_examples: GetExamples) -> bool:
    """Whether spaCy made up the examples, since `nlp.initialize` was given none."""
    return getattr(get_examples, "__module__", None) == "spacy.language"


def reads_config(get_examples: GetExamples) -> bool:
    """Whether spaCy's commands give the examples of `[corpora.train]`, and no Python code."""
    return getattr(get_examples, "__module__", None) == "spacy.training.initialize"


_MOST_KEPT = 2_000_000
"""Tokens of the examples that are kept from one component to the next."""
_kept: WeakKeyDictionary[GetExamples, list[Example]] = WeakKeyDictionary()
"""What functions gave to a component, for the next one of the same pipeline."""


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
