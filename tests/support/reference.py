"""Slow, obvious twins of the kernels: enumeration, dense matrices, plain strings.

Nothing here calls a kernel of the package. A chain is enumerated path by path, a design
matrix is dense, a feature is the text `template=value`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, product

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from abbreviation_twin import uses
from spacy_cascade.inference.lattice import Lattice
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.design import Design, SegmentRows
from spacy_cascade.numeric.encoded import Encoded
from spacy_cascade.parallel import Workers
from spacy_cascade.types import RealsXd

Array = npt.NDArray[np.float64]

# Lattices, pair by pair


def chain_lattice(
    labels: Sequence[str],
    follows: Callable[[str, str], bool],
    continues: Callable[[str, str], bool],
    ends: Callable[[str], bool],
    start: str,
    label_pairs: bool,
) -> Lattice:
    """The lattice of all pairs `(previous, current)` for which `follows` is true, one by one."""
    pairs = [
        (p, c)
        for c, current in enumerate(labels)
        for p, previous in enumerate(labels)
        if follows(previous, current)
    ]
    target = np.array([c for _, c in pairs], dtype=np.int32)
    return Lattice(
        source=np.array([p for p, _ in pairs], dtype=np.int32),
        target=target,
        column=np.arange(len(pairs), dtype=np.int32) if label_pairs else target.copy(),
        first_edge=np.searchsorted(target, np.arange(len(labels) + 1)).astype(np.int32),
        continues=np.array([continues(labels[p], labels[c]) for p, c in pairs], dtype=np.bool_),
        final=np.array([ends(label) for label in labels], dtype=np.bool_),
        start=labels.index(start),
    )


# Chains by enumeration


@dataclass(frozen=True)
class Chain:
    """One sequence to score.

    scores `[T, S]`, transitions `[E]`, costs `[Y, Y]` (of a label where another is
    observed), tags: the observed labels, -1 where there is none, -2 where the span before ends.
    """

    lattice: Lattice
    scores: Array
    transitions: Array
    costs: Array
    tags: Sequence[int]

    def __len__(self) -> int:
        return len(self.tags)

    def paths(self) -> Iterator[list[int]]:
        """All legal paths, each as its edges."""
        unfinished: list[list[int]] = [[]]
        for _ in range(len(self)):
            unfinished = [
                [*path, edge]
                for path in unfinished
                for edge in range(self.lattice.n_edges)
                if self.lattice.source[edge] == self.last_label(path)
            ]
        return (path for path in unfinished if self.lattice.final[self.last_label(path)])

    def last_label(self, path: list[int]) -> int:
        return int(self.lattice.target[path[-1]]) if path else self.lattice.start

    def labels(self, path: list[int]) -> list[int]:
        return [int(self.lattice.target[edge]) for edge in path]

    def score(self, path: list[int]) -> float:
        return sum(
            self.scores[t, self.lattice.column[edge]] + self.transitions[edge]
            for t, edge in enumerate(path)
        )

    def cost(self, path: list[int]) -> float:
        return sum(
            self.costs[tag, label]
            for tag, label in zip(self.tags, self.labels(path), strict=True)
            if tag >= 0
        )

    def agrees(self, path: list[int]) -> bool:
        return all(
            tag in (-1, self.lattice.target[edge])
            or (tag == -2 and not self.lattice.continues[edge])
            for tag, edge in zip(self.tags, path, strict=True)
        )


def weighted_counts(chain: Chain, paths: list[list[int]], scores: list[float]) -> Array:
    """Expected number of times that each edge is taken at each position, `[T, E]`."""
    counts = np.zeros((len(chain), chain.lattice.n_edges))
    for path, probability in zip(paths, np.exp(scores - logsumexp(scores)), strict=True):
        for t, edge in enumerate(path):
            counts[t, edge] += probability
    return counts


def chain_loss(chain: Chain) -> tuple[float, Array, Array]:
    """Loss, its gradient by the scores `[T, S]` and by the transitions `[E]`."""
    everything = list(chain.paths())
    augmented = [chain.score(path) + chain.cost(path) for path in everything]
    agreeing = [path for path in everything if chain.agrees(path)]
    plain = [chain.score(path) for path in agreeing]
    loss = float(logsumexp(augmented) - logsumexp(plain))
    counts = weighted_counts(chain, everything, augmented) - weighted_counts(chain, agreeing, plain)
    return loss, sum_columns(chain.lattice, counts), counts.sum(axis=0)


def sum_columns(lattice: Lattice, counts: Array) -> Array:
    """Counts of edges `[T, E]` as counts of score columns `[T, S]`."""
    columns = np.zeros((len(counts), lattice.n_columns))
    for edge in range(lattice.n_edges):
        columns[:, lattice.column[edge]] += counts[:, edge]
    return columns


def best_path(chain: Chain) -> tuple[float, list[int]]:
    """Score with cost, and labels, of the best path."""
    best = max(chain.paths(), key=lambda path: chain.score(path) + chain.cost(path))
    return chain.score(best) + chain.cost(best), chain.labels(best)


def span_posterior(chain: Chain, tag_set: TagSet, span: tuple[int, int, str]) -> float:
    """Sum of the probabilities of all paths that have the span (start, end, label)."""
    paths = list(chain.paths())
    scores = np.array([chain.score(path) + chain.cost(path) for path in paths])
    has_span = [
        span in spans_of([tag_set.tags[label] for label in chain.labels(path)]) for path in paths
    ]
    return float(np.exp(scores - logsumexp(scores))[has_span].sum())


def span_probabilities(chain: Chain, tag_set: TagSet) -> dict[tuple[int, int, str], float]:
    """Probability of every span (start, end, label) that some path has."""
    paths = list(chain.paths())
    scores = np.array([chain.score(path) + chain.cost(path) for path in paths])
    found: Counter[tuple[int, int, str]] = Counter()
    for path, probability in zip(paths, np.exp(scores - logsumexp(scores)), strict=True):
        for span in spans_of([tag_set.tags[label] for label in chain.labels(path)]):
            found[span] += float(probability)
    return dict(found)


def disjoint_sets(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[bool, ...]]:
    """Which spans are chosen, for all sets of spans without overlap."""
    for chosen in product((False, True), repeat=len(spans)):
        tokens = [t for span in compress(spans, chosen) for t in range(*span)]
        if len(tokens) == len(set(tokens)):
            yield chosen


def best_disjoint_gain(spans: Sequence[tuple[int, int]], gains: Sequence[float]) -> float:
    """The largest sum of gains of spans without overlap, over all sets of spans."""
    return max(sum(compress(gains, chosen)) for chosen in disjoint_sets(spans))


def best_expected_f1(
    spans: Sequence[tuple[int, int]], posteriors: Sequence[float], n_expected: float
) -> float:
    """The largest ratio of expectations, `2 Σ p / (n + n_expected)`, over all sets of spans."""
    return max(
        2 * sum(compress(posteriors, chosen)) / (sum(chosen) + n_expected)
        for chosen in disjoint_sets(spans)
    )


def spans_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Spans (start, end, label) of a legal tag sequence, IOB2, BILOU or IO."""
    spans: list[tuple[int, int, str]] = []
    for t, tag in enumerate(tags):
        if tag[0] in "BU":
            spans.append((t, t + 1, tag[2:]))
        elif tag[0] in "IL" and spans and spans[-1][1:] == (t, tag[2:]):
            spans[-1] = (spans[-1][0], t + 1, tag[2:])
        elif tag[0] in "IL":
            spans.append((t, t + 1, tag[2:]))
    return spans


