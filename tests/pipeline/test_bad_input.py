"""Bad input gets an error of the package's own that helps, or a sensible result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy import registry
from spacy.training import Corpus, Example

from helpers import (
    SENTENCES,
    SMALL,
    TEXTS,
    TRAINER,
    add_classifier,
    add_segmenter,
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
LIKELIHOOD = {"@misc": "spacy_cascade.Likelihood.v2"}


def templates(*lines: str, patterns: Any = None, lexicons: Any = None) -> dict[str, Any]:
    """Settings of a component with these templates."""
    return {
        "model": {
            "templates": {
                "@misc": "spacy_cascade.Templates.v1",
                "templates": list(lines),
                "patterns": patterns or {},
                "lexicons": lexicons or {},
            }
        }
    }


def loss(**settings: Any) -> dict[str, Any]:
    return {"loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2", **settings}}


def penalty(sigma: float) -> dict[str, Any]:
    return {"penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": sigma}}


def trainer(**settings: Any) -> dict[str, Any]:
    return {"trainer": {**TRAINER, **settings}}


# Configuration


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (templates("wrod@0"), TemplateError, r"'wrod@0'.*unknown attribute 'wrod'.*word, lower"),
        (templates("word@"), TemplateError, r"."),
        (templates("word@99"), TemplateError, r"99.*too far"),
        (templates("prefix(0)"), TemplateError, r"'prefix\(0\)'"),
        (templates("word@2..1"), TemplateError, r"empty"),
        (templates(), TemplateError, r"at least one template"),
        (templates("word & word@any"), TemplateError, r"@any"),
        (templates("pattern(digit)"), TemplateError, r"no pattern 'digit'"),
        (
            templates("pattern(digit)", patterns={"digit": "[0-9"}),
            TemplateError,
            r"'digit' is not a regular expression.*\[0-9",
        ),
        (templates("lexicon(genes)"), TemplateError, r"no lexicon 'genes'"),
        (penalty(-1.0), ConfigError, r"sigma.*-1\.0.*\[penalty\]"),
        (penalty(0.0), ConfigError, r"sigma"),
        (loss(kappa=-0.5), ConfigError, r"kappa.*-0\.5.*\[loss\]"),
        (loss(false_negative_weight=0.0), ConfigError, r"false_negative_weight.*\[loss\]"),
        ({"loss": LIKELIHOOD, **penalty(-2.0)}, ConfigError, r"sigma.*-2\.0"),
        (trainer(iterations=0), ConfigError, r"iterations >= 1.*\[trainer\]"),
        (trainer(history=0), ConfigError, r"history"),
        (trainer(threads=-1), ConfigError, r"threads"),
        (trainer(tolerance=-1.0), ConfigError, r"tolerance"),
        ({"model": {"min_count": 0}}, ConfigError, r"min_count.*0.*\[model\]"),
    ],
)
def test_bad_settings_are_named_when_the_component_is_made(
    settings: dict[str, Any], error: type[Exception], message: str, name: str
) -> None:
    nlp = blank()
    with pytest.raises(error, match=message):
        nlp.add_pipe(name, config=settings)
    assert issubclass(error, CascadeError)
    assert nlp.pipe_names == []


@pytest.mark.parametrize("scheme", ["IOE2", "", "bilou"])
def test_an_unknown_scheme_is_named(scheme: str) -> None:
    with pytest.raises(ConfigError, match=f"scheme .*one of IOB2, BILOU, IO, not '{scheme}'"):
        blank().add_pipe("cascade_segmenter", config={"scheme": scheme})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("Gaussian.v1", "sigma"),
        ("SoftmaxMargin.v2", "kappa"),
        ("SoftmaxMargin.v2", "false_negative_weight"),
    ],
)
def test_settings_that_are_no_finite_numbers(name: str, setting: str, value: float) -> None:
    """A config cannot hold them, but a script can."""
    make = registry.misc.get(f"spacy_cascade.{name}")
    with pytest.raises(ConfigError, match=setting):
        make(**{setting: value})


# Lexicons


def test_lexicons_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    for source in (str(tmp_path / "none.txt"), str(tmp_path), str(binary), str(empty), []):
        nlp = blank()
        add_segmenter(nlp, **templates("lexicon(genes)", lexicons={"genes": source}))
        with pytest.raises(TemplateError, match="lexicon 'genes'"):
            nlp.initialize(lambda nlp=nlp: make_examples(nlp))


# Training data


@pytest.mark.parametrize("name", BOTH)
def test_no_examples(name: str) -> None:
    nlp = blank()
    nlp.add_pipe(name)
    with pytest.raises(TrainingError, match=rf"'{name}' got no examples.*Give it some"):
        nlp.get_pipe(name).initialize(list, nlp=nlp)
    with pytest.raises(TrainingError, match="no examples"):
        nlp.initialize(list)


@pytest.mark.parametrize("name", [*BOTH, "cascade_tagger"])
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


@pytest.mark.parametrize("reject", [False, True])
def test_no_entities_is_an_error_for_those_who_need_labels(reject: bool) -> None:
    bare = [(text, []) for text in TEXTS]
    for add, settings in ((add_classifier, {"reject": reject}), (add_segmenter, {"typed": True})):
        nlp = blank()
        component = add(nlp, **settings)
        with pytest.raises(TrainingError, match=rf"'{component.name}' found no labelled gold span"):
            nlp.initialize(lambda nlp=nlp: make_examples(nlp, bare))


def test_no_entities_teach_the_segmenter_to_find_none() -> None:
    nlp = blank()
    add_segmenter(nlp)
    losses = train(nlp, make_examples(nlp, [(text, []) for text in TEXTS]))
    assert np.isfinite([loss["cascade_segmenter"] for loss in losses]).all()
    assert not any(nlp(text).spans["cascade"] for text in TEXTS)


def test_only_empty_docs() -> None:
    nlp = blank()
    add_segmenter(nlp)
    examples = make_examples(nlp, [("", []), ("", [])])
    losses = train(nlp, examples)
    assert losses[-1] == {"cascade_segmenter": 0.0}
    assert not nlp("STAT5").spans["cascade"]


def test_empty_docs_among_others() -> None:
    nlp = cascade()
    train(nlp, make_examples(nlp, [("", []), *SENTENCES, ("", [])]))
    assert [bounds(nlp(text).ents) for text in TEXTS] == [spans for _, spans in SENTENCES]


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


def test_a_label_that_training_never_saw() -> None:
    nlp = trained_cascade()
    text = "STAT5 binds the AP-1 site ."
    scores = nlp.evaluate([make_example(nlp, text, [(0, 1, "virus"), (3, 5, "DNA")])])
    assert scores["types_acc"] == 0.5
    assert scores["ents_per_type"]["virus"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert scores["segments_f"] == 1.0


@pytest.mark.parametrize("name", BOTH)
def test_overlapping_gold_spans(name: str) -> None:
    nlp = blank()
    nlp.add_pipe(name, config={**SMALL, "gold_key": "gold"})
    overlapping = make_example(nlp, TEXTS[0], [(0, 3, "DNA"), (2, 4, "cell")], key="gold")
    with pytest.raises(TrainingError, match=r"doc\.spans\['gold'\] overlap.*tokens 0-3.*2-4"):
        nlp.initialize(lambda: [overlapping])
    same = make_example(nlp, TEXTS[0], [(0, 3, "DNA"), (0, 3, "cell")], key="gold")
    with pytest.raises(TrainingError, match="filter_spans"):
        nlp.initialize(lambda: [same])


@pytest.mark.parametrize("name", BOTH)
def test_no_gold_under_the_key(name: str) -> None:
    """The key is misspelt."""
    nlp = blank()
    nlp.add_pipe(name, config={**SMALL, "gold_key": "glod"})
    examples = make_examples(nlp, key="gold")
    with pytest.raises(TrainingError, match=r"in doc.spans\['glod'\].*in doc.spans\['gold'\]"):
        nlp.initialize(lambda: examples)


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


@pytest.mark.parametrize("label", ["ä ö", "B-DNA", "O", "日本", "a|b", "🧬", "x" * 300, "ENT"])
def test_labels_of_any_kind(label: str, tmp_path: Path) -> None:
    nlp = cascade({"typed": True})
    train(nlp, make_examples(nlp, [(TEXTS[0], [(1, 3, label), (6, 8, "other")])]))
    nlp.to_disk(tmp_path)
    doc = nlp(TEXTS[0])
    assert bounds(doc.ents) == [(1, 3, label), (6, 8, "other")]
    other = blank().from_config(nlp.config).from_disk(tmp_path)
    assert bounds(other(TEXTS[0]).ents) == bounds(doc.ents)


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
