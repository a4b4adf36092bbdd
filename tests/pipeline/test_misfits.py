"""Gold spans that no component learns, and what is said where most of them cut tokens."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import SMALL, blank, cascade
from spacy_cascade.errors import TrainingError
from spacy_cascade.pipeline.misfits import left_out_spans
from spacy_cascade.pipeline.spans.left_out import CUTS, OVERLAPS, PARTS
from spacy_cascade.pipeline.spans.parts import part_id

TEXT = "left and right lung hurt"
ROWS = [(0, 4, "X", ""), (0, 1, "X", "a"), (3, 4, "X", "a"), (1, 5, "X", ""), (2, 3, "Y", "")]


def example(nlp: Language, text: str = TEXT, joined: tuple[int, ...] = ()) -> Example:
    """Spans that contain and cross each other, one of two parts; joined: tokens that are glued."""
    reference = nlp.make_doc(text)
    reference.spans["sc"] = [
        Span(reference, start, end, label, span_id=part_id(name) if name else "")
        for start, end, label, name in ROWS
    ]
    predicted = nlp.make_doc(text)
    if joined:
        with predicted.retokenize() as retokenizer:
            retokenizer.merge(predicted[joined[0] : joined[1]])
    return Example(predicted, reference)


def left_out(nlp: Language, *examples: Example) -> list[tuple[Any, ...]]:
    return [tuple(one) for one in left_out_spans(nlp, examples)]


COVER, PARTED = (0, 19, "left and right lung", "X"), ([0, 15], [4, 19], "left lung", "X")
CROSSING, INNER = (5, 24, "and right lung hurt", "X"), (9, 14, "right", "Y")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"gold_level": "outermost"}, [(*COVER, ""), (*PARTED, PARTS), (*CROSSING, OVERLAPS),
                                       (*INNER, OVERLAPS)]),
        ({"gold_level": "innermost"}, [(*COVER, OVERLAPS), (*PARTED, PARTS), (*CROSSING, OVERLAPS),
                                       (*INNER, "")]),
        ({"gold_level": "innermost", "gold_parts": "parts", "gold_labels": ["X"]},
         [(*COVER, OVERLAPS), (*PARTED, ""), (*CROSSING, OVERLAPS)]),
        ({"gold_level": "outermost", "gold_parts": "covering"},
         [(*COVER, ""), (*PARTED, ""), (*CROSSING, OVERLAPS), (*INNER, OVERLAPS)]),
    ],
)  # fmt: skip
def test_each_span_is_learnt_or_has_a_reason(
    settings: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    of_both = {"gold_key": "sc", **settings}
    nlp = cascade(of_both, {k: v for k, v in of_both.items() if k != "gold_level"})
    found = left_out(nlp, Example(blank().make_doc("a"), blank().make_doc("a")), example(nlp))
    assert sorted(found, key=str) == sorted(((2, *one) for one in expected if one[-1]), key=str)


def test_levels_leave_out_what_crosses() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={**SMALL, "gold_key": "sc", "gold_level": "innermost"})
    nlp.add_pipe("cascade_levels", config={**SMALL, "gold_key": "sc"})
    found = left_out(nlp, example(nlp))
    assert (1, *PARTED, PARTS) in found
    assert {one[-1] for one in found} == {PARTS, OVERLAPS}
    assert (1, *INNER, OVERLAPS) not in found


def test_spans_that_cut_tokens() -> None:
    nlp = cascade({"gold_key": "sc", "gold_level": "innermost", "gold_parts": "parts"})
    found = left_out(nlp, example(nlp, joined=(2, 4)))
    assert (1, *PARTED, CUTS) in found
    assert (1, *INNER, CUTS) in found
    assert (1, *COVER, CUTS) not in found


def docs_of(nlp: Language, n_whole: int) -> list[Example]:
    """Thai texts of one token each; in so many of them the entity is the whole text."""
    text, made = "ฉันอยู่ที่กรุงเทพ", []
    for i in range(4):
        words = [text] if i < n_whole else [text[:10], text[10:]]
        reference = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
        reference.set_ents([Span(reference, len(words) - 1, len(words), "LOC")])
        made.append(Example(nlp.make_doc(text), reference))
    return made


def test_where_all_spans_cut_tokens_the_tokenizer_is_named() -> None:
    nlp = cascade()
    with pytest.raises(TrainingError) as error:
        nlp.initialize(lambda: docs_of(nlp, 0))
    said = str(error.value)
    assert "'cascade_segmenter' cannot learn 4 of 4 gold spans" in said
    assert "such as 'กรุงเทพ' in 'ฉันอยู่ที่กรุงเทพ'" in said
    assert '@tokenizers = "spacy_cascade.CharacterTokenizer.v1" in [nlp.tokenizer]' in said
    assert "use the language 'th'" in said


def test_where_most_spans_cut_tokens_there_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nlp = cascade()
    nlp.initialize(lambda: docs_of(nlp, 2))
    assert "gold spans" not in caplog.text
    nlp.initialize(lambda: docs_of(nlp, 1))
    assert "'cascade_segmenter' cannot learn 3 of 4 gold spans" in caplog.text


def test_spans_of_other_labels_do_not_count(caplog: pytest.LogCaptureFixture) -> None:
    nlp = cascade({"gold_labels": ["PER"]}, {"gold_labels": ["PER"]})
    examples = docs_of(nlp, 0)
    for one in examples[:1]:
        one.reference.set_ents([Span(one.reference, 0, 2, "PER")])
    nlp.initialize(lambda: examples)
    assert "gold spans" not in caplog.text
    assert left_out(nlp, *examples) == []
