"""What is seen in a corpus before training: the facts that the rules of `recipes.rules` look at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from spacy.tokens import Doc

from ...systems.words.clusters import WordClusters
from ...types import Bools1d
from ..formats.contradictions import find_contradictions, pieces_of
from ..tokenizers.choosing import TokenizerMeasure
from ..tokenizers.languages import Language, guess_language
from ..tokenizers.lost_spans import count_lost
from .token_table import TokenTable

_REGULAR = 0.95
"""Share of Docs with the same number of sentences from which on they are pieces of a text."""


@dataclass(frozen=True)
class Held:
    """What is seen of the corpus to score on.

    unseen_words, unseen_entities: shares of its tokens and entities whose words do not occur in
    the training corpus, or not as an entity.
    """

    documents: int
    sentences: int | None
    words: int
    entities: int
    labels: Counter[str]
    unseen_words: float
    unseen_entities: float


@dataclass(frozen=True)
class Profile:
    """What is seen in a training corpus.

    empty: Docs without tokens. sentences: None if no Doc has sentence starts. pieces: the number
    of sentences of nearly all Docs, if it is above 1: then they are pieces of a text, not
    documents. unannotated: tokens without entity annotation. labels: entities of each type.
    spacing_known: share of Docs whose spacing is known. hyphens_split, slashes_split: of the
    hyphens or slashes between letters or digits the share that are tokens of their own; None
    where there are none. mean_length, length_95, longest: of entities, in tokens. language: by
    its stop words. lower, upper: shares of the words with letters that have no upper-case or no
    lower-case letter. capitalized: share of the entities that begin with an upper-case letter.
    recurring: share of the entities whose words are an entity of the same Doc again;
    recurring_elsewhere: of the next Doc. dev: None if there is none. tokenizers: how they agree
    with the corpus, the best one first; none where no spacing is known. clusters: of each file of
    word clusters the share of the words of the corpus that are in one. bracketed: of 1,000 words,
    those that are in brackets by themselves, short and with a capital: most explain abbreviations.
    lost: spans of the annotation that are no entities of the corpus, by the reason.
    contradictions: sentences on annotation of both corpora that contradicts itself.
    """

    documents: int
    empty: int
    sentences: int | None
    pieces: int | None
    words: int
    entities: int
    unannotated: int
    labels: Counter[str]
    spacing_known: float
    hyphens_split: float | None
    slashes_split: float | None
    mean_length: float
    length_95: int
    longest: int
    language: Language
    lower: float
    upper: float
    capitalized: float
    recurring: float
    recurring_elsewhere: float
    dev: Held | None
    tokenizers: Sequence[TokenizerMeasure] = field(default=())
    clusters: Mapping[str, float] = field(default_factory=dict)
    bracketed: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    contradictions: Sequence[str] = field(default=())

    @property
    def types(self) -> int:
        return len(self.labels)

    @property
    def rarest_type(self) -> int:
        """Number of entities of the rarest type."""
        return min(self.labels.values(), default=0)

    @property
    def sentences_per_document(self) -> float | None:
        return None if self.sentences is None else self.sentences / max(1, self.documents)


def measure_profile(
    train: Sequence[Doc],
    dev: Sequence[Doc] | None = None,
    clusters: Mapping[str, WordClusters] | None = None,
) -> Profile:
    """What is seen in Docs, which all have one vocabulary; half a million words take a second."""
    table = TokenTable.of(train)
    words, numbers = table.vocabulary
    counts = dict(zip(words, np.bincount(numbers, minlength=len(words)).tolist(), strict=True))
    lengths = np.subtract(*table.entities[::-1])
    has_lower = table.where(lambda word: word != word.upper())
    has_upper = table.where(lambda word: word != word.lower())
    has_case = has_lower | has_upper
    capitalized = table.where(lambda word: word[:1].isupper())
    return Profile(
        documents=len(train),
        empty=sum(not len(doc) for doc in train),
        sentences=_total(table),
        pieces=_size_of_pieces(table),
        words=len(table.words),
        entities=len(lengths),
        unannotated=int(table.is_missing.sum()),
        labels=Counter(table.labels),
        spacing_known=_share(table.spacing),
        hyphens_split=_split_share(table, "-"),
        slashes_split=_split_share(table, "/"),
        mean_length=float(lengths.mean()) if len(lengths) else 0.0,
        length_95=int(np.quantile(lengths, 0.95)) if len(lengths) else 0,
        longest=int(lengths.max()) if len(lengths) else 0,
        language=guess_language(counts),
        lower=_share(~has_upper[has_case]),
        upper=_share(~has_lower[has_case]),
        capitalized=_share(capitalized[table.entities[0]]),
        recurring=_recurring(table),
        recurring_elsewhere=_recurring_elsewhere(table),
        dev=None if dev is None else _held(table, TokenTable.of(dev)),
        clusters={
            name: _share((known.word_codes(words) > 0)[numbers])
            for name, known in (clusters or {}).items()
        },
        bracketed=1000 * _bracketed(table) / max(1, len(table.words)),
        lost=count_lost(train),
        contradictions=find_contradictions(
            chain(pieces_of(train, "train"), pieces_of(dev or [], "dev"))
        ),
    )


def _held(train: TokenTable, dev: TokenTable) -> Held:
    known = set(train.mentions)
    return Held(
        documents=len(dev.spacing),
        sentences=_total(dev),
        words=len(dev.words),
        entities=len(dev.mentions),
        labels=Counter(dev.labels),
        unseen_words=_share(~np.isin(dev.words, train.words)),
        unseen_entities=_share(np.array([m not in known for m in dev.mentions], dtype=np.bool_)),
    )


def _total(table: TokenTable) -> int | None:
    return None if table.sentences is None else int(table.sentences.sum())


def _size_of_pieces(table: TokenTable) -> int | None:
    """The number of sentences that nearly all Docs have, None where it is 1 or there is none."""
    if table.sentences is None or len(table.sentences) < 2:
        return None
    ((size, n),) = Counter(table.sentences.tolist()).most_common(1)
    return size if size > 1 and n >= _REGULAR * len(table.sentences) else None


def _split_share(table: TokenTable, sign: str) -> float | None:
    """Of the signs between letters or digits, without spaces, the share that are tokens."""
    inside = table.where(re.compile(rf"[^\W_]{re.escape(sign)}[^\W_]").search)
    is_sign = table.where(lambda word: word == sign)
    ends = table.where(lambda word: word[-1:].isalnum())
    begins = table.where(lambda word: word[:1].isalnum())
    # Where the spacing is unknown, a dash between words counts as well.
    is_close = ~table.has_space_after | ~table.spacing[table.documents]
    between = is_sign[1:-1] & ends[:-2] & begins[2:] & is_close[:-2] & is_close[1:-1]
    same = table.documents[:-2] == table.documents[2:]
    n_split, n_inside = int((between & same).sum()), int(inside.sum())
    return n_split / (n_split + n_inside) if n_split + n_inside else None


def _bracketed(table: TokenTable) -> int:
    opening, closing = table.where("([".__contains__), table.where(")]".__contains__)
    is_short = table.where(lambda word: 2 <= len(word) <= 10 and word != word.lower())
    return int((opening[:-2] & is_short[1:-1] & closing[2:]).sum())


def _recurring(table: TokenTable) -> float:
    there = list(zip(table.documents[table.entities[0]].tolist(), table.mentions, strict=True))
    counts = Counter(there)
    return _share(np.array([counts[one] > 1 for one in there], dtype=np.bool_))


def _recurring_elsewhere(table: TokenTable) -> float:
    there = list(zip(table.documents[table.entities[0]].tolist(), table.mentions, strict=True))
    known, n = set(there), len(table.spacing)
    if n < 2:
        return 0.0
    return _share(np.array([((d + 1) % n, m) in known for d, m in there], dtype=np.bool_))


def _share(found: Bools1d) -> float:
    return float(found.mean()) if len(found) else 0.0
