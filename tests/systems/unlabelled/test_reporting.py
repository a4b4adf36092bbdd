"""The report on what was learnt from unlabelled text, character by character."""

from __future__ import annotations

from dataclasses import replace

from spacy_cascade.systems.unlabelled.pseudo_labels import Added, Confidence
from spacy_cascade.systems.unlabelled.reporting import as_json, as_markdown
from spacy_cascade.systems.unlabelled.rounds import Learnt, Round
from spacy_cascade.systems.unlabelled.teachers import Method

SURE = Confidence(0.4, 0.05)
FIRST = Round(Added(20, 1234, {"DNA": 1200, "cell": 34}, 5678, 0.75, 0.5, 0.999), 0.61, 0.625)
SECOND = Round(Added(3, 7, {"protein": 7}, 0, 0.9, 1.0, None), 0.6, None)
LEARNT = Learnt(
    Method.cotrain, 1500, 20000, 0.5, [FIRST, SECOND], "student of round 1", 0.61, "it was", True
)
BEFORE = """\
# Learning from unlabelled text

Method: cotrain. 1,500 labelled and 20,000 unlabelled Docs.
Spans count from a confidence of 0.4, background up to a probability of 0.05.

Entity F1 on dev without unlabelled text: 50.00. Kept: student of round 1, 61.00.
It ended because it was.
"""
HEAD = (
    "| round | documents | spans | expected right, % | right, % | background tokens | right, % "
    "| F1 of the student | F1 of the product |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)
ROUNDS = f"""
{HEAD}
| 1 | 20 | 1,234 | 75.00 | 50.00 | 5,678 | 99.90 | 61.00 | 62.50 |
| 2 | 3 | 7 | 90.00 | 100.00 | 0 | - | 60.00 | - |

The unlabelled Docs have entities, which nothing learnt from: the columns *right* compare with \
them. *Expected right* is the mean confidence of the spans.

| spans added | round 1 | round 2 |
| --- | ---: | ---: |
| DNA | 1,200 | 0 |
| cell | 34 | 0 |
| protein | 0 | 7 |
"""


def test_the_tables_for_readers() -> None:
    assert as_markdown(LEARNT, SURE) == BEFORE + ROUNDS
    assert as_markdown(replace(LEARNT, rounds=[]), SURE) == BEFORE


def test_all_digits_for_programs() -> None:
    found = as_json(LEARNT, SURE)
    assert (found["method"], found["sure"]) == ("cotrain", {"threshold": 0.4, "background": 0.05})
    assert [each["added"]["background_right"] for each in found["rounds"]] == [0.999, None]
