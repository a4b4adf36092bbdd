"""Adapting trained components: what is learnt, what stays, and how much the old corpus counts."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example

from helpers import (
    SMALL,
    add_segmenter,
    annotations,
    blank,
    cascade,
    make_doc,
    make_example,
    make_examples,
    train,
    trained_cascade,
    weights,
)
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.scorers.linear import get_hessian_diagonal, keep_hessian_diagonal
from spacy_cascade.tools.annotation import adapting
from spacy_cascade.tools.annotation.adapting import adapt, choose_share, set_share

NAMES = ("cascade_segmenter", "cascade_classifier")
VIRUS = "HIV infects primary monocytes ."
ONLINE: dict[str, Any] = {
    "model": {"min_count": 1},
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1, "passes": 5},
}


def loaded(nlp: Language) -> Language:
    """The pipeline as it comes back from disk."""
    return blank().from_config(nlp.config).from_bytes(nlp.to_bytes())


def virus_example(nlp: Language) -> Any:
    return make_example(nlp, VIRUS, [(0, 1, "virus"), (2, 4, "cell")])


def entities(nlp: Language, text: str) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in nlp(make_doc(nlp.vocab, text)).ents]


def chain(typed: bool, label_pairs: bool) -> Language:
    nlp = blank()
    model = {"min_count": 1, "label_pairs": label_pairs}
    add_segmenter(nlp, typed=typed, set_ents=True, model=model)
    train(nlp, make_examples(nlp))
    return nlp


@pytest.mark.parametrize(
    "make",
    [
        lambda: trained_cascade({}, {"reject": True}),
        lambda: chain(typed=True, label_pairs=True),
        lambda: chain(typed=True, label_pairs=False),
    ],
    ids=["reject", "pairs", "labels"],
)
def test_a_new_label_is_learnt_and_the_old_ones_stay(make: Callable[[], Language]) -> None:
    nlp = loaded(make())
    adapt(nlp, [virus_example(nlp)], updates=3)
    assert entities(nlp, VIRUS) == [("HIV", "virus"), ("primary monocytes", "cell")]
    assert nlp.evaluate(make_examples(nlp))["ents_f"] == 1.0
    again = loaded(nlp)
    assert "virus" in again.get_pipe(nlp.pipe_names[-1]).labels
    assert annotations(again, [VIRUS]) == annotations(nlp, [VIRUS])


@pytest.fixture(scope="module")
def online() -> Language:
    nlp = cascade(ONLINE, ONLINE)
    train(nlp, make_examples(nlp), updates=4)
    return nlp


def test_online_components_learn_a_new_label(online: Language) -> None:
    nlp = loaded(online)
    adapt(nlp, [virus_example(nlp)], updates=8)
    assert entities(nlp, VIRUS) == [("HIV", "virus"), ("primary monocytes", "cell")]
    assert nlp.evaluate(make_examples(nlp))["ents_f"] > 0.9


def column_names(pipe: Any) -> list[tuple[str, str]]:
    """Names of the labels before and after each transition, which has a score column here."""
    return pipe.structure.columns.names(pipe.structure_labels)[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_label_without_examples_changes_no_other_weight(name: str) -> None:
    """Columns and transitions keep their weights, though all their numbers are others."""
    nlp = trained_cascade({"typed": True})
    pipe = nlp.get_pipe(name)
    before, names = weights(pipe)[0], column_names(pipe)
    assert pipe.add_label("Aa") == 1
    assert pipe.labels[0] == "Aa"
    after = weights(pipe)[0]
    for column, name_now in enumerate(column_names(pipe)):
        old = before[:, names.index(name_now)] if name_now in names else np.zeros(len(before))
        np.testing.assert_array_equal(after[:, column], old)
    assert get_hessian_diagonal(pipe.model).shape == after.shape
    assert pipe.add_label("Aa") == 0


@pytest.mark.parametrize("kind", ["trained", "online"])
def test_curvature_is_kept_and_adds_up(kind: str, request: pytest.FixtureRequest) -> None:
    nlp = loaded(request.getfixturevalue(kind))
    first = get_hessian_diagonal(nlp.get_pipe(NAMES[0]).model)
    assert first.max() > 1.0
    nlp.update([virus_example(nlp)])
    nlp.update([make_example(nlp, "HIV spreads .", [(0, 1, "protein")])])
    second = get_hessian_diagonal(loaded(nlp).get_pipe(NAMES[0]).model)
    assert len(second) > len(first)
    assert (second[: len(first)] >= 0.99 * first).all()
    assert second[: len(first)].sum() > first.sum()


def test_batches_of_any_size_give_curvature_of_the_same_size() -> None:
    """Each example counts once, however often and with whichever others it was seen."""
    found = []
    for size, epochs in ((6, 1), (6, 4), (2, 4)):
        nlp = cascade(ONLINE, ONLINE)
        nlp.initialize(lambda nlp=nlp: make_examples(nlp))
        pipe = nlp.get_pipe(NAMES[0])
        examples = make_examples(nlp)
        # Steps that are too small to matter: the curvature is then that of the start.
        pipe.trainer = replace(pipe.trainer, C=1e-12)
        for begin in [*range(0, len(examples), size)] * epochs:
            pipe.update(examples[begin : begin + size])
        pipe.sync_curvature()
        found.append(get_hessian_diagonal(pipe.model))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("kind", ["trained", "online"])
def test_curvature_keeps_weights_where_they_were(kind: str, request: pytest.FixtureRequest) -> None:
    """Those that earlier data determined stay, and only new features can move."""
    moved = []
    for curvature in (0.0, 1e5):
        nlp = loaded(request.getfixturevalue(kind))
        pipe = nlp.get_pipe(NAMES[0])
        before = weights(pipe)[0]
        keep_hessian_diagonal(pipe.model, np.full(before.shape, curvature))
        adapt(nlp, [make_example(nlp, VIRUS, [(0, 2, "protein"), (3, 5, "cell")])])
        pipe.sync_weights()
        after = weights(pipe)[0]
        moved.append(np.linalg.norm(after[: len(before)] - before))
        assert np.linalg.norm(after[len(before) :]) > 0.1
    assert moved[0] > 0.1
    assert moved[1] < 0.01 * moved[0]


def test_a_model_without_curvature_adapts_too(trained: Language) -> None:
    """As one that Ctrl-C has saved: the penalty is then as wide as in training."""
    nlp = loaded(trained)
    for name in NAMES:
        nlp.get_pipe(name).model.attrs["hessian_diagonal"] = None
    adapt(nlp, [virus_example(nlp)])
    assert entities(nlp, VIRUS) == [("HIV", "virus"), ("primary monocytes", "cell")]


def test_the_same_examples_go_on_and_others_begin_anew(trained: Language) -> None:
    nlp = loaded(trained)
    examples = [virus_example(nlp)]
    pipe = nlp.get_pipe(NAMES[0])
    first = nlp.update(examples, losses={})[NAMES[0]]
    fit = pipe._fit
    assert nlp.update(examples, losses={})[NAMES[0]] <= first
    assert pipe._fit is fit
    at = weights(pipe)[0]
    nlp.update([make_example(nlp, "AP-1 binds HIV .", [(0, 1, "protein")])])
    assert pipe._fit is not fit
    centre = pipe._fit._objective.parametrisation.penalty.centre.features
    np.testing.assert_array_equal(centre[: len(at)], at)


def test_few_examples_are_a_part_of_the_corpus_in_training_from_scratch() -> None:
    nlp = trained_cascade()
    before = [weights(nlp.get_pipe(name))[0].copy() for name in NAMES]
    assert set(nlp.update(make_examples(nlp)[:1], losses={}).values()) == {0.0}
    for name, at in zip(NAMES, before, strict=True):
        np.testing.assert_array_equal(weights(nlp.get_pipe(name))[0], at)


def test_a_component_saved_without_training_is_trained_from_scratch() -> None:
    nlp = cascade()
    nlp.initialize(lambda: make_examples(nlp))
    nlp = loaded(nlp)
    sizes = [len(weights(nlp.get_pipe(name))[0]) for name in NAMES]
    for _ in range(3):
        nlp.update(examples := make_examples(nlp))
    assert [len(weights(nlp.get_pipe(name))[0]) for name in NAMES] == sizes
    assert nlp.evaluate(examples)["ents_f"] == 1.0


def test_copies_know_how_sure_the_weights_are(trained: Language) -> None:
    pipe = trained.get_pipe(NAMES[0])
    np.testing.assert_array_equal(
        get_hessian_diagonal(copy.deepcopy(pipe).model),
        get_hessian_diagonal(loaded_pipe(pipe).model),
    )


def loaded_pipe(pipe: Any) -> Any:
    nlp = blank()
    return nlp.add_pipe(NAMES[0], config=SMALL).from_bytes(pipe.to_bytes())


def test_joint_training_adapts_both_chains() -> None:
    nlp = blank()
    likelihood = {
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
    }
    add_segmenter(nlp, **likelihood, trainer={"@misc": "spacy_cascade.TrainedJointly.v1"})
    nlp.add_pipe(
        "cascade_segmenter",
        "types",
        config={
            "typed": True,
            "set_ents": True,
            "spans_key": "types",
            **likelihood,
            "trainer": {
                "@misc": "spacy_cascade.JointLBFGS.v1",
                "first": NAMES[0],
                "iterations": 10,
                "threads": 1,
            },
            "model": {
                "min_count": 1,
                "templates": {
                    "@misc": "spacy_cascade.Templates.v1",
                    "templates": ["word@-1..1", "span(cascade)@-1..1"],
                    "patterns": {},
                    "lexicons": {},
                },
            },
        },
    )
    train(nlp, make_examples(nlp))
    nlp = loaded(nlp)
    for name in nlp.pipe_names:
        assert get_hessian_diagonal(nlp.get_pipe(name).model).max() > 0.1
    adapt(nlp, [virus_example(nlp)], updates=5)
    assert entities(nlp, VIRUS) == [("HIV", "virus"), ("primary monocytes", "cell")]
    assert nlp.evaluate(make_examples(nlp))["ents_f"] > 0.9


def test_what_cannot_be_adapted(trained: Language) -> None:
    nlp = loaded(trained)
    with pytest.raises(TrainingError, match="no Docs"):
        adapt(nlp, [])
    with pytest.raises(ConfigError, match="1 update or more"):
        adapt(nlp, make_examples(nlp), updates=0)
    nlp = blank()
    nlp.add_pipe("sentencizer")
    with pytest.raises(ConfigError, match=r"only \['sentencizer'\]"):
        adapt(nlp, make_examples(nlp))


def test_docs_without_annotation_are_refused(trained: Language) -> None:
    nlp = loaded(trained)
    bare = [Example(make_doc(nlp.vocab, VIRUS), make_doc(nlp.vocab, VIRUS))]
    with pytest.raises(TrainingError, match=r"None of the 1 Docs .* look at doc\.ents\. Annotate"):
        adapt(nlp, bare)
    adapt(nlp, [*bare, virus_example(nlp)])
    assert ("HIV", "virus") in entities(nlp, VIRUS)


def test_a_tagger_needs_tags() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    with pytest.raises(TrainingError, match=r"None of the 1 Docs .* look at token\.tag\. Annotate"):
        adapt(nlp, [virus_example(nlp)])


def contradictions(nlp: Language) -> list[Example]:
    """Documents in which other words are entities than in the sample, and no others."""
    texts = [f"the study shows {word} data of patients ." for word in ("new", "old", "more")]
    return [make_example(nlp, text, [(4, 5, "protein")]) for text in texts * 2]


def test_with_none_of_it_weights_are_what_new_documents_alone_give(trained: Language) -> None:
    """Weights begin at zero; the penalty is that of training from scratch."""
    nlp = loaded(trained)
    set_share(nlp, 0.0)
    for name in NAMES:
        pipe = nlp.get_pipe(name)
        assert not weights(pipe)[0].any()
        assert not get_hessian_diagonal(pipe.model).any()
    adapt(nlp, contradictions(nlp))
    fit = nlp.get_pipe(NAMES[0])._fit
    penalty = fit._objective.parametrisation.penalty
    assert not penalty.centre.features.any()
    np.testing.assert_allclose(penalty.precision, penalty.sigma**-2)


def test_the_less_it_counts_the_smaller_the_weights(trained: Language) -> None:
    """With a share of 1 they are what they were."""
    norms = []
    for share in (0.0, 0.1, 1.0):
        nlp = loaded(trained)
        set_share(nlp, share)
        norms.append(np.linalg.norm(weights(nlp.get_pipe(NAMES[0]))[0]))
    assert 0.0 == norms[0] < norms[1] < norms[2]
    assert norms[2] == np.linalg.norm(weights(trained.get_pipe(NAMES[0]))[0])


def test_the_share_is_chosen_on_documents_that_are_kept_back(
    trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample is what the pipeline knows, so that forgetting it is worse; nothing changes."""
    monkeypatch.setattr(adapting, "SHARES", (0.0, 1.0))
    nlp = loaded(trained)
    before = [weights(nlp.get_pipe(name))[0] for name in NAMES]
    share, tried = choose_share(nlp, make_examples(nlp), updates=1)
    assert share == 1.0
    assert [found.share for found in tried] == [0.0, 1.0]
    assert tried[0].f1 < tried[1].f1 == 1.0
    for name, values in zip(NAMES, before, strict=True):
        np.testing.assert_array_equal(weights(nlp.get_pipe(name))[0], values)


