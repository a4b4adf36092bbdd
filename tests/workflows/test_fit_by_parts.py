"""How `fit` chooses by parts that are left out, in which order it learns, and what it keeps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

import spacy_cascade
from helpers import SENTENCES, add_segmenter, blank, cascade, make_examples
from spacy_cascade import TrainingError
from spacy_cascade.workflows import fit as module


@pytest.mark.parametrize(("n", "folds"), [(0, 0), (1, 0), (2, 2), (5, 5), (7, 5), (500, 5)])
def test_each_example_is_left_out_once(n: int, folds: int) -> None:
    examples: list[Any] = list(range(n))
    splits = list(module._splits(examples))
    assert len(splits) == folds
    assert sorted(i for _, held in splits for i in held) == (examples if folds else [])
    for rest, held in splits:
        assert sorted([*rest, *held]) == examples
        assert n // folds <= len(held) <= n // folds + 1


def test_of_many_examples_a_fifth_is_left_out() -> None:
    examples: list[Any] = list(range(501))
    ((rest, held),) = module._splits(examples)
    assert held == examples[::5]
    assert sorted([*rest, *held]) == examples


class Bar:
    """A progress bar that is looked at."""

    def __init__(self, description: str, total: int) -> None:
        self.total, self.n = total, 0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self) -> None:
        self.n += 1


def test_the_update_of_the_best_mean_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that cannot be learnt without does not count."""
    scores = iter([0.1, 0.8, 0.5, 0.3, 0.4, 0.6])
    bars: list[Bar] = []
    run = module._run

    def run_part(nlp: Language, rest: list[Example], held: Any, n: int) -> Iterator[Any]:
        if len(bars) == 1 and len(held) == 2:
            raise TrainingError("There is nothing to learn.")
        yield from run(nlp, rest, held, n)

    def bar(*given: Any, **settings: Any) -> Bar:
        bars.append(Bar(*given, **settings))
        return bars[-1]

    def calibrate(nlp: Language, steps: Any) -> dict[str, float]:
        assert [step.score for step in steps] == [0.8, 0.4]
        return {"cascade_segmenter": 2.0}

    monkeypatch.setattr(module, "_calibrate", calibrate)
    monkeypatch.setattr(module, "_FOLDS", 3)
    monkeypatch.setattr(module, "_run", run_part)
    monkeypatch.setattr(module, "progress", bar)
    monkeypatch.setattr(Language, "evaluate", lambda *_: {"ents_f": next(scores)})
    nlp = cascade()
    found = spacy_cascade.fit(nlp, make_examples(nlp)[:4], updates=3)
    assert (found.updates, found.score) == (2, pytest.approx(0.6))
    assert found.temperatures == {"cascade_segmenter": 2.0}
    (told,) = bars
    assert (told.total, told.n) == (3 * 4, 2 * 3 + 2)


def test_afterwards_new_examples_are_learnt_and_confidences_are_calibrated() -> None:
    """A training that went on would keep the examples that it began with."""
    nlp = cascade()
    found = spacy_cascade.fit(nlp, make_examples(nlp), updates=1)
    assert set(found.temperatures) == set(nlp.pipe_names)
    for name, temperature in found.temperatures.items():
        assert temperature != 1.0
        assert nlp.get_pipe(name).temperature == temperature
    examples = make_examples(nlp, [("HIV infects cells .", [(0, 1, "virus")])])
    for _ in range(3):
        nlp.update(examples)
    assert [(e.text, e.label_) for e in nlp("HIV infects cells .").ents] == [("HIV", "virus")]


def test_the_order_of_examples_is_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shuffled at first, and between updates; the list that was given stays."""
    orders: list[list[Example]] = []

    def noted(nlp: Language, examples: list[Example], *_: Any) -> None:
        orders.append(list(examples))

    monkeypatch.setattr(module, "update", noted)
    monkeypatch.setattr(module, "_PATIENCE", 9)
    monkeypatch.setattr(Language, "evaluate", lambda *_: {})
    nlp = cascade()
    given = make_examples(nlp)
    examples, order = list(given), list(given)
    spacy_cascade.fit(nlp, examples, given, updates=3)
    assert examples == given
    assert len(orders) == 3
    random.Random(0).shuffle(order)
    between = random.Random(0)
    for found in orders:
        assert found == order
        between.shuffle(order)


@pytest.mark.parametrize(
    ("scores", "score"),
    [
        ({}, 0.0),
        ({"ents_f": None, "segments_f": 0.25, "tag_acc": 0.5}, 0.25),
        ({"segments_f": None, "tag_acc": 0.5}, 0.5),
        ({"ents_f": 0.75, "segments_f": 0.25}, 0.75),
    ],
)
def test_a_score_stands_for_another_that_there_is_not(
    scores: dict[str, Any], score: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals: list[int] = []

    def bar(description: str, iterable: Iterator[Any], total: int) -> Iterator[Any]:
        totals.append(total)
        return iterable

    monkeypatch.setattr(Language, "evaluate", lambda *_: scores)
    monkeypatch.setattr(module, "progress", bar)
    nlp = cascade()
    assert spacy_cascade.fit(nlp, make_examples(nlp), make_examples(nlp), 1).score == score
    assert totals == [1]


@pytest.mark.parametrize(("n_examples", "min_count"), [(1, 1), (999, 1), (1000, 5)])
def test_of_few_examples_every_feature_is_kept(n_examples: int, min_count: int) -> None:
    nlp = blank()
    module._add_cascade(nlp, n_examples)
    assert nlp.pipe_names == ["cascade_segmenter", "cascade_classifier"]
    for _, pipe in nlp.pipeline:
        assert pipe.model.attrs["min_count"] == min_count  # type: ignore[attr-defined]


def test_encoders_of_learners_learn_and_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("sentencizer")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    model = {"@architectures": "spacy_cascade.LinearChain.v1", "min_count": 1, "tok2vec": listener}
    trainer = {"@misc": "spacy_cascade.Minibatch.v1"}
    nlp.add_pipe("cascade_segmenter", config={"model": model, "trainer": trainer})
    nlp.initialize(lambda: make_examples(nlp))
    assert list(module._saved(nlp)) == ["tok2vec", "cascade_segmenter"]
    excluded: list[list[str]] = []
    monkeypatch.setattr(module, "update", lambda *given: excluded.append(given[2]))
    next(module._updates(nlp, make_examples(nlp), 1))
    assert excluded == [["sentencizer"]]
    plain = blank()
    add_segmenter(plain)
    plain.initialize(lambda: make_examples(plain, SENTENCES))
    assert list(module._saved(plain)) == ["cascade_segmenter"]
