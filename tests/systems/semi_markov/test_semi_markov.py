"""A segmenter with a semi-Markov chain: what only it does, or does in a way of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Span

from helpers import (
    SENTENCES,
    TEXTS,
    bounds,
    make_doc,
    make_example,
    make_examples,
    train,
)
from spacy_cascade import ConfigError, TemplateError
from spacy_cascade.tools.explaining.explain import explain_spans
from spacy_cascade.tools.explaining.top_features import top_features
from structures import found, segmenter_of, semi_markov, wanted

LONG = "a b c d e f g h"
SETS = {"@misc": "spacy_cascade.SegmentTemplates.v1"}


def test_it_learns_online() -> None:
    nlp = segmenter_of("semi",
        loss={"@misc": "spacy_cascade.Hinge.v2"}, penalty=None,
        trainer={"@misc": "spacy_cascade.PassiveAggressive.v1", "passes": 10, "C": 1.0},
    )  # fmt: skip
    train(nlp, make_examples(nlp), updates=2)
    assert found(nlp) == wanted(False)
    _, _, columns = segment_weights(nlp)
    assert columns.any()


def segment_weights(nlp: Language) -> tuple[Any, Any, Any]:
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    structure = segmenter.structure
    return segmenter, structure, segmenter.weights.features[:, structure.columns.blocks[1]]


@pytest.fixture(scope="module")
def by_batches() -> Language:
    """Trained with a chain of label pairs; only for questions."""
    nlp = segmenter_of("semi", semi_markov(label_pairs=True))
    train(nlp, make_examples(nlp), updates=4)
    return nlp


def test_features_of_spans_and_lengths_get_weights_of_their_own(by_batches: Language) -> None:
    assert found(by_batches) == wanted(False)
    segmenter, structure, columns = segment_weights(by_batches)
    of_spans = columns.any(axis=1)
    assert of_spans.any()
    assert not segmenter.weights.features[of_spans][:, : structure.columns.blocks[1].start].any()
    assert segmenter.weights.transitions[structure.columns.free].any()


def test_what_is_of_the_span_as_a_whole_has_names(by_batches: Language) -> None:
    segmenter: Any = by_batches.get_pipe("cascade_segmenter")
    explained = explain_spans(segmenter, make_doc(by_batches.vocab, TEXTS[0]))
    assert len(explained) == 3
    for explanation in explained:
        names = [c.name for c in explanation.contributions]
        assert any(name.startswith("brief_class@all=") for name in names)
        assert any(name.startswith("length ") for name in names)
    top = top_features(segmenter, make_examples(by_batches), 5)
    of_spans = next(of for of in top.labels if of.label == "ENT as a whole")
    assert of_spans.strongest
    assert all(feature.name for feature in of_spans.strongest)


@pytest.mark.parametrize(
    ("model", "options", "error", "said"),
    [
        ({"longest": 0}, {}, ConfigError, "longest segment has to have 1 token or more, not 0"),
        ({"segment_min_count": 0}, {}, ConfigError, "segment_min_count must be 1 or more"),
        ({"segments": {**SETS, "extra": ["lower@any"]}}, {}, TemplateError, "sum over tokens"),
        ({}, {"scheme": "IO"}, ConfigError, r"'IO'.*BILOU"),
    ],
)
def test_what_is_refused(
    model: dict[str, Any], options: dict[str, Any], error: type[Exception], said: str
) -> None:
    def initialized() -> None:
        nlp = segmenter_of("semi", semi_markov(**model), **options)
        nlp.initialize(lambda: make_examples(nlp))

    with pytest.raises(error, match=said):
        initialized()


def test_longer_spans_are_left_open_in_training_and_never_found() -> None:
    nlp = segmenter_of("semi", semi_markov(longest=2))
    example = make_example(nlp, LONG, [(0, 3, "DNA"), (4, 5, "DNA")])
    train(nlp, [*make_examples(nlp), example], updates=4)
    (spans,) = found(nlp, [LONG])
    assert (4, 5, "ENT") in spans
    assert all(end - start <= 2 for start, end, _ in spans)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = make_doc(nlp.vocab, LONG)
    assert segmenter.posteriors([doc], [[(0, 3, "ENT")]])[0].tolist() == [0.0]
    assert explain_spans(segmenter, doc, [(0, 3, "ENT")]) == []


@pytest.mark.parametrize(
    ("longest", "said"),
    [
        (1, "'cascade_segmenter' looks at segments of up to 1 token. 7 of 13 gold spans are longer "
            "and left out of training."),
        (2, "'cascade_segmenter' looks at segments of up to 2 tokens. 1 of 13 gold spans is longer "
            "and left out of training."),
        (None, None),
    ],
)  # fmt: skip
def test_the_log_says_what_is_too_long(
    longest: int | None, said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    nlp = segmenter_of("semi", semi_markov(longest=longest))
    examples = [*make_examples(nlp), make_example(nlp, LONG, [(0, 3, "DNA")])]
    with caplog.at_level("INFO", "spacy"):
        nlp.initialize(lambda: examples)
    assert [text for text in caplog.messages if "segments of up to" in text] == [said] * bool(said)


def test_a_preset_longer_than_any_segment_is_outside() -> None:
    nlp = segmenter_of("semi", semi_markov(longest=2), constrained=True)
    train(nlp, make_examples(nlp), updates=4)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 1, 6, "OTHER")], default="missing")
    doc = nlp(doc)
    assert bounds(doc.spans["cascade"]) == [(6, 8, "ENT")]


def test_a_span_has_each_step_of_similarity_that_it_has_reached() -> None:
    """Equal to a term it has all five, beside it the others of a span have none."""
    steps = [f"similarity(mine, jaccard, {least} or more)" for least in (0.6, 0.7, 0.8, 0.9, 1)]
    start, end, _ = SENTENCES[0][1][0]
    lexicons = {"mine": [" ".join(TEXTS[0].split()[start:end]).upper()]}
    segments = {"extra": ["similarity(mine, jaccard, cumulative)"], "lexicons": lexicons}
    model = semi_markov(segments={**SETS, **segments})
    nlp = segmenter_of("semi", model)
    train(nlp, make_examples(nlp), updates=4)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    explained = {e.span[:2]: e for e in explain_spans(segmenter, make_doc(nlp.vocab, TEXTS[0]))}
    for bounds_of, explanation in explained.items():
        names = [c.name.partition("=")[0] for c in explanation.contributions if c.token is None]
        assert [each for each in steps if each in names] == steps * (bounds_of == (start, end))
    other = segmenter_of("semi", model)
    other.from_bytes(nlp.to_bytes())
    assert found(other) == found(nlp) == wanted(False)


def test_a_new_label_leaves_the_weights_of_the_others() -> None:
    nlp = segmenter_of("semi", semi_markov(label_pairs=True), typed=True)
    train(nlp, make_examples(nlp), updates=4)
    _, structure, columns = segment_weights(nlp)
    before = dict(zip(structure.tag_set.labels, columns.T, strict=True))
    _, names = structure.columns.names(nlp.get_pipe("cascade_segmenter").structure_labels)
    transitions = dict(
        zip(names, nlp.get_pipe("cascade_segmenter").weights.transitions, strict=True)
    )
    loaded = segmenter_of("semi", semi_markov(label_pairs=True), typed=True)
    loaded.from_bytes(nlp.to_bytes())
    segmenter: Any = loaded.get_pipe("cascade_segmenter")
    assert segmenter.add_label("animal") == 1
    _, structure, columns = segment_weights(loaded)
    after = dict(zip(structure.tag_set.labels, columns.T, strict=True))
    assert not after.pop("animal").any()
    assert after.keys() == before.keys()
    for label, weights_of_label in before.items():
        np.testing.assert_array_equal(after[label], weights_of_label)
    _, names = structure.columns.names(segmenter.structure_labels)
    now = dict(zip(names, segmenter.weights.transitions, strict=True))
    assert {name: now[name] for name in transitions} == transitions
    assert found(loaded) == wanted(True)
    example = make_example(loaded, "Zebra fish swim .", [(0, 2, "animal")])
    for _ in range(3):
        loaded.update([example])
    assert found(loaded, ["Zebra fish swim ."]) == [[(0, 2, "animal")]]
