"""`spacy cascade calibrate`: a copy with temperatures, and the table of what was found."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from commands import run_command
from helpers import SENTENCES, blank, gold_doc


@pytest.fixture
def data(tmp_path: Path) -> Path:
    vocab = blank().vocab
    path = tmp_path / "dev.spacy"
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(path)
    return path


run = partial(run_command, "calibrate")


def test_the_copy_has_the_temperatures_shown(model: Path, data: Path, tmp_path: Path) -> None:
    stdout, stderr = run(model, tmp_path / "calibrated", "--dev", data)
    assert stderr == ""
    shown = {
        line.split()[0]: line.split()[1]
        for line in stdout.splitlines()
        if line.startswith("cascade_")
    }
    for name, pipe in spacy.load(tmp_path / "calibrated").pipeline:
        assert shown[name] == f"{pipe.temperature:g}"
    assert spacy.load(model).get_pipe("cascade_segmenter").temperature == 1.0


def test_the_copy_decodes_as_shown(model: Path, data: Path, tmp_path: Path) -> None:
    stdout, _ = run(model, tmp_path / "decoded", "--dev", data, "--decoding", "expected_f1")
    nlp = spacy.load(tmp_path / "decoded")
    assert nlp.get_pipe("cascade_segmenter").overlapping
    threshold = nlp.get_pipe("cascade_classifier").threshold
    assert f"likely spans with threshold {threshold:g}: 12 entities, expected F1" in stdout


def test_an_earlier_result_is_replaced_on_demand_only(
    model: Path, data: Path, tmp_path: Path
) -> None:
    output = tmp_path / "earlier"
    output.mkdir()
    stdout, stderr = run(model, output, "--dev", data, exit_code=1)
    assert stdout == ""
    assert f"{output} already exists. Replace it with --force." in stderr
    assert not list(output.iterdir())
    run(model, output, "--dev", data, "--force")
    assert spacy.load(output).pipe_names == ["cascade_segmenter", "cascade_classifier"]


def test_errors_are_one_line(model: Path, data: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.spacy"
    DocBin().to_disk(empty)
    for pipeline, dev, message in (
        (tmp_path / "nowhere", data, "nowhere"),
        (model, empty, "finds no spans"),
    ):
        stdout, stderr = run(pipeline, tmp_path / "out", "--dev", dev, exit_code=1)
        assert stdout == ""
        assert message in stderr
        assert "Traceback" not in stderr
