"""Examples made by hand: what is wrong with one is said in a line, with its text and the mend."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from helpers import blank
from spacy_cascade import TrainingError
from spacy_cascade.workflows import hand_made
from spacy_cascade.workflows.hand_made import read_examples

NLP = blank()
TEXT = "Anna Berg moved to Oslo."
GOOD = (TEXT, [(0, 9, "PER"), (19, 23, "LOC")])
PAIR = "give it as (text, [(first character, end, label), …])"
COUNT = "Count characters from 0"


def read(*examples: Any, nlp: Language = NLP) -> list[Example]:
    return read_examples(nlp, examples, "example")


def entities(example: Example) -> list[tuple[int, int, str]]:
    return [(e.start_char, e.end_char, e.label_) for e in example.reference.ents]


@pytest.mark.parametrize(
    ("spans", "problem", "mend"),
    [
        ([(0, 9, "PER"), (5, 9, "NAME")], "'Anna Berg' and (5, 9, 'NAME') 'Berg' overlap", "Keep"),
        ([(0, 8, "PER")], "'Anna Ber' does not begin", "tokens are (0, 9, 'PER') 'Anna Berg'"),
        ([(0, 10, "PER")], "'Anna Berg ' does not", "tokens are (0, 9, 'PER') 'Anna Berg'"),
        ([(19, 25, "LOC")], "(19, 25, 'LOC') is not inside the text, which has 24", COUNT),
        ([(-5, -1, "LOC")], "is not inside the text", COUNT),
        ([(9, 0, "PER")], "does not begin before its end", COUNT),
        ([(4, 5, "PER")], "has nothing but white space", COUNT),
        ([(0, 9, None)], "'Anna Berg', the span (0, 9), has the label None", "Give it one"),
        ([(0, 9, 3)], "has the label 3", "Give it one that is a text"),
        ([(0, 9, "O")], "has the label 'O'", "Leave the span out"),
        ([(0, 9, "B-PER")], "has the label 'B-PER'", "Write 'PER'"),
        ([(0, 9, " PER")], "has the label ' PER'", "Write 'PER'"),
        ([("PER", 0, 9)], "has ('PER', 0, 9) in place of a span", "(first character, end, label)"),
        ([(0.0, 9, "PER")], "in place of a span", "(first character, end, label)"),
        ([(0, 9)], "has (0, 9) in place of a span", "(first character, end, label)"),
        ([{"start": 0, "end": 9, "label": "PER"}], "in place of a span", "(first character, end"),
        (["PER"], "has 'PER' in place of a span", "in a list"),
        ("PER", "has 'PER' in place of spans", PAIR),
        (None, "has None in place of spans", PAIR),
        ({"entities": "PER"}, "has 'PER' in place of spans", PAIR),
        ({"entities": ["O"]}, "has 1 tags for 6 tokens", PAIR.removeprefix("give it ")),
        ({"entities": [(0, 8, "PER")]}, "does not begin and end where tokens do", "Correct it"),
        ({"spans": {"sc": [(0, 8, "PER")]}}, "does not begin and end where tokens", "Correct it"),
        ({"spans": {"sc": [(0, 99)]}}, "is not inside the text", COUNT),
        ({"spans": {"sc": [(0, 9, "X", "Q", 1)]}}, "has (0, 9, 'X', 'Q', 1) in place", "in a list"),
        ({"spans": {"sc": [{"start": 0}]}}, "has {'start': 0} in place of a span", "in a list"),
        ({"ents": [(0, 9, "PER")]}, "cannot be read ", PAIR.removeprefix("give it ")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_bad_span_is_named_with_its_text_and_the_mend(
    spans: Any, problem: str, mend: str
) -> None:
    with pytest.raises(TrainingError) as caught:
        read(GOOD, (TEXT, spans))
    message = str(caught.value)
    assert message.startswith(f"Example 2, {TEXT!r}")
    assert "have faults" not in message
    assert problem in message
    assert mend in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "bad", [TEXT, (TEXT,), (*GOOD, 1), {"text": TEXT, "spans": []}, (None, []), 5, None]
)
def test_what_is_no_pair_is_named(bad: Any) -> None:
    shown = re.escape(repr(bad)[:20])
    with pytest.raises(TrainingError, match=rf"^Example 1, {shown}.*is no pair: give it as \(text"):
        read(bad)


@pytest.mark.parametrize("given", ["train.spacy", 5, None, {TEXT: []}, NLP.make_doc(TEXT)])
def test_what_is_no_list_of_examples_is_named(given: Any) -> None:
    with pytest.raises(TrainingError, match=r"^Give examples as a list of \(text"):
        read_examples(NLP, given, "example")


def test_the_first_fault_is_named_and_the_others_are_counted() -> None:
    with pytest.raises(
        TrainingError, match=r"^Example 2, .*2 more of the 4 examples have faults\."
    ):
        read(GOOD, (TEXT, [(0, 8, "PER")]), TEXT, (TEXT, [(0, 99, "PER")]))


def test_what_is_right_is_read_without_a_warning() -> None:
    twice = (TEXT, [*GOOD[1], GOOD[1][0]])
    tags = {"entities": ["B-PER", "L-PER", "O", "O", "U-LOC", "O"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read(GOOD, twice, (TEXT, {"entities": iter(twice[1])}), (TEXT, tags))
        (whole,) = read(("Oslo", [(0, 4, "LOC")]))
        (negative,) = read((TEXT, [(0, 9, "!PER")]))
        (nested,) = read((TEXT, {"spans": {"sc": [(0, 9, "PER"), (0, 4), (5, 9, "X", "Q1")]}}))
        (none, empty, unknown) = read((TEXT, []), ("", []), (TEXT, {"entities": None}))
    assert [entities(example) for example in found] == [GOOD[1]] * 4
    assert entities(whole) == [(0, 4, "LOC")]
    assert entities(negative) == [(0, 9, "!PER")]
    assert [span.text for span in nested.reference.spans["sc"]] == ["Anna Berg", "Anna", "Berg"]
    assert [token.ent_iob_ for token in none.reference] == ["O"] * 6
    assert len(empty.reference) == 0
    assert not unknown.reference.has_annotation("ENT_IOB")


def test_a_warning_of_something_else_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that of spans that cut tokens is not, and only meanwhile."""

    class Warned(Example):
        @classmethod
        def from_dict(cls, predicted: Doc, settings: dict[str, Any]) -> Example:
            warnings.warn("[W030] Some spans cut tokens.", stacklevel=1)
            warnings.warn("Something else.", stacklevel=1)
            return Example.from_dict(predicted, settings)

    monkeypatch.setattr(hand_made, "Example", Warned)
    before = list(warnings.filters)
    with pytest.warns(UserWarning, match="Something else") as caught:
        read(GOOD)
    assert [str(one.message) for one in caught] == ["Something else."]
    assert warnings.filters == before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * 40, repr("x" * 40)),
        ("x" * 41, repr("x" * 39 + "…")),
        ([100, *25 * [1]], repr([100, *25 * [1]])),
        ([1] * 27, repr([1] * 27)[:79] + "…"),
    ],
)
def test_a_long_value_is_cut(value: Any, text: str) -> None:
    assert hand_made.shown(value) == text


OFFSETS = st.integers(-3, len(TEXT) + 3)
LABELS = st.sampled_from(["PER", "LOC", "!PER", "", "O", None])


@given(st.lists(st.tuples(OFFSETS, OFFSETS, LABELS), max_size=3))
def test_spans_are_all_kept_or_refused(spans: list[tuple[int, int, Any]]) -> None:
    made = None
    with suppress(TrainingError):
        (made,) = read((TEXT, spans))
    n_labels = sum(label not in ("", "O", None) for _, _, label in spans)
    in_text = [0 <= start < end <= len(TEXT) for start, end, _ in spans]
    if made is None:
        assert spans
    else:
        assert n_labels == len(spans)
        assert all(in_text)
        assert entities(made) == sorted(set(spans))
