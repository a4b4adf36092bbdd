"""What is seen in a corpus before training: the facts that the rules of `recipes.rules` look at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, SENT_START, SPACY
from spacy.strings import StringStore
from spacy.tokens import Doc

from ...caching import cached_property
from ...features.tokens import read_tokens
from ...systems.abbreviations.search import find_abbreviations
from ...systems.words.table import WordTable
from ...types import Bools1d, Keys1d, Pointers1d
from ..formats.contradictions import find_contradictions, pieces_of
from ..tokenizers.choosing import TokenizerMeasure
from ..tokenizers.languages import Language, guess_language
from ..tokenizers.lost_spans import count_lost
from .nested_spans import NestedSpans, measure_nested

_BEGIN, _INSIDE, _MISSING = 3, 1, 0
"""spaCy's numbers for `token.ent_iob`."""
_COLUMNS = (ORTH, SENT_START, ENT_IOB, ENT_TYPE, SPACY)


@dataclass(frozen=True)
class TokenTable:
    """The tokens of Docs with one vocabulary, one after the other; `N` tokens, `D` Docs.

    columns: uint64 `[N, 5]`, as `_COLUMNS`. bounds: int64 `[D + 1]`, where the Docs begin and end.
    spacing: bool `[D]`, whether the spaces between the words of a Doc are known.
    """

    columns: npt.NDArray[np.uint64]
    bounds: Pointers1d
    spacing: Bools1d
    strings: StringStore

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> TokenTable:
        arrays = [doc.to_array(list(_COLUMNS)) for doc in docs if len(doc)]
        columns = np.concatenate([np.empty((0, len(_COLUMNS)), np.uint64), *arrays])
        bounds = np.cumsum([0, *map(len, docs)])
        spacing = np.array([not doc.has_unknown_spaces for doc in docs], dtype=np.bool_)
        strings = docs[0].vocab.strings if docs else StringStore()
        return cls(columns, bounds, spacing, strings)

    @property
    def words(self) -> Keys1d:
        """Hashes of the words, uint64 `[N]`."""
        return self.columns[:, 0]

    @cached_property
    def documents(self) -> Pointers1d:
        """Number of the Doc of each token, int64 `[N]`."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def is_missing(self) -> Bools1d:
        """Tokens without entity annotation, bool `[N]`."""
        found: Bools1d = self.columns[:, 2] == _MISSING
        return found

    @property
    def has_space_after(self) -> Bools1d:
        """Bool `[N]`; where the spacing of the Doc is unknown, too, after each word."""
        found: Bools1d = self.columns[:, 4] != 0
        return found

    @cached_property
    def vocabulary(self) -> tuple[list[str], Pointers1d]:
        """The different words, and the number of the word of each token, int64 `[N]`."""
        keys, numbers = np.unique(self.words, return_inverse=True)
        return [self.strings[int(key)] for key in keys], numbers.reshape(-1)

    def where(self, holds: Callable[[str], object]) -> Bools1d:
        """Tokens of whose word something holds, bool `[N]`; asked once for each different word."""
        words, numbers = self.vocabulary
        found = np.array([bool(holds(word)) for word in words], dtype=np.bool_)
        return found[numbers]

    @cached_property
    def sentences(self) -> Pointers1d | None:
        """Number of sentences of each Doc, int64 `[D]`; None if no Doc has sentence starts."""
        starts = self.columns[:, 1].astype(np.int64)
        first = np.zeros(len(starts), dtype=np.bool_)
        first[self.bounds[:-1][np.diff(self.bounds) > 0]] = True
        if not (starts[~first] != 0).any():
            return None
        begins = (starts == 1) | first
        found: Pointers1d = np.bincount(self.documents, begins, len(self.spacing)).astype(np.int64)
        return found

    @cached_property
    def entities(self) -> tuple[Pointers1d, Pointers1d]:
        """First tokens of the entities, and the tokens after their last ones, int64 `[E]` each."""
        states = self.columns[:, 2]
        # A blocked token begins like an entity, but has no type.
        starts = np.flatnonzero((states == _BEGIN) & (self.columns[:, 3] != 0))
        # An entity ends with the first token after its start that does not go on with it.
        others = np.append(np.flatnonzero(states != _INSIDE), len(states))
        ends = others[np.searchsorted(others, starts, side="right")]
        return starts, np.minimum(ends, self.bounds[self.documents[starts] + 1])

    @property
    def labels(self) -> list[str]:
        """Types of the entities."""
        keys = self.columns[self.entities[0], 3]
        names = {int(key): self.strings[int(key)] for key in np.unique(keys)}
        return [names[int(key)] for key in keys]

    @cached_property
    def mentions(self) -> list[bytes]:
        """The words of each entity, as one key."""
        words, (starts, ends) = np.ascontiguousarray(self.words), self.entities
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [words[start:end].tobytes() for start, end in bounds]


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

    empty: Docs without tokens. sentences: None if no Doc has sentence starts. pieces: the number of
    sentences of nearly all Docs, if it is above 1: then they are pieces of a text, not documents.
    unannotated: tokens without entity annotation. labels: entities of each type. spacing_known:
    share of Docs whose spacing is known. hyphens_split, slashes_split: of the hyphens or slashes
    between letters or digits the share that are tokens of their own; None where there are none.
    mean_length, length_95, longest: of entities, in tokens. language: by its stop words. lower,
    upper: shares of the words with letters that have no upper-case or no lower-case letter.
    capitalized: share of the entities that begin with an upper-case letter. recurring: share of the
    entities whose words are an entity of the same Doc again; recurring_elsewhere: of the next Doc.
    dev: None if there is none. tokenizers: how they agree with the corpus, the best one first; none
    where no spacing is known. covered: of each table of words the share of the words of the corpus
    that it knows. explained: of 1,000 words, abbreviations whose long form stands beside them.
    lost: spans of the annotation that are no entities of the corpus, by the reason. contradictions:
    sentences on annotation of both corpora that contradicts itself. nested: spans inside others;
    None where there are none.
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
    covered: Mapping[str, float] = field(default_factory=dict)
    explained: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    contradictions: Sequence[str] = field(default=())
    nested: NestedSpans | None = None

    @property
    def share_inside(self) -> float:
        """Share of the spans of the most nested group that are inside another one."""
        return 0.0 if self.nested is None else self.nested.share_inside

    @property
    def types(self) -> int:
        return len(self.labels)

    @property
    def sentences_per_document(self) -> float | None:
        return None if self.sentences is None else self.sentences / max(1, self.documents)


def measure_profile(train: Sequence[Doc], dev: Sequence[Doc] | None = None) -> Profile:
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
        explained=1000 * _explained(train) / max(1, len(table.words)),
        lost=count_lost(train),
        contradictions=find_contradictions(
            chain(pieces_of(train, "train"), pieces_of(dev or [], "dev"))
        ),
        nested=measure_nested(train),
    )


def shares_covered(docs: Sequence[Doc], tables: Mapping[str, WordTable]) -> dict[str, float]:
    """Of each table of words the share of the tokens of Docs whose word it knows."""
    words, numbers = TokenTable.of(docs).vocabulary
    return {name: _share((table.word_codes(words) > 0)[numbers]) for name, table in tables.items()}


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


def _explained(docs: Sequence[Doc]) -> int:
    """Number of abbreviations that Docs explain."""
    if not docs:
        return 0
    text_of = docs[0].vocab.strings.__getitem__
    return len(find_abbreviations(read_tokens(docs, ()), text_of).short)


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
