"""Entities and blocked tokens that a Doc has already: the best of all else is found around them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from spacy.attrs import ENT_IOB
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import (
    SENTENCES,
    SMALL,
    TEXTS,
    Bounds,
    add_segmenter,
    annotate,
    annotation,
    annotations,
    blank,
    bounds,
    confidences,
    make_doc,
    make_example,
    make_examples,
    of_sentences,
    train,
    trained_cascade,
)
from reference import Chain, spans_of
from spacy_cascade.inference.schemes import SCHEMES
from spacy_cascade.pipeline.decoding import LEAST, potentials_of
from spacy_cascade.pipeline.reading import read
from spacy_cascade.pipeline.spans.placing import rows_of
from spacy_cascade.scorers.linear import get_weights, set_weights

WORDS = "IL-2 gene STAT5 binds"
N = len(WORDS.split())
STATES = ("B", "I", "outside", "blocked", "missing", "outside", "missing")
LABELS = ("DNA", "protein")
SEPARATING = [name for name, scheme in SCHEMES.items() if scheme.separates]
PIPELINES = list(product(SEPARATING, (False, True), (False, True)))


@cache
def pipeline(scheme: str, typed: bool, label_pairs: bool) -> Any:
    """A segmenter that keeps to what is on a Doc; its weights are anything."""
    nlp = blank()
    segmenter = add_segmenter(
        nlp, scheme=scheme, typed=typed, constrained=True, temperature=1.7,
        model={"min_count": 1, "label_pairs": label_pairs},
    )  # fmt: skip
    examples = make_examples(nlp, [(WORDS, [(0, 2, "DNA"), (2, 3, "protein")])])
    nlp.initialize(lambda: examples)
    of_sentences(nlp)
    return segmenter


def readings(
    segmenter: Any, doc: Doc, begin: int, end: int, presets: list[Bounds]
) -> list[tuple[float, list[Bounds]]]:
    """Scores of all readings of a sentence that agree with presets, and spans besides these."""
    blocked = {t.i for t in doc if t.ent_iob == 3 and not t.ent_type_}
    labels = [(s, e, label if segmenter.typed else "ENT") for s, e, label in presets]
    known = [
        span for span in labels
        if begin <= span[0] and span[1] <= end and span[2] in segmenter.labels
    ]  # fmt: skip
    taken = blocked.union(*(range(s, e) for s, e, _ in presets))
    _, potentials = potentials_of(segmenter, [doc])
    scores, transitions = potentials.scores, potentials.transitions
    lattice = segmenter.structure.lattice
    chain = Chain(lattice, scores[begin:end], transitions, np.zeros(0), [-1] * (end - begin))
    found = []
    for path in chain.paths():
        tags = [segmenter.tag_set.tags[label] for label in chain.labels(path)]
        spans = [(s + begin, e + begin, label) for s, e, label in spans_of(tags)]
        others = [span for span in spans if span not in known]
        if set(known) <= set(spans) and not any(taken & set(range(s, e)) for s, e, _ in others):
            found.append((chain.score(path), others))
    return sorted(found, key=lambda reading: -reading[0])


def listed(segmenter: Any, doc: Doc) -> dict[Bounds, float]:
    """All likely spans, overlapping ones too, and their probabilities."""
    segmenter.overlapping = True
    (found,) = segmenter.predict([doc])
    segmenter.overlapping = False
    spans = zip(*(part.tolist() for part in found.spans), strict=True)
    named = [(start, end, segmenter.labels[label]) for start, end, label in spans]
    return dict(zip(named, found.confidences.tolist(), strict=True))


@pytest.mark.parametrize(("scheme", "typed", "label_pairs"), PIPELINES)
@settings(max_examples=8)
@given(
    states=st.lists(st.sampled_from(STATES), min_size=N, max_size=N),
    labels=st.lists(st.sampled_from((*LABELS, "unknown")), min_size=N, max_size=N),
    cut=st.integers(1, N),
    seed=st.integers(0, 99),
)
def test_what_is_found_is_the_best_of_what_agrees(
    scheme: str, typed: bool, label_pairs: bool, states: list[str], labels: list[str], cut: int,
    seed: int,
) -> None:  # fmt: skip
    """The best reading, the N best and all probabilities, against enumeration."""
    segmenter = pipeline(scheme, typed, label_pairs)
    generator = np.random.default_rng(seed)
    shapes = [part.shape for part in get_weights(segmenter.model)]
    set_weights(segmenter.model, *(generator.normal(size=shape) for shape in shapes))
    cuts = sorted({0, cut, N})
    doc = make_doc(segmenter.vocab, WORDS, cuts[:-1])
    presets = annotate(doc, states, labels)
    ranked = segmenter.nbest(doc, 5)
    (given_presets,) = segmenter.posteriors([doc], [presets])
    likely = listed(segmenter, doc)
    segmenter(doc)
    found, sure = bounds(doc.spans["cascade"]), confidences(doc)
    for (begin, end), segmentations in zip(pairwise(cuts), ranked, strict=True):
        expected = readings(segmenter, doc, begin, end, presets)
        inside = [span for span in found if begin <= span[0] < end]
        assert inside == expected[0][1]
        assert [bounds(s.spans) for s in segmentations] == [spans for _, spans in expected[:5]]
        scores = np.array([score for score, _ in expected])
        softened = np.exp(scores / 1.7 - logsumexp(scores / 1.7))
        np.testing.assert_allclose([s.probability for s in segmentations], softened[:5], atol=1e-9)
        for span, confidence in zip(found, sure, strict=True):
            if span in inside:
                has_it = [span in spans for _, spans in expected]
                assert confidence == pytest.approx(softened[has_it].sum(), abs=1e-9)
        for span in {span for _, spans in expected for span in spans}:
            probability = softened[[span in spans for _, spans in expected]].sum()
            if span in likely or probability > LEAST:
                assert likely.pop(span, 0.0) == pytest.approx(probability, abs=1e-9)
    assert not likely  # nothing else
    for (start, end, label), probability in zip(presets, given_presets, strict=True):
        crosses = start < cut < end
        known = label in segmenter.labels or not typed
        assert probability == pytest.approx(float(known and not crosses), abs=1e-12)


# On Docs


TEXT, SPANS = SENTENCES[0]  # "The IL-2 gene needs STAT5 in T cells ."


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A cascade that keeps to what is on a Doc; only for prediction."""
    return trained_cascade({"constrained": True, "n_best": 3})


