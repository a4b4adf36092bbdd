"""Two chains, of which the second sees the spans of the first: training jointly, and decoding.

A hypothesis is a path `y` of the first chain with a path `z` of the second. For each of the `N`
best `y` of a sentence there is the best `z`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_cascade.pipeline.spans.nbest import candidates_by_doc

from .corpora import read_docs, write_docs
from .package import component, gold_rows, read_examples, rows_of_path, show_ranked_spans
from .timing import Stopwatch
from .training import build, initialize, update

Floats = npt.NDArray[np.float64]
Paths = npt.NDArray[np.int32]
DECODINGS = ("product", "scores", "mixture")
"""Ways to use the `N` best paths of the first chain: the product of both probabilities, the sum of
both scores, and one path `z` under the scores that the second chain has on average."""


def fold(
    train: str, kept: str, held_back: str, share: float, most: int, seed: int
) -> dict[str, int]:
    """Write a random part of the Docs of a corpus, and up to `most` others to judge on."""
    docs = read_docs(train)
    random.Random(seed).shuffle(docs)
    n = round(share * len(docs))
    parts = docs[:n], docs[n : n + most]
    for part, path in zip(parts, (kept, held_back), strict=True):
        write_docs(part, Path(path))
    return {"kept": len(parts[0]), "held_back": len(parts[1])}


def train_chains(
    config: str,
    train: str,
    model: str,
    schedule: Sequence[tuple[float, int]],
    overrides: Mapping[str, Any],
) -> dict[str, Any]:
    """Train with one strength `C` of the constraint after the other.

    schedule: each strength, and the updates that it has. overrides: settings by their dotted names.
    """
    nlp, _ = build(config, 1, overrides=overrides)
    examples, watch = read_examples(train, nlp), Stopwatch()
    initialize(nlp, examples, watch)
    second = component(nlp, nlp.pipe_names[-1])
    for strength, updates in schedule:
        second.trainer = replace(second.trainer, C=strength)
        second.reset_fit()
        for _ in range(updates):
            update(nlp, examples, watch)
    nlp.to_disk(model)
    return {"seconds": watch.passed, "terms": second._fit.terms()}


@dataclass(frozen=True)
class Hypotheses:
    """For each of `N` ranks and `S` sentences; `-inf` where a sentence has fewer paths.

    first, second: scores of the best paths `[N, S]`. first_logs, second_logs: their
    log-probabilities. paths: of the second chain `[N, T]`. potentials: of each rank.
    """

    starts: npt.NDArray[np.int64]
    first: Floats
    first_logs: Floats
    second: Floats
    second_logs: Floats
    paths: Paths
    potentials: Sequence[Any]


def hypotheses(nlp: Language, examples: Sequence[Example], n: int) -> Hypotheses:
    """The hypotheses of the predicted Docs, which have the first chain's spans of the last rank."""
    one, two = (component(nlp, name) for name in nlp.pipe_names[-2:])
    docs = [example.predicted for example in examples]
    batch = one.scored(docs)
    paths, first = batch.best_paths(n)
    first_logs = first - batch.structure.log_partitions(batch.potentials)
    of_docs = candidates_by_doc(batch.ranked(paths, first, True), batch.tokens)
    ranks = []
    for k in range(n):
        show_ranked_spans(one, docs, of_docs, k)
        potentials = two.scored(docs).potentials
        path, scores = two.structure.best(potentials)
        logs = scores - two.structure.log_partitions(potentials)
        ranks.append((path, scores, logs, potentials))
    found, second, second_logs, of_ranks = zip(*ranks, strict=True)
    return Hypotheses(
        of_ranks[0].starts, first, first_logs, np.stack(second), np.stack(second_logs),
        np.stack(found), of_ranks,
    )  # fmt: skip


def decode(found: Hypotheses, n: int, way: str, structure: Any) -> Paths:
    """A path of the second chain for each sentence `[T]`, from the `n` best of the first."""
    if way == "mixture":
        return _decode_mixture(found, n, structure)
    if way == "product":
        totals = found.first_logs[:n] + found.second_logs[:n]
    else:
        totals = found.first[:n] + found.second[:n]
    totals = np.where(np.isfinite(found.first[:n]), totals, -np.inf)
    rank = np.repeat(totals.argmax(axis=0), np.diff(found.starts))
    chosen: Paths = found.paths[rank, np.arange(found.paths.shape[1])]
    return chosen


def _decode_mixture(found: Hypotheses, n: int, structure: Any) -> Paths:
    shares = np.exp(found.first_logs[:n] - found.first_logs[:n].max(axis=0))
    shares /= shares.sum(axis=0)
    of_units = np.repeat(shares, np.diff(found.starts), axis=1)
    scores = sum(
        share[:, None] * potentials.scores
        for share, potentials in zip(of_units, found.potentials, strict=False)
    )
    path: Paths = structure.best(found.potentials[0].replace(scores=scores))[0]
    return path


def score_decodings(model: str, part: str, sizes: Sequence[int], at_once: int = 50) -> Any:
    """F1 of entities by every way of decoding, and of the first chain's spans.

    sizes: numbers `N` of paths of the first chain; 1 is Viterbi on one after the other.
    """
    nlp = spacy.load(model)
    two = component(nlp, nlp.pipe_names[-1])
    examples = read_examples(part, nlp)
    ways = {"Viterbi": (1, "product")}
    ways |= {f"{way}, N = {n}": (n, way) for n in sizes for way in DECODINGS}
    counts = {name: np.zeros(3) for name in ways}
    for begin in range(0, len(examples), at_once):
        batch = examples[begin : begin + at_once]
        found = hypotheses(nlp, batch, max(sizes))
        wanted = gold_rows(two, batch, found.starts)
        for name, (n, way) in ways.items():
            path = decode(found, n, way, two.structure)
            rows = rows_of_path(two, path, found.starts)
            counts[name] += [len(rows & wanted), len(rows), len(wanted)]
    return {name: float(200.0 * c[0] / max(1.0, c[1] + c[2])) for name, c in counts.items()}
