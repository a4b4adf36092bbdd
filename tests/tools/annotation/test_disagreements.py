"""What annotators disagree on, and what a pipeline thinks of it."""

from __future__ import annotations

import pytest
from spacy.language import Language

from helpers import SENTENCES, blank, make_doc
from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.annotation.agreement import Reading, Reviewed
from spacy_cascade.tools.annotation.disagreements import (
    _AROUND as AROUND,
)
from spacy_cascade.tools.annotation.disagreements import (
    UNKNOWN,
    Kind,
    Opinion,
    find_disagreements,
    opinions_of,
)

NAMES = ["anna", "ben", "carla"]
TEXT, (CELL, AP1) = SENTENCES[2]
SHORT, DNA = (1, 2, "cell"), (3, 4, "DNA")


def reviewed(nlp: Language, *annotators, text=TEXT) -> Reviewed:
    readings = {
        name: spans if isinstance(spans, Reading) else Reading(tuple(spans))
        for name, spans in zip(NAMES, annotators, strict=False)
        if spans is not None
    }
    return Reviewed("1", make_doc(nlp.vocab, text), readings)


@pytest.mark.parametrize(
    ("annotators", "expected"),
    [
        (([CELL], [CELL], [CELL]), []),
        (([CELL], None, [CELL]), []),
        (([CELL], [], [CELL]), [(0, 2, Kind.MISSING, ["cell", "", "cell"])]),
        (([AP1], [DNA], []), [(3, 4, Kind.LABEL, ["protein", "DNA", ""])]),
        (([AP1], None, [DNA]), [(3, 4, Kind.LABEL, ["protein", UNKNOWN, "DNA"])]),
        (
            ([CELL], [SHORT], Reading((), frozenset([1]))),
            [
                (0, 2, Kind.BOUNDS, ["cell", "", UNKNOWN]),
                (1, 2, Kind.BOUNDS, ["", "cell", UNKNOWN]),
            ],
        ),
        (([CELL], Reading((), frozenset([0, 1])), None), []),
    ],
)
def test_kinds(annotators, expected) -> None:
    groups = find_disagreements(reviewed(blank(), *annotators), NAMES)
    assert len(groups) == min(1, len(expected))
    found = [(one.start, one.end, one.kind, one.labels) for group in groups for one in group]
    assert found == [
        (start, end, kind, dict(zip(NAMES, labels, strict=True)))
        for start, end, kind, labels in expected
    ]


def test_spans_side_by_side_are_not_bounds_of_one_another() -> None:
    beside = (2, 3, "cell")
    groups = find_disagreements(reviewed(blank(), [CELL], [beside]), NAMES[:2])
    found = [(one.start, one.kind) for group in groups for one in group]
    assert found == [(0, Kind.MISSING), (2, Kind.MISSING)]


def test_who_is_wrong_most_probably() -> None:
    """With these labels, or with none, which has the rest of the probability."""
    ((one,),) = find_disagreements(reviewed(blank(), [AP1], [DNA]), NAMES[:2])
    assert one.against(Opinion((), {AP1: 0.7, DNA: 0.2})) == pytest.approx(0.8)
    ((one,),) = find_disagreements(reviewed(blank(), [AP1], []), NAMES[:2])
    assert one.against(Opinion((), {AP1: 0.7})) == pytest.approx(0.7)
    assert one.against(Opinion((), {AP1: 0.1})) == pytest.approx(0.9)


def test_probabilities_are_the_confidences_of_the_pipeline(trained: Language) -> None:
    """Of spans that it finds; others share the rest."""
    doc = trained(make_doc(trained.vocab, TEXT))
    sure = {(e.start, e.end, e.label_): e._.confidence for e in doc.ents}
    assert set(sure) == {CELL, AP1}
    first = reviewed(trained, [CELL, AP1], [SHORT, DNA])
    other = reviewed(trained, None, [(0, 1, "protein")], text=SENTENCES[1][0])
    opinions = opinions_of(trained, [other, first])
    assert opinions[1].spans == (CELL, AP1)
    known = opinions[1].probabilities
    assert {span: known[span] for span in sure} == pytest.approx(sure)
    assert known[DNA] < 0.5 < known[AP1]
    assert known[DNA] + known[AP1] <= 1.0
    assert set(opinions[0].probabilities) == {(0, 1, "protein")}


def test_rows_say_what_the_pipeline_finds(trained: Language) -> None:
    document = reviewed(trained, [CELL, AP1], [CELL, DNA])
    ((one,),) = find_disagreements(document, NAMES)
    (opinion,) = opinions_of(trained, [document])
    row = one.row(opinion)
    assert (row["start"], row["end"], row["text"]) == (21, 25, "AP-1")
    assert (row["anna"], row["ben"], row["carla"], row["model"]) == (
        "protein", "DNA", UNKNOWN, "protein",
    )  # fmt: skip
    assert row["against"] == round(1 - opinion.probabilities[DNA], 4)
    assert str(row["probability"]).startswith("DNA 0.")
    assert str(row["context"]).rstrip() == TEXT
    assert not {"model", "against"} & one.row(None).keys()


def test_the_context_is_what_stands_around_a_span() -> None:
    words = [f"word{n:03}" for n in range(40)]
    for start in (0, 20, 39):
        document = reviewed(blank(), [(start, start + 1, "cell")], [], text=" ".join(words))
        ((one,),) = find_disagreements(document, NAMES[:2])
        context = str(one.row(None)["context"])
        before, word, after = context.partition(words[start])
        assert word
        assert len(before) == min(AROUND, 8 * start)
        assert abs(len(after) - min(AROUND, 8 * (39 - start))) <= 1


def test_a_pipeline_without_probabilities_is_refused() -> None:
    nlp = blank()
    nlp.add_pipe("entity_ruler")
    with pytest.raises(ConfigError, match="review --model needs a cascade_segmenter"):
        opinions_of(nlp, [reviewed(nlp, [CELL], [])])
