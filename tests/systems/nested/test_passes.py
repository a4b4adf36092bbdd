"""What a chain of levels learns from: the passes over a batch, with gold or other spans below."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from nested_corpus import LEVELS, NESTED, nested_examples, nested_pipeline
from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from helpers import add_segmenter, blank, make_doc, make_example, make_examples
from spacy_cascade.pipeline.initializing import read_examples
from spacy_cascade.systems.nested.gold import Passes, passes_over
from spacy_cascade.systems.nested.sequences import Labels


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = nested_pipeline()
    nlp.initialize(lambda: nested_examples(nlp))
    return nlp


def passes(nlp: Language, examples: list[Example]) -> Passes:
    levels: Any = nlp.get_pipe(LEVELS)
    gold = [levels.gold.read(example) for example in examples]
    tokens = read_examples(levels, examples)
    return passes_over(levels, tokens, gold, levels._numbered)


def rows(found: Passes, nlp: Language) -> list[tuple[str, list[str]]]:
    """Words of each sequence, and of the spans that are to be found in it."""
    words = [nlp.vocab.strings[word] for word in found.tokens.words.tolist()]
    starts = found.tokens.sequence_starts.tolist()
    spans = list(zip(found.spans.start.tolist(), found.spans.end.tolist(), strict=True))
    return [
        (" ".join(words[b:e]), [" ".join(words[s:x]) for s, x in spans if b <= s and x <= e])
        for b, e in pairwise(starts)
    ]


def test_each_pass_has_the_level_above_the_last(nlp: Language) -> None:
    mayor, spain = NESTED[0][0], NESTED[2][0]
    found = passes(nlp, nested_examples(nlp)[:4])
    assert rows(found, nlp) == [
        (mayor, ["the town of Oslo"]),
        (NESTED[1][0], ["the Bank of England"]),
        (spain, ["the king of Spain"]),
        # A sentence without spans is in no pass.
        (mayor, ["The mayor of the town of Oslo"]),
        (NESTED[1][0], ["The governor of the Bank of England"]),
        (spain, []),
    ]
    assert found.observed.all()
    below = found.tokens.groups["cascade"].spans
    assert len(below.start) == 2 + 1 + 2 + 3 + 2 + 3


def test_spans_of_a_model_below_leave_what_they_cross_open(nlp: Language) -> None:
    """Jackknifed spans are on the predicted Doc; gold spans that cross them are not learnt."""
    text, spans = NESTED[0]
    example = make_example(nlp, text, spans, "gold")
    example.predicted.spans["cascade"] = [Span(example.predicted, 2, 5, "ENT")]
    found = passes(nlp, [example])
    assert rows(found, nlp) == [(text, [])]
    assert found.observed.tolist() == [True] * 3 + [False] * 4 + [True] * 3
    # Other sentences go on to their next level.
    (other,) = make_examples(nlp, [NESTED[1]], "gold")
    assert rows(passes(nlp, [example, other]), nlp) == [
        (text, []),
        (NESTED[1][0], ["the Bank of England"]),
        (NESTED[1][0], ["The governor of the Bank of England"]),
    ]


def test_there_are_as_many_passes_as_levels(nlp: Language) -> None:
    (spain,) = make_examples(nlp, [NESTED[2]], "gold")
    assert rows(passes(nlp, [spain]), nlp) == [(NESTED[2][0], ["the king of Spain"])]


def test_a_corpus_without_spans_has_one_empty_pass(nlp: Language) -> None:
    found = passes(nlp, [make_example(nlp, NESTED[3][0], [], "gold")])
    assert not len(found.tokens.words)
    assert not len(found.spans.start)


def test_spans_below_may_come_from_a_ruler() -> None:
    nlp = blank()
    ruler: Any = nlp.add_pipe("span_ruler", config={"spans_key": "cascade"})
    ruler.add_patterns([{"label": "ENT", "pattern": word} for word in ("Oslo", "Spain", "England")])
    nlp.add_pipe(LEVELS, config={"gold_key": "gold", "model": {"min_count": 1}})
    examples = nested_examples(nlp)[:3]
    # nlp.initialize would take the patterns of the ruler off.
    nlp.get_pipe(LEVELS).initialize(lambda: examples, nlp=nlp)  # type: ignore[attr-defined]
    for _ in range(4):
        nlp.update(examples)
    doc = nlp(make_doc(nlp.vocab, NESTED[0][0]))
    assert [span.text for span in doc.spans["cascade"]] == [
        "The mayor of the town of Oslo", "the town of Oslo", "Oslo",
    ]  # fmt: skip


def test_labels_are_known_by_their_numbers(nlp: Language) -> None:
    levels: Any = nlp.get_pipe(LEVELS)
    assert isinstance(levels._numbered, Labels)
    assert levels._numbered.texts == ("ENT",)
    assert add_segmenter(blank()).finders[0].name == "cascade_segmenter"
