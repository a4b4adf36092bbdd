"""The label contract of trainable pipes: `add_label`, `labels`, `label_data`, files of labels.

As with spaCy's own, `label_data` is what `spacy init labels` saves and `initialize` takes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from helpers import blank, run_spacy
from spacy_cascade import TrainingError

SETTINGS: dict[str, dict[str, Any]] = {
    "cascade_segmenter": {"model": {"min_count": 1}},
    "cascade_classifier": {"model": {"min_count": 1}},
    "cascade_tagger": {"model": {"min_count": 1}},
    "cascade_reranker": {},
}
TYPED = {"typed": True}
LEARNERS = {
    "segmenter": ("cascade_segmenter", {}),
    "typed segmenter": ("cascade_segmenter", TYPED),
    "classifier": ("cascade_classifier", {}),
    "tagger": ("cascade_tagger", {}),
}
"""Components that learn labels, and further settings."""
LABELS = {
    "segmenter": ("ENT",),
    "typed segmenter": ("LOC", "PER"),
    "classifier": ("LOC", "PER"),
    "tagger": ("NNP", "VBD"),
}
OTHERS = ["NNP", "PER", "VBD", "LOC", "ORG"]
"""What a loop over the labels of a corpus may add, whatever the component learns."""


def pipeline(kind: str) -> tuple[Language, Any]:
    factory, further = LEARNERS[kind]
    nlp = blank()
    return nlp, nlp.add_pipe(factory, config={**SETTINGS[factory], **further})


def examples(nlp: Language) -> list[Example]:
    made = []
    for person, place in (("Anna", "Oslo"), ("Tom", "Lima"), ("Eva", "Rome")):
        words = [person, "saw", place]
        reference = Doc(nlp.vocab, words=words, tags=["NNP", "VBD", "NNP"])
        reference.ents = [Span(reference, 0, 1, "PER"), Span(reference, 2, 3, "LOC")]
        made.append(Example(Doc(nlp.vocab, words=words), reference))
    return made


def trained(kind: str, labels: Any = None) -> tuple[Language, Any]:
    nlp, component = pipeline(kind)
    if labels is not None:
        nlp.config["initialize"]["components"] = {component.name: {"labels": labels}}
    learn(nlp)
    return nlp, component


def learn(nlp: Language) -> None:
    given = examples(nlp)
    nlp.initialize(lambda: given)
    for _ in range(2):
        nlp.update(given)


@pytest.mark.parametrize("kind", LEARNERS)
def test_labels_come_from_the_examples(kind: str) -> None:
    nlp, component = pipeline(kind)
    assert component.labels == component.label_data == ()
    nlp.initialize(lambda: examples(nlp))
    assert component.labels == component.label_data == LABELS[kind]
    assert tuple(nlp.pipe_labels[component.name]) == LABELS[kind]


@pytest.mark.parametrize("kind", LEARNERS)
def test_label_data_initializes_another_pipeline_alike(kind: str) -> None:
    first, component = trained(kind)
    through_json = json.loads(json.dumps(component.label_data))
    second, again = trained(kind, through_json)
    assert again.labels == component.labels == LABELS[kind]
    assert second.to_bytes(exclude=["config"]) == first.to_bytes(exclude=["config"])


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_loop_of_tutorials_adds_labels_before_initialize(kind: str) -> None:
    """What is no label of this component costs nothing; what it is to learn, it learns."""
    nlp, component = pipeline(kind)
    for label in LABELS[kind]:
        assert component.add_label(label) == 1
        assert component.add_label(label) == 0
    learn(nlp)
    plain, _ = trained(kind)
    assert component.labels == LABELS[kind]
    assert nlp.to_bytes(exclude=["config"]) == plain.to_bytes(exclude=["config"])


def test_all_labels_are_one_to_a_segmenter_without_types() -> None:
    """Types are the classifier's: no column of weights is made for them, and none is lost."""
    nlp, component = pipeline("segmenter")
    assert [component.add_label(label) for label in OTHERS] == [1, 0, 0, 0, 0]
    learn(nlp)
    assert component.labels == ("ENT",)
    assert component.add_label("PRODUCT") == 0
    plain, of_plain = trained("segmenter")
    assert component.model.get_param("W").shape == of_plain.model.get_param("W").shape
    assert nlp.to_bytes(exclude=["config"]) == plain.to_bytes(exclude=["config"])


def test_a_labels_file_of_types_is_fine_for_a_segmenter_without_types() -> None:
    nlp, component = trained("segmenter", ["LOC", "ORG", "PER"])
    assert component.labels == ("ENT",)
    doc = nlp(examples(nlp)[0].predicted)
    assert [span.text for span in doc.spans["cascade"]] == ["Anna", "Oslo"]


@pytest.mark.parametrize("kind", ["typed segmenter", "classifier", "tagger"])
def test_a_label_that_no_example_has_is_kept(kind: str) -> None:
    nlp, component = pipeline(kind)
    assert component.add_label("X") == 1
    nlp.initialize(lambda: examples(nlp))
    assert component.labels == tuple(sorted([*LABELS[kind], "X"]))
    assert component.add_label("Y") == 1
    assert "Y" in component.labels


def test_the_reranker_leaves_labels_to_the_classifier() -> None:
    reranker = blank().add_pipe("cascade_reranker")
    assert (reranker.labels, reranker.label_data) == ((), None)
    with pytest.raises(TrainingError, match="Add 'PER' to cascade_classifier"):
        reranker.add_label("PER")


@pytest.mark.parametrize("kind", LEARNERS)
def test_what_is_no_label_is_refused(kind: str) -> None:
    _, component = pipeline(kind)
    for label in ("", 5, None, "x\ud800"):
        with pytest.raises(TrainingError, match="cannot have the label"):
            component.add_label(label)
    assert component.labels == ()


@pytest.mark.parametrize("kind", LEARNERS)
def test_labels_that_are_no_list_are_refused(kind: str) -> None:
    """Such as those of spaCy's `ner`, which saves a table of actions."""
    nlp, component = pipeline(kind)
    for labels in ("PER", {"1": {"PER": 3}}, 3):
        with pytest.raises(TrainingError, match="must be a list of texts, as 'spacy init labels'"):
            component.initialize(lambda: examples(nlp), nlp=nlp, labels=labels)


def test_init_labels_writes_files_that_initialize_reads(tmp_path: Path) -> None:
    nlp, again = blank(), blank()
    for each in (nlp, again):
        for factory, settings in SETTINGS.items():
            each.add_pipe(factory, config=settings)
    corpus = tmp_path / "train.spacy"
    DocBin(docs=[example.reference for example in examples(nlp)]).to_disk(corpus)
    config = nlp.config.copy()
    config["corpora"] = {
        name: {"@readers": "spacy.Corpus.v1", "path": str(corpus)} for name in ("train", "dev")
    }
    config.to_disk(tmp_path / "config.cfg")
    run_spacy("init", "labels", tmp_path / "config.cfg", tmp_path / "labels")
    saved = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "labels").iterdir()}
    assert saved == {
        "cascade_segmenter": ["ENT"],
        "cascade_classifier": ["LOC", "PER"],
        "cascade_tagger": ["NNP", "VBD"],
    }
    for name in saved:
        path = str(tmp_path / "labels" / f"{name}.json")
        labels = {"@readers": "spacy.read_labels.v1", "path": path}
        again.config["initialize"]["components"][name] = {"labels": labels}
    again.initialize(lambda: examples(again))
    assert {name: list(again.get_pipe(name).labels) for name in saved} == saved
