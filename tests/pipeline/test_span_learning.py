"""Which gold spans a component learns, and what it says of a corpus without them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from spacy.training import Example

from helpers import SENTENCES, blank, bounds, cascade, make_doc, make_examples, train
from spacy_cascade import TrainingError

ONLY = {"gold_labels": ["cell", "DNA"]}


def wanted(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    return [span for span in spans if span[2] in ONLY["gold_labels"]]


def refused(settings: dict[str, Any], examples: list[Example], message: str) -> None:
    nlp = cascade(settings, settings)
    with pytest.raises(TrainingError, match=message):
        nlp.initialize(lambda: examples)


@pytest.mark.parametrize("key", [None, "gold"])
def test_only_the_labels_that_are_wanted_are_learnt_and_scored(key: str | None) -> None:
    nlp = cascade(ONLY | {"gold_key": key}, ONLY | {"gold_key": key})
    train(nlp, make_examples(nlp, key=key), updates=4)
    assert nlp.get_pipe("cascade_classifier").labels == ("DNA", "cell")
    for text, spans in SENTENCES:
        assert bounds(nlp(make_doc(nlp.vocab, text)).ents) == wanted(spans)
    scores = nlp.evaluate(make_examples(nlp, key=key))
    names = ("segments_f", "spans_cascade_f", "types_acc") + (("ents_f",) if key is None else ())
    assert {name: scores[name] for name in names} == dict.fromkeys(names, 1.0)


def test_a_misspelt_label_names_the_nearest() -> None:
    nlp = blank()
    message = r"the label 'protiens'. The nearest .* is 'protein'; all in the corpus: DNA, cell"
    refused({"gold_labels": ["protiens", "DNA"]}, make_examples(nlp), message)
    message = r"found no labelled gold span .*nearest label is 'protein'; all in the corpus: DNA,"
    refused({"gold_labels": ["Protein"]}, make_examples(nlp), message)


def test_a_misspelt_label_to_initialize_with() -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    nlp.get_pipe("cascade_segmenter").initialize(lambda: examples, nlp=nlp)
    classifier, labels = nlp.get_pipe("cascade_classifier"), ["DNA", "cell", "proteins"]
    with pytest.raises(TrainingError, match=r"label 'proteins'.*'protein'.*\[initialize"):
        classifier.initialize(lambda: examples, nlp=nlp, labels=labels)


def test_labels_that_part_of_a_corpus_lacks_are_no_mistake(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    nlp = cascade()
    classifier = nlp.get_pipe("cascade_classifier")
    examples = make_examples(nlp)
    labels = ["DNA", "RNA", "cell", "protein"]
    classifier.initialize(lambda: examples, nlp=nlp, labels=labels)
    assert classifier.labels == tuple(labels)
    assert not caplog.records
    classifier.initialize(lambda: examples, nlp=nlp, labels=["DNA", "cell"])
    assert "does not learn the label 'protein'" in caplog.text


@pytest.mark.parametrize(
    ("gold_key", "there", "advice"),
    [
        ("entites", None, r"doc.spans\['entites'\].*12 in doc.ents\. Set gold_key = null"),
        ("entites", "entities", r"there are 12 in doc.spans\['entities'\]. Set gold_key = \"enti"),
        (None, "sc", r"in doc.ents, but there are 12 in doc.spans\['sc'\]. Set gold_key = \"sc\""),
    ],
)
def test_another_group_has_the_gold_spans(gold_key: str | None, there: str, advice: str) -> None:
    message = f"found no labelled gold span in 6 examples .*{advice}"
    refused({"gold_key": gold_key}, make_examples(blank(), key=there), message)
