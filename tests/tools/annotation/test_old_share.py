"""How much the old corpus counts in adaptation: set by hand, and chosen on new documents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example

from helpers import (
    add_segmenter,
    blank,
    make_example,
    make_examples,
    train,
    weights,
)
from spacy_cascade import ConfigError
from spacy_cascade.scorers.linear import get_hessian_diagonal
from spacy_cascade.tools.annotation import old_share
from spacy_cascade.tools.annotation.adapting import adapt
from spacy_cascade.tools.annotation.old_share import choose_share, set_share

NAMES = ("cascade_segmenter", "cascade_classifier")


def loaded(nlp: Language) -> Language:
    return blank().from_config(nlp.config).from_bytes(nlp.to_bytes())


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
    monkeypatch.setattr(old_share, "SHARES", (0.0, 1.0))
    nlp = loaded(trained)
    before = [weights(nlp.get_pipe(name))[0] for name in NAMES]
    share, tried = choose_share(nlp, make_examples(nlp), updates=1)
    assert share == 1.0
    assert [found.share for found in tried] == [0.0, 1.0]
    assert tried[0].f1 < tried[1].f1 == 1.0
    for name, values in zip(NAMES, before, strict=True):
        np.testing.assert_array_equal(weights(nlp.get_pipe(name))[0], values)


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