# Chains in log space


def edge_potentials(chain: Chain, additions: Array | None = None) -> Array:
    """Scores of edges at each position, `[T, E]`, with costs or other additions `[T, Y]`."""
    potentials = chain.scores[:, chain.lattice.column] + chain.transitions
    if additions is None:
        additions = np.stack(
            [chain.costs[tag] if tag >= 0 else np.zeros(len(chain.costs)) for tag in chain.tags]
        )
    return potentials + additions[:, chain.lattice.target]


def clamp(chain: Chain) -> Array:
    """`-inf` for every label that an observation excludes, `[T, Y]`."""
    excluded = np.zeros((len(chain), chain.lattice.n_labels))
    for t, tag in enumerate(chain.tags):
        if tag >= 0:
            excluded[t] = -np.inf
            excluded[t, tag] = 0.0
        elif tag == -2:
            excluded[t, chain.lattice.target[chain.lattice.continues]] = -np.inf
    return excluded


def log_partition(lattice: Lattice, potentials: Array) -> tuple[float, Array]:
    """Log-partition of potentials `[T, E]`, and the probability of each edge, `[T, E]`.

    Plain forward-backward on logarithms of dense matrices, shifted at each position.
    """
    length, n_labels = len(potentials), lattice.n_labels
    dense = np.full((length, n_labels, n_labels), -np.inf)
    dense[:, lattice.source, lattice.target] = potentials
    dense[-1][:, ~lattice.final] = -np.inf
    forward = np.full((length + 1, n_labels), -np.inf)
    forward[0, lattice.start] = 0.0
    backward = np.zeros((length + 1, n_labels))
    total = 0.0
    with np.errstate(divide="ignore"):
        for t in range(length):
            forward[t + 1] = log_sum(forward[t][:, None] + dense[t], axis=0)
            total += forward[t + 1].max()
            forward[t + 1] -= forward[t + 1].max()
        for t in range(length - 1, -1, -1):
            backward[t] = log_sum(dense[t] + backward[t + 1], axis=1)
            backward[t] -= backward[t].max()
    total += float(logsumexp(forward[-1]))
    joint = forward[:-1, :, None] + dense + backward[1:, None, :]
    joint -= joint.max(axis=(1, 2), keepdims=True)
    marginals = np.exp(joint)
    marginals /= marginals.sum(axis=(1, 2), keepdims=True)
    return total, marginals[:, lattice.source, lattice.target]


