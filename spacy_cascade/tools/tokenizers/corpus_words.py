"""The words of a corpus, which are what stands between spaces, and how its tokens split them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, Token

from ...pipeline.spans.left_out import CUTS
from .lost_spans import lost_spans

Cuts = tuple[int, ...]
"""Places inside a word where a token ends and the next begins, ascending."""


class Edge(NamedTuple):
    """Where an entity begins or ends: a place in a word, 0 and its length included."""

    word: str
    place: int


@dataclass(frozen=True)
class CorpusWords:
    """splits: how often each word is split in each way. entities: where they begin and end.

    Spans that `convert` lost because they cut tokens count as entities, and their ends as cuts.
    """

    splits: dict[str, Counter[Cuts]]
    entities: list[tuple[Edge, Edge]]

    def __add__(self, other: "CorpusWords") -> "CorpusWords":
        splits = {word: found.copy() for word, found in self.splits.items()}
        for word, found in other.splits.items():
            splits.setdefault(word, Counter()).update(found)
        return CorpusWords(splits, self.entities + other.entities)


def read_words(docs: Iterable[Doc]) -> CorpusWords:
    """The words of Docs whose spaces are known."""
    splits: dict[str, Counter[Cuts]] = {}
    entities: list[tuple[Edge, Edge]] = []
    for doc in docs:
        begins: dict[int, Edge] = {}  # by their characters in the Doc
        ends: dict[int, Edge] = {}
        spans = [(entity.start_char, entity.end_char) for entity in doc.ents]
        spans += [part for lost in lost_spans(doc) if lost.reason == CUTS for part in lost.parts]
        edges = {place for span in spans for place in span}
        for tokens in _between_spaces(doc):
            word, first = "".join(token.text for token in tokens), tokens[0].idx
            of_tokens = accumulate((len(token) for token in tokens), initial=0)
            inside = (i for i in range(1, len(word)) if first + i in edges) if edges else ()
            places = sorted({*of_tokens, *inside})
            splits.setdefault(word, Counter())[tuple(places[1:-1])] += 1
            for start, end in pairwise(places):
                begins[first + start], ends[first + end] = Edge(word, start), Edge(word, end)
        entities.extend(
            (begins[start], ends[end]) for start, end in spans if start in begins and end in ends
        )
    return CorpusWords(splits, entities)


def _between_spaces(doc: Doc) -> Iterator[list[Token]]:
    """Tokens that no white space separates; line breaks and the like are tokens, too."""
    tokens: list[Token] = []
    for token in doc:
        # Not `token.is_space`, which is false for all tokens of a vocabulary without a language.
        is_space = token.text.isspace()
        if not is_space:
            tokens.append(token)
        if tokens and (is_space or token.whitespace_):
            yield tokens
            tokens = []
    if tokens:
        yield tokens


def pieces_of(word: str, cuts: Cuts) -> list[str]:
    """The tokens of a word that is cut at these places."""
    places = [0, *cuts, len(word)]
    return [word[start:end] for start, end in pairwise(places)]


def cuts_of(tokenizer: Callable[[str], Doc], words: Iterable[str]) -> dict[str, Cuts]:
    """How a tokenizer splits each of these words, alone."""
    words = list(words)
    cuts: dict[str, Cuts] = dict.fromkeys(words, ())
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])
    tokens = tokenizer(" ".join(words)).to_array([IDX, LENGTH]).astype(np.int64)
    for places in (tokens[:, 0], tokens.sum(axis=1)):
        at = np.searchsorted(starts, places, side="right") - 1
        inside = places - starts[at]
        for i in np.flatnonzero((inside > 0) & (places < starts[at + 1] - 1)):
            cuts[words[at[i]]] += (int(inside[i]),)
    return {word: tuple(sorted(set(found))) for word, found in cuts.items()}
