"""Tagging schemes: spans as one tag for each token, and back.

A scheme says which tags a span of a label gets, which tag may follow which, and when
two neighbouring tags belong to the same span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import ConfigError
from ..types import Ints1d, Pointers1d
from .lattice import Lattice, chain_lattice

OUTSIDE = "O"
UNOBSERVED = -1
"""In place of a tag: nothing is known of it."""
ENDED = -2
"""In place of a tag: all that is known is that the span before it goes no further."""


class Scheme(Protocol):
    """What a tagging scheme has to know; tags are `O` or `PREFIX-LABEL`."""

    prefixes: str

    def path(self, length: int) -> str:
        """The prefixes of a span of `length` tokens, one letter each."""

    def follows(self, previous: str, current: str) -> bool:
        """Whether `current` may stand right after `previous`; sequences start after `O`."""

    def ends(self, tag: str) -> bool:
        """Whether a span may end at this tag, so that a sequence may."""


class IOB2:
    """B at the first token of a span, I inside, O outside: I continues B or I of the same label."""

    prefixes = "BI"

    def path(self, length: int) -> str:
        return "B" + "I" * (length - 1)

    def follows(self, previous: str, current: str) -> bool:
        return current[0] != "I" or (previous[0] in "BI" and previous[1:] == current[1:])

    def ends(self, tag: str) -> bool:
        return True


class BILOU:
    """U for a span of one token, else B, I …, L; O outside.

    I and L continue B or I of the same label, and nothing else does; B and I are continued.
    """

    prefixes = "BILU"

    def path(self, length: int) -> str:
        return "U" if length == 1 else "B" + "I" * (length - 2) + "L"

    def follows(self, previous: str, current: str) -> bool:
        if previous[0] in "BI":
            return current[0] in "IL" and previous[1:] == current[1:]
        return current[0] not in "IL"

    def ends(self, tag: str) -> bool:
        return tag[0] not in "BI"


SCHEMES: dict[str, Scheme] = {"IOB2": IOB2(), "BILOU": BILOU()}


class Spans(NamedTuple):
    """Spans of tokens: start and end (exclusive), int64 `[P]`, label numbers int32 `[P]`."""

    start: Pointers1d
    end: Pointers1d
    label: Ints1d


@dataclass(frozen=True)
class TagSet:
    """The tags of some span labels under a scheme, numbered; tag 0 is `O`.

    scheme: `IOB2` or `BILOU`. labels: the span labels, in order.
    """

    scheme: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ConfigError(
                f"Unknown tagging scheme '{self.scheme}'. Use one of {', '.join(SCHEMES)}."
            )

    @property
    def tags(self) -> list[str]:
        prefixes = SCHEMES[self.scheme].prefixes
        return [OUTSIDE, *(f"{p}-{label}" for label in self.labels for p in prefixes)]

    @property
    def span_labels(self) -> Ints1d:
        """Number of the span label of each tag, -1 for `O`, int32 `[Y]`."""
        n_prefixes = len(SCHEMES[self.scheme].prefixes)
        labels = np.repeat(np.arange(len(self.labels), dtype=np.int32), n_prefixes)
        return np.concatenate([np.full(1, -1, dtype=np.int32), labels])

    def lattice(self, label_pairs: bool) -> Lattice:
        """The legal transitions; `label_pairs`: whether features see them."""
        scheme = SCHEMES[self.scheme]

        def continues(previous: str, current: str) -> bool:
            return current[0] in "IL" and scheme.follows(previous, current)

        return chain_lattice(
            self.tags, scheme.follows, continues, scheme.ends, OUTSIDE, label_pairs
        )

    @classmethod
    def n_edges(cls, scheme: str, n_labels: int) -> int:
        """Transitions of the lattice of so many labels, without making it.

        Whether a tag follows another depends on their prefixes and on whether their labels are the
        same. So the number is a polynomial of degree two, found from no, one and two labels.
        """
        none, one, two = (cls(scheme, tuple("ab"[:n])).lattice(True).n_edges for n in range(3))
        n_pairs = n_labels * (n_labels - 1) // 2
        return none + n_labels * (one - none) + n_pairs * (two - 2 * one + none)

    def write(
        self, tags: Ints1d, start: Pointers1d, end: Pointers1d, label: Ints1d | Pointers1d
    ) -> None:
        """Write the tags of spans into `tags`; start, end, label: int `[P]`, without overlap.

        A tag after a span of which nothing is known becomes `ENDED`.
        """
        scheme = SCHEMES[self.scheme]
        length = end - start
        for n in np.unique(length).tolist():
            path = [scheme.prefixes.index(prefix) for prefix in scheme.path(n)]
            these = np.flatnonzero(length == n)
            base = 1 + label[these] * len(scheme.prefixes)
            tags[start[these, None] + np.arange(n)] = base[:, None] + np.array(path)
        after = end[end < len(tags)]
        tags[after[tags[after] == UNOBSERVED]] = ENDED

    def spans(self, tags: Ints1d, sequence_starts: Pointers1d) -> Spans:
        """The spans of a legal tag sequence; a sequence start ends whatever came before.

        tags: int32 `[T]`. sequence_starts: int64 `[N + 1]`.
        """
        prefixes = SCHEMES[self.scheme].prefixes
        inside_tag = np.array([False, *(p in "IL" for _ in self.labels for p in prefixes)])
        inside = inside_tag[tags]
        inside[sequence_starts[:-1]] = False
        start = np.flatnonzero((tags > 0) & ~inside)
        stops = np.append(np.flatnonzero(~inside), len(tags))
        end = stops[np.searchsorted(stops, start, side="right")]
        return Spans(start, end, (tags[start] - 1) // len(prefixes))
