"""Settings of the callback that calibrates; `test_checkpoints` has what it does in training."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train

from helpers import (
    SENTENCES,
    annotations,
    blank,
    cascade,
    gold_doc,
    make_examples,
    trained_cascade,
)
from spacy_cascade.callbacks.calibrate import make_calibration
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.pipeline.readers import examples_for
from spacy_cascade.workflows.calibrate import Calibrated, calibrate
from spacy_cascade.workflows.decoding import decode_for_f1

MODULE = "spacy_cascade.callbacks.calibrate"


def test_it_needs_a_corpus() -> None:
    with pytest.raises(ConfigError, match=r"calibrate\.v1 needs a path\. Set --paths\.dev"):
        make_calibration(None)(blank())


@pytest.mark.parametrize("decoding", ["best", "expected_f1"])
def test_known_ways_to_decode(decoding: str, trained: Language) -> None:
    """While training is interrupted nothing is done that takes long."""
    before_to_disk = make_calibration("nowhere.spacy", decoding)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert before_to_disk(trained) is trained


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """Entities of few sentences, one of them unlike what `trained_cascade` would find."""
    vocab = blank().vocab
    docs = [gold_doc(vocab, *sentence) for sentence in SENTENCES]
    docs.append(gold_doc(vocab, SENTENCES[0][0], [(1, 2, "DNA")]))
    path = tmp_path / "dev.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


def parts(nlp: Language, path: Path) -> dict[str, bytes]:
    """The files of a pipeline that is saved, but for those of the vocabulary."""
    nlp.to_disk(path)
    files = [file for file in path.rglob("*") if file.is_file() and file.parent.name != "vocab"]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_each_save_is_calibrated_as_by_the_function(dev: Path, tmp_path: Path) -> None:
    """The meta data are those of the pipeline, which stays as it is."""
    nlp, before_to_disk = trained_cascade(), make_calibration(str(dev))
    examples = make_examples(nlp)
    for i in range(2):
        nlp.update(examples, sgd=nlp.resume_training())
        nlp.meta["performance"] = {"ents_f": i / 8}
        before = parts(nlp, tmp_path / "before")
        saved = before_to_disk(nlp)
        assert saved is not nlp
        expected, found = calibrate(nlp, list(examples_for(nlp, dev)))
        assert found[0].temperature != 1.0
        assert parts(saved, tmp_path / "saved") == parts(expected, tmp_path / "expected")
        assert saved.meta["performance"] == {"ents_f": i / 8}
        assert annotations(saved) == annotations(expected)
        assert parts(nlp, tmp_path / "before") == before


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Temperatures of the segmenter that were found, each time another one: 2, 3, …"""
    known: list[float] = []

    def temperatures(nlp: Language, examples: Sequence[Example]) -> list[Calibrated]:
        known.append(2.0 + len(known))
        options = {"temperature": known[-1]}
        return [Calibrated("cascade_segmenter", len(examples), known[-1], 0.7, 0.6, options)]

    monkeypatch.setattr(f"{MODULE}.temperatures", temperatures)
    return known


def reweighted(nlp: Language, factor: float) -> None:
    """As if training had changed the weights."""
    model = segmenter_of(nlp).model
    model.set_param("W", np.float32(factor) * model.get_param("W"))


def segmenter_of(nlp: Language) -> Any:
    return nlp.get_pipe("cascade_segmenter")


@pytest.mark.usefixtures("found")
def test_a_save_has_what_its_pipeline_has_then(trained: Language, dev: Path) -> None:
    """What was found for the last weights, and only for these, is not looked for again."""
    nlp, before_to_disk = deepcopy(trained), make_calibration(str(dev))
    nlp.add_pipe("sentencizer", first=True)
    for f, factor, temperature in ((1, 1, 2.0), (2, 1, 2.0), (3, 0.5, 3.0), (4, 2, 4.0)):
        reweighted(nlp, factor)
        nlp.meta["performance"] = {"ents_f": f / 8}
        saved = before_to_disk(nlp)
        assert segmenter_of(saved).temperature == temperature
        assert segmenter_of(nlp).temperature == 1.0
        weights = [segmenter_of(each).model.get_param("W") for each in (saved, nlp)]
        np.testing.assert_array_equal(*weights)
        assert saved.meta["performance"] == {"ents_f": f / 8}
        assert saved.meta["performance"] is not nlp.meta["performance"]


