"""Parts of discontinuous annotations are spans with a common id."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from helpers import blank
from spacy_cascade.pipeline.spans.parts import PREFIX, annotations_of, is_part_id, part_id


@pytest.fixture
def doc() -> Doc:
    doc = blank().make_doc("left and right lung fail")
    doc.spans["sc"] = [
        Span(doc, 3, 4, "site", span_id=part_id("T2")),
        Span(doc, 2, 4, "site"),
        Span(doc, 0, 5, "event", span_id="concept-7"),
        Span(doc, 0, 1, "site", span_id=part_id("T2")),
        Span(doc, 0, 5, "finding"),
    ]
    return doc


def bounds(doc: Doc) -> list[list[tuple[int, int, str]]]:
    found = annotations_of(doc.spans["sc"])
    return [[(span.start, span.end, span.label_) for span in parts] for parts in found]


EXPECTED = [
    [(0, 1, "site"), (3, 4, "site")],
    [(0, 5, "event")],
    [(0, 5, "finding")],
    [(2, 4, "site")],
]


def test_spans_with_one_id_are_one_annotation_in_the_order_of_the_text(doc: Doc) -> None:
    assert bounds(doc) == EXPECTED


def test_ids_are_saved(doc: Doc) -> None:
    data = DocBin(docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(data).get_docs(Vocab())
    assert bounds(again) == EXPECTED


def test_other_ids_are_none_of_parts() -> None:
    assert PREFIX == "part-of:"
    assert part_id("T1") == "part-of:T1"
    assert is_part_id(part_id("T1"))
    assert not any(map(is_part_id, ("", "T1", "part-of:", "part-of", "a part-of:T1")))


def test_annotations_with_other_names_are_apart() -> None:
    doc = blank().make_doc("a b c d")
    ids = ("x", "y", "x", "y")
    doc.spans["sc"] = [Span(doc, i, i + 1, "L", span_id=part_id(x)) for i, x in enumerate(ids)]
    assert [[span.start for span in one] for one in annotations_of(doc.spans["sc"])] == [
        [0, 2], [1, 3],
    ]  # fmt: skip
    assert annotations_of([]) == []
