"""Tagging schemes: spans as one tag for each token, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import ConfigError
from ..types import Bools1d, Bools2d, Ints1d, Pointers1d
from .lattice import Lattice, related_lattice

OUTSIDE = "O"
UNOBSERVED = -1
"""In place of a tag: nothing is known of it."""
ENDED = -2
"""In place of a tag: all that is known is that the span before it goes no further."""


class Scheme(NamedTuple):
    """The prefixes of the tags of a span by the place of the token; tags are `O` or `PREFIX-LABEL`.

    single: of the only token of a span. Where `last` is not `inside`, a span ends with a tag of its
    own, and so it goes on after any other. Where `first` is `inside`, a span goes on as long as it
    can: two spans of one label that touch are one.
    """

    first: str
    inside: str
    last: str
    single: str

    @property
    def prefixes(self) -> str:
        """Each once, in the order of the fields."""
        return "".join(dict.fromkeys(self))

    @property
    def separates(self) -> bool:
        """Whether spans of one label that touch are told apart."""
        return self.first != self.inside

    def path(self, length: int) -> str:
        """The prefixes of a span of `length` tokens, one letter each."""
        return self.single if length == 1 else self.first + self.inside * (length - 2) + self.last

    def continues(self, previous: str, current: str) -> bool:
        """Whether `current` may stand right after `previous` and belong to the same span."""
        is_open = previous[0] in (self.first, self.inside)
        return self.is_inside(current) and is_open and previous[1:] == current[1:]

    def follows(self, previous: str, current: str) -> bool:
        """Whether `current` may stand right after `previous`; sequences start after `O`."""
        return self.continues(previous, current) or (self.begins(current) and self.ends(previous))

    def is_inside(self, tag: str) -> bool:
        """Whether a tag may go on with the span before."""
        return tag[0] in (self.inside, self.last)

    def begins(self, tag: str) -> bool:
        """Whether a tag may stand where no span goes on."""
        return tag[0] in (OUTSIDE, self.first, self.single)

    def ends(self, tag: str) -> bool:
        """Whether a span may end at this tag, so that a sequence may."""
        return self.last == self.inside or tag[0] not in (self.first, self.inside)


SCHEMES = {
    "IOB2": Scheme("B", "I", "I", "B"),
    "BILOU": Scheme("B", "I", "L", "U"),
    "IO": Scheme("I", "I", "I", "I"),
}


class Spans(NamedTuple):
    """Spans of tokens: start and end (exclusive), int64 `[P]`, label numbers int32 `[P]`."""

    start: Pointers1d
    end: Pointers1d
    label: Ints1d

    def take(self, chosen: Bools1d | Pointers1d | slice) -> Spans:
        """Some of the spans, by a mask, by numbers or by a slice."""
        return Spans(self.start[chosen], self.end[chosen], self.label[chosen])


@dataclass(frozen=True)
class TagSet:
    """The tags of some span labels under a scheme, numbered; tag 0 is `O`.

    scheme: one of `SCHEMES`. labels: the span labels, in order.
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
        """The tags by number, `Y` of them."""
        prefixes = SCHEMES[self.scheme].prefixes
        return [OUTSIDE, *(f"{p}-{label}" for label in self.labels for p in prefixes)]

    @property
    def span_labels(self) -> Ints1d:
        """Number of the span label of each tag, -1 for `O`, int32 `[Y]`."""
        n_tags = [1, *(len(SCHEMES[self.scheme].prefixes) for _ in self.labels)]
        return np.repeat(np.arange(-1, len(self.labels), dtype=np.int32), n_tags)

    def lattice(self, label_pairs: bool) -> Lattice:
        """The legal transitions; `label_pairs`: whether features see them."""
        scheme = SCHEMES[self.scheme]
        final = np.array([scheme.ends(tag) for tag in self.tags], dtype=np.bool_)
        follows, continues = map(self._relation, (scheme.follows, scheme.continues))
        return related_lattice(follows, continues, final, 0, label_pairs)

    def _relation(self, holds: Callable[[str, str], bool]) -> Bools2d:
        """Which tags a relation holds between, `[Y, Y]`.

        It depends on the prefixes and on whether the labels are the same, so two labels show it.
        """
        n, size = len(self.labels), len(SCHEMES[self.scheme].prefixes)
        shown = TagSet(self.scheme, ("a", "b")).tags
        known = np.array([[holds(p, c) for c in shown] for p in shown], dtype=np.bool_)
        same, other = slice(1, 1 + size), slice(1 + size, None)
        extended = np.empty((1 + n * size, 1 + n * size), dtype=np.bool_)
        extended[0, 0] = known[0, 0]
        extended[0, 1:], extended[1:, 0] = np.tile(known[0, same], n), np.tile(known[same, 0], n)
        extended[1:, 1:] = np.tile(known[same, other], (n, n))
        for first in range(1, len(extended), size):
            extended[first : first + size, first : first + size] = known[same, same]
        return extended

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

        A tag after a span of which nothing is known becomes `ENDED` where the scheme separates
        spans. Elsewhere the span may be part of a longer one.
        """
        scheme = SCHEMES[self.scheme]
        length = end - start
        for n in np.unique(length).tolist():
            path = [scheme.prefixes.index(prefix) for prefix in scheme.path(n)]
            these = np.flatnonzero(length == n)
            base = 1 + label[these] * len(scheme.prefixes)
            tags[start[these, None] + np.arange(n)] = base[:, None] + np.array(path)
        after = end[end < len(tags)] if scheme.separates else end[:0]
        tags[after[tags[after] == UNOBSERVED]] = ENDED

    def observed(self, spans: Spans, known: Bools1d) -> Ints1d:
        """The tags `[T]` of tokens that are known; `UNOBSERVED` or `ENDED` for the others.

        spans: all that known tokens are in, without overlap.
        """
        tags = np.where(known, 0, UNOBSERVED).astype(np.int32)
        self.write(tags, *spans)
        return tags

    def spans(self, tags: Ints1d, sequence_starts: Pointers1d) -> Spans:
        """The spans of a legal tag sequence; a sequence start ends whatever came before.

        tags: int32 `[T]`. sequence_starts: int64 `[N + 1]`.
        """
        token = np.flatnonzero(tags > 0)
        tag, label = tags[token], self.span_labels[tags[token]]
        begins = ~np.array([SCHEMES[self.scheme].is_inside(name) for name in self.tags])[tag]
        begins[1:] |= (label[1:] != label[:-1]) | (token[1:] > token[:-1] + 1)
        # The first of them in a sequence begins a span, whatever ended the sequence before.
        first_of_sequence = np.searchsorted(token, sequence_starts)
        begins[first_of_sequence[first_of_sequence < len(token)]] = True
        first = np.flatnonzero(begins)
        last = np.append(first, len(token))[1:] - 1
        return Spans(token[first], token[last] + 1, label[first])
