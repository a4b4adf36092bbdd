"""Missing and blocked tokens in training: the loss is that of all paths that agree with a Doc."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    TEXTS,
    add_classifier,
    add_segmenter,
    annotate,
    blank,
    bounds,
    gold_doc,
    make_doc,
    make_examples,
    train,
)
from reference import Chain, spans_of
from spacy_cascade.inference.schemes import SCHEMES
from spacy_cascade.inference.structure import Potentials
from spacy_cascade.losses.base import CorpusLoss
from spacy_cascade.parallel import Workers
from spacy_cascade.pipeline.learning import data_of

WORDS = "IL-2 gene STAT5 binds p53"
STATES = ("B", "I", "outside", "blocked", "missing", "B", "missing")
LABELS = ("DNA", "protein")
SEPARATING = [name for name, scheme in SCHEMES.items() if scheme.separates]
PIPELINES = list(product(SEPARATING, (False, True), (False, True)))


@cache
def pipeline(scheme: str, typed: bool, label_pairs: bool) -> Language:
    nlp = blank()
    add_segmenter(
        nlp, scheme=scheme, typed=typed, model={"min_count": 1, "label_pairs": label_pairs}
    )
    examples = make_examples(nlp, [(WORDS, [(0, 2, "DNA"), (2, 3, "protein")])])
    nlp.initialize(lambda: examples)
    return nlp


def agrees(
    found: list[tuple[int, int, str]], entities: list[tuple[int, int, str]], states: list[str]
) -> bool:
    """Whether a reading has the entities, and no others but where annotation is missing."""
    free = {i for i, state in enumerate(states) if state == "missing"}
    others = set(found) - set(entities)
    return set(entities) <= set(found) and all(set(range(s, e)) <= free for s, e, _ in others)


@pytest.mark.parametrize(("scheme", "typed", "label_pairs"), PIPELINES)
@settings(max_examples=15)
@given(
    states=st.lists(st.sampled_from(STATES), min_size=4, max_size=4),
    labels=st.lists(st.sampled_from(LABELS), min_size=4, max_size=4),
    seed=st.integers(0, 99),
)
def test_the_loss_sums_over_all_readings_that_agree(
    scheme: str, typed: bool, label_pairs: bool, states: list[str], labels: list[str], seed: int
) -> None:
    nlp = pipeline(scheme, typed, label_pairs)
    segmenter = nlp.get_pipe("cascade_segmenter")
    reference = make_doc(nlp.vocab, " ".join(WORDS.split()[:4]))
    entities = annotate(reference, states, labels)
    example = Example(make_doc(nlp.vocab, reference.text), reference)
    data = data_of(segmenter, [example], [segmenter.gold.read(example)])
    lattice = data.structure.lattice
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(4, lattice.n_columns))
    transitions = generator.normal(size=lattice.n_edges)
    potentials = Potentials(scores.copy(), transitions, data.starts)
    (loss,), _ = CorpusLoss(data, segmenter.loss, Workers(1)).losses(potentials)
    if set(states) == {"missing"}:
        assert loss == 0.0
        return
    if not typed:
        entities = [(start, end, "ENT") for start, end, _ in entities]
    costs = segmenter.loss.label_costs(lattice.n_labels)
    chain = Chain(lattice, scores, transitions, costs, data.observed.tolist())
    everything, agreeing = [], []
    for path in chain.paths():
        everything.append(chain.score(path) + chain.cost(path))
        tags = [segmenter.tag_set.tags[label] for label in chain.labels(path)]
        if agrees(spans_of(tags), entities, states):
            agreeing.append(chain.score(path))
    assert loss == pytest.approx(logsumexp(everything) - logsumexp(agreeing), abs=1e-9)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(STATES), min_size=5, max_size=5), st.data())
def test_another_tokenization_says_the_same(states: list[str], data: st.DataObject) -> None:
    """Words cut into letters: each letter is what its word is."""
    nlp = pipeline("BILOU", True, True)
    segmenter = nlp.get_pipe("cascade_segmenter")
    reference = make_doc(nlp.vocab, WORDS)
    entities = annotate(reference, states, ["DNA"] * 5)
    pieces = []
    for token in reference:
        cut = data.draw(st.integers(1, len(token)))
        pieces.append([part for part in (token.text[:cut], token.text[cut:]) if part])
    words = [part for parts in pieces for part in parts]
    spaces = [i == len(parts) - 1 for parts in pieces for i in range(len(parts))]
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
    gold = segmenter.gold.read(example)
    first = np.cumsum([0, *map(len, pieces)])
    assert gold.spans == [(first[s], first[e], label) for s, e, label in entities]
    expected = [state != "missing" for state, parts in zip(states, pieces, strict=True)
                for _ in parts]  # fmt: skip
    assert gold.observed.tolist() == expected


def found(nlp: Language, text: str) -> list[tuple[int, int]]:
    doc = nlp(make_doc(nlp.vocab, text))
    return [(span.start, span.end) for span in doc.spans["cascade"]]


TRAINERS = {
    "lbfgs": {},
    "online": {
        "loss": {"@misc": "spacy_cascade.Hinge.v2"},
        "penalty": None,
        "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "passes": 10, "C": 0.1},
    },
}


@pytest.mark.parametrize(
    ("typed", "trainer", "scheme"),
    [(False, "lbfgs", "BILOU"), (True, "lbfgs", "IO"), (True, "online", "IOB2")],
)
def test_a_false_alarm_is_unlearnt(typed: bool, trainer: str, scheme: str) -> None:
    """From a Doc of which nothing but the false alarm is known."""
    nlp = blank()
    add_segmenter(nlp, typed=typed, scheme=scheme, **TRAINERS[trainer])
    text, mention = "They lack AP-1 .", (2, 3)
    examples = make_examples(nlp)
    known = make_doc(nlp.vocab, text)
    train(nlp, [*examples, Example(make_doc(nlp.vocab, text), known)])
    before = found(nlp, text)
    assert mention in before
    known = make_doc(nlp.vocab, text)
    known.set_ents([], blocked=[known[slice(*mention)]], default="missing")
    train(nlp, [*examples, Example(make_doc(nlp.vocab, text), known)])
    assert mention not in found(nlp, text)
    for sentence, spans in SENTENCES:
        assert found(nlp, sentence) == [(start, end) for start, end, _ in spans]


@pytest.mark.parametrize(("known", "expected"), [("missing", [(2, 3, "protein")]), ("blocked", [])])
def test_a_blocked_proposal_is_one_to_reject(
    known: str, expected: list[tuple[int, int, str]]
) -> None:
    nlp = blank()
    add_classifier(nlp, reject=True)
    examples = make_examples(nlp)
    for example in examples:
        example.predicted.spans["cascade"] = [example.predicted[-1:]]
    text = "They lack AP-1 ."
    doc, reference = make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)
    doc.spans["cascade"] = [Span(doc, 2, 3, "ENT")]
    reference.set_ents([], **{known: [reference[2:3]]}, default="missing")
    train(nlp, [*examples, Example(doc, reference)])
    assert bounds(nlp(doc).ents) == expected


def test_what_is_known_beside_missing_tokens_is_learnt() -> None:
    """Entities alone are annotated, nothing is said of the rest; some text is outside."""
    nlp = blank()
    add_segmenter(nlp, typed=True)
    examples = []
    for i, (text, spans) in enumerate(SENTENCES):
        reference = gold_doc(nlp.vocab, text, spans)
        if i:
            reference.set_ents(reference.ents, default="missing")
        examples.append(Example(make_doc(nlp.vocab, text), reference))
    train(nlp, examples)
    for text, (_, spans) in zip(TEXTS, SENTENCES, strict=True):
        doc = nlp(make_doc(nlp.vocab, text))
        assert set(spans) <= set(bounds(doc.spans["cascade"]))