def log_sum(values: Array, axis: int) -> Array:
    largest = values.max(axis=axis, keepdims=True)
    largest[np.isneginf(largest)] = 0.0
    return np.log(np.exp(values - largest).sum(axis=axis)) + np.squeeze(largest, axis=axis)


def log_space_loss(chain: Chain) -> tuple[float, Array, Array]:
    """The same as `chain_loss`, for chains too long to enumerate."""
    everything, expected = log_partition(chain.lattice, edge_potentials(chain))
    agreeing, observed = log_partition(chain.lattice, edge_potentials(chain, clamp(chain)))
    counts = expected - observed
    return everything - agreeing, sum_columns(chain.lattice, counts), counts.sum(axis=0)


def log_space_viterbi(chain: Chain) -> tuple[float, list[int]]:
    """The same as `best_path`, for chains too long to enumerate."""
    lattice, potentials = chain.lattice, edge_potentials(chain)
    best = np.full(lattice.n_labels, -np.inf)
    best[lattice.start] = 0.0
    arrivals = []
    for row in potentials:
        scores = best[lattice.source] + row
        arrivals.append(
            [
                max(np.flatnonzero(lattice.target == label), key=scores.__getitem__, default=0)
                for label in range(lattice.n_labels)
            ]
        )
        best = np.array(
            [scores[lattice.target == y].max(initial=-np.inf) for y in range(lattice.n_labels)]
        )
    best[~lattice.final] = -np.inf
    label = int(best.argmax())
    score, labels = float(best[label]), []
    for arrival in reversed(arrivals):
        labels.append(label)
        label = int(lattice.source[arrival[label]])
    return score, labels[::-1]


