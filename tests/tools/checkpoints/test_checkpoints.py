"""Training that goes on from a checkpoint ends as if it had never stopped."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from thinc.api import Config

from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.errors import ModelFileError
from spacy_cascade.files import replace_file
from spacy_cascade.tools.checkpoints import callback as checkpoints
from spacy_cascade.tools.checkpoints.callback import make_checkpoints
from spacy_cascade.tools.checkpoints.files import pack, read_checkpoint, unpack
from spacy_cascade.workflows.folds import with_corpora
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
TRAININGS: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "L-BFGS, of which one component looks at the other": (
        "memb", {**REJECT, "training__max_steps": 20, "training__patience": 2}, (2,)
    ),
    "segmentations": ("semi", {"training__patience": 0}, (3,)),
    "shards of a stream": ("memb_stream", {"training__patience": 0}, (3,)),
    "one update": ("memb", {}, (1,)),
    "online, again and again": ("ocr", {}, (2, 5)),
    "between evaluations": ("ocr", {"training__eval_frequency": 3}, (5,)),
    "parts of batches": ("ocr", {"training__accumulate_gradient": 2}, (4,)),
    "joint": ("icrf", {}, (2,)),
    "tags": ("tagger", {}, (4,)),
}  # fmt: skip
"""The config, its options, and the updates before which training is stopped."""
FAST = ("L-BFGS, of which one component looks at the other", "online, again and again", "joint")
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
    write_corpora(folder, n_docs=4)
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "checkpoint.npz"


def stop_before(step: int, config: Any, output: Path) -> None:
    """Train until the checkpoint before this update is written."""

    def write(path: Path, data: bytes) -> None:
        replace_file(path, data)
        if unpack(data, "it").step == step:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "replace_file", write)
        with pytest.raises(Stop):
            run_training(config, output)


@pytest.mark.parametrize("case", CASES)
def test_it_ends_as_if_it_had_never_stopped(
    case: str, corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    name, options, steps = TRAININGS[case]
    table = run_training(settings(name, corpora, **options), tmp_path / "whole")
    config = settings(name, corpora, checkpoint, **options)
    for step in steps:
        stop_before(step, config, tmp_path / "out")
    random.seed("others")
    assert run_training(config, tmp_path / "out") == table
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


@pytest.mark.parametrize("name", ["icrf", pytest.param("ocr", marks=pytest.mark.slow)])
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
    saved, again = (
        {name: data for name, data in weights_of(tmp_path / folder).items() if "last" in name}
        for folder in ("out", "again")
    )
    assert saved == again != {}


def run_scored(scores: list[float], run: Callable[[], Any]) -> None:
    """Run a training whose evaluations give these scores."""
    given = iter(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Language, "evaluate", lambda *_, **__: {"ents_f": next(given)})
        run()
    assert not list(given)


@pytest.mark.slow(kind="checkpoints")
def test_the_best_may_lie_before_the_stop(corpora: Path, checkpoint: Path, tmp_path: Path) -> None:
    scores = [0.1, 0.5, 0.3, 0.2, 0.4]
    options = {"training__patience": 0}
    whole = settings("memb", corpora, **options)
    config = settings("memb", corpora, checkpoint, **options)
    run_scored(scores, lambda: run_training(whole, tmp_path / "whole"))
    run_scored(scores[:3], lambda: stop_before(3, config, tmp_path / "out"))
    run_scored(scores[3:], lambda: run_training(config, tmp_path / "out"))
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


@pytest.mark.slow(kind="checkpoints")
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


@pytest.mark.slow(kind="checkpoints")
def test_training_may_be_longer_and_have_other_threads(
    corpora: Path, checkpoint: Path, tmp_path: Path
) -> None:
    long = {"training__max_steps": 3, "training__patience": 0}
    run_training(settings("memb", corpora, **long), tmp_path / "whole")
    short = {**long, "training__max_steps": 1}
    run_training(settings("memb", corpora, checkpoint, **short), tmp_path / "out")
    more = {**long, "components__cascade_segmenter__trainer__threads": 2}
    run_training(settings("memb", corpora, checkpoint, **more), tmp_path / "out")
    assert saved_files(tmp_path / "out") == saved_files(tmp_path / "whole")


def test_trainings_on_parts_of_the_corpus_leave_it_alone(corpora: Path, checkpoint: Path) -> None:
    config = settings("memb", corpora, checkpoint)
    assert config["training"]["before_update"]["path"] == str(checkpoint)
    of_part = with_corpora(config, corpora / "train.spacy", corpora / "dev.spacy")
    assert of_part["training"]["before_update"] is None


# What a checkpoint belongs to


@pytest.fixture(scope="module")
def stopped(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a stopped training of memb.cfg."""
    folder = tmp_path_factory.mktemp("stopped")
    stop_before(2, settings("memb", corpora, folder / "c.npz"), folder / "out")
    return folder / "c.npz"


def test_other_settings_are_refused(corpora: Path, stopped: Path, tmp_path: Path) -> None:
    config = settings("memb", corpora, stopped, components__cascade_classifier__loss__kappa=1.5)
    with pytest.raises(ConfigError, match=r"kappa was 6\.0, and is 1\.5"):
        run_training(config, tmp_path / "out")


def test_another_corpus_is_refused(stopped: Path, tmp_path: Path) -> None:
    write_corpora(tmp_path, n_docs=5)
    with pytest.raises(TrainingError, match="'cascade_segmenter' began with other labels"):
        run_training(settings("memb", tmp_path, stopped), tmp_path / "out")


@pytest.mark.parametrize("option", ["every", "path"])
def test_settings_out_of_range_are_refused(option: str) -> None:
    values = {"path": "c.npz", "every": 1}
    values[option] = {"every": 0, "path": "OUT/model-best/c.npz"}[option]
    with pytest.raises(ConfigError, match=r"every >= 1|deletes when training"):
        make_checkpoints(**values)


@pytest.mark.parametrize("part", ["parameters", "evaluations", "begun"])
def test_a_file_whose_parts_do_not_fit_is_refused(
    part: str, corpora: Path, stopped: Path, tmp_path: Path
) -> None:
    saved = read_checkpoint(stopped)
    assert saved is not None
    if part == "parameters":
        state = saved.trainings["cascade_segmenter"]
        state["parameters"] = state["parameters"][:-1]
    elif part == "evaluations":
        del saved.evaluations[0]
    else:
        saved.begun["cascade_classifier"] = 7
    (tmp_path / "c.npz").write_bytes(pack(saved))
    with pytest.raises(ModelFileError, match="cannot be read"):
        run_training(settings("memb", corpora, tmp_path / "c.npz"), tmp_path / "out")