@pytest.mark.usefixtures("found")
def test_the_corpus_is_read_once_for_a_pipeline_and_its_config(
    trained: Language, dev: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipeline with another vocabulary is another one, although its config is the same."""
    read: list[Language] = []

    def counted(nlp: Language, path: Path) -> Iterator[Example]:
        read.append(nlp)
        return examples_for(nlp, path)

    monkeypatch.setattr(f"{MODULE}.examples_for", counted)
    one, before_to_disk = deepcopy(trained), make_calibration(str(dev))
    before_to_disk(one)
    reweighted(one, 0.5)
    assert before_to_disk(one).vocab is one.vocab
    assert read == [one]
    other = deepcopy(one)
    reweighted(other, 0.5)
    assert before_to_disk(other).vocab is other.vocab
    assert read == [one, other]
    segmenter_of(other).threshold = 0.25
    other.add_pipe("sentencizer")
    saved = before_to_disk(other)
    assert saved.pipe_names == other.pipe_names
    assert segmenter_of(saved).threshold == 0.25
    assert read == [one, other, other]


@pytest.mark.usefixtures("found")
def test_it_tells_once_that_the_table_has_other_scores(
    trained: Language, dev: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where entities depend on confidences, and there are scores."""
    caplog.set_level("INFO", "spacy")
    nlp, before_to_disk = deepcopy(trained), make_calibration(str(dev))
    nlp.meta["performance"] = {"ents_f": 1.0}
    segmenter_of(nlp).threshold = 0.5
    for factor in (1.0, 1.0, 0.5):
        reweighted(nlp, factor)
        assert before_to_disk(nlp).meta["performance"]["ents_f"] < 1.0
        assert caplog.text.count("The table has scores of the pipeline in training.") == 1


def test_a_pipeline_that_finds_nothing_is_saved_as_it_is(
    trained: Language, dev: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning points to who saves it, each time."""

    def nothing(*_: object) -> NoReturn:
        raise TrainingError("There are no spans.")

    monkeypatch.setattr(f"{MODULE}.temperatures", nothing)
    before_to_disk = make_calibration(str(dev))
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"not calibrated\. There are no spans") as warned:
            assert before_to_disk(trained) is trained
        assert warned[0].filename == __file__


@pytest.mark.slow(kind="calibration")
def test_only_one_way_chooses_entities(
    dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same weights are not looked at again: their settings are kept."""
    nlp = trained_cascade()
    before_to_disk = make_calibration(str(dev), "expected_f1")
    examples = list(examples_for(nlp, dev))
    expected, _ = decode_for_f1(calibrate(nlp, examples)[0], [e.predicted for e in examples])
    saved = before_to_disk(nlp)
    assert saved.get_pipe("cascade_segmenter").overlapping  # type: ignore[attr-defined]
    wanted = parts(expected, tmp_path / "expected")
    assert parts(saved, tmp_path / "saved") == wanted
    monkeypatch.setattr(f"{MODULE}.temperatures", None)
    assert parts(before_to_disk(nlp), tmp_path / "again") == wanted


def rounded(table: Any) -> Any:
    """To fewer digits than spaCy writes into meta.json."""
    return json.loads(json.dumps(table), parse_float=lambda text: round(float(text), 8))


def train_and_save(dev: Path, output: Path, decoding: str, **settings: Any) -> str:
    """As `spacy train` does, for a moment, on half of the sentences; what it shows."""
    config = cascade({}, settings).config.copy()
    callback = {"@callbacks": "spacy_cascade.calibrate.v1", "path": str(dev), "decoding": decoding}
    train_path = output.with_suffix(".spacy")
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES[:3]]).to_disk(train_path)
    config["paths"].update(train=str(train_path), dev=str(dev))
    config["training"].update(
        before_to_disk=callback, max_steps=2, eval_frequency=1, patience=0,
        batcher={"@batchers": "spacy_cascade.WholeCorpus.v1"},
        score_weights={"ents_f": 1.0, "ents_per_type": None, "segments_p": 0.0, "segments_f": 0.0},
    )  # fmt: skip
    output.mkdir()
    shown = io.StringIO()
    spacy_train(init_nlp(config.interpolate()), output, stdout=shown, stderr=shown)
    return shown.getvalue()


@pytest.mark.parametrize(
    ("decoding", "settings"), [("expected_f1", {}), ("best", {"threshold": 0.5})]
)
def test_scores_beside_a_saved_pipeline_are_its_own(
    dev: Path, tmp_path: Path, decoding: str, settings: dict[str, Any]
) -> None:
    """Not those of the pipeline before its decoding was changed, which training shows."""
    shown = train_and_save(dev, tmp_path / "output", decoding, **settings)
    for name in ("model-best", "model-last"):
        folder = tmp_path / "output" / name
        performance = json.loads((folder / "meta.json").read_text("utf8"))["performance"]
        nlp = spacy.load(folder)
        scores = rounded(nlp.evaluate(list(examples_for(nlp, dev))))
        own = {key: value for key, value in performance.items() if not key.endswith("_loss")}
        assert own.keys() >= {"ents_f", "ents_per_type", "segments_p", "segments_f"}
        assert rounded(own) == {key: scores[key] for key in own}
        is_that_of_training = f"{100 * performance['ents_f']:.2f}" in shown
        assert is_that_of_training == (decoding == "best" and not settings)
        assert performance["cascade_segmenter_loss"] > 0


def test_an_unknown_way_to_decode_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no decoding 'worst'\. Known: best, expected_f1"):
        make_calibration("dev.spacy", "worst")
