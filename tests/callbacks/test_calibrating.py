"""Settings of the callback that calibrates; `test_checkpoints` has what it does in training."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from spacy.language import Language

from helpers import blank
from spacy_cascade.callbacks.calibrate import make_calibration
from spacy_cascade.errors import ConfigError, TrainingError


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


def test_a_pipeline_that_finds_nothing_is_saved_as_it_is(
    trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning points to who saves it, each time."""

    def nothing(*_: object) -> NoReturn:
        raise TrainingError("There are no spans.")

    monkeypatch.setattr("spacy_cascade.callbacks.calibrate._fit", nothing)
    before_to_disk = make_calibration("dev.spacy")
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"not calibrated\. There are no spans") as warned:
            assert before_to_disk(trained) is trained
        assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("decoding", "settings"), [("best", ["temperature"]), ("expected_f1", ["temperature", "f1"])]
)
def test_only_one_way_chooses_entities(
    decoding: str, settings: list[str], trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the texts of the corpus; its settings are kept with those of the temperatures."""
    calibrated, decoded = blank(), blank()
    examples = [SimpleNamespace(predicted="Doc")]

    def decode(nlp: Language, docs: list[Any]) -> tuple[Language, Any]:
        assert (nlp, docs) == (calibrated, ["Doc"])
        return decoded, SimpleNamespace(settings="f1")

    for name, stands in {
        "examples_for": lambda nlp, path: iter(examples),
        "calibrate": lambda nlp, given: (calibrated, [SimpleNamespace(settings="temperature")]),
        "decode_for_f1": decode,
        "with_settings": lambda nlp, *found: found,
    }.items():
        monkeypatch.setattr(f"spacy_cascade.callbacks.calibrate.{name}", stands)
    before_to_disk = make_calibration("dev.spacy", decoding)
    assert before_to_disk(trained) is (calibrated if decoding == "best" else decoded)
    assert before_to_disk(trained) == tuple(settings), "nothing is done twice"


def test_an_unknown_way_to_decode_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no decoding 'worst'\. Known: best, expected_f1"):
        make_calibration("dev.spacy", "worst")
