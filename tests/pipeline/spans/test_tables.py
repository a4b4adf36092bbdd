"""Spans as tables: groups that make their Spans late, and entities written as arrays."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.util import filter_spans

from helpers import blank
from spacy_cascade.pipeline.spans.entities import write_entities
from spacy_cascade.pipeline.spans.groups import LastingGroup, size_of, table_of_group
from spacy_cascade.pipeline.spans.placing import longest_disjoint
from spacy_cascade.pipeline.spans.tables import (
    SpanKeys,
    SpanTable,
    find_spans,
    join_tables,
    new_table,
    new_tables,
    split_table,
    table_of,
)

_NLP = blank()
_WORDS = ["Ab", "binds", "the", "IL-2", "gene", "in", "T", "cells"]
_ALL = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]


def _doc() -> Doc:
    return Doc(_NLP.vocab, words=_WORDS)


def _table(doc: Doc, *rows: tuple[int, int, str]) -> SpanTable:
    return table_of([Span(doc, *row) for row in rows])


def _triples(table: SpanTable) -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in table.keys), strict=True))


def _group(doc: Doc) -> LastingGroup:
    table = _table(doc, (3, 5, "DNA"), (6, 8, "CELL"))
    return LastingGroup(doc, name="found", table=table, attrs={"scores": np.array([0.5, 0.25])})


def _labelled_part(doc: Doc) -> LastingGroup:
    """The same spans, as those of a larger table that got their labels later."""
    table = _table(doc, (0, 1, "PROTEIN"), (3, 5, ""), (6, 8, "DNA"), (7, 8, "CELL"))
    attrs = {"scores": np.array([0.5, 0.25])}
    group = LastingGroup(doc, name="found", table=table, attrs=attrs, part=slice(1, 3))
    assert group.relabel(_table(doc, (3, 5, "DNA"), (6, 8, "CELL")).label)
    return group


def _rows(spans: object) -> list[tuple[str, str, int, int]]:
    return [(s.text, s.label_, s.start_char, s.end_char) for s in spans]  # type: ignore[attr-defined]


_EXPECTED = [("IL-2 gene", "DNA", 13, 22), ("T cells", "CELL", 26, 33)]


def _joined(group: SpanGroup) -> object:
    other = SpanGroup(group.doc, name="other", spans=[group.doc[0:1]])
    other.extend(group)
    return list(other)[1:]


@pytest.mark.parametrize(
    "read",
    [
        list,
        lambda group: [group[0], group[-1]],
        lambda group: [group[i] for i in range(len(group))],
        lambda group: group.copy(),
        lambda group: SpanGroup(group.doc).from_bytes(group.to_bytes()),
        lambda group: group + SpanGroup(group.doc, name="empty"),
        _joined,
    ],
)
@pytest.mark.parametrize("make", [_group, _labelled_part])
def test_a_group_has_its_spans_whoever_asks(
    make: Callable[[Doc], LastingGroup], read: object
) -> None:
    doc = _doc()
    group = doc.spans["found"] = make(doc)
    assert group.n_spans == SpanGroup.__len__(group) + 2 == 2
    assert _rows(read(group)) == _EXPECTED  # type: ignore[operator]
    assert _rows(group) == _EXPECTED
    assert group.attrs["scores"].tolist() == [0.5, 0.25]
    assert not group.has_overlap


def test_spans_that_another_thread_makes_meanwhile_are_not_doubled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group, take, made = _labelled_part(doc := _doc()), SpanTable.take, list[Span]()

    def take_late(table: SpanTable, chosen: slice) -> SpanTable:
        if not made:
            made.append(Span(doc, 0, 1))
            made[:] = group
        return take(table, chosen)

    monkeypatch.setattr(SpanTable, "take", take_late)
    assert _rows(group.table.spans(doc)) == _EXPECTED
    assert _rows(made) == _rows(group) == _EXPECTED


def test_a_group_can_be_changed() -> None:
    doc = _doc()
    group = _group(doc)
    group.append(Span(doc, 0, 1, "PROTEIN"))
    group[1] = Span(doc, 1, 2, "VERB")
    group += [Span(doc, 2, 3, "DET")]
    assert [s.text for s in group] == ["IL-2 gene", "binds", "Ab", "the"]
    assert _triples(table_of_group(group)) == [(s.start, s.end, s.label) for s in group]


def _append(group: SpanGroup) -> None:
    group.append(group.doc[0:1])


def _exchange(group: SpanGroup) -> None:
    group[1] = group.doc[0:1]


def _take_out(group: SpanGroup) -> None:
    del group[-2]


def _extend(group: SpanGroup) -> None:
    group += [group.doc[0:1]]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_append, ["IL-2 gene", "T cells", "Ab"]),
        (_exchange, ["IL-2 gene", "Ab"]),
        (_take_out, ["T cells"]),
        (_extend, ["IL-2 gene", "T cells", "Ab"]),
    ],
)
def test_a_group_knows_whether_it_is_as_it_was_written(
    change: Callable[[SpanGroup], None], expected: list[str]
) -> None:
    doc = _doc()
    group = _group(doc)
    joined = group + SpanGroup(doc, spans=[doc[0:1]])
    assert (len(joined), joined.is_as_written, group.is_as_written) == (3, False, True)
    assert group.copy().is_as_written
    change(group)
    assert [s.text for s in group] == expected
    assert not group.is_as_written
    assert not group.copy().is_as_written
    assert (group.name, list(group.attrs)) == ("found", ["scores"])
    again = _group(doc).from_bytes(group.to_bytes())
    assert [s.text for s in again] == expected
    assert not again.is_as_written


def test_copies_on_the_same_tokens_are_alike_and_others_are_spacy_s() -> None:
    doc = _doc()
    group = _group(doc)
    twin = _doc()
    copied = group.copy(twin)
    assert (type(copied), copied.name, _rows(copied)) == (LastingGroup, "found", _EXPECTED)
    copied.attrs["scores"][0] = 7.0
    assert group.attrs["scores"].tolist() == [0.5, 0.25]
    others = [Doc(blank().vocab, words=_WORDS), Doc(_NLP.vocab, words=[*_WORDS, "more"])]
    for other in others:
        plain = group.copy(other)
        assert type(plain) is SpanGroup
        assert _rows(plain) == _EXPECTED
    spaces = [False, *[True] * 6, False]
    for other in (Doc(_NLP.vocab, _WORDS, spaces), Doc(_NLP.vocab, [*_WORDS[:-1], "cell"])):
        with pytest.raises(ValueError, match="E1052"):
            group.copy(other)


def test_spans_are_made_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    doc = _doc()
    group = _group(doc)
    assert group.table.n_spans == size_of(group) == SpanGroup.__len__(group) + 2 == 2
    assert len(group) == SpanGroup.__len__(group) == 2


def test_spans_keep_what_spacy_keeps_of_them() -> None:
    doc = _doc()
    spans = [
        Span(doc, 3, 5, "DNA", kb_id="Q7187", span_id="S1"),
        Span(doc, 2, 2, "GAP", kb_id="Q1"),
        Span(doc, 6, 8, span_id="S2"),
    ]
    group = LastingGroup(doc, name="found", table=table_of(spans), attrs={})
    for made, span in zip(group, spans, strict=True):
        assert (made.start, made.end, made.label_) == (span.start, span.end, span.label_)
        assert (made.kb_id_, made.id_) == (span.kb_id_, span.id_)


def test_a_group_has_a_length_without_its_doc() -> None:
    assert len(_group(_doc())) == 2


def test_merged_tokens_before_and_after_spans_were_made() -> None:
    for look_before in (False, True):
        doc = _doc()
        group = doc.spans["found"] = _group(doc)
        if look_before:
            assert len(list(group)) == 2
        assert not group.is_renumbered
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[3:5])
            retokenizer.merge(doc[0:2])
        assert group.n_spans == size_of(group) == len(group) == 2
        assert [s.text for s in group] == ["IL-2 gene", "T cells"]
        assert (group.name, group.attrs["scores"].tolist()) == ("found", [0.5, 0.25])
        assert group.is_renumbered
        assert group.is_as_written
        assert _triples(group.table) == [(s.start, s.end, s.label) for s in group]
        copied = next(DocBin(docs=[doc]).get_docs(_NLP.vocab)) if look_before else doc.copy()
        assert [s.text for s in copied.spans["found"]] == ["IL-2 gene", "T cells"]


def test_an_empty_span_has_the_token_at_its_place_after_a_merge() -> None:
    doc = _doc()
    table = _table(doc, (1, 1, "GAP"), (3, 3, "GAP"), (6, 8, "CELL"))
    group = LastingGroup(doc, name="found", table=table, attrs={})
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    assert [row[:2] for row in _triples(group.table)] == [(1, 2), (2, 3), (5, 7)]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), max_size=5))
@example([])
@example([(0, 1), (2, 2), (3, 3)])
@example([(2, 1), (3, 2), (0, 1), (4, 3)])
@example([(1, 2), (0, 2)])
@example([(0, 3), (0, 2), (3, 3), (5, 3)])
def test_the_longest_spans_stay_as_spacy_chooses_them(rows: list[tuple[int, int]]) -> None:
    doc = _doc()
    spans = [Span(doc, start, start + length, str(i)) for i, (start, length) in enumerate(rows)]
    chosen = longest_disjoint(*_keys([(s.start, s.end, 0) for s in spans])[:2])
    assert [spans[i].label_ for i in chosen] == [s.label_ for s in filter_spans(spans)]


def test_tables_of_several_docs() -> None:
    docs = [_doc(), Doc(_NLP.vocab), _doc()]
    rows = [(0, 1), (6, 8), (3, 5)]
    start, end = (np.array(column) for column in zip(*rows, strict=True))
    label = np.array([7, 8, 9], dtype=np.uint64)
    tables = new_tables(docs, [2, 0, 1], start, end, label)
    expected = [[Span(docs[0], 0, 1, 7), Span(docs[0], 6, 8, 8)], [], [Span(docs[2], 3, 5, 9)]]
    for table, spans, doc in zip(tables, expected, docs, strict=True):
        assert all((a == b).all() for a, b in zip(table, table_of(spans), strict=True))
        assert table.spans(doc) == spans
    again = split_table(join_tables(tables), [2, 0, 1])
    assert list(map(_triples, again)) == list(map(_triples, tables))
    assert join_tables([]).n_spans == 0
    assert new_table(docs[1], start[:0], end[:0], label[:0]).n_spans == 0


def _spans(draw: st.DrawFn, doc: Doc, n: int, shortest: int = 1) -> list[Span]:
    found = []
    for _ in range(n):
        start = draw(st.integers(0, len(doc) - 1))
        end = draw(st.integers(start + shortest, min(start + 3, len(doc))))
        label, kb_id = draw(st.sampled_from("XYZ")), draw(st.sampled_from(["", "Q1"]))
        found.append(Span(doc, start, end, label, kb_id=kb_id))
    return found


def _best(spans: list[Span], gains: list[int]) -> list[Span]:
    """Of all ways to choose spans that do not overlap, the one with the largest sum of gains."""

    def fit(chosen: tuple[int, ...]) -> bool:
        tokens = [i for n in chosen for i in range(spans[n].start, spans[n].end)]
        return len(tokens) == len(set(tokens))

    ways = [way for n in range(len(spans) + 1) for way in combinations(range(len(spans)), n)]
    best = max(filter(fit, ways), key=lambda way: sum(gains[n] for n in way))
    return [spans[n] for n in best]


@settings(max_examples=50)
@given(data=st.data())
def test_entities_are_what_set_ents_makes_them(data: st.DataObject) -> None:
    """Earlier entities and blocked tokens stay, and all other tokens are outside.

    Of spans that overlap the longest ones are kept, or those with the largest sum of gains.
    """
    fast, slow = _doc(), _doc()
    draw = data.draw
    earlier = filter_spans(_spans(draw, fast, draw(st.integers(0, 2))))
    blocked = filter_spans(_spans(draw, fast, draw(st.integers(0, 1))))
    new = _spans(draw, fast, draw(st.integers(0, 4)), shortest=0)
    gains = draw(st.permutations([1, 2, 4, 8]).map(lambda p: p[: len(new)]) | st.none())
    default = draw(st.sampled_from(["outside", "missing"]))
    for doc in (fast, slow):
        free = [s for s in blocked if not any(s.start < e.end and e.start < s.end for e in earlier)]
        doc.set_ents(
            [Span(doc, s.start, s.end, s.label, kb_id=s.kb_id) for s in earlier],
            blocked=[doc[s.start : s.end] for s in free],
            default=default,
        )
    write_entities(fast, table_of(new), gains=None if gains is None else np.array(gains, float))
    iob = slow.to_array(ENT_IOB)
    taken = np.isin(iob, (1, 3))
    fitting = [i for i, s in enumerate(new) if len(s) and not taken[s.start : s.end].any()]
    own = [Span(slow, new[i].start, new[i].end, new[i].label, kb_id=new[i].kb_id) for i in fitting]
    kept = filter_spans(own) if gains is None else _best(own, [gains[i] for i in fitting])
    slow.set_ents(kept, default="unmodified")
    slow.set_ents(
        [], outside=[slow[t.i : t.i + 1] for t in slow if t.ent_iob == 0], default="unmodified"
    )
    assert fast.to_array(_ALL).tolist() == slow.to_array(_ALL).tolist()


@pytest.mark.parametrize("attribute", [ENT_TYPE, ENT_KB_ID, ENT_ID])
def test_what_tokens_say_without_entities_stays_outside_the_new_ones(attribute: int) -> None:
    """As an import of columns may leave them."""
    doc = _doc()
    doc.from_array([attribute], np.full((len(doc), 1), 7, dtype=np.uint64))
    new = Span(doc, 1, 3, "GENE")
    write_entities(doc, table_of([new]))
    expected = [7] * len(doc)
    expected[1:3] = [new.label if attribute == ENT_TYPE else 0] * 2
    assert doc.to_array(attribute).tolist() == expected


def test_without_spans_every_token_is_outside() -> None:
    doc = _doc()
    write_entities(doc, table_of([]))
    assert {token.ent_iob_ for token in doc} == {"O"}


_KEYS = st.lists(
    st.tuples(*[st.integers(0, 3)] * 2, st.sampled_from([0, 7, 2**64 - 1])), max_size=9
)


def _keys(rows: list[tuple[int, int, int]]) -> SpanKeys:
    start, end, label = zip(*rows, strict=True) if rows else ((), (), ())
    bounds = (np.array(column, dtype=np.int64) for column in (start, end))
    return SpanKeys(*bounds, np.array(label, dtype=np.uint64))


@settings(max_examples=50)
@given(_KEYS, _KEYS)
def test_spans_are_found_by_start_end_and_label(spans, others):
    place = {key: i for i, key in enumerate(others)}
    assert find_spans(_keys(spans), _keys(others)).tolist() == [place.get(key, -1) for key in spans]
