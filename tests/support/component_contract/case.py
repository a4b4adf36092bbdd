"""What the checks of a component share: its pipeline, trained and not, and how checks fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NoReturn

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_cascade.caching import cached_property
from spacy_cascade.errors import CascadeError

from .sample import SAMPLE_TEXTS

Examples = Callable[[Language], Sequence[Example]]
Train = Callable[[Language, Sequence[Example]], None]


class CheckFailed(AssertionError):
    """A check of `check_component` failed.

    check: its name. on: what it was made on. expected: what should have been. found: what was.
    """

    def __init__(self, component: str, check: str, on: str, expected: str, found: str) -> None:
        self.check, self.on, self.expected, self.found = check, on, expected, found
        super().__init__(
            f"The check '{check}' of '{component}' failed on {on}. Expected: {expected}. "
            f"Found: {found}."
        )


@dataclass
class Case:
    """A component under one check.

    pipeline: not trained. name: of the component. check: the check's name.
    """

    pipeline: Language
    name: str
    check: str
    make_examples: Examples
    train: Train

    def untrained(self) -> Language:
        """A new copy of the pipeline."""
        with self.no_error("deepcopy before training"):
            return deepcopy(self.pipeline)

    @cached_property
    def trained(self) -> Language:
        """The pipeline, trained once; it is not to be changed."""
        nlp = self.untrained()
        with self.no_error("training"):
            self.train(nlp, self.make_examples(nlp))
        return nlp

    def copy(self) -> Language:
        """A new copy of the trained pipeline."""
        return self.untrained().from_bytes(self.trained.to_bytes())

    def of(self, nlp: Language) -> Any:
        """The component in a copy of its pipeline."""
        return nlp.get_pipe(self.name)

    @property
    def is_trainable(self) -> bool:
        """Whether it has an `update`; others only annotate."""
        return hasattr(self.of(self.pipeline), "update")

    @cached_property
    def expected(self) -> list[dict[str, Any]]:
        """What the trained pipeline finds in the sample."""
        return [annotation(self.trained(text)) for text in SAMPLE_TEXTS]

    def fail(self, on: str, expected: object, found: object) -> NoReturn:
        """Raise `CheckFailed`."""
        raise CheckFailed(self.name, self.check, on, str(expected), str(found))

    def equal(self, on: str, expected: object, found: object) -> None:
        """Raise `CheckFailed` where two things differ."""
        if expected != found:
            self.fail(on, expected, found)

    def true(self, on: str, expected: str, is_met: object, found: object = "not so") -> None:
        """Raise `CheckFailed` where something does not hold."""
        if not is_met:
            self.fail(on, expected, found)

    @contextmanager
    def no_error(self, on: str) -> Iterator[None]:
        """Raise `CheckFailed` for any error."""
        try:
            yield
        except CheckFailed:
            raise
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            raise CheckFailed(self.name, self.check, on, "no error", found) from error

    def is_refused(self, on: str, action: Callable[[], object]) -> bool:
        """Whether an action raises an error of the project; `CheckFailed` for any other error."""
        with self.no_error(on):
            try:
                action()
            except CascadeError:
                return True
        return False

    def refused(self, on: str, action: Callable[[], object]) -> None:
        """Raise `CheckFailed` where an action does not raise an error of the project."""
        if not self.is_refused(on, action):
            self.fail(on, "an error of spacy_cascade.errors", "no error")


def annotation(doc: Doc) -> dict[str, Any]:
    """All that components set: entities with identifiers, groups of spans, tags."""
    return {
        "ents": [(e.start, e.end, e.label_, e.kb_id_) for e in doc.ents],
        "iob": [token.ent_iob for token in doc],
        "spans": {
            key: ([(s.start, s.end, s.label_) for s in group], _plain(group.attrs))
            for key, group in doc.spans.items()
        },
        "tags": [token.tag_ for token in doc],
    }


def _plain(value: Any) -> Any:
    """Attributes of a group as plain values; numbers to nine places."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return round(value, 9) if isinstance(value, float) else value