# Sparse rows as dense matrices


def dense_rows(rows: BinaryCSR) -> Array:
    """The matrix `[n_rows, n_columns]`; a column named twice in a row counts twice."""
    matrix = np.zeros((rows.n_rows, rows.n_columns))
    for i in range(rows.n_rows):
        for column in rows.indices[rows.indptr[i] : rows.indptr[i + 1]]:
            matrix[i, column] += 1.0
    return matrix


def rows_from_dense(matrix: npt.NDArray[np.int64]) -> BinaryCSR:
    """Sparse rows of a matrix of small counts."""
    indptr, indices = [0], []
    for row in matrix:
        for column, count in enumerate(row.tolist()):
            indices.extend([column] * count)
        indptr.append(len(indices))
    return BinaryCSR(
        np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int32), matrix.shape[1]
    )


def encoded_of(
    features: BinaryCSR, segments: SegmentRows | None = None
) -> tuple[Design] | tuple[Design, SegmentRows]:
    """A design of units that have these features `[T, K]`, and segments of them if there are."""
    n = features.n_rows
    none = BinaryCSR(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), 0)
    lexemes = BinaryCSR(np.zeros(1, np.int64), np.zeros(0, np.int32), features.n_columns)
    design = Design(lexemes, none, features)
    return (design,) if segments is None else (design, segments)


def design_of(data: LabelledSequences) -> Design:
    """The features of units of labelled sequences, which have no other scorer before them."""
    design = data.encoded[0]
    assert isinstance(design, Design)
    return design


def scores_of(encoded: Encoded, weights: RealsXd, workers: Workers) -> Array:
    """What one scorer gives, `[T, n]`, under its weights `[K, n]`."""
    scores = np.zeros((encoded.n_scored, weights.shape[1]))
    encoded.add_scores(weights, scores, workers)
    return scores


def gradient_of(encoded: Encoded, slopes: Array, workers: Workers) -> Array:
    """The gradient of one scorer's weights `[K, n]`, given that of scores `[T, n]`."""
    gradient = np.zeros((encoded.rows.stop - encoded.rows.start, slopes.shape[1]))
    encoded.add_gradient(slopes, gradient, workers)
    return gradient


def dense_design(design: Design) -> Array:
    """The design matrix `[U, K]` multiplied out."""
    lexemes = dense_rows(design.unit_lexemes) @ dense_rows(design.lexeme_features)
    return lexemes + dense_rows(design.unit_features)


# A corpus under a regularised chain


@dataclass(frozen=True)
class Corpus:
    """Sequences to learn from: matrix `[T, K]`, tags `[T]`, starts `[N + 1]`."""

    matrix: Array
    lattice: Lattice
    costs: Array
    sigma: float
    tags: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    def loss(self, scores: Array, transitions: Array) -> tuple[float, Array, Array]:
        """Sum of losses without the prior, and its gradients `[T, S]` and `[E]`."""
        total = 0.0
        by_scores, by_transitions = np.zeros_like(scores), np.zeros_like(transitions)
        for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            tags = self.tags[begin:end].tolist()
            if end > begin:
                loss, here, moves = log_space_loss(
                    Chain(self.lattice, scores[begin:end], transitions, self.costs, tags)
                )
                total += loss
                by_scores[begin:end] = here
                by_transitions += moves
        return total, by_scores, by_transitions

    def value(self, weights: Array, transitions: Array) -> float:
        """Loss with the prior, for weights `[K, S]` of score columns."""
        loss, _, _ = self.loss(self.matrix @ weights, transitions)
        squares = smallest_squares(self.lattice, weights)
        return float(loss + (squares + (transitions**2).sum()) / (2 * self.sigma**2))


