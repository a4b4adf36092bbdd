"""Bad input gets an error of the package's own that helps, or a sensible result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Corpus, Example

from helpers import (
    SENTENCES,
    SMALL,
    TEXTS,
    TRAINER,
    blank,
    bounds,
    cascade,
    gold_doc,
    make_doc,
    make_example,
    make_examples,
    train,
    trained_cascade,
)
from spacy_cascade import (
    CascadeError,
    ConfigError,
    CorpusError,
    MissingStageError,
    ModelFileError,
    NotTrainedError,
    TemplateError,
    TrainingError,
)
from spacy_cascade.storage import model_file as storage

BOTH = ["cascade_segmenter", "cascade_classifier"]


def templates(line: str) -> dict[str, Any]:
    """Settings of a component with this template."""
    block = {"templates": [line], "patterns": {}, "lexicons": {}}
    return {"model": {"templates": {"@misc": "spacy_cascade.Templates.v1", **block}}}


def loss(**settings: Any) -> dict[str, Any]:
    return {"loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2", **settings}}


def penalty(sigma: float) -> dict[str, Any]:
    return {"penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": sigma}}


def trainer(**settings: Any) -> dict[str, Any]:
    return {"trainer": {**TRAINER, **settings}}


# Configuration


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (templates("wrod@0"), TemplateError, r"'wrod@0'.*unknown attribute 'wrod'.*word, lower"),
        (penalty(-1.0), ConfigError, r"sigma.*-1\.0.*\[penalty\]"),
        (loss(kappa=-0.5), ConfigError, r"kappa.*-0\.5.*\[loss\]"),
        (loss(false_negative_weight=0.0), ConfigError, r"false_negative_weight.*\[loss\]"),
        (trainer(iterations=0), ConfigError, r"iterations >= 1.*\[trainer\]"),
        ({"model": {"min_count": 0}}, ConfigError, r"min_count.*0.*\[model\]"),
    ],
)
def test_bad_settings_are_named_when_the_component_is_made(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    nlp = blank()
    with pytest.raises(error, match=message):
        nlp.add_pipe("cascade_classifier", config=settings)
    assert issubclass(error, CascadeError)
    assert nlp.pipe_names == []


# Training data


@pytest.mark.parametrize("name", ["cascade_tagger"])
def test_a_corpus_in_another_format_is_named(name: str, tmp_path: Path) -> None:
    """spaCy's own reader says nothing of it."""
    path = tmp_path / "train.tsv"
    path.write_text("a\tO\n")
    nlp = blank()
    component = nlp.add_pipe(name)
    nlp.config["corpora"] = {"train": {"path": str(path)}}
    with pytest.warns(UserWarning, match="W090"), pytest.raises(CorpusError) as caught:
        component.initialize(lambda: Corpus(path)(nlp), nlp=nlp)
    assert str(caught.value).startswith(f"{path} is no .spacy file. Make one of it: spacy cascade")


def test_nothing_seen_often_enough_leaves_no_features() -> None:
    """Then there is nothing to learn from, and nothing to go wrong."""
    nlp = blank()
    segmenter = nlp.add_pipe(
        "cascade_segmenter", config={**SMALL, "model": {"min_count": 10_000, "label_pairs": False}}
    )
    losses = train(nlp, make_examples(nlp))
    assert np.isfinite([loss["cascade_segmenter"] for loss in losses]).all()
    assert len(segmenter.space) == 0
    nlp.from_bytes(nlp.to_bytes())
    nlp(TEXTS[0])


def test_a_label_that_training_never_saw(trained: Language) -> None:
    nlp = trained
    text = "STAT5 binds the AP-1 site ."
    scores = nlp.evaluate([make_example(nlp, text, [(0, 1, "virus"), (3, 5, "DNA")])])
    assert scores["types_acc"] == 0.5
    assert scores["ents_per_type"]["virus"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert scores["segments_f"] == 1.0


def test_overlapping_gold_spans() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={**SMALL, "gold_key": "gold"})
    overlapping = make_example(nlp, TEXTS[0], [(0, 3, "DNA"), (2, 4, "cell")], key="gold")
    with pytest.raises(TrainingError, match=r"doc\.spans\['gold'\] overlap.*tokens 0-3.*2-4"):
        nlp.initialize(lambda: [overlapping])
    same = make_example(nlp, TEXTS[0], [(0, 3, "DNA"), (0, 3, "cell")], key="gold")
    with pytest.raises(TrainingError, match="filter_spans"):
        nlp.initialize(lambda: [same])


