"""The corpus that a component has begun to learn from."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from spacy.tokens import Doc
from spacy.training import Example

from ..errors import TrainingError
from ..losses.base import LabelledSequences

GetExamples: TypeAlias = Callable[[], Iterable[Example]]
"""Gives the examples of a corpus, anew with each call, as spaCy's `initialize` has it."""


class Corpus:
    """What a fit learns from; like the fit, it stays behind when a component is pickled or copied.

    data: of the corpus, where each step needs it.
    """

    def __init__(self) -> None:
        self.data: LabelledSequences | None = None
        self._seen: dict[int, Doc] = {}

    def __reduce__(self) -> tuple[type["Corpus"], tuple[()]]:
        return type(self), ()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, examples: Sequence[Example]) -> None:
        """Remember the references of examples."""
        self._seen |= _references(examples)

    def is_of(self, examples: Sequence[Example]) -> bool:
        """Whether it has the references of these examples, and no others."""
        return self._seen.keys() == _references(examples).keys()

    def unseen(self, examples: Sequence[Example]) -> list[Example]:
        """Those that it does not have."""
        return [example for example in examples if id(example.reference) not in self._seen]


def check_labels(
    found: Collection[str], n_examples: int, name: str, sought: str, place: str
) -> None:
    """Raise `TrainingError` where a component has no labels to learn, or an empty one.

    sought: what it learns from. place: where to look for the cause.
    """
    if not found:
        raise TrainingError(
            f"'{name}' found no {sought} in {n_examples} examples. Check that {place}."
        )
    if "" in found:
        raise TrainingError(
            f"'{name}' found a {sought} whose label is empty. Give it one; or, if "
            "types do not matter, set typed = false in the component."
        )


def refuse_part(name: str, n_examples: int, expected: int | None) -> None:
    """Raise `TrainingError` for a component that is given a part of its corpus.

    expected: how many examples are the whole; None where that is not known.
    """
    if expected is not None and n_examples < expected:
        raise TrainingError(
            f"'{name}' was given {n_examples} of {expected} training examples at once, "
            "but its trainer needs the whole corpus in every update. Put "
            '@batchers = "spacy_cascade.WholeCorpus.v1" into [training.batcher] and set '
            "accumulate_gradient = 1 in [training]. To adapt a trained component to few "
            "examples, save the pipeline and load it first."
        )


def _references(examples: Sequence[Example]) -> dict[int, Doc]:
    """Reference Docs by identity; they are kept, so that no other Doc can get the same."""
    return {id(example.reference): example.reference for example in examples}
