"""Which sentences of a text to annotate next: those that a pipeline is least sure of.

Each sentence has a value, spread over the words that it comes from. What a word is worth shrinks
with each chosen sentence that has it, so the greedy choice covers many words:

    gain(s) = Σ_{w in s} value(s, w) · (1 - diversity)^(number of chosen sentences that have w)

The total is submodular: a gain only becomes smaller, so that a gain which is still the largest
after it was computed anew is the largest of all (M. Minoux, "Accelerated greedy algorithms", 1978).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.attrs import LOWER
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ...errors import ConfigError
from ...pipeline.progress import progress
from ...types import Floats1d, Keys1d, Pointers1d
from ..explaining.uncertainty import (
    DEFAULT,
    UncertainSentence,
    Uncertainties,
    before_segmenter,
    likely_entities,
    measure_named,
    measured,
    require_stages,
    sentences_by_doc,
)
from ..tokenizers.tokenizing import tokenize


def choose_diverse(
    n: int,
    values: Floats1d,
    starts: Pointers1d,
    words: Pointers1d,
    shares: Floats1d,
    copies: Sequence[Hashable],
    diversity: float,
) -> list[int]:
    """Numbers of `n` of the sentences or fewer, in the order of the choice.

    values: float64 `[N]`; sentences with a value of zero are not chosen. starts: int64 `[N + 1]`;
    words, shares: number of each word of sentence `i`, once each, from `starts[i]`, and how much of
    the value comes from it; shares sum to 1. copies: sentences with equal ones are copies, of which
    one is chosen. diversity: from 0 (only values count) to 1. Raises `ConfigError` for another one.
    """
    if not 0.0 <= diversity <= 1.0:
        raise ConfigError(f"The diversity is a number from 0 to 1, not {diversity:g}.")
    left = np.ones(int(words.max(initial=-1)) + 1)
    seen: set[Hashable] = set()
    chosen: list[int] = []
    heap = [(-value, i) for i, value in enumerate(values.tolist()) if value > 0]
    heapq.heapify(heap)
    while heap and len(chosen) < n:
        _, i = heapq.heappop(heap)
        if copies[i] in seen:
            continue
        own = slice(starts[i], starts[i + 1])
        gain = float(values[i])
        if len(words[own]):
            gain *= float(shares[own] @ left[words[own]])
        if heap and -heap[0][0] > gain:
            heapq.heappush(heap, (-gain, i))
            continue
        chosen.append(i)
        seen.add(copies[i])
        left[words[own]] *= 1.0 - diversity
    return chosen


AT_ONCE = 500
"""Texts that are scored together."""
DIVERSITY = 0.5
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Options:
    """How to choose: how many sentences, by which measure (`tools.explaining.uncertainty`), by
    entities of which labels (None for all), and how far they should differ (`diversity`)."""

    n: int = 100
    measure: str = DEFAULT
    labels: tuple[str, ...] | None = None
    diversity: float = DIVERSITY


@dataclass(frozen=True)
class Suggestion:
    """A sentence to annotate.

    source: number of its text. doc: that text as the pipeline annotates it. sentence: where it is
    there, how unsure the pipeline is, and of which spans.
    """

    source: int
    doc: Doc
    sentence: UncertainSentence


@dataclass(frozen=True)
class _Pool:
    """All sentences of the texts.

    values: float64 `[N]`. source, number: int64 `[N]`, text of each sentence, and the how many-th
    it is there. starts, words, shares: as `choose_diverse` takes them.
    """

    values: Floats1d
    source: Pointers1d
    number: Pointers1d
    starts: Pointers1d
    words: Pointers1d
    shares: Floats1d
    copies: list[str]


def suggest(
    nlp: Language, texts: Sequence[str | Doc], options: Options | None = None
) -> list[Suggestion]:
    """The sentences that a pipeline is least sure of and that do not repeat each other, best first.

    texts: or Docs, which keep their tokens and sentences. A text without sentence boundaries, in a
    pipeline that sets none, is one sentence. There are fewer than `options.n` where there are not
    as many different sentences with a likely entity. Raises `ConfigError` for options out of range.
    """
    options = options or Options()
    if options.n < 1:
        raise ConfigError(f"The number of sentences to suggest is 1 or more, not {options.n}.")
    pool = _pool(nlp, texts, options)
    chosen = choose_diverse(
        options.n, pool.values, pool.starts, pool.words, pool.shares, pool.copies,
        options.diversity,
    )  # fmt: skip
    return _suggestions(nlp, texts, options, pool, chosen) if chosen else []


def _pool(nlp: Language, texts: Sequence[str | Doc], options: Options) -> _Pool:
    """Score all sentences; what the measure looks at is computed once a batch."""
    stages, measure = require_stages(nlp, "suggest"), measure_named(options.measure)
    parts: list[_Pool] = []
    first = 0
    with progress("Scoring", total=len(texts)) as bar:
        for batch in minibatch(texts, AT_ONCE):  # type: ignore[no-untyped-call]
            docs = [text if isinstance(text, Doc) else tokenize(nlp, text) for text in batch]
            docs = before_segmenter(nlp, stages, docs)
            found = measured(likely_entities(stages, docs), measure, options.labels)
            parts.append(_part(docs, found, first))
            first += len(docs)
            bar.update(len(docs))
    return _joined(parts)


def _part(docs: Sequence[Doc], found: Uncertainties, first: int) -> _Pool:
    """The sentences of one batch; first: number of its first text."""
    tokens, n = found.likely.batch.tokens, found.likely.n_sentences
    starts = found.likely.starts[:-1]
    doc = np.searchsorted(tokens.doc_starts, starts, side="right") - 1
    before = np.searchsorted(starts, tokens.doc_starts[doc])
    lower = np.concatenate([np.zeros(0, np.uint64), *(d.to_array(LOWER) for d in docs)])
    sentences, words, weights = _words(found, lower)
    return _Pool(
        found.of_sentences, doc + first, np.arange(n) - before,
        np.searchsorted(sentences, np.arange(n + 1)), words, weights, list(_copies(docs, found)),
    )  # fmt: skip


def _words(found: Uncertainties, lower: Keys1d) -> tuple[Pointers1d, Pointers1d, Floats1d]:
    """The words of likely spans: their sentences, in order, and their shares in the values.

    A span's value is spread evenly over its words; once for each word of a sentence.
    """
    bounds, likely = found.likely.bounds, found.likely
    lengths = bounds[:, 1] - bounds[:, 0]
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    keys = lower[np.repeat(bounds[:, 0], lengths) + offsets]
    pairs = np.stack([np.repeat(likely.sentences, lengths).astype(np.uint64), keys], axis=1)
    distinct, number = np.unique(pairs, axis=0, return_inverse=True)
    spread = np.repeat(found.of_spans / np.maximum(1, lengths), lengths)
    weights = np.bincount(number.reshape(-1), weights=spread, minlength=len(distinct))
    sentences = distinct[:, 0].astype(np.int64)
    totals = np.bincount(sentences, weights=weights, minlength=likely.n_sentences)[sentences]
    return sentences, distinct[:, 1].view(np.int64), weights / np.where(totals > 0, totals, 1.0)


def _copies(docs: Sequence[Doc], found: Uncertainties) -> Iterator[str]:
    """What sentences have in common that differ in case, spaces and digits only."""
    tokens = found.likely.batch.tokens
    bounds = iter(pairwise(found.likely.starts.tolist()))
    for doc, offset in zip(docs, tokens.doc_starts.tolist(), strict=False):
        end = offset
        while end < offset + len(doc):
            start, end = next(bounds)
            words = doc[start - offset : end - offset].text.lower().split()
            yield _DIGIT.sub("0", " ".join(words))


def _joined(parts: Sequence[_Pool]) -> _Pool:
    """All batches as one; words become numbers of words."""
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return _Pool(np.zeros(0), none, none, np.zeros(1, dtype=np.int64), none, np.zeros(0), [])
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    _, words = np.unique(np.concatenate([part.words for part in parts]), return_inverse=True)
    return _Pool(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.number for part in parts]),
        np.append(0, np.cumsum(lengths)),
        words.reshape(-1),
        np.concatenate([part.shares for part in parts]),
        [copy for part in parts for copy in part.copies],
    )


def _suggestions(
    nlp: Language, texts: Sequence[str | Doc], options: Options, pool: _Pool, chosen: Sequence[int]
) -> list[Suggestion]:
    """The chosen sentences, in Docs that the whole pipeline annotates."""
    stages, measure = require_stages(nlp, "suggest"), measure_named(options.measure)
    sources = list(dict.fromkeys(pool.source[chosen].tolist()))
    fresh = (texts[i] for i in sources)
    docs = list(nlp.pipe(t.copy() if isinstance(t, Doc) else tokenize(nlp, t) for t in fresh))
    of_docs = sentences_by_doc(measured(likely_entities(stages, docs), measure, options.labels))
    place = {source: i for i, source in enumerate(sources)}
    found = []
    for source, number in zip(pool.source[chosen], pool.number[chosen], strict=True):
        i = place[int(source)]
        found.append(Suggestion(int(source), docs[i], of_docs[i][int(number)]))
    return found
