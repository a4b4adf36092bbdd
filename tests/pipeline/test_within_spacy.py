"""What spaCy does with components: batches, processes, zones, selections, serialization."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import (
    TEXTS,
    annotation,
    annotations,
    blank,
    bounds,
    cascade,
    make_doc,
    make_examples,
    sample_examples,
    train,
    trained_cascade,
)
from spacy_cascade import NotTrainedError

NAMES = ["cascade_segmenter", "cascade_classifier"]


# Memory zones


def test_memory_zones_change_no_prediction(trained: Language) -> None:
    data = trained.to_bytes()
    nlp = blank().from_config(trained.config).from_bytes(data)
    texts = [*TEXTS, *(f"word{i} binds p53 in zone{i} cells" for i in range(5))]
    expected = [annotation(trained(text)) for text in texts]
    for _ in range(2):
        with nlp.memory_zone():
            assert [annotation(nlp(text)) for text in texts] == expected
        with nlp.memory_zone():
            assert [annotation(doc) for doc in nlp.pipe(texts)] == expected
    assert [annotation(nlp(text)) for text in texts] == expected


def test_training_goes_on_after_a_memory_zone(trained: Language) -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    with nlp.memory_zone():
        nlp("word1 binds word2 in word3")
    for _ in range(2):
        nlp.update(examples)
    assert annotations(nlp) == annotations(trained)


# The pipeline as a whole


def test_analysis_of_all_components() -> None:
    """Each says what it sets and what it needs of those before it."""
    names = ["cascade_tagger", *NAMES, "cascade_reranker"]
    nlp = blank()
    for name in names:
        nlp.add_pipe(name)
    analysis = nlp.analyze_pipes()
    assert not any(analysis["problems"].values())
    assert analysis["summary"]["cascade_tagger"]["assigns"] == ["token.tag"]
    for name in names[1:]:
        assert {"doc.spans", "span._.confidence"} <= set(analysis["summary"][name]["assigns"])
    for name in names[2:]:
        assert analysis["summary"][name]["requires"] == ["doc.spans"]
        assert "doc.ents" in analysis["summary"][name]["assigns"]


def test_two_segmenters_live_side_by_side(trained: Language) -> None:
    nlp, saved = blank(), trained.get_pipe("cascade_segmenter").to_bytes()
    for name in ("first", "second"):
        nlp.add_pipe("cascade_segmenter", name, config={"spans_key": name})
        nlp.get_pipe(name).from_bytes(saved, exclude=["cfg"])
    doc = nlp(TEXTS[0])
    assert bounds(doc.spans["first"]) == bounds(doc.spans["second"])
    assert len(doc.spans["first"]) == 3


# Parameters


@pytest.mark.parametrize("name", NAMES[:1])
def test_use_params_is_only_for_a_while(name: str) -> None:
    nlp = trained_cascade()
    component = nlp.get_pipe(name)
    model = component.model
    expected, data = annotations(nlp), component.to_bytes()
    zeros = {
        (model.id, parameter): np.zeros_like(model.get_param(parameter))
        for parameter in model.param_names
    }
    with model.use_params(zeros):
        assert annotations(nlp) != expected
        assert not model.get_param("W").any()
    assert annotations(nlp) == expected
    assert component.to_bytes() == data
    with nlp.use_params(zeros):
        assert annotations(nlp) != expected
    assert annotations(nlp) == expected


# Failures of others


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_component_leaves_the_doc_as_it_was(name: str) -> None:
    nlp = blank()
    nlp.add_pipe(name)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.ents = [Span(doc, 1, 3, "EARLIER")]
    doc.spans["cascade"] = [doc[0:3]]
    before = annotation(doc)
    with pytest.raises(NotTrainedError):
        nlp(doc)
    assert annotation(doc) == before
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(str(error)))
    assert list(nlp.pipe([doc])) == []
    assert len(failed) == 1
    assert "no weights yet" in failed[0]
    assert annotation(doc) == before


def test_the_sample_corpus_is_learnt() -> None:
    """A little of real text: scores far above what chance would give, on unseen Docs."""
    nlp = cascade()
    train(nlp, sample_examples(nlp, "train", n_docs=20))
    scores = nlp.evaluate(sample_examples(nlp, "dev"))
    assert scores["ents_f"] > 0.5
    assert scores["segments_f"] > 0.6
    assert scores["types_acc"] > 0.6


def test_vocabularies_may_be_loaded_without_strings(trained: Language, tmp_path: Path) -> None:
    """A component reads the words of a Doc from the vocabulary that it shares with it."""
    trained.to_disk(tmp_path, exclude=["vocab"])
    other = spacy.load(tmp_path, exclude=["vocab"])
    assert annotations(other) == annotations(trained)


def test_sentence_starts_make_sequences(trained: Language) -> None:
    """A Doc of several sentences is tagged as the sentences are by themselves."""
    starts = np.cumsum([0, *(len(text.split()) for text in TEXTS)]).tolist()
    together = trained(make_doc(trained.vocab, " ".join(TEXTS), sentence_starts=starts[:-1]))
    found = []
    for start, text in zip(starts[:-1], TEXTS, strict=True):
        doc = trained(make_doc(trained.vocab, text))
        found += [(s.start + start, s.end + start, s.label_) for s in doc.spans["cascade"]]
    assert bounds(together.spans["cascade"]) == found
    assert bounds(together.ents) == found
    assert [token.is_sent_start for token in together] == [i in starts for i in range(starts[-1])]


def test_the_table_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting it anew changes no prediction."""
    monkeypatch.setattr("spacy_cascade.pipeline.base._MAXIMUM_LEXEMES", 500)
    nlp = trained_cascade()
    expected = annotation(nlp(TEXTS[0]))
    for batch in range(5):
        nlp(Doc(nlp.vocab, words=[f"word{batch}x{i}" for i in range(400)]))
        assert annotation(nlp(TEXTS[0])) == expected
        for name in nlp.pipe_names:
            assert len(nlp.get_pipe(name).space.lexemes) < 1000
