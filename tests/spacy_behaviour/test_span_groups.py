"""A confidence belongs to its span, whatever becomes of the group: spans exchanged, Docs joined.

A span has its own number or none; never that of another span, nor one of ours where another
component has set the entity.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup

from helpers import (
    SENTENCES,
    TEXTS,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    cascade,
    make_doc,
    make_examples,
    train,
    trained_cascade,
)
from spacy_cascade.pipeline.spans.confidences import confidence_of, confidences_of, key_of
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.tables import table_of

KEY = "cascade"
UNSURE = {"temperature": 3.0}


@pytest.fixture(scope="module")
def nlp() -> Language:
    """Its confidences differ from span to span; only for prediction."""
    return trained_cascade(UNSURE, UNSURE)


@pytest.fixture(scope="module")
def without_ents() -> Language:
    """A pipeline that leaves entities to others."""
    return trained_cascade(UNSURE, {**UNSURE, "set_ents": False})


@pytest.fixture
def doc(nlp: Language) -> Doc:
    return nlp(make_doc(nlp.vocab, TEXTS[0]))


def same(doc: Doc) -> Doc:
    return doc


def copied(doc: Doc) -> Doc:
    return doc.copy()


def through_bytes(doc: Doc) -> Doc:
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def through_doc_bin(doc: Doc) -> Doc:
    (stored,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(doc.vocab)
    return stored


WAYS: list[Callable[[Doc], Doc]] = [same, copied, through_bytes, through_doc_bin]


def numbers(doc: Doc) -> dict[str, float | None]:
    return {entity.text: entity._.confidence for entity in doc.ents}


def own_numbers(doc: Doc) -> dict[str, float]:
    """By the places of the spans, in a group that nobody has changed."""
    group = doc.spans[KEY]
    found = dict(zip([span.text for span in group], group.attrs["scores"], strict=True))
    assert len(set(found.values())) == len(found) == 3
    return found


# Spans that change places


@pytest.mark.parametrize("is_read_before", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_spans_that_are_exchanged_keep_their_numbers(
    doc: Doc, way: Callable[[Doc], Doc], is_read_before: bool
) -> None:
    expected = own_numbers(doc)
    doc = way(doc)
    if is_read_before:
        assert numbers(doc) == expected
    group = doc.spans[KEY]
    group[0], group[1] = group[1], group[0]
    assert numbers(doc) == expected
    assert {span.text: span._.confidence for span in group} == expected
    assert numbers(copied(doc)) == numbers(through_doc_bin(doc)) == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_span_that_is_added_has_no_number(doc: Doc, way: Callable[[Doc], Doc]) -> None:
    expected = own_numbers(doc)
    doc = way(doc)
    group, new = doc.spans[KEY], Span(doc, 0, 1, "protein")
    group.append(new)
    assert group[3]._.confidence is None
    group[0] = new
    assert group[0]._.confidence is None
    doc.ents = [*doc.ents, new]
    assert numbers(doc) == {"The": None, **expected}


@pytest.mark.parametrize("i", [3, -4])
def test_a_span_that_is_not_there_is_not_taken_out(doc: Doc, i: int) -> None:
    with pytest.raises(IndexError, match="E856"):
        del doc.spans[KEY][i]
    assert len(doc.spans[KEY]) == 3


@settings(max_examples=30)
@given(edits=st.lists(st.tuples(st.sampled_from("xda"), st.integers(0, 9), st.integers(0, 9))))
def test_whatever_is_done_to_a_group(edits: list[tuple[str, int, int]]) -> None:
    """x: exchange two spans; d: take one out; a: add one."""
    doc = Doc(blank().vocab, words=[*"abcdefgh"])
    spans = [Span(doc, i, i + 2, "A") for i in range(5)]
    write_group(doc, KEY, table_of(spans), np.linspace(0.1, 0.5, 5))
    expected = dict(zip(map(key_of, spans), np.linspace(0.1, 0.5, 5).tolist(), strict=True))
    group = doc.spans[KEY]
    for kind, i, j in edits:
        if kind == "a":
            group.append(Span(doc, i % 8, 8, "B"))
        elif len(group):
            i, j = i % len(group), j % len(group)
            if kind == "x":
                group[i], group[j] = group[j], group[i]
            else:
                del group[i]
        assert [confidence_of(span) for span in group] == [expected.get(key_of(s)) for s in group]
        assert [confidence_of(span) for span in spans] == list(expected.values())


def test_joined_groups(doc: Doc) -> None:
    expected, group = own_numbers(doc), doc.spans[KEY]
    other = SpanGroup(doc, name="other", spans=[Span(doc, 0, 1, "B")])
    for joined in (group + other, other + group):
        assert len(joined) == 4
    assert len(group) == 3
    group += other
    assert len(group) == 4
    assert [span._.confidence for span in group] == [*expected.values(), None]


def test_scores_that_somebody_sets_anew(doc: Doc) -> None:
    """They belong to the spans as they stand then."""
    group = doc.spans[KEY]
    texts = [span.text for span in group]
    group.attrs["scores"] = [0.25, 0.5, 0.75]
    assert numbers(doc) == dict(zip(texts, [0.25, 0.5, 0.75], strict=True))


def test_spancat_keeps_its_places(doc: Doc) -> None:
    """A group of another component has no record: its scores are read by place."""
    spans = [Span(doc, i, i + 1, "SC") for i in range(3)]
    group = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": [0.1, 0.2, 0.3]})
    doc.spans["sc"] = group
    assert [span._.confidence for span in spans] == [0.1, 0.2, 0.3]
    doc.spans["sc"][0], doc.spans["sc"][1] = spans[1], spans[0]
    assert [span._.confidence for span in spans] == [0.2, 0.1, 0.3]
    doc.spans["sc"].append(Span(doc, 3, 4, "SC"))
    assert [span._.confidence for span in doc.spans["sc"]] == [0.1, 0.2, 0.3, None]


def test_the_classifier_multiplies_with_the_number_of_the_span() -> None:
    nlp = trained_cascade(UNSURE, UNSURE)
    segmenter, classifier = (pipe for _, pipe in nlp.pipeline)
    expected = own_numbers(nlp(make_doc(nlp.vocab, TEXTS[0])))
    doc = segmenter(make_doc(nlp.vocab, TEXTS[0]))
    group = doc.spans[KEY]
    group[0], group[2] = group[2], group[0]
    assert numbers(classifier(doc)) == pytest.approx(expected)


# Entities of others


def set_the_same_entities(doc: Doc) -> Doc:
    """A language model that finds what the cascade finds."""
    spans = dict(SENTENCES)[doc.text.strip()]
    taken = {token.i for entity in doc.ents for token in entity}
    new = [Span(doc, *span) for span in spans if span[0] not in taken]
    doc.set_ents([*doc.ents, *new])
    return doc


@pytest.mark.parametrize("way", WAYS)
def test_an_entity_that_was_there_has_no_number(nlp: Language, way: Callable[[Doc], Doc]) -> None:
    expected = own_numbers(nlp(make_doc(nlp.vocab, TEXTS[0])))
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.ents = [Span(doc, *SENTENCES[0][1][1])]
    doc = way(nlp(doc))
    assert bounds(doc.ents) == SENTENCES[0][1]
    assert numbers(doc) == {**expected, "STAT5": None}
    assert key_of(doc.ents[1]) not in confidences_of(doc)
    assert len(doc.spans[KEY].attrs["scores"]) == 3
    assert numbers(nlp(doc)) == {**expected, "STAT5": None}


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_without_set_ents_no_entity_has_a_number(
    way: Callable[[Doc], Doc], is_first: bool, without_ents: Language
) -> None:
    doc = make_doc(without_ents.vocab, TEXTS[0])
    for pipe in (set_the_same_entities, without_ents)[:: 1 if is_first else -1]:
        doc = pipe(doc)
    doc = way(doc)
    assert len(doc.ents) == 3
    assert list(numbers(doc).values()) == [None] * 3


def test_an_entity_ruler_before_and_after(nlp: Language) -> None:
    """After, it sets what was below the threshold of the classifier."""
    patterns = [{"label": "protein", "pattern": "STAT5"}]
    for is_first in (False, True):
        other = trained_cascade(UNSURE, {**UNSURE, "label_thresholds": {"protein": 1.0}})
        other.add_pipe("entity_ruler", first=is_first or None).add_patterns(patterns)  # type: ignore[attr-defined]
        doc = other(make_doc(other.vocab, TEXTS[0]))
        assert bounds(doc.ents) == SENTENCES[0][1]
        assert numbers(doc)["STAT5"] is None
        assert None not in (numbers(doc)["IL-2 gene"], numbers(doc)["T cells"])


def test_a_span_that_is_no_entity_has_a_number(without_ents: Language) -> None:
    doc = without_ents(make_doc(without_ents.vocab, TEXTS[0]))
    assert not doc.ents
    assert {span.text: span._.confidence for span in doc.spans[KEY]} == own_numbers(doc)


def test_what_the_classifier_types_is_its_own_and_the_rest_is_not() -> None:
    nlp = blank()
    add_classifier(nlp, spans_key=None, mention_labels=["MENTION"])
    train(nlp, make_examples(nlp))
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.ents = [Span(doc, 1, 3, "MENTION"), Span(doc, 4, 5, "OTHER")]
    typed, other = nlp(doc).ents
    assert typed.label_ == "DNA"
    assert 0 < typed._.confidence <= 1
    assert other._.confidence is None


def test_entities_that_are_set_again_keep_their_numbers(doc: Doc) -> None:
    expected = own_numbers(doc)
    doc.ents = [Span(doc, e.start, e.end, e.label_) for e in doc.ents]
    assert numbers(doc) == expected
    first, *others = doc.ents
    doc.ents = [Span(doc, first.start, first.end, "OTHER"), *others]
    assert numbers(doc) == {**expected, first.text: None}


# Docs that are joined and cut


def test_joined_docs_keep_all_numbers(nlp: Language) -> None:
    docs = [nlp(make_doc(nlp.vocab, text)) for text in [*TEXTS, "", TEXTS[0]]]
    expected = [(e.text, e._.confidence) for doc in docs for e in doc.ents]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        once = Doc.from_docs(docs)
        twice = Doc.from_docs([Doc.from_docs(docs[:3]), Doc.from_docs(docs[3:])])
    for joined in (once, twice, copied(once), through_bytes(once)):
        assert [(e.text, e._.confidence) for e in joined.ents] == expected
        assert [(s.text, s._.confidence) for s in joined.spans[KEY]] == expected
        assert len(confidences_of(joined)) == len(expected)


def test_joined_docs_keep_what_is_no_entity_and_whose_an_entity_is(without_ents: Language) -> None:
    docs = [without_ents(make_doc(without_ents.vocab, text)) for text in TEXTS[:2]]
    expected = [span._.confidence for doc in docs for span in doc.spans[KEY]]
    joined = Doc.from_docs(docs)
    assert [span._.confidence for span in joined.spans[KEY]] == expected
    joined.ents = list(joined.spans[KEY])[:1]
    assert joined.ents[0]._.confidence is None
    del joined.spans[KEY]
    assert confidences_of(joined) == {}


def test_a_part_of_a_doc_keeps_its_numbers(nlp: Language) -> None:
    """spaCy hands on what belongs to spans where it is asked for."""
    joined = Doc.from_docs([nlp(make_doc(nlp.vocab, text)) for text in TEXTS])
    second = len(TEXTS[0].split())
    part = joined[second:].as_doc(copy_user_data=True)
    expected = [e._.confidence for e in joined.ents if e.start >= second]
    assert [e._.confidence for e in part.ents] == expected
    assert None not in expected
    again = part[5:].as_doc(copy_user_data=True)
    assert [e._.confidence for e in again.ents] == expected[2:]


# Docs that are gone, and tokens that are merged


@pytest.mark.parametrize("is_read_before", [False, True])
def test_a_group_whose_doc_is_gone(nlp: Language, is_read_before: bool) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    group, data = doc.spans[KEY], doc.spans[KEY].to_bytes()
    if is_read_before:
        list(group)
    del doc
    gc.collect()
    assert len(group) == 3
    assert group.to_bytes() == data
    with pytest.raises(RuntimeError, match="E865"):
        list(group)


@pytest.mark.parametrize("is_read_before", [False, True])
def test_a_merge_that_swallows_spans(nlp: Language, is_read_before: bool) -> None:
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    expected = own_numbers(doc)
    if is_read_before:
        assert len(list(doc.spans[KEY])) == 3
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:5])
    copies = [doc, copied(doc), copied(copied(doc)), through_bytes(doc), through_doc_bin(doc)]
    for each in copies:
        assert [span.text for span in each.spans[KEY]][2] == "T cells"
        assert numbers(each)["T cells"] == expected["T cells"]
        assert [(s.start_char, s.end_char) for s in each.spans[KEY]] == [
            (s.start_char, s.end_char) for s in doc.spans[KEY]
        ]
    (found,) = nlp.pipe([copied(doc)])
    assert len(found) == len(doc)


def test_a_copy_of_a_group_on_other_tokens(doc: Doc, nlp: Language) -> None:
    """As spaCy copies it: by characters, and with an error where they do not fit."""
    words = TEXTS[0].split()
    coarse = Doc(nlp.vocab, words=["The IL-2", *words[2:]])
    with pytest.raises(ValueError, match="E1052"):
        doc.spans[KEY].copy(coarse)
    longer = Doc(blank().vocab, words=[*words, "And", "more"])
    assert bounds(doc.spans[KEY].copy(longer)) == bounds(doc.spans[KEY])


@pytest.mark.parametrize("has_reranker", [False, True])
def test_a_second_run_keeps_numbers_and_owners(has_reranker: bool) -> None:
    nlp = trained_cascade({**UNSURE, "n_best": 3}, UNSURE)
    if has_reranker:
        nlp.add_pipe("cascade_reranker")
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.ents = [Span(doc, *SENTENCES[0][1][0])]
    once = numbers(nlp(doc))
    assert [number is None for number in once.values()] == [True, False, False]
    assert numbers(nlp(doc)) == once
    assert numbers(nlp(through_doc_bin(doc))) == once


def test_an_entity_that_is_replaced_leaves_no_number() -> None:
    """The segmenter sets `ENT`, and the classifier another label in its place."""
    nlp = cascade({"set_ents": True}, {"spans_key": None})
    train(nlp, make_examples(nlp))
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    assert bounds(doc.ents) == SENTENCES[0][1]
    assert None not in numbers(doc).values()


def test_two_segmenters_under_two_keys() -> None:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True, spans_key="first", **UNSURE)
    train(nlp, make_examples(nlp))
    expected = numbers(nlp(make_doc(nlp.vocab, TEXTS[0])))
    other = blank()
    add_segmenter(other, typed=True, set_ents=True, spans_key="second", temperature=9.0)
    train(other, make_examples(other))
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    for _, pipe in other.pipeline:
        doc = pipe(doc)
    assert numbers(doc) == expected
