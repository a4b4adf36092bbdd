"""The contract of components: each of this package keeps it, and broken ones are found out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from component_contract import CHECKS, CheckFailed, check_component, sample_examples, train
from helpers import TRAINER, add_classifier, add_segmenter, blank
from spacy_cascade.pipeline.factories import component_factory
from spacy_cascade.systems.tagging.component import CascadeTagger

WITHOUT_PAIRS = {"min_count": 1, "label_pairs": False}
ONLINE = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "passes": 3},
}
TEMPLATES = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
SEMI_MARKOV = {
    "@architectures": "spacy_cascade.SemiMarkov.v1",
    "templates": TEMPLATES,
    "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    "min_count": 1,
    "segment_min_count": 1,
}
ENTROPY = {
    "@architectures": "spacy_cascade.MaximumEntropyMarkov.v1",
    "templates": TEMPLATES,
    "min_count": 1,
}
SECOND_ORDER = {**ENTROPY, "@architectures": "spacy_cascade.HigherOrderChain.v1", "order": 2}
LIKELIHOOD = {"loss": {"@misc": "spacy_cascade.Likelihood.v2"}}
SEGMENTERS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "typed": {"typed": True, "set_ents": True, "scheme": "IOB2"},
    "online": {"typed": True, "set_ents": True, "model": WITHOUT_PAIRS, **ONLINE},
    "n best": {"n_best": 3, "set_ents": True},
    "overlapping": {"overlapping": True, "threshold": 0.1, "model": WITHOUT_PAIRS},
    "constrained": {"constrained": True, "typed": True, "set_ents": True},
    "semi-Markov": {"typed": True, "set_ents": True, "model": SEMI_MARKOV},
    "entropy": {"model": ENTROPY, **LIKELIHOOD},
    "second order": {"model": SECOND_ORDER, "typed": True, "set_ents": True},
}
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "reject": {"reject": True, "threshold": 0.2},
    "online": ONLINE,
}
TAGGERS: dict[str, dict[str, Any]] = {
    "defaults": {"model": {"min_count": 1}},
    "batch": {
        "model": {"min_count": 1, "label_pairs": True},
        "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1"},
        "trainer": TRAINER,
    },
}


def tagger(factory: str = "cascade_tagger", **settings: Any) -> Language:
    nlp = blank()
    nlp.add_pipe(factory, config=settings)
    return nlp


def test_the_tagger_keeps_the_contract() -> None:
    """The quickest one; the others are slow tests."""
    made = check_component(tagger(**TAGGERS["defaults"]), "cascade_tagger")
    assert made == tuple(CHECKS)


@pytest.mark.slow(kind="contract")
@pytest.mark.parametrize("config", SEGMENTERS)
def test_segmenters(config: str) -> None:
    nlp = blank()
    add_segmenter(nlp, **SEGMENTERS[config])
    check_component(nlp, "cascade_segmenter")


@pytest.mark.slow(kind="contract")
@pytest.mark.parametrize("config", CLASSIFIERS)
def test_classifiers(config: str) -> None:
    nlp = blank()
    add_segmenter(nlp)
    add_classifier(nlp, **CLASSIFIERS[config])
    check_component(nlp, "cascade_classifier")


@pytest.mark.slow(kind="contract")
def test_another_tagger() -> None:
    check_component(tagger(**TAGGERS["batch"]), "cascade_tagger")


@pytest.mark.slow(kind="contract")
def test_the_reranker() -> None:
    nlp = blank()
    add_segmenter(nlp, n_best=4)
    add_classifier(nlp, reject=True)
    nlp.add_pipe("cascade_reranker", config={"model": {"min_count": 1}})
    check_component(nlp, "cascade_reranker", train=train_reranked)


def train_reranked(nlp: Language, examples: Sequence[Example]) -> None:
    """Both stages, then the reranker on what they find."""
    nlp.initialize(lambda: examples)
    nlp.update(examples, exclude=["cascade_reranker"])
    with nlp.select_pipes(disable=["cascade_reranker"]):
        annotated = [Example(nlp(each.predicted.copy()), each.reference) for each in examples]
    reranker: Any = nlp.get_pipe("cascade_reranker")
    reranker.initialize(lambda: annotated)
    reranker.update(annotated)


def initialize_only(nlp: Language, examples: Sequence[Example]) -> None:
    nlp.initialize()


@pytest.mark.slow(kind="contract")
def test_the_linker(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("IL-2\tG1\tprotein\np53\tG2\nSTAT5\tG3\tprotein\n", encoding="utf8")
    nlp = blank()
    nlp.add_pipe("known_proteins")
    nlp.add_pipe("cascade_linker", config={"lists": {"terms": str(path)}})
    check_component(nlp, "cascade_linker", train=initialize_only)


@Language.component("known_proteins")
def known_proteins(doc: Doc) -> Doc:
    """Two words are entities where there is none yet."""
    found = [Span(doc, t.i, t.i + 1, "protein") for t in doc if t.text in ("IL-2", "p53")]
    doc.set_ents([s for s in found if s[0].ent_iob == 0], default="unmodified")
    return doc


@pytest.mark.slow(kind="contract")
def test_the_ensemble(tmp_path: Path) -> None:
    for name, settings in {"a": {}, "b": {"scheme": "IOB2"}}.items():
        member = blank()
        add_segmenter(member, **settings)
        add_classifier(member)
        train(member, sample_examples(member))
        member.to_disk(tmp_path / name)
    nlp = blank()
    nlp.add_pipe("cascade_ensemble", config={"members": str(tmp_path)})
    check_component(nlp, "cascade_ensemble", train=initialize_only)


# Broken components


class Broken(CascadeTagger):
    """A tagger with one of the faults below; `fault` is set by the test."""

    fault = ""

    def predict(self, docs: Any) -> Any:
        docs = list(docs)
        if self.fault == "changes Docs" and docs:
            docs[0].user_data["seen"] = True
        if self.fault == "follows sentences":
            self.model.attrs["sentences"] = None
        if self.fault == "fails on empty Docs" and not all(map(len, docs)):
            raise IndexError("no tokens")
        found = super().predict(docs)
        if self.fault == "depends on the batch" and len(docs) > 1:
            return [numbers * 0 for numbers in found]
        return found

    def set_annotations(self, docs: Any, scores: Any) -> None:
        docs = list(docs)
        super().set_annotations(docs, scores)
        for doc in docs:
            if self.fault == "removes entities":
                doc.set_ents([], default="outside")
            if self.fault == "counts runs":
                doc.spans["runs"] = [doc[:1]] * (1 + len(doc.spans.get("runs", ())))

    def update(self, examples: Any, **settings: Any) -> Any:
        losses = super().update(examples, **settings)
        if self.fault == "no loss":
            losses.pop(self.name)
        return losses

    def add_label(self, label: str) -> int:
        if self.fault == "adds any label":
            self._labels = (*self._labels, label)
            return 1
        return super().add_label(label)

    def from_bytes(self, data: bytes, **settings: Any) -> Any:
        if self.fault == "ignores what follows":
            data = data.removesuffix(b"more")
        if self.fault == "bare errors" and not data:
            raise KeyError("header")
        if self.fault == "loads the rest" and not data.startswith(b"PK"):
            return self
        return super().from_bytes(data, **settings)

    def __reduce__(self) -> Any:
        if self.fault == "cannot be pickled":
            raise TypeError("a lock")
        return super().__reduce__()

    def __setattr__(self, name: str, value: Any) -> None:
        if self.fault == "takes any option" and name == "overwrite":
            self._settings = {"overwrite": value}
        else:
            super().__setattr__(name, value)


_TAGGER = Language.get_factory_meta("cascade_tagger").default_config
component_factory(
    "broken_tagger", Broken, {name: value for name, value in _TAGGER.items() if name != "overwrite"}
)


@pytest.mark.parametrize(
    ("fault", "check", "on"),
    [
        ("depends on the batch", "batches_do_not_matter", "batches of 3"),
        ("changes Docs", "predict_changes_nothing", "predict"),
        ("counts runs", "a_second_run_changes_nothing", "the text"),
        ("follows sentences", "sentences_count_as_in_training", "the text"),
        ("removes entities", "earlier_entities_stay", "the text"),
        ("fails on empty Docs", "odd_documents_are_annotated", "an empty text"),
        ("no loss", "training_gives_losses", "update"),
        ("adds any label", "labels_can_be_added", "known label"),
        ("ignores what follows", "damaged_bytes_are_refused", "further bytes"),
        ("bare errors", "damaged_bytes_are_refused", "no bytes"),
        ("loads the rest", "damaged_bytes_are_refused", "no bytes"),
        ("cannot be pickled", "copies_find_the_same", "deepcopy before training"),
        ("takes any option", "options_have_ranges", "overwrite"),
    ],
)
def test_a_broken_component_is_found_out(
    fault: str, check: str, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "fault", fault)
    others = set(CHECKS) - {check}
    with pytest.raises(CheckFailed) as caught:
        check_component(tagger("broken_tagger"), "broken_tagger", without=others)
    assert caught.value.check == check
    assert on in caught.value.on
    assert f"'{check}' of 'broken_tagger' failed on" in str(caught.value)
    assert "Expected: " in str(caught.value)


def test_what_is_left_out_is_named() -> None:
    with pytest.raises(ValueError, match=r"There is no check 'speed'\. The checks: a_config"):
        check_component(tagger(), "cascade_tagger", without=["speed"])
