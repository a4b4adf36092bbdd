"""A segmenter that lists all likely spans, and the entities that thresholds choose from them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.find_threshold import find_threshold
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    TEXTS,
    add_segmenter,
    blank,
    bounds,
    confidences,
    gold_doc,
    make_doc,
    make_examples,
    train,
    trained_cascade,
)
from reference import best_disjoint_gain
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.decoding import LEAST
from spacy_cascade.tools.reports.diagrams import sweep, sweep_listed
from spacy_cascade.tools.reports.page import make_page
from spacy_cascade.tools.reports.reading import judge, judge_annotated

UNSURE = {"temperature": 3.0}
"""What makes components unsure that know their texts by heart."""
NEW = "Both T cells and the STAT5 site bind Jurkat p53 cells ."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("overlapping") / "model"
    trained_cascade(UNSURE, UNSURE).to_disk(path)
    return path


def load(
    model: Path, segmenter: dict[str, Any] | None = None, classifier: dict[str, Any] | None = None
) -> Language:
    segmenter = {"overlapping": True, **(segmenter or {})}
    components = {"cascade_segmenter": segmenter, "cascade_classifier": classifier or {}}
    return spacy.load(model, config={"components": components})


def docs_of(nlp: Language, texts: list[str] | None = None) -> list[Doc]:
    return list(nlp.pipe([make_doc(nlp.vocab, text) for text in texts or [*TEXTS, NEW]]))


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.4])
def test_all_spans_above_the_threshold_are_listed(model: Path, threshold: float) -> None:
    nlp = load(model, {"threshold": threshold})
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = segmenter(make_doc(nlp.vocab, NEW))
    n = len(doc)
    listed = {(start, end): c for (start, end, _), c in listing(doc)}
    probabilities = {
        (start, end): segmenter.posteriors([doc], [[(start, end, "ENT")]])[0][0]
        for start in range(n)
        for end in range(start + 1, n + 1)
    }
    least = max(threshold, LEAST)
    assert listed == pytest.approx({s: p for s, p in probabilities.items() if p >= least})
    assert sorted(listed) == list(listed)
    assert any(right[0] < left[1] for left, right in pairwise(listed)) == (threshold < 0.3)


def listing(doc: Doc) -> list[tuple[tuple[int, int, str], float]]:
    return list(zip(bounds(doc.spans["cascade"]), confidences(doc) or [], strict=True))


def test_spans_of_the_best_segmentation_are_as_sure_as_ever(model: Path) -> None:
    plain = docs_of(spacy.load(model))
    for doc, overlapping in zip(plain, docs_of(load(model)), strict=True):
        listed = dict(listing(overlapping))
        for span, confidence in listing(doc):
            assert confidence < LEAST or listed[span] == pytest.approx(confidence)


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.2, 0.5])
def test_entities_are_the_best_set_without_overlap(model: Path, threshold: float) -> None:
    chosen = 0
    nlp = load(model, {"threshold": 0.05}, {"threshold": threshold})
    for doc in docs_of(nlp, TEXTS):
        choices = [(span, c) for span, c in listing(doc) if c >= threshold]
        assert len(choices) <= 18  # sets are enumerated
        best = best_disjoint_gain([s[:2] for s, _ in choices], [c - threshold for _, c in choices])
        sure = dict(choices)
        assert sum(sure[entity] - threshold for entity in bounds(doc.ents)) == pytest.approx(best)
        chosen += len(doc.ents)
    assert chosen > 0


def test_lower_thresholds_find_more_and_higher_ones_less(model: Path) -> None:
    numbers = [
        sum(len(doc.ents) for doc in docs_of(load(model, {}, {"threshold": threshold})))
        for threshold in (0.0, 0.5, 0.9)
    ]
    assert numbers == sorted(numbers, reverse=True)
    plain = sum(len(doc.ents) for doc in docs_of(spacy.load(model)))
    assert numbers[0] > plain > numbers[-1]


def test_earlier_entities_stay_and_others_are_chosen_around_them(model: Path) -> None:
    nlp = load(model)
    free = nlp(make_doc(nlp.vocab, TEXTS[0]))
    first = free.ents[0]
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, first.start, first.start + 1, "set_before")])
    entities = bounds(nlp(doc).ents)
    assert entities[0] == (first.start, first.start + 1, "set_before")
    rest = [e for e, _ in listing(doc) if e[0] > first.start and e in entities]
    assert entities[1:] == rest
    assert len(rest) > 0


def test_a_single_phase_recogniser_lists_spans_of_all_labels() -> None:
    nlp = blank()
    settings = {"typed": True, "overlapping": True, "set_ents": True, **UNSURE}
    add_segmenter(nlp, **settings)
    train(nlp, make_examples(nlp))
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = nlp(make_doc(nlp.vocab, NEW))
    assert {label for _, _, label in bounds(doc.spans["cascade"])} == {"DNA", "cell", "protein"}
    for span, confidence in listing(doc):
        assert confidence == pytest.approx(segmenter.posteriors([doc], [[span]])[0][0])
    assert len(doc.ents) > 0
    segmenter.label_thresholds = {"protein": 1.0, "DNA": 0.1, "cell": 0.0}
    less = nlp(make_doc(nlp.vocab, NEW))
    assert listing(less) == [
        (span, c)
        for span, c in listing(doc)
        if span[2] == "cell" or (span[2] == "DNA" and c >= 0.1)
    ]


def test_spacy_finds_thresholds_for_recall(model: Path, tmp_path: Path) -> None:
    changed = tmp_path / "model"
    load(model).to_disk(changed)
    path = tmp_path / "dev.spacy"
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(path)
    for pipe, score in (
        ("cascade_classifier", "ents_r"),
        ("cascade_segmenter", "spans_cascade_r"),
    ):
        _, _, scores = find_threshold(changed, path, pipe, "threshold", score, n_trials=2)
        assert scores[0.0] == 1.0
        assert scores[0.0] > scores[1.0]


def test_the_group_is_scored_with_its_types(model: Path) -> None:
    nlp = load(model, {"threshold": 0.05})
    examples = make_examples(nlp)
    scores = nlp.evaluate(examples)
    examples = annotated(nlp)
    listed = [set(bounds(example.predicted.spans["cascade"])) for example in examples]
    gold = [set(bounds(example.reference.ents)) for example in examples]
    right = sum(len(a & b) for a, b in zip(listed, gold, strict=True))
    assert scores["spans_cascade_p"] == pytest.approx(right / sum(map(len, listed)))
    assert scores["spans_cascade_r"] == pytest.approx(right / sum(map(len, gold)))


def test_a_report_sweeps_over_what_is_listed(model: Path) -> None:
    """Scores at each threshold are those of a pipeline with that threshold."""
    nlp = load(model)
    found = sweep(judge(nlp, annotated(nlp)))
    assert found is not None
    for threshold, score in found.every(50):
        other = load(model, {}, {"threshold": threshold})
        examples = annotated(other)
        assert score.n_predicted == sum(len(example.predicted.ents) for example in examples)
        scores = other.evaluate(examples)
        assert score.recall == pytest.approx(scores["ents_r"])
    assert found.scores[0].n_predicted > found.scores[40].n_predicted > 0
    listed = sweep_listed(judge(nlp, annotated(nlp)))
    assert listed is not None
    sure = [c for example in annotated(nlp) for _, c in listing(example.predicted)]
    for threshold, score in listed.every(50):
        assert score.n_predicted == sum(c >= threshold for c in sure)
    assert listed.scores[0].recall == 1.0
    examples = annotated(nlp)
    page = make_page(nlp, examples, judge_annotated(nlp, examples), model="m", data="d")
    assert "The dashed line" in page
    assert sweep_listed(judge(spacy.load(model), annotated(spacy.load(model)))) is None


def annotated(nlp: Language) -> list[Example]:
    examples = make_examples(nlp)
    for example in examples:
        example.predicted = nlp(example.predicted)
    return examples


def test_entities_of_others_are_in_every_sweep(model: Path) -> None:
    nlp = load(model)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 1, 2, "set_before")], default="unmodified")
    example = Example(nlp(doc), gold_doc(nlp.vocab, *SENTENCES[0]))
    found = sweep(judge(nlp, [example]))
    assert found is not None
    assert found.scores[-1].n_predicted == 1
    assert found.scores[0].n_predicted == len(doc.ents)


def test_docs_without_likely_spans(model: Path) -> None:
    nlp = load(model, {"threshold": 1.0})
    for doc in (nlp(""), nlp("Nothing")):
        assert (len(doc.spans["cascade"]), confidences(doc), doc.ents) == (0, [], ())


def test_settings_that_do_not_go_together() -> None:
    with pytest.raises(ConfigError, match="lists overlapping spans by their confidences"):
        add_segmenter(blank(), overlapping=True, confidence=False)
    with pytest.raises(ConfigError, match="and no segmentation has them all"):
        add_segmenter(blank(), overlapping=True, n_best=2)
