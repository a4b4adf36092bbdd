"""Names of features against the plain extractor, and as readers see them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_space import DOCS, LINES, VOCAB, all_spans, all_tokens, make_docs, space_for, units_of

from reference import Extractor, Word, rows_from_dense
from spacy_cascade.features.names import Namer, find_names, first_having, named_features
from spacy_cascade.features.resources import span_flags
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.span_context import FoundSpans, SpanContext
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.features.units import Units, values_of_units

SENTENCES = [["IL-2", "binds", "p53", "IL-2"], ["NF-kappa", "B"]]


def text_of(number: int) -> str:
    return VOCAB.strings[number]


def names_in(lines, spans=False, lexicons=None, sentences=SENTENCES) -> list[list[str]]:
    """Names of all features of all units of one Doc."""
    space = FeatureSpace(Templates(tuple(lines), {"digit": "[0-9]"}, lexicons or {}))
    space.read_resources(str.split)
    docs = [[[Word(text, "NN", "NOUN") for text in sentence] for sentence in sentences]]
    units = units_of(space, docs, all_spans(docs) if spans else all_tokens(docs))
    space.learn(units, 1)
    return [[feature.name for feature in found] for found in named_features(space, units, text_of)]


def names_of_texts(extractor: Extractor, doc, place, spans: bool) -> list[tuple[str, str]]:
    """Each feature of a unit as the extractor writes it, and the name that it should have."""
    pairs = []
    for template in extractor.templates:
        alone = replace(extractor, templates=[template])
        texts = list(alone.features(doc, *place).elements())
        values = [text.removeprefix(f"{template}=") for text in texts]
        if alone.several(doc, template.partition("@")[2], *place) is None and texts:
            parts = template.split(" & ")
            seen = [alone.part(doc[place[0]], part, *place[1:]) for part in parts]
            named = zip((shown(part, spans) for part in parts), seen, strict=True)
            pairs.append((texts[0], " & ".join(with_value(*pair) for pair in named)))
        else:
            pairs += [
                (t, f"{shown(template, spans)}={v}") for t, v in zip(texts, values, strict=True)
            ]
    return pairs


def shown(part: str, spans: bool) -> str:
    part = part.removesuffix("+0")
    return part if spans else part.removesuffix("@first").replace("@first", "@").replace("@+", "@")


def with_value(part: str, value: object) -> str:
    if part == "bias":
        return part
    return f"{part}={' '.join(value) if isinstance(value, list) else value}"


@settings(max_examples=40)
@given(
    DOCS,
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6, unique=True),
    st.booleans(),
    st.integers(1, 3),
)
def test_names_are_those_of_the_design_matrix(docs, lines, spans, minimum):
    """As often as there, and as the plain extractor has them."""
    space, extractor = space_for(lines)
    of_spans = any(place in line for line in lines for place in ("@last", "@any", "@all"))
    places = all_spans(docs) if spans else all_tokens(docs)
    units = units_of(space, docs, places)
    space.learn(units, minimum)
    named = named_features(space, units, text_of)
    rows = space.design(units).active_features()
    expected = [names_of_texts(extractor, docs[d], place, of_spans) for d, *place in places]
    counts = Counter(text for pairs in expected for text, _ in pairs)
    for unit, (found, pairs) in enumerate(zip(named, expected, strict=True)):
        numbers = rows.indices[rows.indptr[unit] : rows.indptr[unit + 1]]
        assert Counter(feature.number for feature in found) == Counter(numbers.tolist())
        known = Counter(name for text, name in pairs if counts[text] >= minimum)
        assert Counter(feature.name for feature in found) == known


def test_tokens_as_readers_see_them():
    lines = ["bias", "word@-1..1", "suffix(2)", "pattern(*)@1", "lower@recurrence+1", "tag@0"]
    first, second, *_ = names_in([*lines, "pos@-1", "class & word@1"])
    assert sorted(first) == [
        "bias",
        "class=AA_0 & word@1=binds",
        "lower@recurrence+1=<boundary>",
        "suffix(2)=-2",
        "tag=NN",
        "word=IL-2",
        "word@-1=<boundary>",
        "word@1=binds",
    ]
    assert {"pattern(digit)@1=yes", "pos@-1=NOUN", "word@-1=IL-2"} <= set(second)


def test_features_know_their_templates() -> None:
    """A feature of words is named once, whatever the number of units that have it."""
    space, _ = space_for(["word@-1", "class & word@1", "word@last & size"])
    docs = [[[Word(text) for text in "ab"]]]
    units = units_of(space, docs, all_spans(docs))
    space.learn(units, 1)
    _, both, second = named_features(space, units, text_of)
    assert {"word@last=b & size=2"} <= {feature.name for feature in both}
    templates = {feature.name: feature.template for feature in second}
    assert templates == {
        "word@first-1=a": "word@first-1",
        "class@first=a & word@first+1=<boundary>": "class@first & word@first+1",
        "word@last=b & size=1": "word@last & size",
    }
    namer = Namer(space, units, text_of, values_of_units(space.plan, units))
    assert namer.of_row(1) is namer.of_row(1)


def test_templates_of_wholes_look_at_spans_too() -> None:
    """So that the place of a token has to be told."""
    space, _ = space_for(["word@0"])
    docs = [[[Word("a")]]]
    units = units_of(space, docs, all_tokens(docs))
    space.learn(units, 1)
    for line, name in (("size & word@0", "word=a"), ("size & word@last", "word@first=a")):
        namer = Namer(space, units, text_of, values_of_units(space.plan, units))
        wholes = Templates((line,), {}, {}).expanded()
        namer.look_up(wholes, np.zeros((1, 1), dtype=np.uint64))
        assert [feature.name for feature in namer.of_row(1)] == [name]


def test_a_feature_is_named_by_the_first_unit_that_has_it() -> None:
    features = rows_from_dense(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]]))
    for wanted, expected in (([0, 1, 2], [0, 1, 3]), ([1], [0]), ([2], [3]), ([], [])):
        is_wanted = np.isin(np.arange(3), wanted)
        assert first_having(features, is_wanted).tolist() == expected


def test_spans_as_readers_see_them():
    lines = ["size", "word@first", "word@last+1", "lower@all", "word@any", "bias & size"]
    found = names_in(lines, spans=True)[1]
    assert sorted(found) == [
        "bias & size=2",
        "lower@all=il-2 binds",
        "size=2",
        "word@any=IL-2",
        "word@any=binds",
        "word@first=IL-2",
        "word@last+1=p53",
    ]


def test_tokens_are_named_as_such_where_no_template_looks_at_spans() -> None:
    """Whichever template it is that does."""
    pair, alone = "word@0 & word@1", "word@first+0 & word@first+1"
    for line, name in (
        ("word@-1", pair), ("word@last", alone), ("word@any", alone), ("word@all", alone),
    ):  # fmt: skip
        (found,) = names_in([pair, line], sentences=[["a"]])
        expected = name.replace("+0", "").replace("@0", "").split(" & ")
        assert f"{expected[0]}=a & {expected[1]}=<boundary>" in found


def test_lexicons(tmp_path):
    names = names_in(["lexicon(*)@0..1"], lexicons={"genes": ["nf-kappa b", "p53"]})
    assert names[4:] == [["lexicon(genes)=begin", "lexicon(genes)@1=inside"],
                         ["lexicon(genes)=inside"]]  # fmt: skip
    assert names[1] == ["lexicon(genes)@1=begin"]
    path = tmp_path / "genes.jsonl"
    path.write_text('{"label": "protein", "pattern": "NF-kappa B"}\n', encoding="utf8")
    names = names_in(["lexicon_exact(genes)"], lexicons={"genes": str(path)})
    assert [found for found in names if found] == [["lexicon_exact(genes)=B-protein"],
                                                   ["lexicon_exact(genes)=I-protein"]]  # fmt: skip


def test_what_training_showed_of_a_word():
    space = FeatureSpace(Templates(("seen_inside", "seen_first@1"), {}, {}))
    tokens = read_tokens(make_docs([[[Word(text) for text in "aaab"]]]))
    spans = np.array([[0, 1]], dtype=np.int64)
    space.learn_resources(tokens, span_flags(4, spans, np.ones(4, dtype=np.bool_)))
    docs = [[[Word(text) for text in "abc"]]]
    units = units_of(space, docs, all_tokens(docs))
    space.learn(units, 1)
    names = [{f.name for f in found} for found in named_features(space, units, text_of)]
    assert names == [
        {"seen_inside=25-50 % of 2-3", "seen_first@1=0-2 % of 1"},
        {"seen_inside=0-2 % of 1", "seen_first@1=never seen"},
        {"seen_inside=never seen"},
    ]


def test_surroundings():
    space = FeatureSpace(Templates(("elsewhere", "type_before", "type_after & brackets"), {}, {}))
    docs = [[[Word(text) for text in ["p53", "(", "p53", "p53"]]]]
    tokens = read_tokens(make_docs(docs))
    positions = space.positions(tokens, text_of)
    start, end = np.array([2, 1]), np.array([3, 3])
    label = VOCAB.strings.add("protein")
    found = FoundSpans.of(np.array([[0, 1]]), np.array([label], dtype=np.uint64))
    context = SpanContext(tokens, start, end, found).values(space.plan.context)
    units = Units(positions, positions.of_token[start], positions.of_token[end - 1], context)
    space.learn(units, 1)
    names = [[f.name for f in found] for found in named_features(space, units.take([1]), text_of)]
    assert names == [["elsewhere=0", "type_before=protein", "type_after=nothing & brackets=1"]]


@pytest.mark.parametrize("batch", [[0], [0, 1]])
def test_names_of_wanted_features(batch):
    space, _ = space_for(LINES)
    docs = [[[Word(text, "NN", "NOUN") for text in s]] for s in SENTENCES]
    both = units_of(space, docs, all_spans(docs))
    space.learn(both, 1)
    known = {f.number: f.name for found in named_features(space, both, text_of) for f in found}
    some = units_of(space, [docs[i] for i in batch], all_spans([docs[i] for i in batch]))
    there = {f.number for found in named_features(space, some, text_of) for f in found}
    wanted = sorted(known)[::3]
    found = find_names(space, some, text_of, wanted)
    assert found == {number: known[number] for number in wanted if number in there}
    assert (len(found) < len(wanted)) == (len(batch) == 1)
    assert find_names(space, some, text_of, []) == {}
