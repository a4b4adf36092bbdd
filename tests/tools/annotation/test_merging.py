"""One annotation of several: by vote, and by what a pipeline thinks."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers import blank, bounds, make_doc
from spacy_cascade.tools.annotation.agreement import Reading, Reviewed
from spacy_cascade.tools.annotation.disagreements import Opinion
from spacy_cascade.tools.annotation.merge import Fate, Merge
from spacy_cascade.tools.annotation.merging import merged

SITE, AP1 = (3, 5, "DNA"), (3, 4, "protein")
STAT5 = (0, 1, "protein")


def merge(*annotators, by=Merge.VOTE, probabilities=None, unknown=()):
    """The entities, the words that are not annotated, and what became of the spans."""
    readings = {
        str(number): spans
        if isinstance(spans, Reading)
        else Reading(tuple(spans), frozenset(unknown if number == 0 else ()))
        for number, spans in enumerate(annotators)
    }
    document = Reviewed("1", make_doc(blank().vocab, "STAT5 binds the AP-1 site ."), readings)
    opinion = None if probabilities is None else Opinion((), probabilities)
    fates: Counter[Fate] = Counter()
    doc = merged(document, by, opinion, fates)
    missing = [token.i for token in doc if not token.ent_iob]
    return bounds(doc.ents), missing, {fate: n for fate, n in fates.items() if n}


def test_a_majority_decides() -> None:
    entities, missing, fates = merge([STAT5, SITE], [STAT5, SITE], [STAT5, AP1])
    assert (entities, missing) == ([STAT5, SITE], [])
    assert fates == {Fate.AGREED: 1, Fate.MAJORITY: 1, Fate.OUTVOTED: 1}
    for other in ((2, 4), (4, 5), (4, 6), (2, 6)):
        entities, missing, fates = merge([SITE], [SITE, (*other, "x")])
        assert (entities, missing) == ([SITE], []), "what overlaps it is none"
        assert fates == {Fate.AGREED: 1, Fate.OUTVOTED: 1}
    for start in (2, 5):
        entities, missing, fates = merge([SITE], [SITE, (start, start + 1, "x")])
        assert (entities, missing) == ([SITE], [start]), "what is beside it may be one"
        assert fates == {Fate.AGREED: 1, Fate.DISPUTED: 1}
    entities, missing, fates = merge([STAT5, SITE], [STAT5], [STAT5])
    assert (entities, missing) == ([STAT5], [])
    assert fates == {Fate.AGREED: 1, Fate.OUTVOTED: 1}


@pytest.mark.parametrize(
    "annotators", [([STAT5, SITE], [STAT5]), ([STAT5, SITE], [STAT5, AP1], [STAT5])]
)
def test_without_a_majority_nobody_says_what_the_words_are(annotators) -> None:
    entities, missing, fates = merge(*annotators)
    assert (entities, missing) == ([STAT5], [3, 4])
    assert fates == {Fate.AGREED: 1, Fate.DISPUTED: len(annotators) - 1}


@pytest.mark.parametrize(
    ("p_site", "p_ap1", "expected"),
    [(0.6, 0.3, [SITE]), (0.2, 0.7, [AP1]), (0.2, 0.1, []), (0.45, 0.05, [])],
)
def test_without_a_majority_the_most_probable_counts(p_site, p_ap1, expected) -> None:
    """One has each span, one has neither, which has the rest of the probability."""
    probabilities = {SITE: p_site, AP1: p_ap1}
    entities, missing, fates = merge([SITE], [AP1], [], probabilities=probabilities)
    assert (entities, missing) == (expected, [])
    assert fates[Fate.AGAINST_MODEL] == 2 - len(expected)


def test_bounds_that_nobody_gave_are_not_chosen() -> None:
    """Both say that there is an entity, so there is one, however improbable."""
    assert merge([SITE], [AP1], probabilities={SITE: 0.1, AP1: 0.2})[0] == [AP1]


def test_a_pipeline_can_decide_against_a_majority() -> None:
    probabilities = {STAT5: 0.01, SITE: 0.2, AP1: 0.7}
    annotators = [STAT5, SITE], [STAT5, SITE], [STAT5, AP1]
    entities, _, fates = merge(*annotators, by=Merge.CONFIDENCE, probabilities=probabilities)
    assert entities == [STAT5, AP1]
    assert fates == {Fate.AGREED: 1, Fate.BY_MODEL: 1, Fate.AGAINST_MODEL: 1}
    assert merge(*annotators, probabilities=probabilities)[0] == [STAT5, SITE]
    entities, _, fates = merge([SITE], [], [], by=Merge.CONFIDENCE, probabilities={SITE: 0.9})
    assert (entities, fates) == ([SITE], {Fate.BY_MODEL: 1}), "most have none of it"
    overlaps = [SITE, (4, 6, "x")]
    fates = merge([SITE], overlaps, by=Merge.CONFIDENCE, probabilities={})[2]
    assert fates == {Fate.AGREED: 1, Fate.AGAINST_MODEL: 1}


def test_of_several_spans_together_the_least_probable_counts() -> None:
    parts = [AP1, (4, 5, "DNA")]
    for p_site, expected in ((0.5, [SITE]), (0.2, parts)):
        probabilities = {SITE: p_site, AP1: 0.9, parts[1]: 0.3}
        assert merge([SITE], parts, probabilities=probabilities)[0] == expected


def test_what_more_of_those_who_know_agree_on_comes_first() -> None:
    """Most have the shorter one, but who has annotated all of the words has the longer one."""
    short = Reading((AP1,), frozenset([4]))
    entities, _, fates = merge(short, short, short, [SITE])
    assert entities == [SITE]
    assert fates == {Fate.AGREED: 1, Fate.OUTVOTED: 1}


def test_who_has_not_annotated_the_words_has_no_vote() -> None:
    entities, missing, fates = merge([STAT5], [STAT5, SITE], unknown=(3, 4))
    assert (entities, missing) == ([STAT5, SITE], [])
    assert fates == {Fate.AGREED: 2}
    assert merge([STAT5], unknown=(3, 4))[:2] == ([STAT5], [3, 4])


@pytest.mark.parametrize("unknown", [(3,), (4,)])
def test_who_has_annotated_only_some_of_the_words_does_not_say_that_there_is_none(unknown) -> None:
    probabilities = {SITE: 0.1, AP1: 0.2}
    assert merge([], [SITE], [AP1], unknown=unknown, probabilities=probabilities)[0] == [AP1]


def test_who_has_a_span_says_so_without_the_words_around_it() -> None:
    probabilities = {SITE: 0.1, AP1: 0.8}
    assert merge([AP1], [SITE], [], unknown=(4,), probabilities=probabilities)[0] == [AP1]


def test_who_has_the_text_alone_is_believed() -> None:
    assert merge([STAT5, SITE])[:2] == ([STAT5, SITE], [])
