"""Training that goes on from a checkpoint ends as if it had never stopped."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Corpus
from thinc.api import Config

from helpers import add_segmenter, blank
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.callbacks.calibrate import make_calibration
from spacy_cascade.errors import ModelFileError
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.pipeline.learning import training_state
from spacy_cascade.storage import archive
from spacy_cascade.tools.checkpoints import callback as checkpoints
from spacy_cascade.tools.checkpoints.callback import make_checkpoints
from spacy_cascade.tools.checkpoints.files import (
    pack,
    read_checkpoint,
    unpack,
    write_checkpoint,
)
from spacy_cascade.trainers.base import Fit, Progress, Source
from spacy_cascade.workflows.folds import train_pipeline
from trainings import (
    run_training,
    saved_files,
    training_config,
    weights_of,
    write_corpora,
)

pytestmark = pytest.mark.filterwarnings("ignore:Confidences are not calibrated")

REJECT = {
    "components__cascade_classifier__reject": True,
    "training__annotating_components": ["cascade_segmenter"],
}
TRAININGS: dict[str, tuple[str, dict[str, Any], int]] = {
    "L-BFGS": ("memb", {"training__patience": 0}, 3),
    "segmentations": ("semi", {"training__patience": 0}, 3),
    "shards of a stream": ("memb_stream", {"training__patience": 0}, 3),
    "one update": ("memb", {}, 1),
    "patience": ("memb", {"training__max_steps": 20, "training__patience": 2}, 2),
    "one component looks at the other": ("memb", REJECT, 2),
    "online": ("ocr", {}, 5),
    "between evaluations": ("ocr", {"training__eval_frequency": 3}, 6),
    "parts of batches": ("ocr", {"training__accumulate_gradient": 2}, 4),
    "joint": ("icrf", {}, 2),
    "tags": ("tagger", {}, 4),
}
"""The config, its options, and the update before which training is stopped."""
FAST = ("L-BFGS", "patience", "online", "joint")
CASES = [
    pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow(kind="checkpoints")])
    for name in TRAININGS
]


QUICK: dict[str, dict[str, Any]] = {
    "memb": {"training__max_steps": 4, "training__before_to_disk": None},
    "semi": {"training__max_steps": 4, "training__before_to_disk": None},
    "memb_stream": {
        "training__max_steps": 4,
        "training__before_to_disk": None,
        "training__batcher__size": 250,
        "components__cascade_segmenter__trainer__tokens": 400,
        "components__cascade_classifier__trainer__tokens": 400,
    },
    "ocr": {"training__batcher__size": 250, "training__max_epochs": 2},
    "icrf": {"training__max_steps": 4, "training__before_to_disk": None},
    "tagger": {"training__batcher__size": 250, "training__max_epochs": 2},
}
"""With these training takes a few updates, and confidences are calibrated in one config only."""


def settings(name: str, folder: Path, checkpoint: Path | None = None, **options: Any) -> Config:
    """A config for quick training (see `training_config`)."""
    tokenizer = {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"}
    options = {"nlp__tokenizer": tokenizer, **QUICK.get(name, {}), **options}
    return training_config(name, folder, checkpoint, **options)


class Stop(Exception):
    """What ends a training."""


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write_corpora(folder)
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "checkpoint.npz"


def stop_before(step: int, config: Any, output: Path) -> None:
    """Train until the checkpoint before this update is written."""

    def write(path: Path, checkpoint: Any) -> None:
        write_checkpoint(path, checkpoint)
        if checkpoint.step == step:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "write_checkpoint", write)
        with pytest.raises(Stop):
            run_training(config, output)


@pytest.mark.parametrize("case", CASES)
def test_it_ends_as_if_it_had_never_stopped(
    case: str, corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    name, options, step = TRAININGS[case]
    table = run_training(settings(name, corpora, **options), tmp_path / "whole")
    config = settings(name, corpora, checkpoint, **options)
    stop_before(step, config, tmp_path / "out")
    random.seed("others")
    assert run_training(config, tmp_path / "out") == table
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


@pytest.mark.parametrize("name", ["memb", "ocr", "icrf"])
def test_what_is_restored_is_what_there_was(
    name: str, corpora: Path, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As spaCy saves it when training stops again before the next update."""
    config = settings(name, corpora, checkpoint)
    stop_before(2, config, tmp_path / "out")
    restore = checkpoints.Checkpoints._restore

    def restore_and_stop(*arguments: Any) -> None:
        restore(*arguments)
        raise Stop

    monkeypatch.setattr(checkpoints.Checkpoints, "_restore", restore_and_stop)
    with pytest.raises(Stop):
        run_training(config, tmp_path / "again")
    saved, again = (weights_of(tmp_path / name) for name in ("out", "again"))
    assert {name: saved[name] for name in saved if "model-last" in name} == {
        name: again[name] for name in again if "model-last" in name
    }


