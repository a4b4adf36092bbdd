"""Values of texts of several sentences: the least sure one decides, wherever it stands."""

from __future__ import annotations

import pytest
from spacy.language import Language

from helpers import TEXTS, of_sentences, trained_cascade
from spacy_cascade import uncertainty
from spacy_cascade.tools.annotation.label_studio.tasks import Labelling, predict
from spacy_cascade.tools.annotation.suggest import Options, suggest

SENTENCES = ["Mice lack the NFAT gene .", TEXTS[0], "The site of STAT5 is known ."]
MEASURE = "least_confident"


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = of_sentences(trained_cascade())
    nlp.add_pipe("sentencizer", first=True)
    return nlp


@pytest.fixture(scope="module")
def unsure(nlp: Language) -> list[float]:
    """One less the probability of the best segmentation of each sentence."""
    values = [uncertainty(nlp, nlp(sentence), MEASURE)[0].value for sentence in SENTENCES]
    assert len({round(value, 3) for value in values}) == len(values)
    return values


ORDERS = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
"""Each sentence stands at each place once."""


@pytest.mark.parametrize("order", ORDERS)
def test_a_task_is_as_unsure_as_its_least_sure_sentence(
    nlp: Language, unsure: list[float], order: tuple[int, ...]
) -> None:
    both = [SENTENCES[1], " ".join(SENTENCES[i] for i in order)]
    short, long = predict(nlp, both, Labelling(), "1")
    assert short["score"] == pytest.approx(1.0 - unsure[1], abs=1e-3)
    assert long["score"] == pytest.approx(1.0 - max(unsure), abs=1e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_least_sure_sentence_of_a_text_is_suggested(
    nlp: Language, unsure: list[float], order: tuple[int, ...]
) -> None:
    text = " ".join(SENTENCES[i] for i in order)
    (found,) = suggest(nlp, [text], Options(1, MEASURE))
    sentence = found.doc[found.sentence.start : found.sentence.end].text
    assert sentence == SENTENCES[unsure.index(max(unsure))]


def test_a_sentence_is_as_unsure_of_a_label_as_of_its_least_sure_span(nlp: Language) -> None:
    orders = set()
    for text in [*TEXTS, *SENTENCES]:
        (sentence,) = uncertainty(nlp, nlp(text), MEASURE, ["DNA", "protein", "cell"])
        values = [span.value for span in sorted(sentence.spans, key=lambda span: span.start)]
        assert sentence.value == pytest.approx(max(values, default=0.0))
        orders.add(bool(values) and values[-1] < max(values))
    assert orders == {True, False}
