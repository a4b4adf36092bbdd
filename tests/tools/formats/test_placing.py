"""Spans of characters on tokens: what fits, what does not, and what is not annotated then."""

from __future__ import annotations

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Span

from spacy_cascade.pipeline.spans.parts import annotations_of, part_id
from spacy_cascade.tools.formats.discontinuous import Discontinuous
from spacy_cascade.tools.formats.placing import Misfit, Placed, place, text_of
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention, Pair

NLP = spacy.blank("en")
TEXT = "The IL-2-induced T cells"


def placed(
    *mentions: Mention,
    text: str = TEXT,
    discontinuous: Discontinuous = Discontinuous.DROP,
    **rest: object,
) -> Placed:
    made = AnnotatedText(text, mentions, **rest)  # type: ignore[arg-type]
    return place(made, NLP.make_doc, NLP.vocab, spans_key="sc", discontinuous=discontinuous)


def mention(start: int, end: int, label: str = "X", found: str = "") -> Mention:
    return Mention(((start, end),), label, found)


def unknown(found: Placed) -> list[str]:
    return [token.text for token in found.doc if token.ent_iob_ == ""]


@pytest.mark.parametrize(
    ("given_span", "misfit", "touched"),
    [
        (mention(5, 8), Misfit.CUTS, ["IL-2"]),
        (Mention(((0, 3), (17, 24)), "X"), Misfit.PARTS, ["The", "T", "cells"]),
        (mention(17, 24, found="B cells"), Misfit.DIFFERS, ["T", "cells"]),
        (mention(3, 4), Misfit.EMPTY, []),
        (mention(17, 24, "!X"), Misfit.NEGATIVE, ["T", "cells"]),
    ],
)
def test_a_span_that_is_no_entity_leaves_its_words_open(
    given_span: Mention, misfit: Misfit, touched: list[str]
) -> None:
    found = placed(given_span)
    (lost,) = found.lost
    assert (lost.misfit, lost.mention, lost.text.text) == (misfit, given_span, TEXT)
    assert unknown(found) == touched
    assert list(found.doc.ents) == []


def test_of_spans_that_overlap_the_longest_stays() -> None:
    found = placed(mention(4, 8), mention(17, 24, "Y"), mention(4, 18, "Z"))
    assert [(span.text, span.label_) for span in found.doc.ents] == [("IL-2-induced T", "Z")]
    assert [lost.misfit for lost in found.lost] == [Misfit.OVERLAPS] * 2
    assert unknown(found) == ["cells"]
    assert [span.label_ for span in found.doc.spans["sc"]] == ["X", "Y", "Z"]


PARTED = Mention(((0, 3), (17, 24)), "X", name="T7")


def group(found: Placed) -> list[tuple[str, str]]:
    return [(span.text, span.id_) for span in found.doc.spans["sc"]]


def test_a_span_of_several_parts_is_dropped_unless_another_thing_is_chosen() -> None:
    found = placed(PARTED, mention(4, 8))
    assert group(found) == [("IL-2", "")]
    assert [lost.misfit for lost in found.lost] == [Misfit.PARTS]


def test_one_span_may_cover_all_parts() -> None:
    """Its own text is that of its parts, which is no error then."""
    spans = Mention(PARTED.parts, "X", "The T cells"), mention(4, 8)
    found = placed(*spans, discontinuous=Discontinuous.COVERING)
    assert group(found) == [(TEXT, ""), ("IL-2", "")]
    assert [span.text for span in found.doc.ents] == [TEXT]
    assert [lost.misfit for lost in found.lost] == [Misfit.OVERLAPS]
    inner = Mention(((0, 16), (4, 8)), "X")
    found = placed(inner, discontinuous=Discontinuous.COVERING)
    assert group(found) == [("The IL-2-induced", "")]


def test_parts_are_in_the_group_alone_with_a_common_id() -> None:
    found = placed(PARTED, mention(4, 8), discontinuous=Discontinuous.PARTS)
    assert group(found) == [("The", "part-of:T7"), ("T cells", "part-of:T7"), ("IL-2", "")]
    assert [span.text for span in found.doc.ents] == ["IL-2"]
    assert unknown(found) == ["The", "T", "cells"]
    assert [lost.misfit for lost in found.lost] == [Misfit.PARTS]


def test_names_of_parts_are_unique_in_their_doc() -> None:
    bounds = [((0, 3), (4, 8)), ((0, 3), (9, 16)), ((4, 8), (17, 18)), ((4, 8), (17, 24))]
    spans = [Mention(parts, "X", name=name) for parts, name in zip(bounds, "aa", strict=False)]
    spans += [Mention(bounds[2], "X"), Mention(bounds[3], "X", name="\ud800")]
    found = placed(*spans, discontinuous=Discontinuous.PARTS)
    assert [of for _, of in group(found)[::2]] == [
        "part-of:a", "part-of:a-2", "part-of:3", "part-of:4",
    ]  # fmt: skip
    assert len(annotations_of(found.doc.spans["sc"])) == 4