def run_scored(scores: list[float], run: Callable[[], Any]) -> None:
    """Run a training whose evaluations give these scores."""
    given = iter(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Language, "evaluate", lambda *_, **__: {"ents_f": next(given)})
        run()
    assert not list(given)


@pytest.mark.parametrize("name", ["memb", "icrf"])
def test_the_best_may_lie_before_the_stop(
    name: str, corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    scores = [0.1, 0.5, 0.3, 0.2, 0.4]
    options = {"training__patience": 0}
    whole = settings(name, corpora, **options)
    config = settings(name, corpora, checkpoint, **options)
    run_scored(scores, lambda: run_training(whole, tmp_path / "whole"))
    run_scored(scores[:3], lambda: stop_before(3, config, tmp_path / "out"))
    run_scored(scores[3:], lambda: run_training(config, tmp_path / "out"))
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


def test_it_may_stop_again_and_again(corpora: Path, checkpoint: Path, tmp_path: Path) -> None:
    run_training(settings("ocr", corpora), tmp_path / "whole")
    config = settings("ocr", corpora, checkpoint)
    for step in (1, 2, 3, 6):
        stop_before(step, config, tmp_path / "out")
    run_training(config, tmp_path / "out")
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


def test_a_sourced_pipeline_is_adapted_further(
    corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    short = settings("memb", corpora, training__max_steps=1)
    run_training(short, tmp_path / "first")
    source = str(tmp_path / "first" / "model-last")
    options = {
        "components__cascade_segmenter__source": source,
        "components__cascade_classifier__source": source,
        "training__max_steps": 2,
    }
    # New features come from Docs that were not there before.
    write_corpora(tmp_path, n_docs=8)
    run_training(settings("adapt", tmp_path, **options), tmp_path / "whole")
    config = settings("adapt", tmp_path, checkpoint, **options)
    stop_before(2, config, tmp_path / "out")
    run_training(config, tmp_path / "out")
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


def test_training_may_be_made_longer(corpora: Path, checkpoint: Path, tmp_path: Path) -> None:
    long = {"training__max_steps": 3, "training__patience": 0}
    run_training(settings("memb", corpora, **long), tmp_path / "whole")
    run_training(
        settings("memb", corpora, checkpoint, **{**long, "training__max_steps": 1}),
        tmp_path / "out",
    )
    run_training(settings("memb", corpora, checkpoint, **long), tmp_path / "out")
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


def test_checkpoints_come_every_so_many_updates(
    corpora: Path, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    monkeypatch.setattr(checkpoints, "write_checkpoint", lambda path, c: written.append(c.step))
    config = settings("ocr", corpora, checkpoint, training__before_update__every=3)
    run_training(config, tmp_path / "out")
    assert written[:2] == [3, 6]


def test_without_resuming_training_begins_anew(
    corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    options = {"training__max_steps": 2, "training__before_update__resume": False}
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"something else")
    run_training(settings("memb", corpora, checkpoint, **options), tmp_path / "out")
    saved = read_checkpoint(checkpoint)
    assert saved is not None
    assert saved.step == 2


def test_nothing_is_written_without_a_path(corpora: Path, tmp_path: Path) -> None:
    config = settings("memb", corpora, tmp_path / "no", training__before_update__path=None)
    run_training(config, tmp_path / "out")
    assert not (tmp_path / "no").exists()


def test_what_a_killed_process_has_left_is_removed(
    corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    checkpoint.parent.mkdir()
    left = checkpoint.with_name(".checkpoint.npz.0123456789abcdef")
    others = [checkpoint.with_name(name) for name in (".checkpoint.npz.0123", "other.npz")]
    for file in (left, *others):
        file.write_bytes(b"half")
    run_training(settings("memb", corpora, checkpoint), tmp_path / "out")
    assert {*checkpoint.parent.iterdir()} == {checkpoint, *others}


def test_trainings_on_parts_of_the_corpus_leave_it_alone(corpora: Path, checkpoint: Path) -> None:
    docs = DocBin().from_disk(corpora / "train.spacy").get_docs(blank().vocab)
    config = settings("memb", corpora, checkpoint, training__max_steps=1)
    train_pipeline(config, docs, corpora / "dev.spacy")
    assert not checkpoint.exists()


# What a checkpoint belongs to


@pytest.fixture(scope="module")
def stopped(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a stopped training of memb.cfg."""
    folder = tmp_path_factory.mktemp("stopped")
    stop_before(2, settings("memb", corpora, folder / "c.npz"), folder / "out")
    return folder / "c.npz"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components__cascade_segmenter__trainer__iterations": 7}, "iterations was 12, and is 7"),
        ({"components__cascade_classifier__loss__kappa": 1.5}, "kappa was 6.0, and is 1.5"),
        ({"training__seed": 5}, r"\[training\] seed was 0, and is 5"),
        ({"training__patience": 9}, r"\[training\] patience was 2, and is 9"),
        ({"training__max_steps": 1}, "max_steps = 1 in .training. is too low, it needs 2"),
    ],
)
def test_other_settings_are_refused(
    options: dict[str, Any], message: str, corpora: Path, stopped: Path, tmp_path: Path
) -> None:
    config = settings("memb", corpora, stopped, **options)
    with pytest.raises(ConfigError, match=message):
        run_training(config, tmp_path / "out")


def test_threads_may_be_others(corpora: Path, stopped: Path, tmp_path: Path) -> None:
    options = {"components__cascade_segmenter__trainer__threads": 2}
    run_training(settings("memb", corpora, stopped, **options), tmp_path / "out")
    run_training(settings("memb", corpora), tmp_path / "whole")
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


def test_another_corpus_is_refused(stopped: Path, tmp_path: Path) -> None:
    write_corpora(tmp_path, n_docs=5)
    with pytest.raises(TrainingError, match="'cascade_segmenter' began with other labels"):
        run_training(settings("memb", tmp_path, stopped), tmp_path / "out")


def test_other_losses_are_refused(corpora: Path, stopped: Path, tmp_path: Path) -> None:
    """Where components began alike, as with features so rare that they are dropped."""
    saved = read_checkpoint(stopped)
    assert saved is not None
    first = saved.evaluations[0]
    first.losses["cascade_segmenter"] *= 1.001
    write_checkpoint(tmp_path / "c.npz", saved)
    with pytest.raises(TrainingError, match="the first update had a loss of"):
        run_training(settings("memb", corpora, tmp_path / "c.npz"), tmp_path / "out")


def test_a_seed_is_needed(corpora: Path, checkpoint: Path, tmp_path: Path) -> None:
    config = settings("memb", corpora, checkpoint, training__seed=None)
    with pytest.raises(ConfigError, match=r"needs \[training\] seed"):
        run_training(config, tmp_path / "out")


def test_other_trained_components_are_refused(tmp_path: Path) -> None:
    nlp = blank()
    nlp.add_pipe("tagger")
    add_segmenter(nlp)
    nlp.config["training"]["seed"] = 0
    with pytest.raises(ConfigError, match=r"'tagger' is trained, too.*frozen_components"):
        make_checkpoints(str(tmp_path / "c.npz"))(nlp, {"step": 0, "epoch": 0})


def test_adapting_batch_by_batch_is_refused(
    corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    run_training(settings("ocr", corpora, training__max_steps=1), tmp_path / "first")
    source = str(tmp_path / "first" / "model-last")
    options = {
        f"components__cascade_{name}__source": source for name in ("segmenter", "classifier")
    }
    config = settings("adapt", corpora, checkpoint, **options)
    with pytest.raises(ConfigError, match="collects features batch by batch"):
        run_training(config, tmp_path / "out")


class Unkept:
    """A trainer whose fit has no state."""

    sees_all, reads_corpus = True, False
    iterations = 1

    def check(self, loss: object, penalty: object, structure: object) -> None:
        pass

    def begin(self, source: Source) -> Still:
        return Still(source.task().start)


class Still(Fit[LabelledSequences]):
    """It stays where it is."""

    def __init__(self, start: Weights) -> None:
        self._start = start

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        return 0.0

    def weights(self) -> Weights:
        return self._start


def test_a_trainer_without_a_state_is_refused(corpora: Path, trained: Language) -> None:
    nlp = blank()
    pipe = add_segmenter(nlp)
    examples = list(Corpus(corpora / "train.spacy")(nlp))
    nlp.initialize(lambda: examples)
    pipe.trainer = Unkept()
    pipe.update(examples)
    with pytest.raises(ConfigError, match="'state' and 'restore'"):
        training_state(pipe)


@pytest.mark.parametrize("option", ["every", "path"])
def test_settings_out_of_range_are_refused(option: str) -> None:
    values = {"path": "c.npz", "every": 1}
    values[option] = {"every": 0, "path": "OUT/model-best/c.npz"}[option]
    with pytest.raises(ConfigError, match=r"every >= 1|deletes when training"):
        make_checkpoints(**values)


# Files


def test_a_file_gives_back_what_was_written(stopped: Path) -> None:
    data = stopped.read_bytes()
    assert pack(unpack(data, "it")) == data


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "model", "text"])
def test_a_damaged_file_is_refused(
    damage: str, corpora: Path, stopped: Path, tmp_path: Path
) -> None:
    data = bytearray(stopped.read_bytes())
    if damage == "truncated":
        del data[len(data) // 2 :]
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
    elif damage == "empty":
        data.clear()
    elif damage == "text":
        data[:] = b"no checkpoint"
    else:
        header = np.frombuffer(b'{"format": "spacy_cascade"}', np.uint8)
        data[:] = archive.write({"header": header})
    path = tmp_path / "c.npz"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"c\.npz cannot be read.*resume = false"):
        run_training(settings("memb", corpora, path), tmp_path / "out")


@pytest.mark.parametrize("part", ["parameters", "evaluations", "best", "gradient"])
def test_a_file_whose_parts_do_not_fit_is_refused(
    part: str, corpora: Path, stopped: Path, tmp_path: Path
) -> None:
    saved = read_checkpoint(stopped)
    assert saved is not None
    state = saved.trainings["cascade_segmenter"]
    if part == "parameters":
        state["parameters"] = state["parameters"][:-1]
    elif part == "gradient":
        state["gradient"] = np.full_like(state["gradient"], np.nan)
    elif part == "evaluations":
        del saved.evaluations[0]
    else:
        del saved.best["cascade_classifier"]["weights"]
    write_checkpoint(tmp_path / "c.npz", saved)
    with pytest.raises(ModelFileError, match="cannot be read"):
        run_training(settings("memb", corpora, tmp_path / "c.npz"), tmp_path / "out")


def test_one_of_a_later_release_is_refused(stopped: Path, tmp_path: Path) -> None:
    arrays = dict(archive.read(stopped.read_bytes()))
    text = arrays["header"].tobytes().replace(b'"version": 1', b'"version": 2', 1)
    arrays["header"] = np.frombuffer(text, np.uint8)
    (tmp_path / "c.npz").write_bytes(archive.write(arrays))
    with pytest.raises(ModelFileError, match="another release"):
        read_checkpoint(tmp_path / "c.npz")


def test_a_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"cannot be read.*IsADirectoryError"):
        read_checkpoint(tmp_path)


# Parts


def test_an_interrupted_training_saves_without_what_takes_long(
    trained: Language, corpora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_to_disk = make_calibration(str(corpora / "dev.spacy"))
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert before_to_disk(trained) is trained
    assert before_to_disk(trained) is not trained


def test_temperatures_are_found_once_for_the_same_weights(
    trained: Language, corpora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_to_disk = make_calibration(str(corpora / "dev.spacy"))
    once = before_to_disk(trained)
    monkeypatch.setattr("spacy_cascade.callbacks.calibrate.temperatures", None)
    again = before_to_disk(trained)
    assert again.config["components"] == once.config["components"]
    assert (
        again.get_pipe("cascade_segmenter").to_bytes()
        == once.get_pipe("cascade_segmenter").to_bytes()
    )
