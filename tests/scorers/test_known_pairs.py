"""Known scores of pairs belong to a thread, a table of words and a set of weights."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.scorers.pair_scores import PairScores

SPACE = FeatureSpace(Templates(("word@-1 & word@0",), {}, {}))
WEIGHTS = np.zeros((4, 2))


def test_pairs_are_kept_until_weights_or_words_are_others() -> None:
    kept = PairScores()
    known = kept.known(SPACE, SPACE.lexemes, WEIGHTS)
    assert known.shape == (1, 2)
    table = FeatureSpace(Templates(("word@-1 & word@0",), {}, {})).lexemes
    for others in ((SPACE.lexemes, WEIGHTS.copy()), (table, WEIGHTS)):
        known.pairs[:], known.sizes[:] = 7, 3
        assert kept.known(SPACE, SPACE.lexemes, WEIGHTS) is known
        assert known.pairs.any()
        assert kept.known(SPACE, *others) is known  # for a new table would leave a hole
        assert not known.pairs.any()
        assert not known.sizes.any()
        kept.known(SPACE, SPACE.lexemes, WEIGHTS)
    wider = kept.known(SPACE, SPACE.lexemes, np.zeros((4, 3)))
    assert wider.shape == (1, 3)


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
