"""A bias learnt in training: what a miss costs decides how much is found in new text."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import TRAINER, add_classifier, add_segmenter, blank, sample_examples, train

ONLINE = {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1}
MARGIN = {"@misc": "spacy_cascade.SoftmaxMargin.v1", "kappa": 4.0, "sigma": 0.5}
HINGE = {"@misc": "spacy_cascade.Hinge.v1", "kappa": 1.0}


def n_found(
    miss: float, objective: dict[str, Any], trainer: dict[str, Any], of_classifier: bool
) -> int:
    """Entities found in new text by a cascade, one of whose components learns with the bias."""
    biased = {"objective": {**objective, "miss": miss}, "trainer": trainer}
    nlp = blank()
    # A list of spans has many wrong ones for a classifier to learn from.
    add_segmenter(nlp, **({"overlapping": True, "temperature": 3.0} if of_classifier else biased))
    examples = sample_examples(nlp, n_docs=25)
    train(nlp, examples)
    add_classifier(nlp, reject=of_classifier, **(biased if of_classifier else {}))
    nlp.get_pipe("cascade_classifier").initialize(lambda: examples, nlp=nlp)
    for _ in range(3):
        nlp.update(
            examples, exclude=["cascade_segmenter"], annotates=["cascade_segmenter"], losses={}
        )
    new = [example.predicted for example in sample_examples(nlp, "dev")]
    return sum(len(doc.ents) for doc in nlp.pipe(new))


@pytest.mark.parametrize("of_classifier", [False, True])
@pytest.mark.parametrize(("objective", "trainer"), [(MARGIN, TRAINER), (HINGE, ONLINE)])
def test_the_more_a_miss_costs_the_more_is_found(
    objective: dict[str, Any], trainer: dict[str, Any], of_classifier: bool
) -> None:
    found = [n_found(miss, objective, trainer, of_classifier) for miss in (0.05, 1.0, 8.0)]
    assert found == sorted(found)
    assert 0 < found[0] < found[-1]
