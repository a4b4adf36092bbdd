"""What other parts of the package ask about spans of levels: probabilities, reasons, doubts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nested_corpus import LEVELS, NESTED, SEGMENTER, nested_examples, trained_levels
from spacy.language import Language
from spacy.tokens import DocBin

from helpers import confidences, gold_doc, make_doc
from spacy_cascade import ConfigError
from spacy_cascade.tools.annotation.suggest import suggest
from spacy_cascade.tools.explaining.explain import explain_entities, explain_spans
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.uncertainty import uncertainty
from spacy_cascade.tools.reports.evaluate_command import evaluate_command
from spacy_cascade.workflows.decoding import decode_for_f1

TEXT = NESTED[0][0]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = trained_levels()
    for name in (SEGMENTER, LEVELS):  # so that nothing is certain
        nlp.get_pipe(name).temperature = 4.0  # type: ignore[attr-defined]
    return nlp


def test_probabilities_are_the_confidences_of_spans_that_are_found(nlp: Language) -> None:
    doc = nlp.select_pipes(enable=[SEGMENTER, LEVELS]) and nlp(make_doc(nlp.vocab, TEXT))
    spans = [(s.start, s.end, s.label_) for s in doc.spans["cascade"]]
    asked = [*spans, (0, 2, "ENT"), (3, 6, "ENT")]
    levels: Any = nlp.get_pipe(LEVELS)
    # One at a time, for no path has spans that overlap.
    found = [levels.posteriors([doc], [[span]])[0][0] for span in asked]
    nlp.enable_pipe("cascade_classifier")
    assert np.allclose(found[: len(spans)], confidences(doc))
    assert all(p < 0.5 for p in found[len(spans) :])
    segmenter: Any = nlp.get_pipe(SEGMENTER)
    assert found[-1] == segmenter.posteriors([doc], [[(3, 6, "ENT")]])[0][0]
    outer, inner = levels.posteriors([doc, doc], [[(0, 7, "ENT"), (8, 9, "ENT")], []])
    assert (len(outer), len(inner)) == (2, 0)
    assert outer[0] == found[asked.index((0, 7, "ENT"))]


def test_no_docs_and_no_spans_have_no_probabilities(nlp: Language) -> None:
    levels: Any = nlp.get_pipe(LEVELS)
    assert levels.finders == [nlp.get_pipe(SEGMENTER), levels]
    assert levels.posteriors([], []) == []
    (found,) = levels.posteriors([make_doc(nlp.vocab, TEXT)], [[]])
    assert len(found) == 0


@pytest.mark.parametrize(
    ("span", "height"),
    [
        ((6, 7), 0), ((3, 7), 1), ((0, 7), 2), ((6, 9), 1), ((3, 8), 2), ((0, 9), 3),
        ((4, 6), 0), ((7, 8), 0), ((8, 9), 0), ((8, 10), 1), ((5, 7), 1),
    ],
)  # fmt: skip
def test_a_span_is_as_high_as_what_it_holds(
    nlp: Language, span: tuple[int, int], height: int
) -> None:
    """Spans inside may begin or end with it, and do not count where they are as long."""
    levels: Any = nlp.get_pipe(LEVELS)
    doc = gold_doc(nlp.vocab, TEXT, NESTED[0][1], "cascade")
    assert levels._heights(doc, [(*span, "ENT"), (0, 1, "ENT")]).tolist() == [height, 0]


def test_an_entity_is_explained_by_the_level_that_found_it(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXT))
    outer, alone = explain_entities(nlp, doc)
    assert [e.span for e in (outer, alone)] == [(0, 7, "person"), (8, 9, "person")]
    assert [stage.component for stage in outer.stages] == [LEVELS, "cascade_classifier"]
    assert [stage.component for stage in alone.stages] == [SEGMENTER, "cascade_classifier"]
    for entity in (outer, alone):
        product = np.prod([stage.probability for stage in entity.stages])
        assert entity.confidence == pytest.approx(float(product))
    names = {c.template for c in outer.stages[0].contributions}
    assert any("span_word" in name for name in names)


def test_spans_of_all_levels_can_be_explained(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXT))
    levels: Any = nlp.get_pipe(LEVELS)
    spans = list(doc.spans["cascade"])
    explained = explain_spans(levels, doc, spans)
    by_span = {each.span[:2]: each for each in explained}
    assert set(by_span) == {(s.start, s.end) for s in spans}
    assert by_span[6, 7].component == SEGMENTER
    assert by_span[3, 7].component == by_span[0, 7].component == LEVELS
    for each in explained:
        total = sum(c.push for c in each.contributions)
        assert total == pytest.approx(each.evidence)


def test_doubts_are_those_of_all_levels(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXT))
    (sentence,) = uncertainty(nlp, doc)
    likely = {(span.start, span.end): span.probability for span in sentence.spans}
    assert {(6, 7), (3, 7)} <= likely.keys()
    below = nlp.get_pipe(LEVELS)._with_levels(doc, 1)  # type: ignore[attr-defined]
    (of_span,) = nlp.get_pipe(LEVELS).posteriors([below], [[(3, 7, "ENT")]])  # type: ignore[attr-defined]
    assert likely[3, 7] <= of_span[0]
    suggestions = suggest(nlp, [text for text, _ in NESTED])
    assert {(3, 7), (6, 7)} <= {
        (span.start, span.end)
        for each in suggestions
        for span in each.sentence.spans
        if each.doc.text.startswith("The mayor")
    }


def test_what_has_no_levels_is_refused(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXT))
    with pytest.raises(ConfigError, match="A hypothesis has no spans that overlap"):
        joint_hypotheses(nlp, doc, 3)
    with pytest.raises(ConfigError, match='set decoding = "best"'):
        decode_for_f1(nlp, [doc])


def test_evaluate_reports_levels(
    nlp: Language, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nlp.to_disk(tmp_path / "model")
    docs = []
    for example in nested_examples(nlp):
        doc = example.reference
        outermost = gold_doc(nlp.vocab, doc.text, [])
        outermost.spans["gold"] = doc.spans["gold"].copy(outermost)
        docs.append(outermost)
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    evaluate_command(tmp_path / "model", tmp_path / "dev.spacy", html=tmp_path / "page.html")
    out = capsys.readouterr().out
    assert "spans_cascade by level" in out
    page = (tmp_path / "page.html").read_text()
    assert "Percentages of nested spans" in page
    assert page.count('<th scope="row">2</th>') == 1
