"""Gold spans where the text is tokenized otherwise than the reference."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from helpers import (
    SENTENCES,
    TEXTS,
    blank,
    cascade,
    gold_doc,
    make_doc,
    make_examples,
    train,
)
from spacy_cascade import TrainingError
from spacy_cascade.features.resources import span_flags
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.pipeline.spans.gold import (
    GoldSpans,
    _in_tokens_of,
    as_seen,
    gold_bounds,
    gold_flags,
    of_level,
    read_gold,
    read_own_gold,
    ruled_spans,
)
from spacy_cascade.pipeline.spans.parts import part_id

VOCAB = Vocab()

# Text cut at every bar; the reference stands on the left, the Doc to be annotated on the right.
CUTS = {
    "same": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 |binds |the |AP-1 |site|."),
    "finer": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 |binds |the |AP|-|1 |site|."),
    "coarser outside": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 |binds the |AP-1 |site|."),
    "end inside a token": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 |binds |the |AP-1 |site."),
    "start inside a token": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 |binds |the AP-1 |site|."),
    "one token": ("STAT5 |binds |the |AP-1 |site|.", "STAT5 binds the AP-1 site."),
}
# Bounds in the Doc, and the tokens that are left open.
EXPECTED: dict[str, tuple[list[tuple[int, int]], set[int]]] = {
    "same": ([(0, 1), (3, 5)], set()),
    "finer": ([(0, 1), (3, 7)], set()),
    "coarser outside": ([(0, 1), (2, 4)], set()),
    "end inside a token": ([(0, 1)], {3, 4}),
    "start inside a token": ([(0, 1)], {2, 3}),
    "one token": ([], {0}),
}


def cut(text: str, vocab: Vocab = VOCAB) -> Doc:
    tokens = text.split("|")
    words = [token.rstrip(" ") for token in tokens]
    return Doc(vocab, words=words, spaces=[token.endswith(" ") for token in tokens])


def example_of(name: str, key: str | None = None, vocab: Vocab = VOCAB) -> Example:
    left, right = (cut(text, vocab) for text in CUTS[name])
    spans = [Span(left, 0, 1, "protein"), Span(left, 3, 5, "DNA")]
    if key is None:
        left.set_ents(spans, default="outside")
    else:
        left.spans[key] = spans
    return Example(right, left)


def test_tokens_and_spans_that_the_other_doc_has_not_are_left_open() -> None:
    """A token of white space stands for none; a span may touch no token at all."""
    left, right = cut("a |b |c"), Doc(VOCAB, ["a", "  ", "b", "c"], [True, False, True, False])
    left.ents = [Span(left, 0, 1, "X")]
    found = read_gold(Example(right, left), None)
    assert (found.spans, found.n_cut) == ([(0, 1, "X")], 0)
    assert found.observed.tolist() == [True, False, True, True]


def marked(key: str | None, *rows: tuple[int, int, str]) -> Doc:
    doc = cut("a |b |c |d")
    spans = [Span(doc, *row) for row in rows]
    if key is None:
        doc.ents = spans
    else:
        doc.spans[key] = spans
    return doc


def test_levels_of_spans_that_overlap() -> None:
    rows = [(0, 3, "X"), (1, 2, "Y"), (2, 4, "Z"), (3, 4, "Y")]
    doc = marked("g", *rows)
    gold = replace(read_own_gold(doc, "g"), n_cut=7)
    assert of_level(gold, "all", doc, "g") is gold
    expected = {"innermost": [(1, 2, "Y"), (3, 4, "Y")], "outermost": [(0, 3, "X")]}
    known = {"innermost": [True] * 4, "outermost": [True] * 3 + [False]}
    for level, spans in expected.items():
        found = of_level(gold, level, doc, "g")
        assert (found.spans, found.n_cut) == (spans, 7)
        assert found.observed.tolist() == known[level]
    message = r"doc\.spans\['g'\] overlap: 'a b c' \(tokens 0-3\) and 'b' \(tokens 1-2\)"
    with pytest.raises(TrainingError, match=message):
        of_level(gold, None, doc, "g")
    side_by_side = read_own_gold(marked(None, (0, 1, "X"), (1, 3, "Y")), None)
    assert of_level(side_by_side, None, doc, None) is side_by_side
    assert of_level(side_by_side, "outermost", doc, None) is side_by_side
    bounds = GoldSpans([(0, 1, "X"), (0, 1, "Y"), (1, 2, "X")], gold.observed).labels_of_bounds()
    assert bounds == {(0, 1): {"X", "Y"}, (1, 2): {"X"}}


@pytest.mark.parametrize("key", [None, "g"])
def test_negative_annotation_says_nothing_of_its_tokens(key: str | None) -> None:
    """Unless another span has them; labels that do not count are outside."""
    rows = [(0, 1, "X"), (1, 2, "!X"), (2, 4, "Y")]
    doc = marked(key, *rows)
    found = read_own_gold(doc, key)
    assert found.spans == [rows[0], rows[2]]
    assert found.observed.tolist() == [True, False, True, True]
    some = read_own_gold(doc, key, ["X"])
    assert (some.spans, some.observed.tolist()) == (rows[:1], [True, False, True, True])
    if key is not None:
        both = read_own_gold(marked(key, (0, 2, "X"), (1, 3, "!Y")), key)
        assert both.observed.tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("parts", "spans", "known"),
    [
        ("parts", [(0, 1, "X"), (1, 2, "Y"), (2, 4, "X")], [True] * 4),
        ("covering", [(0, 4, "X"), (1, 2, "Y")], [True] * 4),
        ("neither", [(1, 2, "Y")], [False, True, False, False]),
    ],
)
def test_parts_of_an_annotation(parts: Any, spans: list[Any], known: list[bool]) -> None:
    doc = cut("a |b |c |d")
    own = {"span_id": part_id("one")}
    doc.spans["g"] = [
        Span(doc, 0, 1, "X", **own),
        Span(doc, 2, 4, "X", **own),
        Span(doc, 1, 2, "Y"),
    ]
    found = read_own_gold(doc, "g", None, parts)
    assert (found.spans, found.observed.tolist(), found.has_parts) == (spans, known, True)


def test_an_entity_without_a_first_token_is_refused() -> None:
    doc = cut("a |b |c |d")
    doc.from_array([ENT_IOB, ENT_TYPE], np.array([[2, 0], [1, 7], [3, 7], [1, 7]], dtype=np.uint64))
    with pytest.raises(TrainingError, match=r"An entity without a first token in .* 'a b c d'"):
        read_own_gold(doc, None)


def test_flags_and_bounds_of_a_batch() -> None:
    docs = [marked(None, (0, 1, "X"), (2, 4, "Y")), marked(None, (1, 2, "X"))]
    gold = [read_own_gold(doc, None) for doc in docs]
    assert [bounds.tolist() for bounds in gold_bounds(gold)] == [[[0, 1], [2, 4]], [[1, 2]]]
    found = gold_flags(read_tokens(docs, ()), gold)
    bounds = np.array([(0, 1), (2, 4), (5, 6)])
    np.testing.assert_array_equal(found, span_flags(8, bounds, np.ones(8, dtype=np.bool_)))


def seeing(reads: list[str], *keys: str) -> Any:
    return SimpleNamespace(reads=reads, span_keys=list(keys))


@pytest.mark.parametrize("reads", [["tags"], ["parts_of_speech"], []])
@pytest.mark.parametrize("has_own", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_tags_are_seen_where_they_are_looked_at_and_missing(
    reads: list[str], has_own: bool, same: bool
) -> None:
    words = ["a", "b"]
    reference = Doc(VOCAB, words=words, tags=["T", "U"], pos=["NOUN", "VERB"])
    own = {"tags": ["V", "V"]} if has_own else {}
    predicted = Doc(VOCAB, words=words if same else ["a", "c"], **own)
    seen = as_seen(Example(predicted, reference), seeing(reads), {})
    if reads and same and not has_own:
        assert [(t.tag_, t.pos_) for t in seen] == [("T", "NOUN"), ("U", "VERB")]
        assert not predicted.has_annotation("TAG")
    else:
        assert seen is predicted


def test_groups_are_seen_from_the_nearest_source() -> None:
    """The predicted Doc, the reference unless these are gold spans, and what stands in."""
    predicted, reference = cut("a |b |c"), cut("a |b |c")
    predicted.spans["p"] = [predicted[0:1]]
    for key in ("p", "r", "g"):
        reference.spans[key] = [reference[1:2]]
    reference[0].tag_ = "T"
    stand_ins = {key: lambda _: [(2, 3, "X")] for key in ("p", "r", "g", "s")}
    space = seeing([], "p", "r", "g", "s", "nowhere")
    seen = as_seen(Example(predicted, reference), space, stand_ins, ("g",))
    found = {key: [(s.start, s.end) for s in group] for key, group in seen.spans.items()}
    assert found == {"p": [(0, 1)], "r": [(1, 2)], "g": [(2, 3)], "s": [(2, 3)]}
    assert list(predicted.spans) == ["p"]
    assert not seen.has_annotation("TAG")


def test_a_ruler_finds_its_spans_on_a_copy() -> None:
    nlp = blank()
    ruler: Any = nlp.add_pipe("span_ruler")
    ruler.add_patterns([{"label": "X", "pattern": "b c"}])
    example = Example(make_doc(nlp.vocab, "a b c"), make_doc(nlp.vocab, "a b c"))
    assert ruled_spans(ruler, example) == [(1, 3, "X")]
    assert not example.predicted.spans


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("scores", [None, [0.5, 0.25, 0.75]])
def test_groups_of_the_reference_are_seen_in_tokens_of_the_predicted_doc(
    same: bool, scores: list[float] | None
) -> None:
    """With confidences; a span that is cut is left out."""
    left = cut("a |b |c |d")
    right = cut("a |b |c |d" if same else "a |b c |d")
    spans = [Span(left, 0, 1, "X"), Span(left, 1, 2, "Y"), Span(left, 1, 3, "Z")]
    attributes = {"n": 1} if scores is None else {"n": 1, "scores": scores}
    group = SpanGroup(left, name="its name", spans=spans, attrs=attributes)
    found = _in_tokens_of(right, Example(right, left), group)
    assert (found.name, found.doc, found.attrs["n"]) == ("its name", right, 1)
    expected = [(0, 1, "X"), (1, 2, "Y"), (1, 3, "Z")] if same else [(0, 1, "X"), (1, 2, "Z")]
    assert [(span.start, span.end, span.label_) for span in found] == expected
    kept = None if scores is None else scores if same else [scores[0], scores[2]]
    got = found.attrs.get("scores")
    assert (None if got is None else list(got)) == kept


@pytest.mark.parametrize("key", [None, "gold"])
@pytest.mark.parametrize("name", CUTS)
def test_spans_are_kept_or_left_open(name: str, key: str | None) -> None:
    spans, left_open = EXPECTED[name]
    gold = read_gold(example_of(name, key), key)
    assert [(start, end) for start, end, _ in gold.spans] == spans
    assert set(np.flatnonzero(~gold.observed).tolist()) == left_open


@pytest.mark.parametrize("key", [None, "gold"])
def test_without_annotation_nothing_is_observed(key: str | None) -> None:
    doc = make_doc(VOCAB, TEXTS[0])
    gold = read_gold(Example(make_doc(VOCAB, TEXTS[0]), doc), key)
    assert gold.spans == []
    assert not gold.observed.any()


@pytest.mark.parametrize("key", [None, "gold"])
def test_annotation_without_spans_is_observed(key: str | None) -> None:
    reference = gold_doc(VOCAB, TEXTS[0], [], key)
    gold = read_gold(Example(make_doc(VOCAB, TEXTS[0]), reference), key)
    assert gold.spans == []
    assert gold.observed.all()


def test_entities_are_those_of_the_reference() -> None:
    """Side by side, blocked, without annotation, up to the last token."""
    doc = Doc(VOCAB, words=list("abcdefgh"))
    entities = [Span(doc, 0, 2, "DNA"), Span(doc, 2, 3, "RNA"), Span(doc, 6, 8, "DNA")]
    doc.set_ents(entities, blocked=[doc[3:4]], missing=[doc[4:5]], default="outside")
    gold = read_gold(Example(Doc(VOCAB, words=list("abcdefgh")), doc), None)
    assert gold.spans == [(span.start, span.end, span.label_) for span in doc.ents]
    assert gold.observed.tolist() == [t != 4 for t in range(8)]


def test_missing_annotation_stays_missing_in_another_tokenization() -> None:
    example = example_of("finer")
    reference = example.reference
    entity, missing = Span(reference, 0, 1, "protein"), [reference[3:5]]
    reference.set_ents([entity], missing=missing, default="outside")
    gold = read_gold(example, None)
    assert [span[:2] for span in gold.spans] == [(0, 1)]
    assert gold.observed.tolist() == [True, True, True, False, False, False, False, True]


@pytest.mark.parametrize(
    "text", ["STAT5  binds   the AP-1  site . ", " STAT5 binds\nthe AP-1 site .\n"]
)
def test_whitespace_makes_no_difference(text: str) -> None:
    """Raw text against the words of a corpus: other white space, the same entities."""
    nlp = blank()
    reference = gold_doc(nlp.vocab, *SENTENCES[1])
    example = Example(nlp.make_doc(text), reference)
    gold = read_gold(example, None)
    found = [(example.predicted[s:e].text.split(), label) for s, e, label in gold.spans]
    assert found == [(["STAT5"], "protein"), (["AP-1", "site"], "DNA")]
    spaces = [token.i for token in example.predicted if token.is_space]
    inside = {i for start, end, _ in gold.spans for i in range(start, end)}
    for i in range(len(example.predicted)):
        assert gold.observed[i] or i in spaces or i in inside


def test_an_entity_is_not_taken_for_its_likeness_elsewhere() -> None:
    """White space moves the text by as much as another mention of the word is away."""
    reference = gold_doc(VOCAB, "p53 p53 p53 end", [(1, 2, "protein")])
    predicted = Doc(VOCAB, words=["    ", "p53", "p53", "p53", "end"], spaces=[0, 1, 1, 1, 0])
    gold = read_gold(Example(predicted, reference), None)
    assert gold.spans == [(2, 3, "protein")]


@given(
    words=st.lists(st.sampled_from(["STAT5", "a-b", "x", "T", "."]), min_size=1, max_size=8),
    pieces=st.lists(st.integers(1, 3), min_size=8, max_size=8),
    bounds=st.tuples(st.integers(0, 7), st.integers(1, 8)),
)
def test_gold_spans_say_what_the_reference_says(
    words: list[str], pieces: list[int], bounds: tuple[int, int]
) -> None:
    """The same characters, whatever the cuts; else nothing and open tokens."""
    reference = Doc(VOCAB, words=words)
    start, end = min(bounds[0], len(words) - 1), min(bounds[1], len(words))
    spans = [Span(reference, start, end, "X")] if start < end else []
    reference.set_ents(spans, default="outside")
    # Cut the text into words of every so many characters, but never across a space.
    tokens, spaces = [], []
    for word, length in zip(words, pieces, strict=False):
        parts = [word[i : i + length] for i in range(0, len(word), length)]
        tokens += parts
        spaces += [False] * (len(parts) - 1) + [True]
    predicted = Doc(VOCAB, words=tokens, spaces=spaces)
    gold = read_gold(Example(predicted, reference), None)
    assert predicted.text.strip() == reference.text.strip()
    expected = [(span.start_char, span.end_char) for span in spans]
    assert [
        (predicted[s].idx, predicted[e - 1].idx + len(predicted[e - 1])) for s, e, _ in gold.spans
    ] == expected
    assert gold.observed.all()


def test_the_cascade_trains_on_text_that_it_tokenizes_itself() -> None:
    """A corpus whose words spaCy would split: most of it can be expressed."""
    nlp = cascade()
    sentences = [
        ("NF-kappa B binds the IL-2-inducible site .", [(0, 2, "protein"), (4, 6, "DNA")]),
        *SENTENCES,
    ]
    examples = make_examples(nlp, sentences)
    for example in examples:
        example.predicted = nlp.make_doc(example.reference.text)
    assert len(examples[0].predicted) > len(examples[0].reference)
    train(nlp, examples)
    doc = nlp(examples[0].reference.text)
    assert [(e.text, e.label_) for e in doc.ents] == [
        ("NF-kappa B", "protein"),
        ("IL-2-inducible site", "DNA"),
    ]


# What templates see of earlier components in training


def seen(example: Example, *templates: str) -> Doc:
    space = FeatureSpace(Templates(templates, {}, {}))
    return as_seen(example, space, {"np": lambda _: [(1, 2, "STOOD IN")]})


def labels(doc: Doc) -> list[str]:
    return [span.label_ for span in doc.spans["np"]]


def test_what_is_seen_comes_from_the_nearest() -> None:
    predicted, reference = make_doc(VOCAB, "a b c"), make_doc(VOCAB, "a b c")
    example = Example(predicted, reference)
    assert seen(example, "word") is predicted
    assert labels(seen(example, "span(np)")) == ["STOOD IN"]
    assert seen(example, "span(vp)") is predicted  # nobody knows of such spans
    reference.spans["np"] = [Span(reference, 0, 1, "GOLD")]
    assert labels(seen(example, "span(np)")) == ["GOLD"]
    predicted.spans["np"] = [Span(predicted, 2, 3, "FOUND")]
    assert seen(example, "span(np)") is predicted


def test_tags_of_the_reference_stand_in_where_templates_look_at_them() -> None:
    predicted = make_doc(VOCAB, "a b")
    reference = Doc(VOCAB, words=["a", "b"], tags=["X", "Y"], sent_starts=[True, True])
    example = Example(predicted, reference)
    assert seen(example, "word", "span(vp)") is predicted
    copy = seen(example, "tag")
    assert [token.tag_ for token in copy] == ["X", "Y"]
    assert not copy.has_annotation("SENT_START")
    assert [token.tag_ for token in predicted] == ["", ""]
    other = Example(make_doc(VOCAB, "ab"), reference)
    assert seen(other, "tag") is other.predicted
