"""The registered scorers against counts made another way."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from spacy import registry
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    gold_doc,
    make_doc,
    make_examples,
    sample_docs,
    sample_examples,
    train,
    trained_cascade,
)

TYPES = ("DNA", "RNA", "protein")


def precision_recall_f(n_right: int, n_found: int, n_gold: int) -> tuple[float, float, float]:
    precision = n_right / n_found if n_found else 0.0
    recall = n_right / n_gold if n_gold else 0.0
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


# An independent count: chunks that begin and end in two columns of tags, as conlleval has it.


def tags_of(doc: Doc) -> list[str]:
    return [f"{token.ent_iob_}-{token.ent_type_}".rstrip("-") or "O" for token in doc]


def conlleval(pairs: list[tuple[list[str], list[str]]]) -> dict[str, tuple[float, float, float]]:
    """Scores by type, and of all types under `all`, token by token as the Perl script counts."""
    right: Counter[str] = Counter()
    n_found: Counter[str] = Counter()
    n_gold: Counter[str] = Counter()
    for gold, found in pairs:
        in_right_chunk = False
        last = [("O", ""), ("O", "")]
        for columns in zip([*gold, "O"], [*found, "O"], strict=True):
            now = [tuple((tag if "-" in tag else f"{tag}-").split("-", 1)) for tag in columns]
            starts, ends = zip(*map(chunk_borders, last, now), strict=True)
            if in_right_chunk:
                if all(ends) and last[0][1] == last[1][1]:
                    in_right_chunk = False
                    right[last[0][1]] += 1
                elif ends[0] != ends[1] or now[0][1] != now[1][1]:
                    in_right_chunk = False
            if all(starts) and now[0][1] == now[1][1]:
                in_right_chunk = True
            n_gold[now[0][1]] += starts[0]
            n_found[now[1][1]] += starts[1]
            last = now
    scores = {
        label: precision_recall_f(right[label], n_found[label], n_gold[label])
        for label in (set(n_gold) | set(n_found)) - {""}
    }
    scores["all"] = precision_recall_f(right.total(), n_found.total(), n_gold.total())
    return scores


def chunk_borders(last: tuple[str, str], now: tuple[str, str]) -> tuple[bool, bool]:
    """Whether a chunk starts at `now`, and whether one ends before it (IOB2)."""
    starts = now[0] == "B" or (now[0] == "I" and (last[0] == "O" or last[1] != now[1]))
    ends = last[0] != "O" and (now[0] in "BO" or last[1] != now[1])
    return starts, ends


def random_spans(doc: Doc, generator: np.random.Generator) -> list[Span]:
    spans, position = [], 0
    while position < len(doc):
        length = int(generator.integers(1, 4))
        if generator.random() < 0.5 and position + length <= len(doc):
            label = TYPES[generator.integers(len(TYPES))]
            spans.append(Span(doc, position, position + length, label))
            position += length
        else:
            position += 1
    return spans


def disturbed(spans: list[Span], doc: Doc, generator: np.random.Generator) -> list[Span]:
    """Most spans as they are; some moved, retyped or left out."""
    out: list[Span] = []
    end = 0
    for span in spans:
        kind = generator.random()
        if kind < 0.15:
            continue
        stop = span.end - 1 if kind < 0.3 and len(span) > 1 else span.end
        label = TYPES[generator.integers(len(TYPES))] if kind > 0.8 else span.label_
        if span.start >= end:
            out.append(Span(doc, span.start, stop, label))
            end = stop
    return out


def random_examples(nlp: Language, generator: np.random.Generator) -> list[Example]:
    """Gold and found entities, with those found also in `doc.spans["cascade"]`."""
    examples = []
    for text, _ in SENTENCES * 5:
        reference, predicted = make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)
        gold = random_spans(reference, generator)
        reference.set_ents(gold, default="outside")
        found = disturbed(gold, predicted, generator)
        predicted.set_ents(found, default="outside")
        predicted.spans["cascade"] = found
        examples.append(Example(predicted, reference))
    return examples


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    """Both components, trained just enough to be asked for scores."""
    nlp = blank()
    add_segmenter(nlp, set_ents=True)
    add_classifier(nlp)
    train(nlp, make_examples(nlp), updates=1)
    return {"nlp": nlp, **dict(nlp.pipeline)}


@pytest.mark.parametrize("seed", range(5))
def test_segments_are_counted_as_sets_of_bounds(seed: int, components: dict[str, Any]) -> None:
    examples = random_examples(components["nlp"], np.random.default_rng(seed))
    gold = {(i, s.start, s.end) for i, e in enumerate(examples) for s in e.reference.ents}
    found = {
        (i, s.start, s.end) for i, e in enumerate(examples) for s in e.predicted.spans["cascade"]
    }
    scores = components["cascade_segmenter"].score(examples)
    expected = precision_recall_f(len(gold & found), len(found), len(gold))
    assert (scores["segments_p"], scores["segments_r"], scores["segments_f"]) == pytest.approx(
        expected
    )
    assert 0.2 < scores["segments_f"] < 0.95


@pytest.mark.parametrize("name", ["cascade_segmenter", "cascade_classifier"])
@pytest.mark.parametrize("seed", range(5))
def test_entities_are_counted_as_conlleval_does(
    seed: int, name: str, components: dict[str, Any]
) -> None:
    examples = random_examples(components["nlp"], np.random.default_rng(seed))
    scores = components[name].score(examples)
    expected = conlleval([(tags_of(e.reference), tags_of(e.predicted)) for e in examples])
    assert (scores["ents_p"], scores["ents_r"], scores["ents_f"]) == pytest.approx(expected["all"])
    assert set(scores["ents_per_type"]) == set(expected) - {"all"}
    for label, values in scores["ents_per_type"].items():
        assert (values["p"], values["r"], values["f"]) == pytest.approx(expected[label])


def test_the_independent_count_knows_the_examples_of_conlleval() -> None:
    """A span with a wrong end, one with a wrong type, one right, one missed."""
    gold = ["B-x", "I-x", "O", "B-y", "B-y", "I-y", "O", "B-x"]
    found = ["B-x", "O", "O", "B-x", "B-y", "I-y", "O", "O"]
    assert conlleval([(gold, found)]) == {
        "x": (0.0, 0.0, 0.0),
        "y": (1.0, 0.5, pytest.approx(2 / 3)),
        "all": (pytest.approx(1 / 3), 0.25, pytest.approx(2 / 7)),
    }


@pytest.mark.slow
def test_scores_of_a_trained_pipeline_on_the_sample() -> None:
    """The whole way: train, evaluate, and count again from the annotated Docs."""
    nlp = trained_cascade()
    train(nlp, sample_examples(nlp, "train", n_docs=20), updates=4)
    examples = sample_examples(nlp, "dev")
    scores = nlp.evaluate(examples)
    docs = list(nlp.pipe([example.predicted.copy() for example in sample_examples(nlp, "dev")]))
    references = sample_docs(nlp.vocab, "dev")
    expected = conlleval(
        [(tags_of(gold), tags_of(doc)) for gold, doc in zip(references, docs, strict=True)]
    )
    assert (scores["ents_p"], scores["ents_r"], scores["ents_f"]) == pytest.approx(expected["all"])
    assert {k: v["f"] for k, v in scores["ents_per_type"].items()} == pytest.approx(
        {label: values[2] for label, values in expected.items() if label != "all"}
    )
    gold_bounds = {(i, s.start, s.end) for i, d in enumerate(references) for s in d.ents}
    found = {(i, s.start, s.end) for i, d in enumerate(docs) for s in d.spans["cascade"]}
    assert scores["segments_f"] == pytest.approx(
        precision_recall_f(len(gold_bounds & found), len(found), len(gold_bounds))[2]
    )
    right = total = 0
    for gold, example in zip(references, sample_examples(nlp, "dev"), strict=True):
        doc = example.predicted
        doc.spans["cascade"] = [doc[s.start : s.end] for s in gold.ents]
        nlp.get_pipe("cascade_classifier")(doc)
        right += len(set(bounds(gold.ents)) & set(bounds(doc.spans["cascade"])))
        total += len(gold.ents)
    assert scores["types_acc"] == pytest.approx(right / total)


# Annotation that is not there


@pytest.mark.parametrize("gold_key", [None, "gold"])
def test_without_annotation_there_are_no_scores(
    gold_key: str | None, components: dict[str, Any]
) -> None:
    nlp = blank()
    add_segmenter(nlp, gold_key=gold_key, set_ents=True)
    add_classifier(nlp, gold_key=gold_key)
    for name in nlp.pipe_names:
        nlp.get_pipe(name).from_bytes(components[name].to_bytes(), exclude=["cfg"])
    examples = [
        Example(make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)) for text, _ in SENTENCES
    ]
    scores = nlp.evaluate(examples)
    for name in ("segments_p", "segments_r", "segments_f", "types_acc", "ents_f"):
        assert scores[name] is None
    assert scores["ents_per_type"] is None


def test_tokens_without_annotation_are_left_out(components: dict[str, Any]) -> None:
    """A span found where nothing is known is neither right nor wrong."""
    vocab = components["nlp"].vocab
    text = SENTENCES[0][0]
    reference, predicted = make_doc(vocab, text), make_doc(vocab, text)
    reference.set_ents([Span(reference, 1, 3, "X")], missing=[reference[4:9]], default="outside")
    predicted.spans["cascade"] = [predicted[1:3], predicted[6:8], predicted[3:5], predicted[0:1]]
    scores = components["cascade_segmenter"].score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (0.5, 1.0)


def test_docs_without_annotation_do_not_touch_the_others(components: dict[str, Any]) -> None:
    vocab = components["nlp"].vocab
    examples = random_examples(components["nlp"], np.random.default_rng(0))
    bare = make_doc(vocab, SENTENCES[0][0])
    bare.spans["cascade"] = [bare[0:2]]
    more = [*examples, Example(bare, make_doc(vocab, SENTENCES[0][0]))]
    segmenter = components["cascade_segmenter"]
    assert segmenter.score(more) == segmenter.score(examples)


def test_gold_without_entities_counts_what_was_found(components: dict[str, Any]) -> None:
    vocab = components["nlp"].vocab
    text = SENTENCES[0][0]
    predicted = make_doc(vocab, text)
    predicted.spans["cascade"] = [predicted[0:2]]
    scores = components["cascade_segmenter"].score([Example(predicted, gold_doc(vocab, text, []))])
    assert (scores["segments_p"], scores["segments_r"], scores["segments_f"]) == (0.0, 0.0, 0.0)


def test_entities_that_the_tokens_cannot_express_are_missed(components: dict[str, Any]) -> None:
    """Recall counts every gold entity, also those that the tokenizer made impossible."""
    vocab = components["nlp"].vocab
    reference = Doc(vocab, words=["AP-1", "site", "of", "p53"], spaces=[True, True, True, False])
    reference.set_ents([Span(reference, 0, 2, "X"), Span(reference, 3, 4, "X")], default="outside")
    predicted = Doc(vocab, words=["AP-1", "site of", "p53"], spaces=[True, True, False])
    predicted.spans["cascade"] = [predicted[2:3]]
    segmenter = components["cascade_segmenter"]
    scores = segmenter.score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (1.0, 0.5)
    predicted.spans["cascade"] = [predicted[0:2], predicted[2:3]]
    scores = segmenter.score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (0.5, 0.5)


def test_settings_reach_the_scorer() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, gold_key="gold", spans_key="found")
    train(nlp, make_examples(nlp, key="gold"))
    scores = nlp.evaluate(make_examples(nlp, key="gold"))
    assert scores["segments_f"] == 1.0
    assert "ents_f" not in scores
    segmenter.scorer = None
    assert segmenter.score(make_examples(nlp, key="gold")) == {}


def test_scorers_are_registered() -> None:
    for name in ("segments_scorer", "types_scorer"):
        assert callable(registry.scorers.get(f"spacy_cascade.{name}.v1")())


def test_scores_of_no_examples(components: dict[str, Any]) -> None:
    scores = components["nlp"].evaluate([])
    assert scores["segments_f"] is None
    assert scores["types_acc"] is None
    assert scores["ents_f"] is None
