"""After annotation every token is in an entity, blocked or outside; what is left open is said so.

A token without annotation is one that nobody looked at. Whoever learns from it may take it for an
entity, and whoever compares with it does not count what was found there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    TEXTS,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    cascade,
    make_doc,
    make_examples,
    run_spacy,
    train,
    trained_cascade,
)
from spacy_cascade import silver
from spacy_cascade.systems.ensembles.members import Member

NOTHING = "Nothing is like this ."
"""A text in which nothing is found."""
WAYS = (
    "classifier", "classifier of entities", "ensemble", "overlapping", "reranker",
    "reranker alone", "segmenter", "typed segmenter",
)  # fmt: skip
"""Every way in which a component of this package writes `doc.ents`."""


@Language.component("mark_names")
def mark_names(doc: Doc) -> Doc:
    """Entities for a classifier that types `doc.ents`; it leaves all other tokens open."""
    names = [t for t in doc if t.text in ("IL-2", "STAT5", "p53") and not t.ent_iob]
    found = [Span(doc, t.i, t.i + 1, "MENTION") for t in names]
    doc.set_ents(found, default="unmodified")
    return doc


def single_phase(typed: bool) -> Language:
    nlp = blank()
    add_segmenter(nlp, typed=typed, set_ents=True)
    train(nlp, make_examples(nlp))
    return nlp


def classifier_of_entities() -> Language:
    nlp = trained_cascade(classifier={"spans_key": None, "mention_labels": ["MENTION"]})
    nlp.remove_pipe("cascade_segmenter")
    nlp.add_pipe("mark_names", first=True)
    return nlp


def reranking(set_ents: bool) -> Language:
    """set_ents: whether the classifier writes entities before the reranker."""
    nlp = trained_cascade({"n_best": 3}, {"set_ents": set_ents})
    nlp.add_pipe("cascade_reranker")
    return nlp


@pytest.fixture(scope="module")
def saved(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("missing") / "model"
    trained.to_disk(path)
    return path


def ensemble(member: Path) -> Language:
    """The same pipeline twice."""
    nlp = blank()
    members = [Member.of(spacy.load(member, vocab=nlp.vocab), name) for name in ("a", "b")]
    nlp.add_pipe("cascade_ensemble").set_members(members)  # type: ignore[attr-defined]
    return nlp


@pytest.fixture(scope="module")
def pipelines(trained: Language, saved: Path) -> dict[str, Language]:
    return {
        "classifier": trained,
        "classifier of entities": classifier_of_entities(),
        "ensemble": ensemble(saved),
        "overlapping": trained_cascade({"overlapping": True, "threshold": 0.5}),
        "reranker": reranking(True),
        "reranker alone": reranking(False),
        "segmenter": single_phase(False),
        "typed segmenter": single_phase(True),
    }


@pytest.fixture(params=WAYS)
def nlp(request: pytest.FixtureRequest, pipelines: dict[str, Language]) -> Language:
    return pipelines[request.param]


def states(doc: Doc) -> list[str]:
    """`B`, `I`, `O`, `blocked`, or nothing where nothing is known, of each token."""
    return ["blocked" if t.ent_iob == 3 and not t.ent_type else t.ent_iob_ for t in doc]


def states_of(doc: Doc) -> list[str]:
    """What the states should be where nobody has blocked tokens, by the entities."""
    expected = ["O"] * len(doc)
    for entity in doc.ents:
        expected[entity.start : entity.end] = ["B"] + ["I"] * (len(entity) - 1)
    return expected


def test_every_token_has_a_value(nlp: Language) -> None:
    docs = [nlp(make_doc(nlp.vocab, text)) for text in (*TEXTS, NOTHING)]
    assert any(doc.ents for doc in docs)
    assert not docs[-1].ents
    for doc in docs:
        assert states(doc) == states_of(doc)
        assert doc.has_annotation("ENT_IOB", require_complete=True)


def test_what_another_component_has_set_stays(nlp: Language) -> None:
    doc = make_doc(nlp.vocab, TEXTS[0])
    entity = Span(doc, 6, 8, "OTHER", kb_id="Q1")
    doc.set_ents([entity], blocked=[doc[0:1], doc[4:5]], default="missing")
    nlp(doc)
    expected = states_of(doc)
    expected[0] = expected[4] = "blocked"
    assert states(doc) == expected
    assert [(e.kb_id_, e.label_) for e in doc.ents if e.start == 6] == [("Q1", "OTHER")]
    assert len(doc.ents) > 1


def test_entities_of_another_component_beside_missing_tokens(nlp: Language) -> None:
    doc = make_doc(nlp.vocab, NOTHING)
    doc.set_ents([Span(doc, 1, 3, "OTHER")], default="missing")
    assert states(nlp(doc)) == ["O", "B", "I", "O", "O"]


def test_an_outside_of_another_component_blocks_nothing(nlp: Language) -> None:
    for text in TEXTS:
        expected = nlp(make_doc(nlp.vocab, text))
        doc = make_doc(nlp.vocab, text)
        if nlp.has_pipe("mark_names"):
            mark_names(doc)
        doc.set_ents(list(doc.ents), default="outside")
        assert bounds(nlp(doc).ents) == bounds(expected.ents)
        assert states(doc) == states(expected)


def test_below_every_threshold_all_is_outside() -> None:
    nlp = trained_cascade(classifier={"threshold": 1.0, "temperature": 50.0})
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    assert len(doc.spans["cascade"]) > 0
    assert states(doc) == ["O"] * len(doc)


def test_rejected_spans_are_outside() -> None:
    nlp = blank()
    add_classifier(nlp, reject=True)
    examples = make_examples(nlp)
    for example, (_, spans) in zip(examples, SENTENCES, strict=True):
        doc = example.predicted
        doc.spans["cascade"] = [Span(doc, *span) for span in ((0, 1, "ENT"), *spans)]
    train(nlp, examples)
    doc = make_doc(nlp.vocab, NOTHING)
    doc.spans["cascade"] = [Span(doc, 0, 1, "ENT")]
    assert states(nlp(doc)) == ["O"] * len(doc)


# Those who read what was annotated


def test_who_learns_from_annotated_docs_learns_what_is_outside(trained: Language) -> None:
    nlp = cascade()
    references = [trained(make_doc(nlp.vocab, text)) for text in TEXTS]
    train(nlp, [Example(make_doc(nlp.vocab, doc.text), doc) for doc in references])
    for text, spans in SENTENCES:
        assert bounds(nlp(make_doc(nlp.vocab, text)).ents) == spans


def test_an_annotated_doc_as_gold_shows_false_positives(nlp: Language) -> None:
    gold = nlp(make_doc(nlp.vocab, NOTHING))
    everything = make_doc(nlp.vocab, NOTHING)
    everything.ents = [Span(everything, t.i, t.i + 1, "protein") for t in everything]
    scores = Scorer.score_spans([Example(everything, gold)], "ents", has_annotation=_is_known)
    assert scores["ents_p"] == 0.0


def _is_known(doc: Doc) -> bool:
    return bool(doc.has_annotation("ENT_IOB"))


@pytest.mark.slow(kind="commands")
def test_files_of_annotated_docs(saved: Path, tmp_path: Path) -> None:
    """Those of `spacy cascade annotate --format spacy`, and of `spacy apply`."""
    source, applied = tmp_path / "source.spacy", tmp_path / "applied.spacy"
    vocab = blank().vocab
    texts = [*TEXTS, NOTHING]
    DocBin(docs=[make_doc(vocab, text) for text in texts]).to_disk(source)
    run_spacy("cascade", "annotate", saved, source, "--output", tmp_path / "out", "--to", "spacy")
    run_spacy("apply", saved, source, applied)
    for path in (applied, *(tmp_path / "out").glob("*.spacy")):
        docs = list(DocBin(store_user_data=True).from_disk(path).get_docs(vocab))
        assert [doc.text.strip() for doc in docs] == texts
        assert [states(doc) for doc in docs] == [states_of(doc) for doc in docs]


# What is left open


def test_who_says_nothing_of_entities_leaves_them_open() -> None:
    """A tagger, and a segmenter whose spans are for another component."""
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = "NN" if token.is_alpha else "XX"
    train(nlp, examples)
    doc = nlp(make_doc(nlp.vocab, TEXTS[0]))
    assert doc.has_annotation("TAG", require_complete=True)
    assert not doc.has_annotation("ENT_IOB")


def test_a_segmenter_for_another_component_leaves_entities_open(trained: Language) -> None:
    doc = trained.get_pipe("cascade_segmenter")(make_doc(trained.vocab, TEXTS[0]))
    assert len(doc.spans["cascade"]) > 0
    assert not doc.has_annotation("ENT_IOB")


def test_silver_labels_leave_open_what_the_teacher_doubts(trained: Language) -> None:
    doc = trained(make_doc(trained.vocab, TEXTS[0]))
    sure = dict(zip(bounds(doc.ents), (1.0, 0.5, 1.0), strict=True))
    (label,) = silver([doc], confidence=lambda span: sure[bounds([span])[0]])
    assert states(label) == ["O", "B", "I", "O", "", "O", "B", "I", "O"]