def smallest_squares(lattice: Lattice, weights: Array) -> float:
    """The least `‖u‖² + ‖p‖²` of label and pair weights with `u[target] + p = weights`.

    Without label pairs there are label weights only. With them, setting the derivative to
    zero gives `u = (sum of the label's edges) / (number of edges + 1)`.
    """
    if not lattice.label_pairs or lattice.n_edges == lattice.n_labels:
        return float((weights**2).sum())
    squares = 0.0
    for label in range(lattice.n_labels):
        edges = weights[:, lattice.target == label]
        by_label = edges.sum(axis=1) / (edges.shape[1] + 1)
        squares += float((by_label**2).sum() + ((edges - by_label[:, None]) ** 2).sum())
    return squares


# Features as texts

BOUNDARY = "<boundary>"
TEXT_FUNCTIONS = {
    "word": lambda text: text,
    "lower": lambda text: text.lower(),
    "length": lambda text: str(len(text)),
    "class": lambda text: "".join(
        "0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else "_" for c in text
    ),
    "brief_class": lambda text: re.sub(r"(.)\1+", r"\1", TEXT_FUNCTIONS["class"](text)),
}


@dataclass(frozen=True)
class Word:
    """A token as features see it."""

    text: str
    tag: str = ""
    pos: str = ""


Sentence = Sequence[Word]
Place = tuple[int, int]
"""Number of the sentence in its Doc, and of the token in the sentence."""
SHARES = ("seen_inside", "seen_first", "seen_last", "seen_continued")


@dataclass(frozen=True)
class Extractor:
    """All features of units, as texts.

    templates: with ranges written out, such as `prefix(2)@first-1` and
    `word@first+0 & size`. evidence: for words in lower case how often they were seen, and
    how often inside, first, last and continued in spans.
    """

    templates: Sequence[str]
    patterns: Mapping[str, str] = field(default_factory=dict)
    lexicons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    evidence: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def features(self, doc: Sequence[Sentence], number: int, first: int, last: int) -> Counter[str]:
        """Features of the unit from token `first` to token `last` of sentence `number`."""
        found: Counter[str] = Counter()
        for template in self.templates:
            attribute, _, place = template.partition("@")
            places = self.several(doc, place, number, first, last)
            if places is not None:
                values = [self.at(doc[i], attribute, t) for i, t in places]
                found.update(f"{template}={value}" for value in values if value is not None)
                continue
            parts = template.split(" & ")
            values = [self.part(doc[number], part, first, last) for part in parts]
            if None not in values:
                found[f"{template}={values}"] += 1
        return found

    def several(
        self, doc: Sequence[Sentence], place: str, number: int, first: int, last: int
    ) -> list[Place] | None:
        """The tokens at a place that can hold several, None for other places."""
        if place == "any":
            return [(number, t) for t in range(first, last + 1)]
        if place == "sentence":
            return [(number, t) for t in range(len(doc[number])) if not first <= t <= last]
        if place in ("long_form", "long_form_last"):
            known = uses([[word.text for word in sentence] for sentence in doc])
            of_tokens = [known[number, t] for t in range(first, last + 1) if (number, t) in known]
            long = [(f.sentence, t) for f in of_tokens[-1:] for t in range(*f.long)]
            return long[-1:] if place == "long_form_last" else long
        found = re.fullmatch(r"(head_)?recurrence([+-]\d+)?", place)
        if not found:
            return None
        begin, offset = last if found[1] else first, int(found[2] or 0)
        different: dict[str, Place] = {}
        for occurrence, (start, end) in self.occurrences(doc, (number, begin), (number, last)):
            t = end + offset if offset >= 0 else start + offset
            sentence = doc[occurrence]
            text = sentence[t].text if 0 <= t < len(sentence) else BOUNDARY
            different.setdefault(text, (occurrence, t))
        return list(different.values())[:8]

    def occurrences(
        self, doc: Sequence[Sentence], first: Place, last: Place
    ) -> Iterator[tuple[int, tuple[int, int]]]:
        """Places in the Doc with the same words in any case: sentence, first and last token."""
        words = [word.text.lower() for word in doc[first[0]][first[1] : last[1] + 1]]
        for i, sentence in enumerate(doc):
            for end in range(len(words) - 1, len(sentence)):
                start = end - len(words) + 1
                same = [word.text.lower() for word in sentence[start : end + 1]] == words
                if same and (i, end) != last:
                    yield i, (start, end)

    def part(self, sentence: Sentence, part: str, first: int, last: int) -> object:
        if part == "bias":
            return True
        if part == "size":
            return last - first + 1
        attribute, place = part.split("@")
        if place == "all":
            values = [self.at(sentence, attribute, t) for t in range(first, last + 1)]
            return None if None in values else values
        anchor, offset = (first, place[5:]) if place.startswith("first") else (last, place[4:])
        return self.at(sentence, attribute, anchor + int(offset))

    def at(self, sentence: Sentence, attribute: str, t: int) -> object:
        """Value of an attribute of token `t`, which may lie outside of the sentence."""
        if not 0 <= t < len(sentence):
            return BOUNDARY if attribute in ("word", "lower") else None
        name, _, argument = attribute.removesuffix(")").partition("(")
        text = sentence[t].text
        if name == "prefix":
            return text[: int(argument)] if len(text) >= int(argument) else None
        if name == "suffix":
            return text[-int(argument) :] if len(text) >= int(argument) else None
        if name == "pattern":
            return "yes" if re.search(self.patterns[argument], text) else None
        if name in ("lexicon", "lexicon_exact"):
            terms = [term.split() for term in self.lexicons[argument]]
            form = str.lower if name == "lexicon" else str
            return longest_matches(terms, [word.text for word in sentence], form)[t]
        if name in ("tag", "pos"):
            return getattr(sentence[t], name) or None
        if name in SHARES:
            counts = self.evidence.get(text.lower(), (0, 0, 0, 0, 0))
            return seen(counts[0], counts[1 + SHARES.index(name)])
        return TEXT_FUNCTIONS[name](text)


