"""Types of spans explained: what is beside features, equal scores, and spans of either kind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Span

from helpers import add_classifier, blank, bounds, make_doc, make_examples, train, trained_cascade
from spacy_cascade.features.names import NamedFeature
from spacy_cascade.features.units import Units
from spacy_cascade.tools.explaining.explain import explain_spans, explain_types
from spacy_cascade.tools.explaining.explanations import Contribution, of_features
from spacy_cascade.types import Floats2d

TYPES = [f"T{number:02}" for number in range(40)]


class Network:
    """Adds a quarter of a column's number for the word before a unit, and half of it for itself."""

    margin = 0

    def __init__(self, is_trained: bool) -> None:
        self.is_trained = is_trained

    def begin(self, made: object, vocab: object) -> None:
        """It needs nothing."""

    def add_scores(self, units: Units, out: Floats2d) -> None:
        out += 0.75 * np.arange(out.shape[1])

    def contributions(self, units: Units, columns: Sequence[int]) -> list[tuple[str, list[float]]]:
        assert len(units.first) == 1
        return [(place, [n * c for c in columns]) for place, n in (("-1", 0.25), ("0", 0.5))]


def test_what_a_network_adds_is_named_by_the_place_of_the_word() -> None:
    nlp = trained_cascade()
    segmenter, classifier = (pipe for _, pipe in nlp.pipeline)
    doc = nlp(make_doc(nlp.vocab, "STAT5 binds"))
    classifier.model.attrs["beside"] = Network(is_trained=False)
    (before,) = explain_types(classifier, doc, [(0, 1, "cell")])
    assert not any(c.template == "network" for c in before.contributions)
    for pipe in (segmenter, classifier):
        pipe.model.attrs["beside"] = Network(is_trained=True)
    (found,) = explain_types(classifier, doc, [(0, 1, "cell")])
    labels = list(classifier.labels)
    columns = [labels.index("cell"), labels.index(found.runner_up[0][2])]
    of_network = {c.name: (c.weight, c.runner_up) for c in found.contributions if "net" in c.name}
    assert columns == [1, 2]
    assert of_network == {"network@-1": (0.25, 0.5), "network@0": (0.5, 1.0)}
    assert {c.template for c in found.contributions if c.name in of_network} == {"network"}
    assert found.evidence == pytest.approx(before.evidence - 0.75)
    (of_span,) = explain_spans(segmenter, doc, [(0, 1, "ENT")])
    ranked = segmenter.nbest(doc, 100)[0]
    having = [r.score for r in ranked if (0, 1, "ENT") in bounds(r.spans)]
    lacking = [r.score for r in ranked if (0, 1, "ENT") not in bounds(r.spans)]
    assert of_span.evidence == pytest.approx(max(having) - max(lacking))
    assert ("network@0", 0) in {(c.name, c.token) for c in of_span.contributions}


def test_a_feature_counts_as_often_as_a_span_has_it() -> None:
    bias, word = NamedFeature(0, "bias", "bias"), NamedFeature(1, "word=a", "word")
    weights = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert of_features([word, bias, word], 4, weights, [1, 0]) == [
        Contribution("word=a (2 times)", 4, 10.0, 6.0, "word"),
        Contribution("bias", 4, 2.0, 1.0, "bias"),
    ]
    assert of_features([word], None, weights, [1]) == [
        Contribution("word=a", None, 5.0, 0.0, "word")
    ]


@pytest.fixture(scope="module")
def many() -> Language:
    nlp = blank()
    add_classifier(nlp, spans_key=None)
    train(nlp, make_examples(nlp, [("a", [(0, 1, label)]) for label in TYPES]), updates=0)
    return nlp


def test_the_first_of_equal_types_is_the_runner_up(many: Language) -> None:
    classifier = many.get_pipe("cascade_classifier")
    values = np.random.default_rng(0).integers(0, 3, len(TYPES)).astype(float)
    classifier.model.set_param("W", np.tile(values, (len(classifier.space), 1)).astype("f"))
    found = explain_types(classifier, make_doc(many.vocab, "a"), [(0, 1, t) for t in TYPES])
    for number, explanation in enumerate(found):
        others = [value if i != number else -math.inf for i, value in enumerate(values)]
        assert explanation.runner_up == ((0, 1, TYPES[int(np.argmax(others))]),)


def test_spans_of_the_doc_are_explained_where_the_classifier_finds_them(many: Language) -> None:
    classifier = many.get_pipe("cascade_classifier")
    doc = make_doc(many.vocab, "a b")
    assert explain_types(classifier, doc) == []
    doc.ents = [Span(doc, 0, 1, "T05")]
    assert [e.span for e in explain_types(classifier, doc)] == [(0, 1, "T05")]
