"""`cascade_levels`: what it learns and finds, and that flat corpora lose nothing by it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from nested_corpus import (
    CLASSIFIER,
    LEVELS,
    NESTED,
    SEGMENTER,
    nested_examples,
    nested_pipeline,
    trained_levels,
)
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from helpers import (
    SENTENCES,
    annotation,
    bounds,
    cascade,
    confidences,
    make_doc,
    make_examples,
    train,
    weights,
)
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.workflows.calibrate import calibrate
from spacy_cascade.workflows.fit import fit

WINDOW = {"@misc": "spacy_cascade.WordWindow.v1", "width": 8, "hidden": 8, "epochs": 12}


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained_levels()


def by_heart(nlp: Language, key: str = "cascade") -> bool:
    return all(
        found(nlp, text, key) == sorted(spans, key=lambda span: (span[0], -span[1]))
        for text, spans in NESTED
    )


def found(nlp: Language, text: str, key: str = "cascade") -> list[tuple[int, int, str]]:
    doc = nlp(make_doc(nlp.vocab, text))
    return bounds(doc.spans[key])


def test_all_levels_are_learnt(nlp: Language) -> None:
    """Also the third one, which training shows in no example of its own."""
    assert by_heart(nlp)
    doc = nlp(make_doc(nlp.vocab, NESTED[0][0]))
    assert bounds(doc.ents) == [(0, 7, "person"), (8, 9, "person")]
    sure = confidences(doc)
    assert sure is not None
    assert len(sure) == 4
    assert all(0 < p <= 1 for p in sure)
    assert [s._.confidence for s in doc.spans["cascade"]] == sure


def test_no_more_levels_than_are_wanted(nlp: Language) -> None:
    levels: Any = nlp.get_pipe(LEVELS)
    levels.most_levels = 1
    try:
        doc = nlp(make_doc(nlp.vocab, NESTED[0][0]))
        assert (0, 7, "person") not in bounds(doc.spans["cascade"])
        assert (3, 7, "place") in bounds(doc.spans["cascade"])
    finally:
        levels.most_levels = 2


def test_a_batch_is_annotated_as_its_docs_are(nlp: Language) -> None:
    texts = [text for text, _ in NESTED] * 3
    together = list(nlp.pipe(make_doc(nlp.vocab, text) for text in [*texts, ""]))
    alone = [annotation(nlp(make_doc(nlp.vocab, text))) for text in [*texts, ""]]
    for doc, other in zip(together, alone, strict=True):
        found = annotation(doc)
        assert {**found, "scores": {}} == {**other, "scores": {}}
        assert np.allclose(found["scores"]["cascade"], other["scores"]["cascade"])


def test_annotating_twice_changes_nothing(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, NESTED[1][0]))
    before = annotation(doc)
    assert annotation(nlp(doc)) == before


def test_sentences_of_a_document_are_levels_of_their_own() -> None:
    nlp = nested_pipeline()
    text = " ".join(text for text, _ in NESTED)
    lengths = np.cumsum([0, *(len(text.split()) for text, _ in NESTED)]).tolist()
    spans = [
        (start + offset, end + offset, label)
        for offset, (_, own) in zip(lengths, NESTED, strict=False)
        for start, end, label in own
    ]
    doc = make_doc(nlp.vocab, text, lengths[:-1])
    reference = doc.copy()
    reference.spans["gold"] = [reference.char_span(doc[s:e].start_char, doc[s:e].end_char, label)
                               for s, e, label in spans]  # fmt: skip
    train(nlp, [Example(doc, reference)] * 2, updates=4)
    assert nlp.get_pipe(LEVELS).of_sentences  # type: ignore[attr-defined]
    annotated = nlp(doc.copy())
    assert bounds(annotated.spans["cascade"]) == sorted(spans, key=lambda s: (s[0], -s[1]))


def test_gold_and_found_spans_can_have_one_key() -> None:
    """As spancat has it: what is to be learnt does not stand in for what was found below."""
    nlp = nested_pipeline("sc", {"spans_key": "sc", "model": templates_of("sc")}, spans_key="sc")
    nlp.get_pipe(SEGMENTER).spans_key = "sc"  # type: ignore[attr-defined]
    train(nlp, nested_examples(nlp, "sc"), updates=4)
    assert by_heart(nlp, "sc")


def templates_of(key: str) -> dict[str, Any]:
    return {"min_count": 1, "templates": {"@misc": "spacy_cascade.LevelTemplates.v1", "key": key}}


def test_types_can_be_told_apart_in_one_phase() -> None:
    nlp = nested_pipeline(levels={"typed": True})
    nlp.remove_pipe(CLASSIFIER)
    nlp.replace_pipe(
        SEGMENTER,
        SEGMENTER,
        config={
            "gold_key": "gold",
            "gold_level": "innermost",
            "typed": True,
            "model": {"min_count": 1},
        },
    )
    train(nlp, nested_examples(nlp), updates=10)
    for text, spans in NESTED[:2]:
        assert found(nlp, text) == spans


def test_a_flat_corpus_has_the_bits_of_the_flat_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    flat = cascade({"gold_key": "gold"}, {"gold_key": "gold"})
    train(flat, make_examples(flat, key="gold"))
    nlp = nested_pipeline()
    losses = train(nlp, make_examples(nlp, key="gold"))
    assert "'cascade_levels' finds no span inside of another one in the corpus" in caplog.text
    assert losses[-1][LEVELS] == 0.0
    for name in (SEGMENTER, CLASSIFIER):
        for one, other in zip(*(weights(p.get_pipe(name)) for p in (flat, nlp)), strict=True):
            assert one.tobytes() == other.tobytes()
    nlp.to_disk(tmp_path / "model")
    for each in (nlp, spacy.load(tmp_path / "model")):
        for text, _ in SENTENCES:
            found, known = (annotation(p(make_doc(p.vocab, text))) for p in (each, flat))
            assert found == known
    assert nlp.evaluate(make_examples(nlp, key="gold"))["spans_cascade_f"] == 1.0


def test_it_is_saved_and_loaded(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    for text, _ in NESTED:
        one, other = (annotation(p(make_doc(p.vocab, text))) for p in (nlp, loaded))
        assert one == other
    assert loaded.get_pipe(LEVELS).to_bytes() == nlp.get_pipe(LEVELS).to_bytes()  # type: ignore[attr-defined]


def test_docs_with_levels_are_stored(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, NESTED[0][0]))
    (again,) = (
        DocBin(store_user_data=True)
        .from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
        .get_docs(nlp.vocab)
    )
    assert annotation(again) == annotation(doc)


def test_thresholds_leave_out_spans_of_a_level(nlp: Language) -> None:
    levels: Any = nlp.get_pipe(LEVELS)
    levels.threshold = 1.0
    try:
        doc = nlp(make_doc(nlp.vocab, "Ada saw the king of the bank of Spain ."))
        assert all(end - start == 1 for start, end, _ in bounds(doc.spans["cascade"]))
    finally:
        levels.threshold = 0.0


def test_levels_are_calibrated(nlp: Language) -> None:
    calibrated, found = calibrate(nlp, nested_examples(nlp))
    by_name = {each.component: each for each in found}
    assert (
        by_name[LEVELS].n_spans
        == sum(len(spans) for _, spans in NESTED) - by_name[SEGMENTER].n_spans
    )
    assert calibrated.get_pipe(LEVELS).temperature == by_name[LEVELS].temperature  # type: ignore[attr-defined]
    assert by_name[LEVELS].loss <= by_name[LEVELS].loss_before


def test_fit_trains_levels() -> None:
    nlp = nested_pipeline()
    examples = nested_examples(nlp)
    found = fit(nlp, examples, examples, updates=4)
    assert found.score == 1.0
    assert by_heart(nlp)


def test_adaptation_learns_further_levels(nlp: Language) -> None:
    adapted = spacy.blank("xx").from_config(nlp.config).from_bytes(nlp.to_bytes())
    text = "The owner of the house in Rome left ."
    spans = [(0, 7, "person"), (3, 7, "place"), (6, 7, "place")]
    examples = make_examples(adapted, [*NESTED, (text, spans)], "gold")
    for _ in range(6):
        adapted.update(examples)
    assert found(adapted, text) == spans


def test_crossing_spans_are_left_open() -> None:
    """The later one of two that cross each other is not learnt, nor is that it is none."""
    nlp = nested_pipeline()
    crossing = ("Ada saw the king of Spain .", [(0, 4, "group"), (2, 6, "person")])
    gold = nlp.get_pipe(SEGMENTER).gold.read(make_examples(nlp, [crossing], "gold")[0])  # type: ignore[attr-defined]
    assert gold.spans == [(0, 4, "group")]
    assert gold.observed.tolist() == [True] * 4 + [False] * 2 + [True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"spans_key": "other"}, r"look at the span groups \['cascade'\].*those of 'other'"),
        (
            {"model": {"templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"}}},
            r"look at the span groups \[\].*those of 'cascade'",
        ),
        ({"model": {"tok2vec": {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1,
          "embed_size": 10, "window_size": 1, "maxout_pieces": 2, "subword_features": True,
          "pretrained_vectors": None}}}, "which a tok2vec does not see"),
        ({"model": {"network": WINDOW}}, "which a network does not see"),
    ],
)  # fmt: skip
def test_settings_that_it_cannot_have(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        nested_pipeline(levels=settings)


def test_it_begins_with_the_spans_of_a_segmenter(nlp: Language) -> None:
    doc = nlp(make_doc(nlp.vocab, NESTED[0][0]))
    levels: Any = nlp.get_pipe(LEVELS)
    alone = Language(nlp.vocab)
    alone.add_pipe(LEVELS, config={"gold_key": "gold"})
    with pytest.raises(ConfigError, match="begins with the spans of a cascade_segmenter"):
        alone.get_pipe(LEVELS).as_found(doc, (6, 7, "ENT"))  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="has no list of the best segmentations"):
        levels.nbest(doc, 2)


def test_a_corpus_without_spans_is_refused() -> None:
    nlp = nested_pipeline()
    with pytest.raises(TrainingError, match=r"no labelled gold span|annotated"):
        nlp.initialize(lambda: [Example(make_doc(nlp.vocab, "a b"), make_doc(nlp.vocab, "a b"))])


def test_scores_of_levels_and_labels(nlp: Language) -> None:
    """The types of one sentence are wrong, and a span too many is found."""
    examples = nested_examples(nlp)[:2]
    extra = examples[1].reference
    extra.spans["gold"] = [s for s in extra.spans["gold"] if s.label_ != "group"]
    scores = nlp.evaluate([Example(each.predicted, each.reference) for each in examples])
    levels, types = scores["spans_cascade_per_level"], scores["spans_cascade_per_type"]
    assert levels["0"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    # Found one level deeper than gold has it: right, but of another level.
    assert levels["1"] == {"p": pytest.approx(1 / 2), "r": 1.0, "f": pytest.approx(2 / 3)}
    assert levels["2"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert types["group"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert types["place"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    flat = nlp.evaluate(make_examples(nlp, [NESTED[3]], "gold"))
    assert "spans_cascade_per_level" not in flat


def test_entities_are_the_outermost_or_the_surest(nlp: Language) -> None:
    classifier: Any = nlp.get_pipe(CLASSIFIER)
    text = NESTED[0][0]
    try:
        classifier.prefer = "surest"
        doc: Doc = nlp(make_doc(nlp.vocab, text))
        listed = {(s.start, s.end): s._.confidence for s in doc.spans["cascade"]}
        total = sum(listed[e.start, e.end] for e in doc.ents)
        assert total >= listed[0, 7] + listed[8, 9] - 1e-9
        classifier.cfg = {"drop": True, "label_thresholds": {"place": 1.0}}
        dropped = nlp(make_doc(nlp.vocab, text))
        assert {span.label_ for span in dropped.spans["cascade"]} == {"person"}
        assert len(dropped.spans["cascade"]) == len(confidences(dropped) or ())
    finally:
        classifier.cfg = {"drop": False, "label_thresholds": {}, "prefer": "outermost"}
