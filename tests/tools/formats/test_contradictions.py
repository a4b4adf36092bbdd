"""Labels that differ in case only, and texts that are annotated twice in different ways."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from helpers import blank
from spacy_cascade.tools.formats.contradictions import Piece, find_contradictions, pieces_of

VOCAB = Vocab()
Found = tuple[int, int, str]


def piece(where: str, text: str, *spans: Found) -> Piece:
    return Piece(where, text, frozenset(spans))


def doc(words: str, *spans: Found, starts: tuple[int, ...] = (), missing: int = 0) -> Doc:
    texts = words.split()
    made = Doc(
        VOCAB, words=texts,
        sent_starts=[i in starts for i in range(len(texts))] if starts else None,
    )  # fmt: skip
    entities = [Span(made, *span) for span in spans]
    made.set_ents(entities, missing=[made[len(made) - missing :]] if missing else None)
    return made


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [piece("a", "x", (0, 1, "ORG")), piece("b", "x", (0, 1, "ORG"))],
        [piece("a", "x", (0, 1, "ORG")), piece("b", "y", (0, 1, "PER"))],
        [piece("a", "x", (0, 1, "B_C"), (2, 3, "B-C")), piece("b", "y")],
    ],
)
def test_nothing_contradicts_itself(pieces: list[Piece]) -> None:
    assert find_contradictions(pieces) == []


def test_labels_that_differ_in_case_only() -> None:
    pieces = [piece(f"in:{i}", f"x{i}", (0, 1, "ORG"), (2, 3, "PER")) for i in range(9)]
    pieces += [piece(f"in:{i}", f"x{i}", (0, 1, "org"), (2, 3, "org")) for i in range(9, 14)]
    pieces += [piece("in:14", "x14", (0, 1, "Org"))]
    assert find_contradictions(pieces) == [
        "The labels 'org' (10) and 'ORG' (9) differ in case only. 'ORG': in:0; in:1; in:2; ….",
        "The labels 'org' (10) and 'Org' (1) differ in case only. 'Org': in:14.",
    ]


@pytest.mark.parametrize(
    "other", [(), ((0, 1, "PER"),), ((0, 2, "ORG"),), ((0, 1, "ORG"), (2, 3, "ORG"))]
)
def test_a_text_with_two_annotations(other: tuple[Found, ...]) -> None:
    pieces = [piece("in:1", "x", (0, 1, "ORG")), piece("in:2", "y"), piece("in:3", "x", *other)]
    assert find_contradictions(pieces) == [
        "One text is annotated in different ways: 'x' (in:1; in:3)."
    ]


def test_many_texts_are_counted_and_clipped() -> None:
    twice = [f"{i} " + "long " * 20 for i in range(1_200)]
    pieces = [piece(f"a:{i}", text) for i, text in enumerate(twice)]
    pieces += [piece(f"b:{i}", text, (0, 1, "X")) for i, text in enumerate(twice)]
    (found,) = find_contradictions(pieces)
    assert found.startswith("1,200 texts are each annotated in different ways: '0 long long")
    assert found.count("(a:") == 3
    assert found.endswith("…' (a:2; b:2); ….")
    assert len(found) < 300


def test_pieces_of_docs_are_sentences_or_docs_that_are_annotated_as_a_whole() -> None:
    docs = [
        doc("Ada saw Rome . Eve met it .", (0, 1, "PER"), (2, 3, "LOC"), (4, 5, "PER"),
            starts=(0, 4)),
        doc("It fell .", (0, 1, "LOC")),
        doc("It fell . Not yet", starts=(0, 3), missing=1),
        blank().make_doc("Nobody annotated it"),
        doc("No sentence is known"),
        doc("Yes No", starts=(0, 1)),
    ]  # fmt: skip
    for token in docs[0]:  # the starts alone are enough
        token.is_sent_start = True if token.i in (0, 4) else None
    found = list(pieces_of(docs, "train"))
    assert found == [
        piece("train, document 1, sentence 1", "Ada saw Rome .", (0, 1, "PER"), (2, 3, "LOC")),
        piece("train, document 1, sentence 2", "Eve met it .", (0, 1, "PER")),
        piece("train, document 2", "It fell .", (0, 1, "LOC")),
        piece("train, document 3, sentence 1", "It fell ."),
        piece("train, document 5", "No sentence is known"),
        piece("train, document 6, sentence 1", "Yes"),
        piece("train, document 6, sentence 2", "No"),
    ]
    (said,) = find_contradictions(found)
    assert said.endswith("'It fell .' (train, document 2; train, document 3, sentence 1).")