def preset_doc(nlp: Language, entities: list[Bounds], blocked: list[int] | None = None) -> Doc:
    doc = make_doc(nlp.vocab, TEXT)
    doc.set_ents(
        [Span(doc, *entity) for entity in entities],
        blocked=[doc[i : i + 1] for i in blocked or []],
    )
    return doc


def test_without_presets_nothing_changes(nlp: Language) -> None:
    assert annotations(nlp) == annotations(trained_cascade({"n_best": 3}))


def test_rules_win_and_the_model_fills_in_around_them(nlp: Language) -> None:
    doc = nlp(preset_doc(nlp, [(2, 4, "RULE")], [4]))
    assert bounds(doc.ents) == [(1, 2, "protein"), (2, 4, "RULE"), (6, 8, "cell")]
    assert doc[4].ent_iob == 3
    found = bounds(doc.spans["cascade"])
    assert (6, 8, "cell") in found
    assert all(end <= 2 or start > 4 for start, end, _ in found)
    for k in (1, 2, 3):
        assert all(s.end <= 2 or s.start > 4 for s in doc.spans[f"cascade/{k}"])


def test_a_ruler_before_the_cascade(nlp: Language) -> None:
    patterns = [{"label": "RULE", "pattern": "needs STAT5"}, {"label": "RULE", "pattern": "gene"}]
    with_ruler = trained_cascade({"constrained": True})
    ruler = with_ruler.add_pipe("entity_ruler", first=True, config={"overwrite_ents": True})
    ruler.add_patterns(patterns)
    doc = make_doc(with_ruler.vocab, TEXT)
    doc.ents = [Span(doc, 2, 4, "USER")]  # gives way to the ruler, before the cascade sees it
    with_ruler(doc)
    assert {(2, 3, "RULE"), (3, 5, "RULE"), (6, 8, "cell")} <= set(bounds(doc.ents))
    assert "USER" not in {entity.label_ for entity in doc.ents}
    # After the cascade a ruler overwrites what was found, as ever.
    late = trained_cascade({"constrained": True})
    late.add_pipe("entity_ruler", config={"overwrite_ents": True}).add_patterns(patterns)
    doc = late(make_doc(late.vocab, TEXT))
    assert bounds(doc.ents) == [(2, 3, "RULE"), (3, 5, "RULE"), (6, 8, "cell")]


def test_a_second_run_finds_the_same(nlp: Language) -> None:
    """What the cascade itself put on the Doc is no preset."""
    doc = nlp(preset_doc(nlp, [(6, 8, "RULE")]))
    first = annotation(doc)
    assert len(first["spans"]["cascade"]) == 2
    assert annotation(nlp(doc)) == first
    segmenter = nlp.get_pipe("cascade_segmenter")
    (ranked,) = segmenter.nbest(doc, 3)
    assert len({tuple(bounds(s.spans)) for s in ranked}) == 3


