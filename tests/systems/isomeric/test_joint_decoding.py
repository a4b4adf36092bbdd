"""Joint decoding of two chains: the best pair of N segmentations and the labels given each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import (
    TRAINER,
    add_segmenter,
    annotation,
    blank,
    bounds,
    make_examples,
    train,
)
from spacy_cascade import ConfigError
from structures import semi_markov

MODEL = {
    "min_count": 1,
    "templates": {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": ["word", "span(cascade)@-1..1", "word & span(cascade)"],
        "patterns": {},
        "lexicons": {},
    },
}
LIKELIHOOD = {
    "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 2.0},
}
# Words that training has not seen together, so that the first chain is not sure.
TEXTS = [
    "IL-2 gene activates human T cells .",
    "the IL-2 protein binds monocytes and T gene cells .",
    "human gene cells bind IL-2 .",
    "nothing here .",
    ".",
]
N = 6


def two_chains(first: dict[str, Any] | None = None, **second: Any) -> Language:
    nlp = blank()
    nlp.add_pipe("sentencizer")
    add_segmenter(nlp, **LIKELIHOOD, n_best=N, **(first or {}))
    config = {"typed": True, "set_ents": True, "spans_key": "types", "scheme": "IOB2"}
    nlp.add_pipe("cascade_segmenter", "types", config={"model": MODEL, **LIKELIHOOD, **config})
    train(nlp, make_examples(nlp), updates=1)
    for option, value in second.items():
        setattr(nlp.get_pipe("types"), option, value)
    return nlp


def best_pair(nlp: Language, sentence: Doc) -> tuple[float, set[tuple[int, int, str]]]:
    """Log-probability and spans of the best pair, each segmentation tried on a Doc of its own."""
    one, two = (nlp.get_pipe(name) for name in ("cascade_segmenter", "types"))
    pairs = []
    for segmentation in one.nbest(sentence, N)[0]:
        doc = sentence.copy()
        spans = [Span(doc, s.start, s.end, "ENT") for s in segmentation.spans]
        doc.spans["cascade"] = spans
        given = two.nbest(doc, 1)[0][0]
        total = np.log(segmentation.probability) + np.log(given.probability)
        pairs.append((total, {(s.start, s.end, s.label_) for s in given.spans}))
    return max(pairs, key=lambda pair: pair[0])


@pytest.fixture(scope="module")
def nlp() -> Language:
    """Each test says whether it decodes jointly."""
    return two_chains()


def test_the_best_pair_is_found(nlp: Language) -> None:
    """By comparison with trying all segmentations of a sentence one after the other."""
    second = nlp.get_pipe("types")
    second.joint_key = None
    alone = list(nlp.pipe(TEXTS))
    expected = [best_pair(nlp, nlp.make_doc(text))[1] for text in TEXTS]
    second.joint_key = "cascade"
    docs = list(nlp.pipe(TEXTS))
    for doc, before, wanted in zip(docs, alone, expected, strict=True):
        assert {(s.start, s.end, s.label_) for s in doc.spans["types"]} == wanted, doc.text
        # The segmentation under the key stays the best one by itself.
        assert [s.text for s in doc.spans["cascade"]] == [s.text for s in before.spans["cascade"]]
    assert [annotation(nlp(text)) for text in TEXTS] == [annotation(doc) for doc in docs]
    assert list(nlp("").ents) == []


def test_some_text_is_labelled_otherwise(nlp: Language) -> None:
    """Else the other test would say nothing: the best pair is not always that of the best."""
    words = sorted({word for text in TEXTS for word in text.split()} - {"."})
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(words, 8)) + " ." for _ in range(60)]
    found = []
    for key in (None, "cascade"):
        nlp.get_pipe("types").joint_key = key
        found.append([[bounds(doc.spans["types"])] for doc in nlp.pipe(texts)])
    assert found[0] != found[1]


def test_one_segmentation_is_enough_and_an_empty_doc_needs_none(nlp: Language) -> None:
    second = nlp.get_pipe("types")
    second.joint_key = None
    with nlp.select_pipes(disable="types"):
        docs = list(nlp.pipe(TEXTS))
    alone = list(second.pipe([doc.copy() for doc in docs]))
    for doc in docs:
        for k in range(2, N + 1):
            del doc.spans[f"cascade/{k}"]
    second.joint_key = "cascade"
    found = list(second.pipe([nlp.make_doc(""), *docs]))
    assert [bounds(doc.spans["types"]) for doc in found] == [
        [], *(bounds(doc.spans["types"]) for doc in alone)
    ]  # fmt: skip


def test_what_joint_decoding_needs() -> None:
    nlp = two_chains(joint_key="cascade")
    nlp.get_pipe("cascade_segmenter").n_best = 1
    with pytest.raises(ConfigError, match=r"'types' .* under the key 'cascade', .* n_best of 2"):
        nlp(TEXTS[0])
    hinge = {
        "loss": {"@misc": "spacy_cascade.Hinge.v2"},
        "penalty": None,
        "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1"},
    }
    nlp = blank()
    add_segmenter(nlp, **hinge, n_best=2)
    config = {"typed": True, "spans_key": "types", "joint_key": "cascade"}
    nlp.add_pipe("cascade_segmenter", "types", config={"model": MODEL, **LIKELIHOOD, **config})
    train(nlp, make_examples(nlp), updates=1)
    with pytest.raises(ConfigError, match="scores instead of probabilities"):
        nlp(TEXTS[0])


def test_spans_that_are_scored_as_wholes_cannot_be_decoded_jointly() -> None:
    nlp = blank()
    add_segmenter(nlp, **LIKELIHOOD, n_best=2)
    config = {"trainer": TRAINER, "spans_key": "types", "joint_key": "cascade"}
    model = {"model": semi_markov(), **LIKELIHOOD}
    nlp.add_pipe("cascade_segmenter", "types", config={**model, **config})
    train(nlp, make_examples(nlp), updates=1)
    with pytest.raises(ConfigError, match=r"'types' scores spans as wholes.*joint_key = null"):
        nlp(TEXTS[0])