def seen(occurrences: int, number: int) -> tuple[int, int]:
    """How often a word was seen, roughly, and in which share of its occurrences."""
    size = sum(occurrences >= n for n in (1, 2, 4, 8))
    if occurrences == 0:
        return size, 0
    steps = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
    return size, 1 + sum(number / occurrences >= step for step in steps)


def longest_matches(
    terms: Sequence[Sequence[str]],
    words: Sequence[str],
    form: Callable[[str], str] = str.lower,
) -> list[str | None]:
    """`begin`, `inside` or None for each word; from the left, the longest term first."""
    compared = [form(word) for word in words]
    known = {tuple(form(token) for token in term) for term in terms}
    values: list[str | None] = [None] * len(words)
    t = 0
    while t < len(words):
        ends = [end for end in range(t + 1, len(words) + 1) if tuple(compared[t:end]) in known]
        if ends:
            values[t : ends[-1]] = ["begin"] + ["inside"] * (ends[-1] - t - 1)
        t = max(ends, default=t + 1)
    return values


GoldDoc = Sequence[tuple[Sequence[str], Sequence[tuple[int, int]]]]
"""Words and gold spans of the sentences of a Doc."""


def left_out(
    terms: Sequence[Sequence[str]], docs: Sequence[GoldDoc]
) -> Iterator[tuple[GoldDoc, list[Sequence[str]]]]:
    """Each Doc with the terms but for those that are a gold span of it and of no other Doc."""
    gold = [
        {tuple(word.lower() for word in words[a:b]) for words, spans in doc for a, b in spans}
        for doc in docs
    ]
    for i, doc in enumerate(docs):
        elsewhere = set().union(*gold[:i], *gold[i + 1 :])
        own = gold[i] - elsewhere
        yield doc, [term for term in terms if tuple(w.lower() for w in term) not in own]
