"""What is said of slips that beginners make."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from thinc.api import Config

import spacy_cascade
from helpers import TEXTS, add_segmenter, blank, bounds, make_examples
from spacy_cascade import ConfigError, TrainingError


@pytest.fixture(scope="module")
def nlp(trained: Language) -> Language:
    return trained


def test_a_percentage_is_no_threshold(nlp: Language) -> None:
    with pytest.raises(ConfigError, match=r"to 1, not 90\. For 90 percent write 0\.9\. Change"):
        nlp.get_pipe("cascade_classifier").threshold = 90
    with pytest.raises(ConfigError, match=r"to 0, not -1\. Change"):
        nlp.get_pipe("cascade_classifier").threshold = -1


@pytest.mark.parametrize(
    ("alias", "scheme"), [("BIO", "IOB2"), ("BILUO", "BILOU"), ("IOBES", "BILOU")]
)
def test_schemes_have_other_names(alias: str, scheme: str) -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, scheme=alias)
    assert segmenter.scheme == scheme
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    again = blank().from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert again.get_pipe("cascade_segmenter").scheme == scheme
    with pytest.raises(ConfigError, match=r"scheme .* must be one of IOB2, BILOU, IO, not 'BOI'"):
        add_segmenter(blank(), scheme="BOI")


def test_a_text_is_no_doc(nlp: Language) -> None:
    segmenter, classifier = (pipe for _, pipe in nlp.pipeline)
    attempts: list[Any] = [
        lambda: segmenter.nbest(TEXTS[0], 3),
        lambda: spacy_cascade.explain_entities(nlp, TEXTS[0]),
        lambda: spacy_cascade.explain_spans(segmenter, TEXTS[0]),
        lambda: spacy_cascade.explain_types(classifier, TEXTS[0]),
        lambda: spacy_cascade.joint_hypotheses(nlp, TEXTS[0], 3),
    ]
    for attempt in attempts:
        with pytest.raises(ConfigError, match=r"takes a Doc, not str 'The IL-2 .*nlp\(text\)"):
            attempt()


def test_spans_to_explain_have_two_forms(nlp: Language) -> None:
    segmenter, classifier = (pipe for _, pipe in nlp.pipeline)
    doc = nlp(TEXTS[0])
    tuples = bounds(doc.ents)
    for explain, component in (
        (spacy_cascade.explain_spans, segmenter),
        (spacy_cascade.explain_types, classifier),
    ):
        wanted = explain(component, doc, tuples)
        assert len(wanted) == len(tuples)
        assert explain(component, doc, doc.ents) == wanted
        assert explain(component, doc, doc.ents[0]) == wanted[:1]
        with pytest.raises(ConfigError, match=r"a Span, or \(first token, end, label\)"):
            explain(component, doc, [(0, 1)])


def test_no_examples_hint_at_the_format(tmp_path: Path) -> None:
    """Under spaCy's commands; a call in Python knows of examples alone."""
    nlp = blank()
    segmenter = add_segmenter(nlp, typed=True)
    with pytest.raises(TrainingError, match=r"got no examples.*annotated references") as caught:
        segmenter.initialize(list, nlp=nlp)
    assert "corpora" not in str(caught.value)
    path = tmp_path / "train.spacy"
    corpora = {
        name: {"@readers": "spacy.Corpus.v1", "path": str(path)} for name in ("train", "dev")
    }
    config = nlp.config.copy() | {"corpora": corpora}
    DocBin().to_disk(path)
    with pytest.raises(TrainingError, match=r"\.spacy file with Docs; spacy cascade convert"):
        init_nlp(Config(config))
    doc = nlp.make_doc("Nobody looked")
    for problem in ("nothing in doc.ents is annotated", r"\[corpora.train\] has entities"):
        DocBin(docs=[doc]).to_disk(path)
        with pytest.raises(TrainingError, match=problem):
            init_nlp(Config(config))
        doc.set_ents([])


NAMES = ("cascade_segmenter", "cascade_classifier")


@pytest.fixture
def own(nlp: Language) -> Language:
    return blank().from_config(nlp.config).from_bytes(nlp.to_bytes())


def without(nlp: Language) -> None:
    nlp.remove_pipe(NAMES[0])


def disabled(nlp: Language) -> None:
    nlp.disable_pipe(NAMES[0])


def with_another_key(nlp: Language) -> None:
    nlp.get_pipe(NAMES[0]).spans_key = "mentions"


def reordered(nlp: Language) -> None:
    segmenter = nlp.get_pipe(NAMES[0])
    nlp._components = [component for component in nlp._components if component[1] is not segmenter]
    nlp._components.append((NAMES[0], segmenter))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (without, 'Add a cascade_segmenter with spans_key = "cascade" before it'),
        (disabled, "'cascade_segmenter' would write it, but is disabled"),
        (with_another_key, r"'cascade_segmenter' writes doc.spans\['mentions'\]: give both"),
        (reordered, "'cascade_segmenter' writes it, but comes later"),
    ],
)
def test_the_warning_names_the_cause(own: Language, change: Any, cause: str) -> None:
    change(own)
    with pytest.warns(UserWarning, match=rf"'cascade_classifier' finds no doc.spans.*{cause}"):
        assert own(TEXTS[0]).ents == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own(TEXTS[1])


def test_where_all_is_right_nothing_is_said(own: Language) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert own(TEXTS[0]).ents
        assert own("Nothing else is known here .").ents == ()
        own("")
