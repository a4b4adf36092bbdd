"""Training of a reranker: what the folds are trained by, and which trial is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ranked_lists import KEY, N, learnt, lists, reranking
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from helpers import TEXTS, blank, bounds, make_doc, make_examples
from spacy_cascade import TrainingError
from spacy_cascade.systems.reranking import training
from spacy_cascade.systems.reranking.training import Trained, train_reranker
from spacy_cascade.workflows.reconfigure import with_settings


def test_every_trial_begins_with_zeros(trained: Language) -> None:
    nlp, _ = learnt(trained, passes=2)
    reranker: Any = nlp.get_pipe("cascade_reranker")
    data = reranker.reranker_data(lists(nlp))
    first, again = (list(training._passes(reranker, data, 2)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert np.any(first[0] != first[1])


def test_folds_train_both_stages_alone(trained: Language) -> None:
    """As the pipeline's config says, with what comes before them as it is."""
    nlp = with_settings(reranking(trained), {"cascade_segmenter": {"threshold": 0.25}})
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("merge_entities")
    annotating = ["sentencizer", "cascade_segmenter", "merge_entities"]
    callback = {"@callbacks": "spacy_cascade.calibrate.v1", "path": None}
    nlp.config = nlp.config.merge(
        {"training": {"annotating_components": annotating, "before_to_disk": callback}}
    )
    config = training._stages_config(nlp, Path("saved"))
    names = ["sentencizer", "cascade_segmenter", "cascade_classifier"]
    assert config["nlp"]["pipeline"] == names
    components = nlp.config["components"]
    assert config["components"] == {
        "sentencizer": {"source": "saved"},
        "cascade_segmenter": {**components["cascade_segmenter"], "n_best": 1},
        "cascade_classifier": components["cascade_classifier"],
    }
    found = config["training"]
    assert (found["frozen_components"], found["annotating_components"]) == (names[:1], names[:2])
    assert found["before_to_disk"] is None


def test_no_doc_is_annotated_by_what_it_has_trained(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    def train(config: Any, docs: list[Doc], dev: Path, vocab: Vocab) -> Language:
        assert (dev, vocab) == (tmp_path / "dev.spacy", trained.vocab)
        seen.append({doc.text.strip() for doc in docs})
        return trained

    monkeypatch.setattr(training, "train_pipeline", train)
    references = [example.reference for example in make_examples(trained)]
    DocBin(docs=references).to_disk(tmp_path / "train.spacy")
    paths = tmp_path / "train.spacy", tmp_path / "dev.spacy"
    found = list(training.jackknifed(trained, *paths, 4, N))
    folds = [TEXTS[fold::4] for fold in range(4)]
    texts = [example.predicted.text.strip() for example in found]
    assert texts == [*folds[0], *folds[1], *folds[2], *folds[3]]
    assert seen == [set(TEXTS) - set(fold) for fold in folds]
    assert all(f"{KEY}/{N}" in example.predicted.spans for example in found)


def trained_on_lists(
    trained: Language, folder: Path, monkeypatch: pytest.MonkeyPatch,
    label: str | None = None, passes: int = 3,
) -> tuple[Language, Trained]:  # fmt: skip
    """With the lists of the cascade itself; label: of all entities of the development corpus."""
    monkeypatch.setattr(training, "jackknifed", lambda nlp, *_: lists(reranking(nlp)))
    dev = [example.reference for example in lists(reranking(trained))]
    if label is not None:
        for doc in dev:
            doc.set_ents([Span(doc, s, e, label) for s, e, _ in bounds(doc.ents)])
    DocBin(docs=dev).to_disk(folder / "dev.spacy")
    monkeypatch.setattr(
        training, "with_reranker",
        lambda nlp, n, **settings: reranking(nlp, n, model={"min_count": 1}, **settings),
    )  # fmt: skip
    return train_reranker(
        trained, folder / "train.spacy", folder / "dev.spacy",
        n_best=N, scales=(0.5, 0.25), weights=(2.0, 0.5), passes=passes,
    )  # fmt: skip


def test_the_trial_of_highest_f1_is_kept(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of equals the first; its settings and weights are those of the pipeline."""
    nlp, found = trained_on_lists(trained, tmp_path, monkeypatch)
    every = [(trial.scale, trial.weight) for trial in found.trials]
    assert every == [(0.5, 2.0), (0.5, 0.5), (0.25, 2.0), (0.25, 0.5)]
    best, n_passes = found.best
    of_all = np.array([trial.f1 for trial in found.trials])
    assert of_all.shape == (4, 3)
    assert np.argmax(of_all) == 3 * every.index((best.scale, best.weight)) + n_passes - 1
    assert found.f1 == of_all.max() > found.baseline
    reranker: Any = nlp.get_pipe("cascade_reranker")
    assert (reranker.scale, reranker.weight) == (best.scale, best.weight)
    data = reranker.reranker_data(lists(nlp))
    own = data.f1(reranker.weighted(data.typed), reranker.weights.features)
    assert own == pytest.approx(found.f1)


def test_where_nothing_is_right_the_first_trial_is_kept(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With weights of zero."""
    nlp, found = trained_on_lists(trained, tmp_path, monkeypatch, "other", passes=1)
    assert found.best == (found.trials[0], 1)
    assert found.f1 == found.baseline == 0.0
    reranker: Any = nlp.get_pipe("cascade_reranker")
    assert (reranker.scale, reranker.weight) == (0.5, 2.0)
    assert reranker.is_trained
    assert not reranker.weights.features.any()


# What a reranker knows


def test_a_new_reranker_has_no_weights() -> None:
    reranker: Any = blank().add_pipe("cascade_reranker")
    assert [part.shape for part in reranker.weights] == [(0, 1), (1,)]


@pytest.mark.parametrize("n_listed", [None, 0, 1])
def test_without_lists_it_forgets_what_it_has_learnt(
    trained: Language, n_listed: int | None
) -> None:
    """Where no Doc has one, or not all do, and without any Doc."""
    nlp, _ = learnt(trained)
    reranker: Any = nlp.get_pipe("cascade_reranker")
    assert reranker.is_trained
    examples = [] if n_listed is None else lists(nlp)
    for example in examples[n_listed:]:
        example.predicted = make_doc(nlp.vocab, example.predicted.text)
    reranker.initialize(lambda: examples, nlp=nlp)
    assert (reranker.is_trained, reranker.labels) == (False, ())
    assert reranker.weights.features.shape == (0, 1)


def test_features_see_what_was_found_first(trained: Language) -> None:
    """A Doc without the group has found nothing."""
    nlp, _ = learnt(trained)
    reranker: Any = nlp.get_pipe("cascade_reranker")
    example = lists(nlp)[0]
    doc = example.predicted

    def features() -> list[int]:
        return reranker.reranker_data([example]).design.unit_features.indices.tolist()

    found = features()
    doc.spans[KEY] = []
    nothing = features()
    del doc.spans[KEY]
    assert features() == nothing != found


def test_lists_of_other_types_teach_nothing(trained: Language) -> None:
    nlp, _ = learnt(trained)
    example = lists(nlp)[0]
    for k in range(1, N + 1):
        example.predicted.spans[f"{KEY}/{k}"].attrs["classes"] = ["a", "b", "c"]
    with pytest.raises(TrainingError, match=r"trained for the types.*gives \['a', 'b', 'c'"):
        nlp.get_pipe("cascade_reranker").update([example])  # type: ignore[attr-defined]
