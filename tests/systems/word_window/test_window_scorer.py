"""The network of words by itself: where it looks, what it keeps, and in which precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from encoded import TEXTS
from spacy_cascade.features.templates import Templates
from spacy_cascade.pipeline import decoding
from spacy_cascade.systems.word_window import scorer as scorers
from spacy_cascade.systems.word_window.network import WordWindow
from spacy_cascade.systems.words.sources import make_english
from spacy_cascade.tools.explaining.explain import explain_types
from window_networks import STAGES, beside, blank, trained

TEXT = TEXTS[0][0]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained(blank(epochs=3))


def units_of(nlp: Language, text: str) -> Any:
    pipe = nlp.get_pipe(STAGES[0])
    return decoding.token_units(pipe, decoding.read(pipe, [nlp.make_doc(text)]))


@pytest.mark.parametrize(
    ("token", "places"),
    [(0, "0 +1 +2"), (1, "-1 0 +1 +2"), (2, "-2 -1 0 +1 +2"), (4, "-2 -1 0 +1"), (5, "-2 -1 0")],
)
def test_beyond_the_ends_of_a_text_there_is_nothing(nlp: Language, token: int, places: str) -> None:
    unit = units_of(nlp, TEXT).take(slice(token, token + 1))
    found = [place for place, added in beside(nlp).contributions(unit, [0, 1]) if any(added)]
    assert found == [*places.split(), "bias"]


@pytest.mark.parametrize(
    ("span", "places"),
    [
        ((0, 2, "PER"), "first last last+1 last+2"),
        ((1, 3, "PER"), "first-1 first last last+1 last+2"),
        ((3, 5, "LOC"), "first-2 first-1 first last last+1"),
        ((5, 6, "LOC"), "first-2 first-1 first last"),
    ],
)
def test_a_span_has_words_before_its_first_and_after_its_last_one(
    nlp: Language, span: tuple[int, int, str], places: str
) -> None:
    (of_type, *_) = explain_types(nlp.get_pipe(STAGES[1]), nlp.make_doc(TEXT), [span])
    network = [each for each in of_type.contributions if each.template == "network" and each.weight]
    assert {each.name for each in network} == {
        f"network@{place}" for place in (*places.split(), "inside", "bias")
    }


def test_there_is_one_matrix_for_each_place() -> None:
    nlp = trained(blank(epochs=1))
    for stage, n_places in zip(STAGES, (5, 7), strict=True):
        assert beside(nlp, stage).arrays()["beside:of_window"].shape == (32, n_places * 32)


def scores_of(nlp: Language, text: str) -> Any:
    network, units = beside(nlp), units_of(nlp, text)
    scores = np.zeros((len(units.first), len(network._columns)))
    network.add_scores(units, scores)
    return scores


def test_scores_have_single_precision(nlp: Language) -> None:
    scores = scores_of(nlp, TEXT)
    assert scores.any()
    np.testing.assert_array_equal(scores, scores.astype(np.float32))


def test_a_word_is_looked_at_once(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only of new words, with the boundary, is anything computed."""
    made, plain = [], scorers.tabulated

    def counted(features: Any, *others: Any) -> Any:
        made.append(features.n_rows)
        return plain(features, *others)

    monkeypatch.setattr(scorers, "tabulated", counted)
    beside(nlp)._table = None
    np.testing.assert_array_equal(scores_of(nlp, TEXT), scores_of(nlp, TEXT))
    scores_of(nlp, "Ada met Xyz")
    assert made == [7, 2]


def test_vectors_are_standardised_over_the_words_that_have_some(
    generator: np.random.Generator,
) -> None:
    vectors = generator.normal(5.0, 3.0, (300, 2)).astype(np.float32)
    vectors[::3] = 0.0
    network = WordWindow().scorer(Templates(("bias",), {}, {}), are_spans=False)
    network._learn_scale(vectors)
    found = network._standardised(vectors)
    assert not found[::3].any()
    known = found[vectors.any(axis=1)]
    np.testing.assert_allclose(known.mean(axis=0), 0.0, atol=0.01)
    np.testing.assert_allclose(known.std(axis=0), 1.0, atol=0.01)


@pytest.mark.parametrize(
    ("template", "n_tables"),
    [("cluster(glove)", 1), ("lower & cluster(glove, 2)@1", 1), ("cluster(*)", 2), ("lower", 0)],
)
def test_it_has_the_tables_that_are_named(template: str, n_tables: int) -> None:
    """And knows nothing before training."""
    templates = Templates((template,), {}, {}, {}, make_english())
    network = WordWindow().scorer(templates, are_spans=False)
    assert len(network._space.resources.specs) == n_tables
    assert not network.is_trained
    assert network.arrays() == {}
