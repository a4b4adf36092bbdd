"""Annotation that is missing, contradicts itself, or says what a span is not; empty Docs.

Nothing is learnt from nothing without a word, and evaluation scores what can be scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import blank
from spacy_cascade import TrainingError

Spans = Sequence[tuple[int, int, str]]

SMALL: dict[str, Any] = {"model": {"min_count": 1}}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "segmenter": ("cascade_segmenter", {}),
    "typed segmenter": ("cascade_segmenter", {"typed": True}),
    "classifier": ("cascade_classifier", {}),
    "tagger": ("cascade_tagger", {}),
}
SPAN_LEARNERS = [kind for kind in KINDS if kind != "tagger"]
WORDS = [("Anna", "saw", "Oslo"), ("Tom", "saw", "Lima"), ("Eva", "left", "Rome")]
GOLD: Spans = [(0, 1, "PER"), (2, 3, "LOC")]


def alone(kind: str, **settings: Any) -> tuple[Language, Any]:
    factory, further = KINDS[kind]
    nlp = blank()
    return nlp, nlp.add_pipe(factory, config={**SMALL, **further, **settings})


def example(
    nlp: Language, words: Sequence[str], spans: Spans | None = None, key: str | None = None
) -> Example:
    """spans: None where nobody has annotated. key: of the group that they are in."""
    reference = Doc(nlp.vocab, words=list(words))
    if spans is not None:
        made = [Span(reference, *span) for span in spans]
        if key is None:
            reference.set_ents(made, default="outside")
        else:
            reference.spans[key] = made
    return Example(Doc(nlp.vocab, words=list(words)), reference)


def annotated(nlp: Language, spans: Spans | None = GOLD, key: str | None = None) -> list[Example]:
    return [example(nlp, words, spans, key) for words in WORDS]


def learn(nlp: Language, examples: list[Example], updates: int = 2) -> None:
    nlp.initialize(lambda: examples)
    for _ in range(updates):
        nlp.update(examples)


def entities(nlp: Language, words: Sequence[str]) -> list[tuple[int, int, str]]:
    doc = nlp(Doc(nlp.vocab, words=list(words)))
    return [(entity.start, entity.end, entity.label_) for entity in doc.ents]


# No annotation


@pytest.mark.parametrize("kind", KINDS)
def test_a_corpus_without_any_annotation_is_an_error(kind: str) -> None:
    nlp, component = alone(kind)
    with pytest.raises(TrainingError, match=rf"'{component.name}' found no .* in 3 examples"):
        nlp.initialize(lambda: annotated(nlp, None))


@pytest.mark.parametrize(
    ("key", "mend"), [(None, r"doc.ents .*doc\.set_ents\(\[\]\)"), ("gold", r"doc.spans\['gold'\]")]
)
@pytest.mark.parametrize("kind", SPAN_LEARNERS)
def test_the_error_says_how_to_annotate_nothing(kind: str, key: str | None, mend: str) -> None:
    nlp, _ = alone(kind, gold_key=key)
    empty = example(nlp, [])
    for examples in (annotated(nlp, None), [*annotated(nlp, None), empty]):
        with pytest.raises(TrainingError, match=f"nothing in {mend}"):
            nlp.initialize(lambda examples=examples: examples)


@pytest.mark.parametrize("key", [None, "gold"])
def test_a_corpus_annotated_as_without_entities_is_learnt(key: str | None) -> None:
    nlp, _ = alone("segmenter", gold_key=key, set_ents=True)
    learn(nlp, annotated(nlp, [], key))
    assert entities(nlp, WORDS[0]) == []


def test_some_examples_without_annotation_teach_nothing_wrong() -> None:
    nlp, _ = alone("typed segmenter", set_ents=True)
    learn(nlp, [*annotated(nlp), example(nlp, ("Oslo", "saw", "Anna"))])
    assert entities(nlp, WORDS[0]) == list(GOLD)


def test_the_placeholder_of_spacy_is_no_corpus_without_annotation() -> None:
    """`nlp.initialize()` makes up an example, for a loop that has its own."""
    nlp, segmenter = alone("segmenter")
    segmenter.add_label("PER")
    nlp.initialize()
    assert segmenter.labels == ("ENT",)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_corpus_is_an_error_about_examples(kind: str) -> None:
    """A call in Python knows nothing of `[corpora.train]`."""
    nlp, component = alone(kind)
    with pytest.raises(TrainingError, match=f"'{component.name}' got no examples") as caught:
        nlp.initialize(list)
    assert "corpora" not in str(caught.value)


@pytest.mark.parametrize("kind", ["typed segmenter", "classifier", "tagger"])
def test_no_labels_are_an_error_about_examples(kind: str) -> None:
    nlp, component = alone(kind)
    with pytest.raises(TrainingError, match=f"'{component.name}' found no .*references") as caught:
        nlp.initialize(lambda: annotated(nlp, []))
    assert "corpora" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_docs_among_others(kind: str) -> None:
    nlp, component = alone(kind)
    examples = [example(nlp, []), *annotated(nlp), example(nlp, [], [])]
    for each in examples:
        for token in each.reference:
            token.tag_ = "X"
    learn(nlp, examples)
    assert len(nlp("")) == 0
    assert component.labels
    assert nlp.evaluate(examples[:1])["speed"] >= 0


# Overlapping gold spans


OVERLAPPING: Spans = [(0, 1, "PER"), (0, 3, "LOC"), (2, 3, "LOC")]


@pytest.mark.parametrize("kind", SPAN_LEARNERS)
def test_overlapping_gold_spans_are_scored_and_chains_do_not_learn_them(kind: str) -> None:
    nlp = blank()
    if kind == "classifier":
        nlp.add_pipe("cascade_segmenter", config={**SMALL, "gold_key": "gold"})
    factory, further = KINDS[kind]
    component = nlp.add_pipe(factory, config={**SMALL, **further, "gold_key": "gold"})
    learn(nlp, annotated(nlp, key="gold"))
    overlapping = annotated(nlp, OVERLAPPING, key="gold")
    scores = nlp.evaluate(overlapping)
    component.score(overlapping)
    name = "spans_cascade" if kind == "classifier" else "segments"
    assert (scores[f"{name}_p"], scores[f"{name}_r"]) == (1.0, pytest.approx(2 / 3))
    assert component.outcomes([judged_example(nlp, each) for each in overlapping]).right.all()
    if kind == "classifier":  # it learns types of any spans
        component.initialize(lambda: overlapping, nlp=nlp)
        return
    with pytest.raises(TrainingError, match=r"doc.spans\['gold'\] overlap: 'Anna' .*'Anna saw Os"):
        component.initialize(lambda: overlapping, nlp=nlp)


def judged_example(nlp: Language, given: Example) -> Example:
    return Example(nlp(given.predicted.copy()), given.reference)


def test_two_labels_of_the_same_bounds_are_both_gold() -> None:
    nlp = blank()
    for factory in ("cascade_segmenter", "cascade_classifier"):
        nlp.add_pipe(factory, config={**SMALL, "gold_key": "gold"})
    learn(nlp, annotated(nlp, key="gold"))
    both = annotated(nlp, [(0, 1, "PER"), (0, 1, "NAME"), (2, 3, "LOC")], key="gold")
    scores = nlp.evaluate(both)
    assert scores["segments_f"] == 1.0
    assert scores["types_acc"] == pytest.approx(2 / 3)
    judged = [judged_example(nlp, each) for each in both]
    assert nlp.get_pipe("cascade_classifier").outcomes(judged).right.all()


# Negative annotation: `!PER` says that a span is no PER


NEGATIVE: Spans = [(0, 1, "PER"), (2, 3, "!PER")]


@pytest.mark.parametrize("key", [None, "gold"])
@pytest.mark.parametrize("kind", SPAN_LEARNERS)
def test_negative_labels_are_never_learnt(kind: str, key: str | None) -> None:
    nlp, component = alone(kind, gold_key=key)
    learn(nlp, annotated(nlp, NEGATIVE, key))
    assert component.labels == (("ENT",) if kind == "segmenter" else ("PER",))
    assert component.add_label("!PER") == 0
    nlp.update(annotated(nlp, [(2, 3, "!ORG")], key))
    assert not any("!" in label for label in component.labels)


@pytest.mark.parametrize("key", [None, "gold"])
def test_tokens_of_a_negative_label_may_be_anything_else(key: str | None) -> None:
    """They are neither this entity nor outside: what another example says of them is learnt."""
    nlp, segmenter = alone("typed segmenter", gold_key=key, set_ents=True)
    examples = [*annotated(nlp, NEGATIVE, key), example(nlp, WORDS[0], GOLD, key)]
    learn(nlp, examples, updates=4)
    assert entities(nlp, WORDS[0]) == list(GOLD)
    gold = segmenter.gold.read(examples[0])
    assert (gold.spans, gold.observed.tolist()) == ([(0, 1, "PER")], [True, True, False])


def test_a_span_that_is_something_and_is_not_something_else_is_learnt() -> None:
    nlp, segmenter = alone("typed segmenter", gold_key="gold")
    spans = [(0, 1, "PER"), (0, 1, "!ORG"), (0, 2, "!PER")]
    gold = segmenter.gold.read(example(nlp, WORDS[0], spans, "gold"))
    assert (gold.spans, gold.observed.tolist()) == ([(0, 1, "PER")], [True, False, True])


def test_only_negative_labels_teach_no_type() -> None:
    nlp, _ = alone("classifier")
    with pytest.raises(TrainingError, match="found no labelled gold span"):
        nlp.initialize(lambda: annotated(nlp, [(0, 1, "!PER")]))


@pytest.mark.parametrize("key", [None, "gold"])
def test_negative_labels_are_neither_missed_nor_wrong_in_scores(key: str | None) -> None:
    nlp = blank()
    for factory in ("cascade_segmenter", "cascade_classifier"):
        nlp.add_pipe(factory, config={**SMALL, "gold_key": key})
    learn(nlp, annotated(nlp, key=key))
    scores = nlp.evaluate(annotated(nlp, NEGATIVE, key))
    names = ["segments_f", "types_acc", "spans_cascade_f"] + ["ents_f"] * (key is None)
    assert {name: scores[name] for name in names} == dict.fromkeys(names, 1.0)
    assert "!PER" not in (scores["ents_per_type"] or {})


def test_a_tag_may_begin_with_an_exclamation_mark() -> None:
    nlp, tagger = alone("tagger")
    reference = Doc(nlp.vocab, words=["No", "!"], tags=["UH", "!"])
    learn(nlp, [Example(Doc(nlp.vocab, words=["No", "!"]), reference)])
    assert tagger.labels == ("!", "UH")
