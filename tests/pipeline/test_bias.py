"""A bias learnt in training: what a false negative costs decides how much is found in new text."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import TRAINER, add_classifier, add_segmenter, blank, sample_examples, train

ONLINE = {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1}
NARROW = {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 0.5}
MARGIN = {"@misc": "spacy_cascade.SoftmaxMargin.v2", "kappa": 4.0}
HINGE = {"@misc": "spacy_cascade.Hinge.v2", "kappa": 1.0}
BATCH: dict[str, Any] = {"loss": MARGIN, "penalty": NARROW, "trainer": TRAINER}
SINGLY: dict[str, Any] = {"loss": HINGE, "penalty": None, "trainer": ONLINE}


def n_found(weight: float, learning: dict[str, Any], of_classifier: bool) -> int:
    """Entities found in new text by a cascade, one of whose components learns with the bias."""
    biased = {**learning, "loss": {**learning["loss"], "false_negative_weight": weight}}
    nlp = blank()
    # A list of spans has many wrong ones for a classifier to learn from.
    add_segmenter(nlp, **({"overlapping": True, "temperature": 3.0} if of_classifier else biased))
    examples = sample_examples(nlp, n_docs=10)
    train(nlp, examples)
    add_classifier(nlp, reject=of_classifier, **(biased if of_classifier else {}))
    nlp.get_pipe("cascade_classifier").initialize(lambda: examples, nlp=nlp)
    for _ in range(2):
        nlp.update(
            examples, exclude=["cascade_segmenter"], annotates=["cascade_segmenter"], losses={}
        )
    new = [example.predicted for example in sample_examples(nlp, "dev")]
    return sum(len(doc.ents) for doc in nlp.pipe(new))


@pytest.mark.parametrize(("learning", "of_classifier"), [(BATCH, True), (SINGLY, False)])
def test_the_more_a_false_negative_costs_the_more_is_found(
    learning: dict[str, Any], of_classifier: bool
) -> None:
    found = [n_found(weight, learning, of_classifier) for weight in (0.05, 8.0)]
    assert found == sorted(found)
    assert 0 < found[0] < found[-1]
