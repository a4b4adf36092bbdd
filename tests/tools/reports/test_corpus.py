"""Counts, oddities and overlaps of corpora, counted by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from helpers import SENTENCES, blank, gold_doc, make_example
from spacy_cascade.tools.reports.corpus import (
    Oddity,
    count_misaligned,
    find_ambiguous,
    find_oddities,
    measure_overlap,
    measure_size,
)

VOCAB = blank().vocab


def docs() -> list[Doc]:
    return [gold_doc(VOCAB, *sentence) for sentence in SENTENCES]


def test_sizes() -> None:
    with_gap = docs()
    with_gap[4].set_ents([], missing=[with_gap[4][2:4]], default="outside")
    size = measure_size(with_gap)
    assert (size.documents, size.sentences, size.entities, size.empty) == (6, None, 12, 1)
    assert size.tokens == sum(len(text.split()) for text, _ in SENTENCES)
    assert size.unannotated == 2
    assert size.labels == Counter(protein=5, cell=4, DNA=3)
    assert measure_size([]).sentences is None


def test_sentences_count_where_they_are_known() -> None:
    doc = gold_doc(VOCAB, "STAT5 binds . AP-1 too .", [(0, 1, "protein")], sentence_starts=[0, 3])
    assert measure_size([doc, *docs()]).sentences == 2 + 6


@pytest.mark.parametrize(
    ("text", "span", "oddity"),
    [
        ("the IL-2 gene , too", (1, 4), Oddity.PUNCTUATION),
        ("the factor ( AP-1 too", (1, 4), Oddity.BRACKETS),
        ("a b c d e f g h i j k l m n", (0, 13), Oddity.LONG),
        ("in cells . STAT5 binds", (1, 4), Oddity.CROSSING),
    ],
)
def test_oddities(text: str, span: tuple[int, int], oddity: Oddity) -> None:
    starts = [0, 3] if oddity is Oddity.CROSSING else []
    doc = gold_doc(VOCAB, text, [(*span, "X")], sentence_starts=starts)
    found = find_oddities([*docs(), doc])
    assert {kind: [e.text for e in entities] for kind, entities in found.items()} == {
        oddity: [doc[span[0] : span[1]].text]
    }


def test_what_is_not_odd() -> None:
    doc = gold_doc(VOCAB, "the factor ( AP-1 ) too", [(1, 5, "X")])
    assert find_oddities([doc]) == {}


def test_entities_that_the_tokens_cannot_express() -> None:
    nlp = blank()
    fine = [make_example(nlp, *sentence) for sentence in SENTENCES]
    assert count_misaligned(fine) == 0
    reference = Doc(nlp.vocab, words=["IL-2", "gene"], spaces=[True, False])
    reference.ents = [reference.char_span(0, 4, label="protein")]
    glued = Doc(nlp.vocab, words=["IL-2 gene"], spaces=[False])
    assert count_misaligned([*fine, Example(glued, reference)]) == 1


def test_texts_with_several_labels() -> None:
    other = gold_doc(VOCAB, "STAT5 and AP-1 .", [(0, 1, "DNA"), (2, 3, "protein")])
    assert find_ambiguous([*docs(), other]) == {"STAT5": Counter(protein=2, DNA=1)}
    assert find_ambiguous(docs()) == {}
    once = gold_doc(VOCAB, "AP-1 and CD4 and CD4 .", [(i, i + 1, "RNA") for i in (0, 2, 4)])
    twice = gold_doc(VOCAB, "CD4 and AP-1 .", [(0, 1, "DNA"), (2, 3, "DNA")])
    found = find_ambiguous([once, twice])
    assert list(found) == ["CD4", "AP-1"], "the more frequent one first"


def test_overlaps() -> None:
    train, dev = docs()[:3], docs()[2:4]
    found = measure_overlap(train, dev)
    assert found.documents == pytest.approx(1 / 2)
    assert found.sentences == pytest.approx(1 / 2)
    assert found.mentions == pytest.approx(2 / 4)
    assert measure_overlap(train, []).mentions == 0.0
