"""Checks of training: what is learnt, from what, and what happens before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch

from .case import Case, annotation
from .sample import SAMPLE_TEXTS, sample_examples

_MANY = 12


def an_untrained_component_says_so(case: Case) -> None:
    """Before training an error of this package, or annotation that changes nothing for spaCy."""
    nlp = case.untrained()
    case.is_refused("a text before training", lambda: nlp(SAMPLE_TEXTS[0]))
    case.is_refused("saving before training", nlp.to_bytes)


def training_gives_losses(case: Case) -> None:
    """`update` gives a finite loss under the component's name; training twice, the same bytes."""
    if not case.is_trainable:
        return
    nlp = case.copy()
    losses: dict[str, float] = {}
    refused = case.is_refused(
        "update", lambda: case.of(nlp).update(_annotated(case, nlp), losses=losses)
    )
    if not refused:
        loss = losses.get(case.name)
        is_finite = loss is not None and math.isfinite(loss)
        case.true("update", f"a finite number as losses['{case.name}']", is_finite, losses)
    again = case.untrained()
    case.train(again, case.make_examples(again))
    case.true("a second training", "equal bytes", again.to_bytes() == case.trained.to_bytes())


def no_examples_are_no_crash(case: Case) -> None:
    """An update on nothing, or on Docs without tokens, changes nothing or is refused."""
    if not case.is_trainable:
        return
    nlp = case.copy()
    case.is_refused("no examples", lambda: case.of(nlp).update([]))
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    case.is_refused("a Doc without tokens", lambda: case.of(nlp).update([empty]))
    case.equal("what it finds then", case.expected, [annotation(nlp(t)) for t in SAMPLE_TEXTS])


def parts_of_the_corpus_are_taken(case: Case) -> None:
    """The loop of spaCy's documentation, batch by batch, trains or is refused."""
    if not case.is_trainable:
        return
    nlp = case.untrained()
    examples = case.make_examples(nlp)

    def loop() -> None:
        nlp.initialize(lambda: examples)
        for _ in range(2):
            for batch in minibatch(examples, 3):  # type: ignore[no-untyped-call]
                nlp.update(batch)

    if not case.is_refused("minibatches", loop):
        with case.no_error("annotation after minibatches"):
            list(nlp.pipe(SAMPLE_TEXTS))


def any_number_of_labels(case: Case) -> None:
    """No label, one, two and many are learnt or refused."""
    if not _learns_labels(case):
        return
    kinds: dict[str, Callable[[str], str | None]] = {
        "no labels": lambda label: None,
        "one label": lambda label: "only",
        "two labels": lambda label: "one" if label < "d" else "two",
        "names of other scripts": lambda label: f"Ж {label} – é",
        "names with special characters": lambda label: f"B-{label}|O,=\"'[]{{}}",
        "very long names": lambda label: label * 200,
    }
    for what, relabel in kinds.items():
        nlp = case.untrained()
        examples = sample_examples(nlp, relabel)

        def train(nlp: Language = nlp, examples: Sequence[Example] = examples) -> None:
            case.train(nlp, examples)
            list(nlp.pipe(SAMPLE_TEXTS))
            nlp.to_bytes()

        is_refused = case.is_refused(what, train)
        case.true(what, "labels that are learnt", what == "no labels" or not is_refused, "refused")


def labels_can_be_added(case: Case) -> None:
    """A new label is added once; one that no Doc can have is refused.

    A component that tells no labels apart keeps the one that it has, and says so by 0.
    """
    component = case.of(case.copy())
    before = getattr(component, "labels", ())
    if not hasattr(component, "add_label") or case.is_refused(
        "add_label", lambda: component.add_label("added")
    ):
        return
    case.equal("add_label of a known label", 0, component.add_label("added"))
    case.refused("add_label of '\\ud800'", lambda: component.add_label("\ud800"))
    if len(before) == 1 and component.labels == before:
        return
    case.true("add_label", "the label", "added" in component.labels, component.labels)
    nlp = case.copy()
    for i in range(_MANY):
        case.equal(f"add_label of label {i}", 1, case.of(nlp).add_label(f"added{i}"))
        nlp(SAMPLE_TEXTS[0])
    labels = case.of(case.copy().from_bytes(nlp.to_bytes())).labels
    case.equal("labels that were saved", case.of(nlp).labels, labels)


def other_labels_are_learnt(case: Case) -> None:
    """A trained component is initialized again for the same texts with other names."""
    if not _learns_labels(case):
        return
    nlp = case.copy()
    examples = sample_examples(nlp, lambda label: f"{label}_2")
    with case.no_error("initialize and update with other labels"):
        case.train(nlp, examples)
        list(nlp.pipe(SAMPLE_TEXTS))
    known = {name for each in examples for name in _names(each)}
    before = {f"{label}_2" for label in case.of(case.trained).labels}
    missing = (known & before) - set(case.of(nlp).labels)
    case.true("the labels", f"also {sorted(known & before)}", not missing, case.of(nlp).labels)


def training_goes_on_after_loading(case: Case) -> None:
    """A loaded pipeline can be trained further, and saved again."""
    if not case.is_trainable:
        return
    nlp = case.copy()
    nlp.resume_training()

    def go_on() -> None:
        for _ in range(2):
            case.of(nlp).update(_annotated(case, nlp))

    if not case.is_refused("update after loading", go_on):
        with case.no_error("annotation and saving after that"):
            list(nlp.pipe(SAMPLE_TEXTS))
            case.untrained().from_bytes(nlp.to_bytes())


def scores_are_numbers(case: Case) -> None:
    """`nlp.evaluate` gives numbers between 0 and 1, also for no examples."""
    examples = case.make_examples(case.trained)
    with case.no_error("evaluate"):
        scores = case.trained.evaluate(examples)
    for name, value in scores.items():
        if isinstance(value, float) and name != "speed":
            case.true(f"the score {name}", "a number from 0 to 1", 0 <= value <= 1, value)
    with case.no_error("evaluate of no examples"):
        case.trained.evaluate([])


CHECKS = (
    an_untrained_component_says_so,
    training_gives_losses,
    no_examples_are_no_crash,
    parts_of_the_corpus_are_taken,
    any_number_of_labels,
    labels_can_be_added,
    other_labels_are_learnt,
    training_goes_on_after_loading,
    scores_are_numbers,
)


def _learns_labels(case: Case) -> bool:
    """Whether its labels are those of the examples that `initialize` sees."""
    return case.is_trainable and case.make_examples is sample_examples


def _annotated(case: Case, nlp: Language) -> list[Example]:
    """Examples whose predicted Docs have what the components before it set."""
    examples = list(case.make_examples(nlp))
    before = nlp.pipe_names[: nlp.pipe_names.index(case.name)]
    with nlp.select_pipes(enable=before):
        for example in examples:
            example.predicted = nlp(example.predicted)
    return examples


def _names(example: Example) -> set[str]:
    """Labels of entities, and tags."""
    doc = example.reference
    return {entity.label_ for entity in doc.ents} | {token.tag_ for token in doc}
