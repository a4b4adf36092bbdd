"""Explanations against enumeration: sums of contributions are differences of scores, exactly."""

from __future__ import annotations

import json
import math
from itertools import combinations, product

import pytest
from spacy.language import Language
from spacy.tokens import Span

from helpers import (
    SHORT,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    cascade,
    make_doc,
    make_examples,
    of_sentences,
    segmenter_alone,
    train,
    trained_cascade,
)
from spacy_cascade.pipeline.decoding import potentials_of
from spacy_cascade.tools.explaining.explain import (
    explain_entities,
    explain_spans,
    explain_tags,
    explain_types,
)
from spacy_cascade.tools.explaining.explanations import Contribution, Explanation

SPACES = {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"}


def total(explanation: Explanation) -> float:
    return sum(c.weight - c.runner_up for c in explanation.contributions)


@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
@pytest.mark.parametrize("label_pairs", [False, True])
def test_any_span_against_all_segmentations(scheme: str, label_pairs: bool) -> None:
    model = {"min_count": 1, "label_pairs": label_pairs}
    segmenter = segmenter_alone(scheme=scheme, model=model).get_pipe("cascade_segmenter")
    names: set[str] = set()
    for text in SHORT:
        doc = make_doc(segmenter.vocab, text)
        (ranked,) = segmenter.nbest(doc, 100)
        spans = [(start, end, "any") for start, end in combinations(range(len(doc) + 1), 2)]
        for (start, end, _), found in zip(spans, explain_spans(segmenter, doc, spans), strict=True):
            having = [r for r in ranked if (start, end, "ENT") in bounds(r.spans)]
            lacking = [r for r in ranked if r not in having]
            expected = having[0].score - lacking[0].score
            assert found.evidence == pytest.approx(expected, abs=1e-9)
            assert total(found) == pytest.approx(expected, abs=1e-9)
            one, other = (set(bounds(r[0].spans)) for r in (having, lacking))
            assert set(found.hypothesis) == one - other
            assert set(found.runner_up) == other - one
            names.update(c.name for c in found.contributions)
            probability = sum(r.probability for r in having)
            assert found.probability == pytest.approx(probability, abs=1e-9)
    # Where features see label pairs, that of the bias says it all.
    assert ("transition O to B-ENT" in names) == (not label_pairs)


def test_labels_of_a_single_phase_recogniser() -> None:
    segmenter = of_sentences(segmenter_alone(typed=True)).get_pipe("cascade_segmenter")
    doc = make_doc(segmenter.vocab, "STAT5 binds . STAT5 binds", sentence_starts=[0, 3])
    (found,) = explain_spans(segmenter, doc, [(3, 4, "protein"), (2, 4, "cell"), (0, 1, "drug")])
    assert found.span == (3, 4, "protein")
    ranked = segmenter.nbest(doc, 100)[1]
    having = [r for r in ranked if (3, 4, "protein") in bounds(r.spans)]
    lacking = [r for r in ranked if r not in having]
    assert found.evidence == pytest.approx(having[0].score - lacking[0].score, abs=1e-9)
    assert (3, 4, "protein") in found.hypothesis
    assert all(c.token >= 3 for c in found.contributions)
    assert any(c.name == "word=STAT5" and c.token == 3 for c in found.contributions)


@pytest.mark.parametrize("reject", [False, True])
def test_types_against_probabilities(reject: bool) -> None:
    nlp = trained_cascade(classifier={"reject": reject})
    classifier = nlp.get_pipe("cascade_classifier")
    doc = nlp("Both p53 and STAT5 activate the IL-2 gene of T cells .")
    doc.ents = []  # It looks at its own group.
    found = explain_types(classifier, doc)
    assert [e.span for e in found] == bounds(doc.spans["cascade"])
    for explanation in found:
        start, end, label = explanation.span
        ((_, _, other),) = explanation.runner_up
        pair = [(start, end, label), (start, end, other)]
        p, q = classifier.probabilities([doc], [pair])[0].tolist()
        assert explanation.probability == pytest.approx(p)
        assert explanation.evidence > 0
        if other != "O":
            assert explanation.evidence == pytest.approx(math.log(p / q), abs=1e-6)
        assert total(explanation) == pytest.approx(explanation.evidence, abs=1e-9)
    assert any(c.name == "word@any=gene" for e in found for c in e.contributions)


def test_any_type_can_be_explained(trained: Language) -> None:
    classifier = trained.get_pipe("cascade_classifier")
    doc = trained("STAT5 binds .")
    spans = [(0, 1, label) for label in (*classifier.labels, "drug", "O")]
    found = {e.span[2]: e for e in explain_types(classifier, doc, spans)}
    assert set(found) == set(classifier.labels)
    assert {e.runner_up[0][2] for label, e in found.items() if label != "protein"} == {"protein"}
    assert [label for label, e in found.items() if e.evidence > 0] == ["protein"]
    assert sum(e.probability for e in found.values()) == pytest.approx(1.0)


def test_one_type_has_no_runner_up() -> None:
    nlp = blank()
    add_classifier(nlp, spans_key=None)
    train(nlp, make_examples(nlp, [("a cell", [(1, 2, "cell")])]))
    doc = make_doc(nlp.vocab, "a cell")
    doc.ents = [Span(doc, 1, 2, "cell")]
    (entity,) = explain_entities(nlp, nlp(doc))
    (stage,) = entity.stages
    assert stage.runner_up == ()
    assert stage.runner_up_score == 0
    assert stage.probability == entity.confidence == 1.0


@pytest.mark.parametrize("label_pairs", [False, True])
def test_tags_against_all_taggings(label_pairs: bool) -> None:
    nlp = blank()
    model = {"min_count": 1, "label_pairs": label_pairs}
    tagger = nlp.add_pipe("cascade_tagger", config={"model": model})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = "V" if token.text.endswith("s") else "P" if token.is_punct else "N"
    train(nlp, examples, updates=1)
    doc = make_doc(nlp.vocab, "STAT5 binds cells .")
    _, potentials = potentials_of(tagger, [doc])
    scores, transitions = potentials.scores, potentials.transitions
    lattice = tagger.structure.lattice
    edges = {pair: e for e, pair in enumerate(zip(lattice.source, lattice.target, strict=True))}
    columns, parts, values = {}, {}, {}
    for path in product((1, 2, 3), repeat=len(doc)):
        taken = [edges[pair] for pair in zip((0, *path), path, strict=False)]
        columns[path] = [lattice.column[e] for e in taken]
        parts[path] = [scores[t, lattice.column[e]] + transitions[e] for t, e in enumerate(taken)]
        values[path] = sum(parts[path])
    best = max(values, key=values.__getitem__)
    found = explain_tags(tagger, doc)
    assert [e.span for e in found] == [(t, t + 1, tagger.labels[y - 1]) for t, y in enumerate(best)]
    for t, explanation in enumerate(found):
        other = max((p for p in values if p[t] != best[t]), key=values.__getitem__)
        assert explanation.evidence == pytest.approx(values[best] - values[other], abs=1e-9)
        differing = [i for i, (y, z) in enumerate(zip(best, other, strict=True)) if y != z]
        for named, path in ((explanation.hypothesis, best), (explanation.runner_up, other)):
            assert named == tuple((i, i + 1, tagger.labels[path[i] - 1]) for i in differing)
        for i, pair in enumerate(zip(parts[best], parts[other], strict=True)):
            pushes = [c.push for c in explanation.contributions if c.token == i]
            assert sum(pushes) == pytest.approx(pair[0] - pair[1], abs=1e-9)
        of_features = {c.token for c in explanation.contributions if c.template != "transition"}
        assert not any(columns[best][i] == columns[other][i] for i in of_features)
    untrained = blank().add_pipe("cascade_tagger")
    for any_tagger in (tagger, untrained):
        assert explain_tags(any_tagger, make_doc(nlp.vocab, "")) == []


def test_entities_stage_by_stage(trained: Language) -> None:
    doc = trained("STAT5 binds the AP-1 site of Jurkat cells .")
    found = explain_entities(trained, doc)
    assert [e.span for e in found] == bounds(doc.ents)
    assert [e.text for e in found] == [entity.text for entity in doc.ents]
    for explanation, entity in zip(found, doc.ents, strict=True):
        span, type_ = explanation.stages
        assert (span.component, type_.component) == ("cascade_segmenter", "cascade_classifier")
        assert explanation.confidence == entity._.confidence
        assert explanation.confidence == pytest.approx(span.probability * type_.probability)
    assert json.loads(json.dumps([e.to_json() for e in found]))[0]["label"] == found[0].span[2]


def test_what_others_found_is_left_out(trained: Language) -> None:
    doc = trained("STAT5 binds the AP-1 site .")
    doc.ents = [Span(doc, 0, 1, "protein"), Span(doc, 1, 2, "verb")]
    assert [e.text for e in explain_entities(trained, doc)] == ["STAT5"]
    assert explain_entities(blank(), doc) == []
    assert explain_entities(trained, trained("")) == []


def test_what_a_reranker_chose() -> None:
    """The stages say what they hold for likely, whatever was chosen."""
    nlp = cascade(segmenter={"n_best": 5})
    train(nlp, make_examples(nlp), updates=1)
    nlp.add_pipe("cascade_reranker", config={"weight": 5.0, "keep_candidates": True})
    doc = nlp("Both p53 and STAT5 activate the IL-2 gene of T cells .")
    found = explain_entities(nlp, doc)
    assert [e.span for e in found] == bounds(doc.ents)
    assert all(len(e.stages) == 2 for e in found)
    best = {(start, end) for start, end, _ in bounds(doc.spans["cascade/1"])}
    for explanation in found:
        assert (explanation.stages[0].evidence >= 0) == (explanation.span[:2] in best)


def test_nothing_changes(trained: Language) -> None:
    doc = trained("STAT5 binds the AP-1 site .")
    before = doc.to_bytes()
    explain_entities(trained, doc)
    assert doc.to_bytes() == before


def test_chunks_that_templates_look_at_have_names() -> None:
    nlp = type(blank()).from_config({"nlp": {"tokenizer": SPACES}})
    assert "O" not in nlp.vocab.strings  # where exceptions of a tokenizer would bring it
    templates = {
        "@misc": "spacy_cascade.SegmentationTemplates.v1",
        "extra": ["span(chunks)@-1..1", "span(chunks)@-1 & span(chunks)"],
    }
    add_segmenter(nlp, typed=True, set_ents=True, model={"min_count": 1, "templates": templates})
    examples = make_examples(nlp)
    for example in examples:
        for doc in (example.predicted, example.reference):
            doc.spans["chunks"] = [Span(doc, 0, 2, "NP")]
    train(nlp, examples)
    doc = examples[0].predicted
    names = {c.name for e in explain_entities(nlp, nlp(doc)) for c in e.stages[0].contributions}
    assert {"span(chunks)=I-NP", "span(chunks)@1=O"} <= names
    assert "span(chunks)@-1=B-NP & span(chunks)=I-NP" in names


def test_the_strongest_and_the_sum_of_the_others() -> None:
    contributions = [Contribution(f"f{i}", 0, float(i), 1.0) for i in (9, 5, 2)]
    explanation = Explanation("x", (0, 1, "a"), (), (), None, tuple(contributions))
    listed = explanation.strongest(1)
    assert listed == [contributions[0], Contribution("2 others", None, 7.0, 2.0)]
    assert sum(c.push for c in listed) == explanation.evidence == 13.0
    assert explanation.strongest(3) == contributions


def test_the_others_by_family() -> None:
    names = ("suffix(2)=ab", "suffix(3)@-1=cab", "word=x & y", "length 3", "odd")
    templates = ("suffix(2)", "suffix(3)@-1", "word & class@1", "length", "")
    contributions = [
        Contribution(name, 0, weight, 1.0, template)
        for name, template, weight in zip(names, templates, (9, 5, 2, 4, 8), strict=True)
    ]
    explanation = Explanation("x", (0, 1, "a"), (), (), None, tuple(contributions))
    families = [(n, c.name, c.weight, c.runner_up) for n, c in explanation.families(0)]
    assert families == [
        (2, "suffix", 14.0, 2.0),
        (1, "odd", 8.0, 1.0),
        (1, "length", 4.0, 1.0),
        (1, "word & class", 2.0, 1.0),
    ]
    assert [n for n, _ in explanation.families(1)] == [1, 1, 1, 1]
    assert explanation.families(5) == []


def test_a_cascade_that_is_not_sure() -> None:
    """The strongest push comes first, whatever its sign."""
    nlp = cascade()
    train(nlp, make_examples(nlp), updates=1)
    doc = nlp("Both p53 and STAT5 activate the IL-2 gene of T cells .")
    pushes = [
        [c.push for c in s.contributions] for e in explain_entities(nlp, doc) for s in e.stages
    ]
    assert pushes
    for values in pushes:
        sizes = [abs(value) for value in values]
        assert sizes == sorted(sizes, reverse=True)
        assert min(values) < 0 < max(values)


def test_the_clusters_of_a_word_in_one_table_are_shown_as_one() -> None:
    """Their sum stands under the name of the strongest; nothing is lost."""
    rows = [
        ("cluster(a, 2)@1=7 (x, y)", 3, 2.0), ("cluster(a, 1)@1=2 (x, z)", 3, -0.5),
        ("cluster(b, 1)@1=4 (v)", 3, 1.0), ("cluster(a, 1)@1=2 (x, z)", 4, 0.25),
        ("cluster(a, 1) & word=9 & the", 3, 0.125), ("word=the", 3, 0.1),
    ]  # fmt: skip
    contributions = tuple(
        Contribution(name, token, weight, 0.0, name.partition("=")[0])
        for name, token, weight in rows
    )
    found = Explanation("segmenter", (0, 1, "X"), (), (), None, contributions)
    assert [(c.name, c.token, c.push, c.template) for c in found.strongest(2)] == [
        ("cluster(a)@1=7 (x, y)", 3, 1.5, "cluster(a)@1"),
        ("cluster(b, 1)@1=4 (v)", 3, 1.0, "cluster(b, 1)@1"),
        ("3 others", None, pytest.approx(0.475), ""),
    ]
    families = {c.name: n for n, c in found.families(0)}
    assert families == {"cluster(a)": 2, "cluster(b)": 1, "cluster(a) & word": 1, "word": 1}
    assert found.evidence == pytest.approx(sum(weight for *_, weight in rows))