def test_all_parts_fit_the_tokens_or_none_is_kept() -> None:
    cut = Mention(((0, 3), (5, 8)), "X")
    white = Mention(((0, 4), (3, 4), (17, 24)), "Y")
    found = placed(cut, white, mention(4, 8, "!X"), discontinuous=Discontinuous.PARTS)
    assert group(found) == [("The", "part-of:2"), ("T cells", "part-of:2")]
    assert {lost.misfit: lost.mention for lost in found.lost} == {
        Misfit.CUTS: cut, Misfit.PARTS: white, Misfit.NEGATIVE: mention(4, 8, "!X"),
    }  # fmt: skip
    found = placed(Mention(((0, 3), (4, 8)), "!X"), discontinuous=Discontinuous.PARTS)
    assert (group(found), [lost.misfit for lost in found.lost]) == ([], [Misfit.NEGATIVE])


def test_the_same_span_twice_is_one_without_white_space_at_its_ends() -> None:
    found = placed(mention(17, 24), mention(17, 24), mention(17, 24, found="T cells"))
    assert (len(found.doc.ents), found.lost) == (1, ())
    found = placed(mention(16, 24))
    assert [span.text for span in found.doc.ents] == ["T cells"]
    assert (found.trimmed, found.lost, unknown(found)) == (1, (), [])


def test_what_is_annotated_of_a_text() -> None:
    found = placed(mention(17, 24), is_partial=True)
    assert unknown(found) == ["The", "IL-2", "-", "induced"]
    assert not placed(is_annotated=False).doc.has_annotation("ENT_IOB")
    assert not found.doc.has_annotation("SENT_START")


@settings(max_examples=50)
@given(st.text("ab \n\t", min_size=1, max_size=12), st.data())
def test_words_of_the_file_keep_the_text(text: str, data: st.DataObject) -> None:
    """Whatever stands between the words, and even where words overlap."""
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    words = [pair for pair in data.draw(st.lists(bounds, max_size=4)) if pair[0] < pair[1]]
    doc = placed(text=text, words=tuple(words or [(0, 1)])).doc
    assert doc.text == text


def test_words_and_sentences_of_the_file_are_those_of_the_doc() -> None:
    words = ((0, 3), (4, 16), (17, 18), (19, 24))
    doc = placed(mention(4, 16), words=words, sentences=(0, 17)).doc
    assert [token.text for token in doc] == ["The", "IL-2-induced", "T", "cells"]
    assert [sent.text for sent in doc.sents] == ["The IL-2-induced", "T cells"]
    again = text_of(doc, lambda span: 0.25, name="n", where="w")
    assert (again.words, again.sentences, again.name) == (words, (0, 17), "n")
    assert again.mentions == (Mention(((4, 16),), "X", score=0.25),)


def test_scores_are_those_of_each_span_of_a_group() -> None:
    """Spans that differ in one thing alone have scores of their own."""
    doc = NLP.make_doc("a b c d")
    rows = [(0, 2, "X", ""), (1, 2, "X", ""), (0, 1, "X", ""), (0, 2, "Y", ""), (0, 2, "X", "p"),
            (3, 4, "X", "p")]  # fmt: skip
    doc.spans["sc"] = [
        Span(doc, start, end, label, span_id=part_id(name) if name else "")
        for start, end, label, name in rows
    ]
    doc.spans["sc"].attrs["scores"] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    doc.ents = [Span(doc, 3, 4, "Z")]
    found = text_of(doc, lambda span: 1.0, spans_key="sc").mentions
    scores = {(one.parts, one.label): one.score for one in found}
    assert scores == {
        (((0, 3),), "X"): 0.1, (((2, 3),), "X"): 0.2, (((0, 1),), "X"): 0.3,
        (((0, 3),), "Y"): 0.4, (((0, 3), (6, 7)), "X"): 0.5,
    }  # fmt: skip
    (entity,) = text_of(doc, lambda span: 1.0).mentions
    assert (entity.label, entity.score) == ("Z", 1.0)


@pytest.mark.parametrize(
    ("text", "words", "tokens"),
    [
        ("a b", ((0, 1), (1, 1), (2, 3)), ["a ", "b"]),
        ("a  b ", ((0, 1), (3, 4)), ["a ", " ", "b "]),
        ("-a---b", ((1, 2), (5, 6)), ["-", "a", "---", "b"]),
        ("a -- b", ((5, 6), (0, 1)), ["a ", "-- ", "b"]),
        ("ab c", ((0, 2), (1, 2), (2, 4)), ["ab ", "c"]),
        ("ab c", ((0, 1), (1, 4)), ["a", "b c"]),
    ],
)
def test_what_stands_between_words_is_a_token(
    text: str, words: tuple[Pair, ...], tokens: list[str]
) -> None:
    doc = placed(text=text, words=words).doc
    assert [token.text_with_ws for token in doc] == tokens
