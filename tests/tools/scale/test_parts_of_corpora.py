"""The loop of spaCy's documentation: batches of a shuffled corpus."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch

from helpers import SENTENCES, bounds, cascade, make_doc, make_examples, trained_cascade, weights
from spacy_cascade.pipeline.examples import Parts

NAMES = ("cascade_segmenter", "cascade_classifier")


def knows_all(nlp: Language) -> bool:
    return all(bounds(nlp(make_doc(nlp.vocab, text)).ents) == spans for text, spans in SENTENCES)


def weights_of(nlp: Language) -> list[np.ndarray]:
    return [part for name in NAMES for part in weights(nlp.get_pipe(name))]


@pytest.mark.parametrize("size", [1, 4])
def test_a_pass_in_batches_is_an_update_with_the_whole_corpus(size: int) -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    rng = random.Random(0)
    for _ in range(3):
        losses: dict[str, float] = {}
        for batch in minibatch(examples, size):
            nlp.update(batch, sgd=optimizer, losses=losses)
        assert all(losses[name] > 0 for name in NAMES)
        rng.shuffle(examples)
    assert knows_all(nlp)
    for found, wanted in zip(weights_of(nlp), weights_of(trained_cascade()), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_is_collected() -> None:
    nlp = cascade()
    made: list[Example] = make_examples(nlp)
    parts = Parts()
    assert parts.collect(made[:4], 6, "it") == []
    assert parts.collect(made[4:], 6, "it") == made
    assert parts.collect(made[2:5], 6, "it") == []
    assert parts.collect(made[1:3], 6, "it") == made[2:5]  # one comes again: a new pass
    assert parts.collect(made[3:4], 6, "it") == []
    assert set(map(id, parts.collect(made[1:2], 6, "it"))) == set(map(id, made[1:5]))
    assert parts.collect(made, 6, "it") == made
    assert parts.collect(made[:1], None, "it") == made[:1]


def test_components_with_parts_are_copied_and_pickled_without_them() -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.update(examples[:3])
    component = nlp.get_pipe(NAMES[0])
    for other in (copy.deepcopy(component), pickle.loads(pickle.dumps(component))):
        assert other._parts.collect(examples[3:], 6, "it") == []
