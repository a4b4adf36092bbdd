"""What a component reads of examples: noticed when it changes; passes over parts of a corpus."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, POS, SENT_START, TAG
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import blank
from spacy_cascade.pipeline.examples import (
    Awaited,
    Change,
    Corpus,
    Parts,
    Reads,
    Seen,
    joint_sums,
    words_of,
)

NLP = blank()


def doc_of(text: str = "a b c") -> Doc:
    words = [*text.split(), "x", "y"]
    doc = Doc(NLP.vocab, words=words, tags=["N"] * len(words))
    doc.ents = [Span(doc, 0, 1, "X")]
    doc.spans["one"] = [Span(doc, 1, 2, "X")]
    doc.spans["other"] = []
    return doc


def example(text: str = "a b c") -> Example:
    return Example(doc_of(text), doc_of(text))


def tag(doc: Doc) -> None:
    doc[1].tag_ = "V"


def entity_type(doc: Doc) -> None:
    doc.ents = [Span(doc, 0, 1, "Y")]


def entity_bounds(doc: Doc) -> None:
    doc.ents = [Span(doc, 0, 1, "X"), Span(doc, 1, 2, "X")]


def longer_entity(doc: Doc) -> None:
    doc.ents = [Span(doc, 0, 2, "X")]


def span_start(doc: Doc) -> None:
    doc.spans["one"] = [Span(doc, 0, 2, "X")]


def span_end(doc: Doc) -> None:
    doc.spans["one"] = [Span(doc, 1, 3, "X")]


def span_type(doc: Doc) -> None:
    doc.spans["one"] = [Span(doc, 1, 2, "Y")]


def other_key(doc: Doc) -> None:
    doc.spans["third"] = doc.spans.pop("one")


CHANGES: list[Callable[[Doc], None]] = [
    tag, entity_type, entity_bounds, longer_entity, span_start, span_end, span_type, other_key,
]  # fmt: skip
OF_ENTITIES = {entity_type, entity_bounds, longer_entity}
OF_SPANS = {span_start, span_end, span_type}
NOTHING = Reads((), ())


@pytest.mark.parametrize(
    ("reads", "gold", "seen"),
    [
        (Reads((TAG,), (TAG,)), {tag}, {tag}),
        (Reads((ENT_IOB,), (ENT_TYPE,)), OF_ENTITIES - {entity_type}, OF_ENTITIES),
        (Reads((), (), ("one",)), OF_SPANS | {other_key}, set()),
        (Reads((TAG,), (), ("one", "absent")), OF_SPANS | {other_key, tag}, set()),
        (Reads((), (TAG,), (), None), set(), OF_SPANS | {other_key, tag}),
        (NOTHING, set(), set()),
    ],
)  # fmt: skip
def test_a_sum_changes_with_all_that_is_read_and_with_nothing_else(
    reads: Reads, gold: set[Any], seen: set[Any]
) -> None:
    (before,) = reads.sums([example()])
    assert reads.sums([example()]) == joint_sums([reads])([example()]) == [before]
    for change in CHANGES:
        for side, noticed in (("reference", gold), ("predicted", seen)):
            changed = example()
            change(getattr(changed, side))
            assert (reads.sums([changed]) != [before]) == (change in noticed), (change, side)
            both = joint_sums([NOTHING, reads])
            assert (both([changed]) != both([example()])) == (change in noticed)
            of_gold = reads.gold_sum(changed.reference) != reads.gold_sum(example().reference)
            assert of_gold == (side == "reference" and change in noticed)


@pytest.mark.parametrize("field", [None, "tags", "parts_of_speech", "lemmas"])
def test_what_templates_look_at_is_read(field: str | None) -> None:
    """Where they look at spans, those may come from any group or from entities."""
    tags = (TAG, POS) if field in {"tags", "parts_of_speech"} else ()
    space: Any = SimpleNamespace(reads=[] if field is None else [field], span_keys=[])
    assert Reads.of(space, (DEP,), ("one",)) == Reads((DEP, *tags), (SENT_START, *tags), ("one",))
    space.span_keys = ["other"]
    gold, seen = (DEP, *tags, ENT_IOB, ENT_TYPE), (SENT_START, *tags)
    assert Reads.of(space, (DEP,), ("one",)) == Reads(gold, seen, None, None)


def test_proposals_are_read_of_predicted_docs() -> None:
    reads = Reads((TAG,), (DEP,), (), ("one",))
    of_entities = Reads((TAG,), (DEP, ENT_IOB, ENT_TYPE), (), ("one",))
    assert reads.with_proposals(None) == of_entities
    assert reads.with_proposals("two") == Reads((TAG,), (DEP,), (), ("one", "two"))
    assert Reads((), (), (), None).with_proposals("two") == Reads((), (), (), None)


def test_an_order_of_groups_is_no_change() -> None:
    reads, one, other = Reads((), (), None, None), example(), example()
    other.reference.spans["one"] = other.reference.spans.pop("one")
    assert list(one.reference.spans) != list(other.reference.spans)
    assert reads.sums([one]) == reads.sums([other])


def test_what_there_is_to_encode_anew() -> None:
    reads = Reads((TAG,), (TAG,))
    made = [example("a b"), example("c d"), example("c d")]
    corpus = Corpus(made, reads.sums)
    assert len(corpus) == 3
    assert corpus.change(made[::-1]) is Change.NONE
    again = [example("c d"), example("a b"), example("c d")]
    assert corpus.change(again) is Change.NONE
    assert [id(doc) for doc in corpus.references] == [id(each.reference) for each in again]
    assert corpus.change(again[:2]) is Change.EXAMPLES
    assert corpus.change([*again[:2], example("a b")]) is Change.EXAMPLES
    tag(again[0].reference)
    assert corpus.change(again) is corpus.change(again[::-1]) is Change.ANNOTATION
    other = [example("c d"), example("a b"), example("c d")]
    tag(other[1].predicted)
    assert corpus.change(other) is Change.ANNOTATION
    assert Corpus().change([]) is Change.NONE
    assert Corpus().change(other) is Change.EXAMPLES


def test_what_is_new_to_an_online_trainer() -> None:
    seen, gold_sum = Seen(), Reads((TAG,), ()).gold_sum
    made = [example("a b"), example("c d"), example("a b")]
    assert seen.new(made, gold_sum) == made[:2]
    tag(made[0].reference)
    assert seen.new(made, gold_sum) == made[:1]
    assert seen.new(made, gold_sum) == []
    assert len(seen) == 3


def test_a_pass_ends_where_an_example_comes_again(caplog: pytest.LogCaptureFixture) -> None:
    made = [example(text) for text in "abc"]
    parts = Parts({words_of(each.reference): 9 for each in made})
    assert parts.collect(made[:2], 4, "it") == []
    assert parts.collect([made[2], made[1]], 4, "it") == made[:2]  # the same object
    parts = Parts()
    with caplog.at_level(logging.INFO, "spacy"):
        assert parts.collect(made[:2], 4, "it") == []
        assert parts.collect([made[2], example("b")], 4, "it") == made[:2]  # the same words
    assert [record.args for record in caplog.records] == [("it", 2, 4)]
    assert parts.collect(made, 3, "it") == made  # a whole corpus begins anew, too
    assert parts.collect(made[:2], 3, "it") == []
    assert parts.collect(made[2:], 3, "it") == made


def test_words_that_occur_twice_in_the_corpus_may_come_twice() -> None:
    texts = ("a", "a", "b", "c")
    made = [example(text) for text in texts]
    parts = Parts({words_of(made[0].reference): 2})
    assert parts.collect(made[:1], 4, "it") == []
    assert parts.collect(made[1:3], 4, "it") == []
    assert parts.collect([example("a")], 4, "it") == made[:3]
    parts = Parts({words_of(made[0].reference): 2})
    assert [len(parts.collect([each], 4, "it")) for each in made] == [0, 0, 0, 4]


def test_examples_that_are_awaited() -> None:
    awaited, made = Awaited(), [example(str(i)) for i in range(20)]
    assert not awaited.is_needed
    awaited.add(made)
    assert (awaited.is_needed, awaited.is_complete) == (True, False)
    awaited.add([example("0")])
    assert not awaited.is_complete
    awaited.add([example("1")])
    assert awaited.is_complete  # a tenth of them has come again
    assert awaited.examples[2:] == made[2:]
    assert awaited.examples[0] is not made[0]
    awaited.n_made = 11
    assert not awaited.is_needed
    awaited.n_made = 10
    assert (awaited.is_needed, awaited.is_complete) == (True, True)
    awaited.add([example("new"), example("0")])
    assert not awaited.is_complete
    awaited.n_made = 21
    awaited.add([example(str(i)) for i in range(5)])
    assert not awaited.is_complete