def test_a_chain_with_types_takes_known_labels_for_certain() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, typed=True, constrained=True, set_ents=True)
    train(nlp, make_examples(nlp))
    doc = nlp(preset_doc(nlp, [(1, 3, "protein"), (7, 9, "unknown")]))
    assert bounds(doc.ents) == [(1, 3, "protein"), (4, 5, "protein"), (7, 9, "unknown")]
    (of_presets,) = segmenter.posteriors([doc], [[(1, 3, "protein"), (7, 9, "unknown")]])
    assert of_presets.tolist() == pytest.approx([1.0, 0.0])


def test_a_preset_across_sentences(nlp: Language) -> None:
    words = f"{TEXTS[4]} {TEXTS[2]}"
    doc = make_doc(nlp.vocab, words, [0, 6])
    doc.ents = [Span(doc, 4, 7, "RULE")]
    nlp(doc)
    assert bounds(doc.ents) == [(4, 7, "RULE"), (9, 10, "protein")]


def test_an_entity_without_beginning_is_as_if_blocked(nlp: Language) -> None:
    doc = make_doc(nlp.vocab, TEXT)
    states = np.array([[1], [1], [2], [0], [0], [0], [0], [0], [0]], dtype=np.uint64)
    doc.from_array([ENT_IOB], states)
    other = make_doc(nlp.vocab, "STAT5 gene")
    other.ents = [Span(other, 1, 2, "RULE")]
    docs = [other, doc, make_doc(nlp.vocab, ""), other]
    segmenter = nlp.get_pipe("cascade_segmenter")
    presets = segmenter._presets(docs, read(segmenter, docs))
    assert np.flatnonzero(presets.taken).tolist() == [1, 2, 3, 12]
    structure = segmenter.structure
    spans = structure.spans(presets.tags, np.array([0, 2, 11, 13]))
    assert [span[:2] for span in rows_of(spans)] == [(1, 2), (12, 13)]
    (found,) = segmenter.predict([doc])
    assert all(start > 1 for start in found.spans.start)


def test_confidences_are_calibrated_on_what_is_found(nlp: Language) -> None:
    segmenter = nlp.get_pipe("cascade_segmenter")
    example = make_example(nlp, TEXT, SPANS)
    assert len(segmenter.outcomes([example]).right) == 3
    example.predicted.ents = [Span(example.predicted, 4, 5, "RULE")]
    outcomes = segmenter.outcomes([example])
    assert outcomes.right.tolist() == [True, True]
    assert len(outcomes.confidences(1.0)) == 2


@pytest.mark.parametrize("n_docs", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_doc_is_lost(n_docs: int) -> None:
    """Whatever stands on the Docs: entities, blocked tokens, groups that overlap, odd sentences."""
    nlp = trained_cascade({"constrained": True, "n_best": 2})
    other = nlp.add_pipe("cascade_classifier", "other", config={**SMALL, "spans_key": "other"})
    other.initialize(lambda: make_examples(nlp), nlp=nlp)
    generator = np.random.default_rng(0)
    docs, presets, used = [], [], []
    for _ in range(n_docs):
        words = generator.choice(" ".join(TEXTS).split(), size=generator.integers(0, 15))
        starts = np.flatnonzero(generator.random(len(words)) < 0.2).tolist()
        doc = make_doc(nlp.vocab, " ".join(words), [0, *starts] if starts else ())
        states = generator.choice(["B", "I", "outside", "blocked", "missing"], size=len(words))
        presets.append(annotate(doc, states.tolist(), ["RULE"] * len(words)))
        used.append(generator.random() < 0.5)
        for key in ("other", "cascade") if used[-1] else ("other",):
            ends = generator.integers(0, len(words) + 1, size=(5, 2))
            doc.spans[key] = [Span(doc, min(pair), max(pair), "X") for pair in ends.tolist()]
        docs.append(doc)
    blocked = [[t.i for t in doc if t.ent_iob == 3 and not t.ent_type_] for doc in docs]
    found = list(nlp.pipe(docs, batch_size=64))
    assert len(found) == n_docs
    for doc, entities, tokens, is_used in zip(found, presets, blocked, used, strict=True):
        assert set(entities) <= set(bounds(doc.ents))
        assert all(doc[i].ent_iob == 3 and not doc[i].ent_type_ for i in tokens)
        taken = {*tokens, *(i for start, end, _ in entities for i in range(start, end))}
        spans = [] if is_used else doc.spans["cascade"]  # a former run might have left some there
        assert not any(taken & set(range(span.start, span.end)) for span in spans)
