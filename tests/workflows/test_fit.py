"""`fit`: one call from a few examples to a pipeline with sensible confidences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span

import spacy_cascade
from helpers import SENTENCES, annotations, blank, cascade, gold_doc, make_examples
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.pipeline.spans.parts import part_id
from spacy_cascade.workflows import fit as module
from spacy_cascade.workflows.hand_made import read_examples

PEOPLE, PLACES = ("Anna Berg", "Tom Hill", "Eva Lind", "Paul Reed"), ("Oslo", "Lima", "Rome")
SHAPES = ("{0} moved to {1}.", "Yesterday {0} met friends in {1}.", "In {1} it rained.")


def written() -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Twelve texts with spans by characters."""
    made = []
    for i in range(12):
        named = {PEOPLE[i % 4]: "PER", PLACES[i % 3]: "LOC"}
        text = SHAPES[i // 4].format(*named)
        spans = [(text.find(name), name, label) for name, label in named.items() if name in text]
        made.append((text, [(begin, begin + len(name), label) for begin, name, label in spans]))
    return made


@pytest.fixture(scope="module")
def fitted() -> tuple[Language, module.Fitted]:
    nlp = blank()
    return nlp, spacy_cascade.fit(nlp, written())


def test_a_few_examples_are_enough(fitted: tuple[Language, module.Fitted]) -> None:
    nlp, found = fitted
    for text, spans in written():
        entities = nlp(text).ents
        assert [(e.start_char, e.end_char, e.label_) for e in entities] == sorted(spans)
    doc = nlp("Karl Wood moved to Quito.")
    assert [(e.text, e.label_) for e in doc.ents] == [("Karl Wood", "PER"), ("Quito", "LOC")]
    assert all(0.4 < e._.confidence < 0.999 for e in doc.ents)
    assert 1 <= found.updates <= module.UPDATES
    assert found.score > 0.5
    assert (found.n_spans, found.n_left_out) == (sum(len(spans) for _, spans in written()), 0)


def test_its_settings_are_those_of_the_pipeline(fitted: tuple[Language, module.Fitted]) -> None:
    nlp, found = fitted
    for name, temperature in found.temperatures.items():
        assert nlp.get_pipe(name).temperature == temperature
        assert nlp.config["components"][name]["temperature"] == temperature
    texts = [text for text, _ in written()]
    again = blank().from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert annotations(again, texts) == annotations(nlp, texts)


def test_afterwards_updates_adapt(fitted: tuple[Language, module.Fitted]) -> None:
    nlp = blank().from_config(fitted[0].config).from_bytes(fitted[0].to_bytes())
    examples = make_examples(nlp, [("HIV infects cells .", [(0, 1, "virus")])])
    for _ in range(2):
        nlp.update(examples)
    assert [(e.text, e.label_) for e in nlp("HIV infects cells .").ents] == [("HIV", "virus")]


def test_the_best_update_on_dev_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = cascade()
    known: list[dict[str, bytes]] = []
    scores = iter([0.25, 0.75, 0.5, 0.75, 1.0])

    def evaluate(self: Language, examples: Any) -> dict[str, float]:
        known.append(module._saved(self))
        return {"ents_f": next(scores)}

    monkeypatch.setattr(Language, "evaluate", evaluate)
    found = spacy_cascade.fit(nlp, make_examples(nlp), make_examples(nlp))
    assert (found.updates, found.score, len(known)) == (2, 0.75, 4)
    for name, pipe in nlp.pipeline:
        fresh = cascade().get_pipe(name).from_bytes(known[1][name])
        for part in ("W", "transitions"):
            np.testing.assert_array_equal(pipe.model.get_param(part), fresh.model.get_param(part))


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = cascade()
    evaluate, calls = Language.evaluate, []

    def interrupted(self: Language, examples: Any) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate(self, examples)

    monkeypatch.setattr(Language, "evaluate", interrupted)
    with pytest.warns(UserWarning, match="Stopped after 2 of 5 updates") as caught:
        found = spacy_cascade.fit(nlp, make_examples(nlp), make_examples(nlp))
    assert __file__ in [one.filename for one in caught]
    assert found.score == 1.0
    assert [e.label_ for e in nlp(SENTENCES[1][0]).ents] == ["protein", "DNA"]


def test_examples_of_any_form(fitted: tuple[Language, module.Fitted]) -> None:
    text, spans = written()[0]
    nlp = blank()
    doc = nlp.make_doc(text)
    doc.ents = [doc.char_span(*span) for span in spans]
    (example,) = read_examples(nlp, [doc], "example")
    forms = (doc, (text, spans), [text, map(list, spans)], (text, {"entities": spans}), example)
    for example in read_examples(nlp, iter(forms), "example"):
        found = [(e.start_char, e.end_char, e.label_) for e in example.reference.ents]
        assert found == sorted(spans)


@pytest.mark.parametrize("annotating", [[], ["sentencizer"]])
def test_a_sentencizer_that_annotates_cuts_what_is_learnt(annotating: list[str]) -> None:
    """Else texts are whole, and it changes nothing afterwards either."""
    nlp = cascade()
    nlp.add_pipe("sentencizer", first=True)
    nlp.config["training"]["annotating_components"] = annotating
    spacy_cascade.fit(nlp, written(), written(), updates=1)
    assert nlp.get_pipe("cascade_segmenter").of_sentences is bool(annotating)


def test_what_cannot_be_learnt_is_refused() -> None:
    with pytest.raises(TrainingError, match=r"^There are no examples to learn from"):
        spacy_cascade.fit(blank(), [])
    with pytest.raises(TrainingError, match="found no labelled gold span"):
        spacy_cascade.fit(blank(), [("Nothing here.", [])])
    with pytest.raises(ConfigError, match="1 update or more, not 0"):
        spacy_cascade.fit(blank(), written(), updates=0)
    with pytest.raises(TrainingError, match=r"^Example 13, 'Oslo': the span \(0, 5, 'LOC'\)"):
        spacy_cascade.fit(blank(), [*written(), ("Oslo", [(0, 5, "LOC")])])


@pytest.mark.parametrize("dev", [[], [("Oslo", {"tags": ["NNP"]})]])
def test_dev_examples_that_score_nothing_are_refused(dev: Any) -> None:
    nlp = cascade()
    with pytest.raises(TrainingError, match=rf"The {len(dev)} dev examples have no gold spans"):
        spacy_cascade.fit(nlp, written(), dev)
    assert not nlp.get_pipe("cascade_segmenter").labels
    with pytest.raises(TrainingError, match=r"^Dev example 1, 'Oslo', is no pair"):
        spacy_cascade.fit(nlp, written(), ["Oslo"])


def test_dev_examples_of_a_tagger_have_tags() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    tagged = [("Oslo is nice", {"tags": ["NNP", "VBZ", "JJ"]})]
    for untagged in ("Oslo", ""):
        with pytest.raises(TrainingError, match="dev examples have no gold tags"):
            spacy_cascade.fit(nlp, tagged, [(untagged, [])])
    found = spacy_cascade.fit(nlp, tagged, tagged, updates=1)
    assert (found.score, found.n_spans) == (1.0, 0)


def test_spans_that_no_tokens_express_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """A Doc has tokens of its own; its text is split by the pipeline."""
    nlp = blank()
    words, spaces = ["Anna", "-", "Berg", "left"], [False, False, True, False]
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    doc.set_ents([Span(doc, 0, 1, "PER")], default="outside")
    known = gold_doc(nlp.vocab, "Anna left", [(0, 1, "PER")])
    nlp.tokenizer.infix_finditer = None
    said = r"leaves out 1 of 3 gold spans.*in 'Anna-Berg left'.*Give the pipeline a tokenizer"
    with pytest.warns(UserWarning, match=said) as caught:
        found = spacy_cascade.fit(nlp, [known, doc, known], updates=1)
    assert __file__ in [one.filename for one in caught]
    assert (found.n_spans, found.n_left_out) == (2, 1)
    assert found.left_out == ((2, 0, 4, "Anna", "PER", "that cut a token"),)


@pytest.mark.filterwarnings("error:fit leaves out")
def test_where_no_span_can_be_learnt_there_is_an_error_alone() -> None:
    nlp = blank()
    doc = Doc(nlp.vocab, words=["Anna", "-", "Berg"], spaces=[False] * 3)
    doc.set_ents([Span(doc, 0, 1, "PER")], default="outside")
    nlp.tokenizer.infix_finditer = None
    with pytest.raises(TrainingError, match="gold span"):
        spacy_cascade.fit(nlp, [doc], [doc], updates=1)


def test_spans_of_other_labels_do_not_count() -> None:
    nlp = cascade({"gold_labels": ["protein"]}, {"gold_labels": ["protein"]})
    examples = make_examples(nlp)
    found = spacy_cascade.fit(nlp, examples, examples, updates=1)
    assert found.n_spans == sum(span[2] == "protein" for _, spans in SENTENCES for span in spans)


def test_the_reason_of_each_span_that_is_left_out_is_counted() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={"gold_key": "sc", "gold_level": "outermost"})
    doc = nlp.make_doc("Anna and Eva Berg left")
    rows = [(0, 1, "a"), (3, 4, "a"), (2, 4, ""), (3, 5, "")]
    doc.spans["sc"] = [
        Span(doc, start, end, "PER", span_id=part_id(name) if name else "")
        for start, end, name in rows
    ]
    counts = r"2 of 3 gold spans \(1 of several parts, 1 overlapping another span\)"
    with pytest.warns(UserWarning, match=rf"{counts}.*Fitted\.left_out lists them\.$"):
        found = spacy_cascade.fit(nlp, [nlp.make_doc("a"), doc], [doc], updates=1)
    assert [one[:4] for one in found.left_out] == [
        (2, [0, 13], [4, 17], "Anna Berg"),
        (2, 13, 22, "Berg left"),
    ]
