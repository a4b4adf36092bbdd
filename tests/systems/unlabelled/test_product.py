"""The product of components, compared with the enumeration of all labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from helpers import SHORT, add_classifier, add_segmenter, blank, make_doc, make_examples, train
from spacy_cascade.errors import ConfigError
from spacy_cascade.pipeline.decoding import potentials_of
from spacy_cascade.systems.unlabelled.product import become_product

CHAIN = "spacy_cascade.LinearChain.v1"
LOCAL = "spacy_cascade.MaximumEntropyMarkov.v1"


def model(of: str, views: list[str], of_spans: bool = False, **more: Any) -> dict[str, Any]:
    looks_at = {"@misc": of, "without": ["seen_"]} if not of_spans else {"@misc": of}
    view = {"@misc": "spacy_cascade.View.v1", "of": looks_at, "views": views, "of_spans": of_spans}
    return {"model": {"min_count": 1, "templates": view, **more}}


def segmenter(*views: str, **settings: Any) -> Language:
    nlp = blank()
    more = settings.pop("model", {})
    of = "spacy_cascade.SegmentationTemplates.v1"
    add_segmenter(nlp, **model(of, list(views), **more), **settings)
    return nlp


def trained(nlp: Language, updates: int = 1) -> Language:
    train(nlp, make_examples(nlp), updates=updates)
    return nlp


def log_probabilities(pipe: Any, doc: Any, paths: Any, temperature: float = 1.0) -> Any:
    """Of labellings of a Doc, float64 `[k]`."""
    _, potentials = potentials_of(pipe, [doc])
    flat = potentials.at_temperature(temperature)
    scores = np.array([pipe.structure.path_scores(flat, path)[0] for path in paths])
    return scores - pipe.structure.log_partitions(flat)[0]


@pytest.mark.parametrize("typed", [False, True])
def test_probabilities_are_the_normalised_product(typed: bool) -> None:
    factors = [trained(segmenter(view, typed=typed)) for view in ("internal", "external")]
    pipes: list[Any] = [nlp.get_pipe("cascade_segmenter") for nlp in factors]
    pipes[1].temperature = 2.5
    product: Any = segmenter("internal", "external", typed=typed).get_pipe("cascade_segmenter")
    become_product(product, pipes)
    for text in SHORT:
        doc = make_doc(product.vocab, text)
        _, potentials = potentials_of(product, [doc])
        paths, scores = product.structure.k_best(potentials, 100)
        paths = paths[np.isfinite(scores[:, 0])]
        of_factors = [
            log_probabilities(pipe, make_doc(pipe.vocab, text), paths, pipe.temperature)
            for pipe in pipes
        ]
        expected, found = sum(of_factors), log_probabilities(product, doc, paths)
        if len(paths) < 100:  # these are all labellings
            expected = expected - np.logaddexp.reduce(expected)
        else:
            expected, found = expected - expected[0], found - found[0]
        # Weights are kept in half precision.
        assert found == pytest.approx(expected, abs=0.02)


def test_types_have_the_product_of_their_probabilities() -> None:
    of = "spacy_cascade.ClassificationTemplates.v1"
    pipes: list[Any] = []
    for views in (["internal"], ["external"], ["internal", "external"]):
        nlp = segmenter("internal")
        add_classifier(nlp, **model(of, views, of_spans=True))
        if len(views) == 1:
            trained(nlp)
        pipes.append(nlp.get_pipe("cascade_classifier"))
    *factors, product = pipes
    become_product(product, factors)
    doc_of = lambda pipe: make_doc(pipe.vocab, "Human cells lack the p53 gene .")  # noqa: E731
    spans = [[(4, 6, label) for label in product.labels]]
    of_factors = [pipe.probabilities([doc_of(pipe)], spans)[0] for pipe in factors]
    expected = np.prod(of_factors, axis=0)
    found = product.probabilities([doc_of(product)], spans)[0]
    assert found == pytest.approx(expected / expected.sum(), abs=0.01)


def test_other_labels_and_local_models_have_no_product() -> None:
    one, other = (trained(segmenter("internal", typed=typed)) for typed in (False, True))
    product: Any = segmenter("internal").get_pipe("cascade_segmenter")
    pipes: list[Any] = [nlp.get_pipe("cascade_segmenter") for nlp in (one, other)]
    with pytest.raises(ConfigError, match=r"different labels: DNA, cell, protein \| ENT"):
        become_product(product, pipes)
    local = trained(segmenter("internal", model={"@architectures": LOCAL}))
    with pytest.raises(ConfigError, match="normalises each decision by itself"):
        become_product(product, [local.get_pipe("cascade_segmenter")] * 2)  # type: ignore[list-item]
