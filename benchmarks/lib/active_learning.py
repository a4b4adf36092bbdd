"""Simulated annotation: sentences of a corpus are chosen in rounds, and their annotation is shown.

A round retrains on all that is annotated so far, and chooses among the rest. Temperatures are
fixed, since calibration would need a dev corpus, or a training for each part that is left out.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .corpora import read_docs
from .package import suggested, train_cascade, with_words
from .timing import Stopwatch

RANDOM = "random"
"""Choose without looking."""
TEMPERATURE = 2.0
"""About that which `fit` finds for small parts of WikiGold."""


def simulate(
    train: str,
    dev: str,
    sentences: int,
    sizes: Sequence[int],
    choice: Mapping[str, Any],
    seed: int,
    updates: int,
    until: float = 100.0,
) -> dict[str, Any]:
    """F1 on dev after each round, and its seconds.

    sentences: size of the pool, drawn from train. sizes: annotated sentences by round; the first
    ones are drawn at random, the same for all choices. choice: options of `suggest`, or the
    measure `random`. updates: of a training. until: F1 after which no round follows. The seconds
    are those of training, and of choosing among the rest of the pool before.
    """
    vocab = spacy.blank("en").vocab
    order = [s.as_doc() for doc in read_docs(train, vocab) for s in doc.sents]
    random.Random(seed).shuffle(order)
    rest = order[:sentences]
    held = [s.as_doc() for doc in read_docs(dev, vocab) for s in doc.sents]
    known: list[Doc] = []
    rounds = []
    nlp = None
    for size in sizes:
        n = min(size - len(known), len(rest))
        if not n:
            break
        choosing, chosen = Stopwatch(), list(range(n))
        if nlp is not None and choice["measure"] != RANDOM:
            with choosing:
                chosen = suggested(nlp, [with_words(doc) for doc in rest], n, choice)
        known += [rest[i] for i in chosen]
        taken = set(chosen)
        rest = [doc for i, doc in enumerate(rest) if i not in taken]
        nlp, watch = spacy.blank("en", vocab=vocab), Stopwatch()
        with watch:
            train_cascade(nlp, known, updates, TEMPERATURE)
        rounds.append(
            {
                "sentences": len(known),
                "tokens": sum(map(len, known)),
                "f1": 100 * score(nlp, held),
                "train_seconds": watch.passed,
                "choose_seconds": choosing.passed,
                "choose_among": len(rest) + n,
            }
        )
        if rounds[-1]["f1"] >= until:
            break
    return {"rounds": rounds}


def score(nlp: Language, held: Sequence[Doc]) -> float:
    """Entity F1 on Docs, their tokens and sentences given."""
    return float(nlp.evaluate([Example(with_words(doc), doc) for doc in held])["ents_f"] or 0.0)
