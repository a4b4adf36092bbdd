"""The tagger: it learns by heart what it can, and touches nothing but tags."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import TRAINER, blank, make_doc, train, weights
from spacy_cascade import (
    CascadeTagger,
    ConfigError,
    NotTrainedError,
    TrainingError,
    make_tagger,
)
from spacy_cascade.systems.tagging.component import make_tags_scorer, read_gold_tags

TAGGED = [
    ("The IL-2 gene needs STAT5 .", "DT NN NN VBZ NN ."),
    ("Cells need the needs of cells .", "NNS VBP DT NNS IN NNS ."),
    ("They bind and it binds .", "PRP VBP CC PRP VBZ ."),
    ("Activated T cells were activated .", "VBN NN NNS VBD VBN ."),
]
TAGS = sorted({tag for _, tags in TAGGED for tag in tags.split()})
SETTINGS: dict[str, Any] = {
    "model": {"min_count": 1},
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1},
}
BY_LBFGS: dict[str, Any] = {
    "model": {"min_count": 1},
    "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
    "trainer": {**TRAINER, "iterations": 20},
}


def add_tagger(nlp: Language, **settings: Any) -> Any:
    return nlp.add_pipe("cascade_tagger", config={**SETTINGS, **settings})


def tagged_doc(nlp: Language, text: str, tags: str) -> Doc:
    """Words between spaces, and their tags; `?` for none."""
    return Doc(
        nlp.vocab, words=text.split(), tags=[tag if tag != "?" else "" for tag in tags.split()]
    )


def examples_of(nlp: Language, tagged: list[tuple[str, str]] = TAGGED) -> list[Example]:
    return [Example(make_doc(nlp.vocab, t), tagged_doc(nlp, t, tags)) for t, tags in tagged]


def tags_of(doc: Doc) -> str:
    return " ".join(token.tag_ or "?" for token in doc)


def tags_found(nlp: Language) -> list[str]:
    return [tags_of(nlp(make_doc(nlp.vocab, text))) for text, _ in TAGGED]


@pytest.fixture(scope="module")
def tagging() -> Language:
    """A tagger that knows `TAGGED` by heart; only for prediction."""
    nlp = blank()
    add_tagger(nlp)
    train(nlp, examples_of(nlp), updates=10)
    return nlp


def test_it_learns_a_few_sentences_by_heart(tagging: Language) -> None:
    """Online; the contract of components asks the rest."""
    assert tags_found(tagging) == [tags for _, tags in TAGGED]
    assert tagging.get_pipe("cascade_tagger").labels == tuple(TAGS)
    assert tagging.evaluate(examples_of(tagging))["tag_acc"] == 1.0
    assert tagging.get_pipe("cascade_tagger").predict([]) == []
    texts = ["", *(text for text, _ in TAGGED), " "]
    docs = tagging.pipe(texts, batch_size=2, n_process=2)
    assert [tags_of(doc) for doc in docs] == [tags_of(tagging(text)) for text in texts]


@pytest.mark.parametrize("label_pairs", [False, True])
def test_it_learns_by_batches(label_pairs: bool) -> None:
    nlp = blank()
    add_tagger(nlp, **{**BY_LBFGS, "model": {"min_count": 1, "label_pairs": label_pairs}})
    losses = [loss["cascade_tagger"] for loss in train(nlp, examples_of(nlp), updates=5)]
    assert losses[-1] < losses[0]
    assert tags_found(nlp) == [tags for _, tags in TAGGED]


def test_the_neighbours_tags_count() -> None:
    """The same word between the same words, told apart by a tag two words before."""
    nlp = blank()
    templates = {"@misc": "spacy_cascade.Templates.v1", "templates": ["word"]}
    model = {"min_count": 1, "templates": {**templates, "patterns": {}, "lexicons": {}}}
    add_tagger(nlp, **{**BY_LBFGS, "model": model})
    train(nlp, examples_of(nlp, [("a x", "A X"), ("b x", "B Y")] * 2), updates=5)
    assert [tags_of(nlp(make_doc(nlp.vocab, text))) for text in ("a x", "b x")] == ["A X", "B Y"]


def test_it_sets_nothing_but_tags(tagging: Language) -> None:
    words = TAGGED[0][0].split()
    doc = Doc(
        tagging.vocab, words=words, pos=["X"] * len(words), lemmas=words,
        morphs=["Number=Sing"] * len(words), sent_starts=[True] + [False] * (len(words) - 1),
        ents=["B-A"] + ["O"] * (len(words) - 1),
    )  # fmt: skip
    others = ["ORTH", "SPACY", "POS", "LEMMA", "MORPH", "SENT_START", "ENT_IOB", "ENT_TYPE", "DEP"]
    before = doc.to_array(others)
    tagging(doc)
    assert tags_of(doc) == TAGGED[0][1]
    np.testing.assert_array_equal(doc.to_array(others), before)
    assert not doc.spans


def test_overwrite_says_whether_earlier_tags_give_way(tagging: Language) -> None:
    nlp = copy.deepcopy(tagging)
    for overwrite in (True, False):
        nlp.get_pipe("cascade_tagger").overwrite = overwrite
        doc = nlp(tagged_doc(nlp, TAGGED[0][0], "XX ? ? YY ? ?"))
        assert tags_of(doc) == (TAGGED[0][1] if overwrite else "XX NN NN YY NN .")


# Missing annotation


def test_tokens_without_tags_teach_nothing() -> None:
    """Half of the tags of each sentence at a time are enough."""
    nlp = blank()
    add_tagger(nlp)
    halves = []
    for half in (0, 1):
        for text, tags in TAGGED:
            kept = [tag if i % 2 == half else "?" for i, tag in enumerate(tags.split())]
            halves.append((text, " ".join(kept)))
    train(nlp, examples_of(nlp, halves), updates=10)
    assert tags_found(nlp) == [tags for _, tags in TAGGED]


def test_a_doc_without_tags_adds_nothing() -> None:
    results = []
    for more in ([], [("They bind cells .", "? ? ? ?")]):
        nlp = blank()
        tagger = add_tagger(nlp, **{**BY_LBFGS, "trainer": {**TRAINER, "iterations": 200}})
        examples = examples_of(nlp, TAGGED + more)
        tagger.initialize(lambda: examples_of(nlp, TAGGED), nlp=nlp)  # noqa: B023
        tagger.n_examples = None
        tagger.update(examples)
        results.append(weights(tagger))
    for without_it, with_it in zip(*results, strict=True):
        np.testing.assert_allclose(with_it, without_it, atol=2e-3)


CUTS = [
    (["The", "IL-2", "gene"], ["The", "IL-2", "gene"], "DT NN NN"),
    (["The", "IL-2", "gene"], ["The", "IL", "-", "2", "gene"], "DT ? ? ? NN"),
    (["The", "IL-2", "gene"], ["The", "IL-2gene"], "DT ?"),
    (["The", "IL-2", "gene"], ["TheIL", "-2", "gene"], "? ? NN"),
    (["The", "IL-2", "gene"], ["TheIL-2gene"], "?"),
]


@pytest.mark.parametrize(("reference", "predicted", "expected"), CUTS)
def test_only_tokens_that_the_reference_has_are_observed(
    reference: list[str], predicted: list[str], expected: str
) -> None:
    nlp = blank()
    gold = Doc(nlp.vocab, words=reference, spaces=[False] * 3, tags=["DT", "NN", "NN"])
    doc = Doc(nlp.vocab, words=predicted, spaces=[False] * len(predicted))
    found = read_gold_tags(Example(doc, gold))
    assert " ".join(found.strings[tag] or "?" for tag in found.tags.tolist()) == expected


def test_white_space_of_the_text_is_left_open() -> None:
    nlp = blank()
    gold = Doc(nlp.vocab, words=["T", "cells"], tags=["NN", "NNS"])
    found = read_gold_tags(Example(nlp.make_doc("T  \n cells"), gold))
    assert [found.strings[tag] for tag in found.tags.tolist()] == ["NN", "", "NNS"]


# Unusual input


def test_each_sentence_is_a_sequence(tagging: Language) -> None:
    words = [word for text, _ in TAGGED for word in text.split()]
    starts = [i == 0 for text, _ in TAGGED for i in range(len(text.split()))]
    doc = tagging(Doc(tagging.vocab, words=words, sent_starts=starts))
    assert tags_of(doc) == " ".join(tags for _, tags in TAGGED)


# Labels


def test_tags_that_were_not_given_are_not_learnt() -> None:
    nlp = blank()
    tagger = add_tagger(nlp)
    tagger.initialize(lambda: examples_of(nlp), nlp=nlp, labels=["DT", "NN", "NNS"])
    for _ in range(5):
        tagger.update(examples_of(nlp))
    found = tags_found(nlp)
    assert set(" ".join(found).split()) <= {"DT", "NN", "NNS"}
    assert found[0].split()[:3] == ["DT", "NN", "NN"]


def test_a_single_tag_is_a_structure_of_one() -> None:
    """Beside what stands before the first token. So is that of a tagger without any tag yet."""
    nlp = blank()
    tagger = add_tagger(nlp)
    assert tagger.structure.n_labels == len(tagger.structure_labels) == 2
    nlp.initialize()
    assert tags_of(nlp(make_doc(nlp.vocab, "T cells"))) == "? ?"
    train(nlp, examples_of(nlp, [("T cells", "NN NN")]))
    assert tagger.structure.n_labels == len(tagger.structure_labels) == 2
    again: Any = add_tagger(blank()).from_bytes(tagger.to_bytes())
    assert tags_of(again(make_doc(again.vocab, "no cells"))) == "NN NN"


# Errors


def test_errors_name_what_to_do() -> None:
    nlp = blank()
    tagger = add_tagger(nlp)
    assert isinstance(tagger, CascadeTagger)
    assert callable(make_tagger)
    for text in (TAGGED[0][0], ""):
        with pytest.raises(NotTrainedError, match="Train it"):
            nlp(text)
    untagged = [Example(make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)) for text, _ in TAGGED]
    with pytest.raises(TrainingError, match=r"no tagged token.*token\.tag \(convert: --pos-column"):
        nlp.initialize(lambda: untagged)
    with pytest.raises(TrainingError, match="no examples"):
        nlp.initialize(list)


@pytest.mark.parametrize("extra", ["tag@-1", "word & tag"])
def test_templates_that_look_at_tags_are_refused(extra: str) -> None:
    templates = {"@misc": "spacy_cascade.TaggingTemplates.v1", "extra": [extra]}
    with pytest.raises(ConfigError, match=r"token\.tag, which it sets itself"):
        add_tagger(blank(), model={"templates": templates})


# Scores, and those that read the tags


def test_only_tagged_tokens_count_in_the_score(tagging: Language) -> None:
    text, tags = TAGGED[0]
    one_wrong = ["XX", *tags.split()[1:]]
    for gold, expected in (
        (tags, 1.0),
        (" ".join(one_wrong), 5 / 6),
        ("? " + tags.split(" ", 1)[1], 1.0),
        ("? ? ? ? ? ?", None),
    ):
        scores = tagging.evaluate(examples_of(tagging, [(text, gold)]))
        assert scores["tag_acc"] == (expected if expected is None else pytest.approx(expected))


def test_a_segmenter_after_it_can_read_the_tags(tagging: Language) -> None:
    nlp = copy.deepcopy(tagging)
    templates = {"@misc": "spacy_cascade.SegmentationTemplates.v1", "extra": ["tag@-1..1"]}
    config = {"model": {"min_count": 1, "templates": templates}, "typed": True}
    segmenter = nlp.add_pipe("cascade_segmenter", config=config)
    docs = []
    for text, _ in TAGGED:
        reference = make_doc(nlp.vocab, text)
        reference.set_ents([Span(reference, 1, 3, "X")])
        docs.append(Example(nlp.get_pipe("cascade_tagger")(make_doc(nlp.vocab, text)), reference))
    segmenter.initialize(lambda: docs, nlp=nlp)
    segmenter.update(docs)
    assert "tags" in segmenter.space.reads
    assert tags_of(nlp(TAGGED[0][0])) == TAGGED[0][1]


def test_the_share_of_right_tags() -> None:
    """Of the tokens that have a gold one."""
    vocab, words = blank().vocab, list("abcdef")
    gold = Doc(vocab, words=words, tags=["X", "Y", "X", "", "", ""])
    one = Example(Doc(vocab, words=words, tags=list("XXXXYY")), gold)
    assert make_tags_scorer()([one], spans_key="found") == {"tag_acc": pytest.approx(2 / 3)}