def test_documents_that_follow_a_pattern_are_mixed_before_a_part_is_kept_back(
    trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept back once for each share; not every third together, as in a corpus by turns."""
    adapted_to: list[set[str]] = []

    def noted(_: Language, examples: list[Example], updates: int) -> None:
        adapted_to.append({example.text.strip() for example in examples})

    monkeypatch.setattr(adapting, "adapt", noted)
    monkeypatch.setattr(adapting, "SHARES", (1.0, 0.0))
    texts = [f"HIV infects {number} cells ." for number in range(12)]
    choose_share(trained, [make_example(trained, text, [(0, 1, "virus")]) for text in texts])
    parts = [sorted(texts.index(text) for text in {*texts} - those) for those in adapted_to]
    assert sorted(parts[0] + parts[1] + parts[2]) == [*range(12)]
    assert parts == parts[:3] * 2
    assert [0, 3, 6, 9] not in parts


def test_shares_out_of_range_and_too_few_documents(trained: Language) -> None:
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ConfigError, match="from 0 to 1"):
            set_share(trained, share)
    with pytest.raises(ConfigError, match="3 new Docs or more, not 2"):
        choose_share(trained, make_examples(trained)[:2])


def test_online_components_have_no_share() -> None:
    nlp = blank()
    add_segmenter(
        nlp,
        loss={"@misc": "spacy_cascade.Hinge.v2"},
        penalty=None,
        trainer={"@misc": "spacy_cascade.PassiveAggressive.v1"},
    )
    train(nlp, make_examples(nlp), updates=1)
    with pytest.raises(ConfigError, match=r"'cascade_segmenter' .* trained online"):
        choose_share(loaded(nlp), make_examples(nlp))


def test_components_without_curvature_have_none(trained: Language) -> None:
    nlp = loaded(trained)
    nlp.get_pipe(NAMES[1]).model.attrs["hessian_diagonal"] = None
    with pytest.raises(ConfigError, match=r"'cascade_classifier' .* without the curvature"):
        set_share(nlp, 0.5)
