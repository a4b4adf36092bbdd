"""Known scores of pairs belong to a thread, a table of words and a set of weights."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.models.pair_scores import PairScores

SPACE = FeatureSpace(Templates(("word@-1 & word@0",), {}, {}))
WEIGHTS = np.zeros((4, 2))


def test_pairs_are_kept_until_weights_or_words_are_others() -> None:
    kept = PairScores()
    known = kept.known(SPACE, SPACE.lexemes, WEIGHTS)
    assert known.scores.shape[2] == 2
    assert kept.known(SPACE, SPACE.lexemes, WEIGHTS) is known
    others = kept.known(SPACE, SPACE.lexemes, WEIGHTS.copy())
    assert others is not known
    table = FeatureSpace(Templates(("word@-1 & word@0",), {}, {})).lexemes
    assert kept.known(SPACE, table, WEIGHTS) is not others


def test_threads_share_none() -> None:
    kept = PairScores()
    known = kept.known(SPACE, SPACE.lexemes, WEIGHTS)
    with ThreadPoolExecutor(1) as pool:
        of_thread = pool.submit(kept.known, SPACE, SPACE.lexemes, WEIGHTS).result()
    assert of_thread is not known
    assert kept.known(SPACE, SPACE.lexemes, WEIGHTS) is known


def test_copies_have_none() -> None:
    kept = PairScores()
    known = kept.known(SPACE, SPACE.lexemes, WEIGHTS)
    for other in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert other.known(SPACE, SPACE.lexemes, WEIGHTS) is not known