@pytest.mark.parametrize("wrong", [1, ["text"], [make_doc(blank().vocab, "a")]])
@pytest.mark.parametrize("name", BOTH)
def test_things_that_are_no_examples(name: str, wrong: Any) -> None:
    component = trained_cascade().get_pipe(name)
    with pytest.raises(TypeError):
        component.update(wrong)
    with pytest.raises(TypeError):
        component.initialize(lambda: wrong)


# The training loop


@pytest.mark.parametrize("name", BOTH)
def test_prediction_before_training(name: str) -> None:
    nlp = blank()
    nlp.add_pipe(name)
    example = Example(make_doc(nlp.vocab, TEXTS[0]), gold_doc(nlp.vocab, *SENTENCES[0]))
    for attempt in (
        lambda: nlp(TEXTS[0]),
        lambda: list(nlp.pipe(TEXTS)),
        lambda: nlp.evaluate([example]),
        lambda: nlp.update([example]),
    ):
        with pytest.raises(NotTrainedError, match=r"spacy train.*nlp\.initialize"):
            attempt()


def test_errors_are_value_errors_with_advice() -> None:
    for error in (ConfigError, NotTrainedError, TemplateError, TrainingError):
        assert issubclass(error, ValueError)


# Words


def test_words_with_strange_characters_in_training() -> None:
    sentences = [
        ("😀 binds e\u0301\u0323 \U0010ffff .", [(0, 1, "protein"), (2, 3, "DNA")]),
        ("\u200b of İ\u0307 and ﬁ", [(2, 3, "cell")]),
        ("A" * 3000 + " of " + "." * 200, [(0, 1, "long")]),
    ]
    nlp = cascade()
    train(nlp, make_examples(nlp, sentences))
    for text, spans in sentences:
        doc = nlp(make_doc(nlp.vocab, text))
        assert bounds(doc.ents) == spans
    other = blank().from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert [bounds(other(make_doc(other.vocab, t)).ents) for t, _ in sentences] == [
        spans for _, spans in sentences
    ]


def test_labels_of_any_kind(tmp_path: Path) -> None:
    labels = ["ä ö", "B-DNA", "O", "日本", "a|b", "🧬", "x" * 300, "ENT"]
    text = " ".join(f"word{i} and" for i in range(len(labels)))
    spans = [(2 * i, 2 * i + 1, label) for i, label in enumerate(labels)]
    nlp = cascade({"typed": True})
    train(nlp, make_examples(nlp, [(text, spans)]))
    nlp.to_disk(tmp_path)
    assert bounds(nlp(text).ents) == spans
    other = blank().from_config(nlp.config).from_disk(tmp_path)
    assert bounds(other(text).ents) == spans


LOOKS = [
    ("tag@-1", "token.tag", "cascade_tagger"),
    ("pos", "token.pos", "tagger or morphologizer"),
    ("span(chunks)", "doc.spans['chunks']", 'cascade_segmenter with spans_key = "chunks"'),
]


@pytest.mark.parametrize(("template", "where", "component"), LOOKS)
def test_a_missing_earlier_stage_is_named(template: str, where: str, component: str) -> None:
    """In training, and when a pipeline that was trained with it has lost it."""
    nlp = blank()
    templates = {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": ["word", template],
        "patterns": {},
        "lexicons": {},
    }
    model = {"min_count": 1, "templates": templates}
    nlp.add_pipe("cascade_segmenter", config={**SMALL, "model": model})
    message = re.escape(f"look at {where}, but these Docs have none. Add a {component} before")
    with pytest.raises(MissingStageError, match=message):
        nlp.initialize(lambda: make_examples(nlp))
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_, token.pos_ = "NN", "NOUN"
        example.reference.spans["chunks"] = []
    train(nlp, examples)
    with pytest.raises(MissingStageError, match=message):
        nlp(TEXTS[0])
    assert len(nlp("")) == 0


def test_labels_that_are_no_unicode() -> None:
    nlp = trained_cascade()
    classifier = nlp.get_pipe("cascade_classifier")
    before = classifier.labels
    with pytest.raises(TrainingError, match=r"'cascade_classifier'.*'x\\ud800'.*not valid Unicode"):
        classifier.add_label("x\ud800")
    assert classifier.labels == before
    header, arrays = storage.unpack(classifier.to_bytes(), "the test")
    header["labels"][0] = "x\ud800"
    with pytest.raises(ModelFileError, match="the header is no valid table"):
        classifier.from_bytes(storage.pack(header, arrays))
