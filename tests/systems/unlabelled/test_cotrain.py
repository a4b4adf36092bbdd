"""`spacy cascade combine cotrain`: its pipeline, reports and messages."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from commands import check_errors, few_steps, run_training, small_training
from helpers import LANGUAGE, blank
from spacy_cascade.systems.unlabelled import rounds
from spacy_cascade.systems.unlabelled.pseudo_labels import Added
from spacy_cascade.systems.unlabelled.rounds import Learnt, Round
from spacy_cascade.systems.unlabelled.teachers import Method

SETTINGS = few_steps(6)
PLAIN = f"--nlp.lang={LANGUAGE}"
run = partial(run_training, "combine", "cotrain")


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    text = tmp_path / "more.txt"
    text.write_text("IL-2 gene expression needs NF-kappa B .\n\nT cells bind it .\n", "utf8")
    return {**small_training(tmp_path, 8), "unlabelled": text}


@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize("method", ["self", "cotrain"])
def test_it_writes_a_pipeline_and_reports(
    given: dict[str, Path], tmp_path: Path, method: str
) -> None:
    report, data = tmp_path / "report.md", tmp_path / "report.json"
    files = ("--report", report, "--json", data, "--unlabelled", given["dev"])
    settings = ("--method", method, "--threshold", 0.2, "--rounds", 1, *SETTINGS)
    said, _ = run(given, tmp_path / "OUT", *files, *settings)
    assert "8 labelled Docs, 6 unlabelled. It ended because" in said
    assert "without unlabelled text" in said
    learnt = json.loads(data.read_text("utf8"))
    assert learnt["method"] == method
    assert learnt["sure"] == {"threshold": 0.2, "background": 0.05}
    assert not learnt["knows_gold"]  # the text has no entities
    (only,) = learnt["rounds"]
    assert only["added"]["right"] is None
    assert f"| 1 | {only['added']['documents']} |" in report.read_text("utf8")
    assert "estimate" in report.read_text("utf8")
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 6
    assert nlp("IL-2 gene expression").has_annotation("ENT_IOB")


def test_files_are_written_where_they_are_asked_for(
    given: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = Added(2, 3, {"DNA": 3}, 4, 0.75, None, None)
    learnt = Learnt(
        Method.self, 8, 2, 0.5, [Round(added, 0.6, None)], "student of round 1", 0.6, "so", False
    )
    monkeypatch.setattr(rounds, "learn_unlabelled", lambda *_, **__: (blank(), learnt))
    for number, names in enumerate(([], ["report"], ["json"])):
        output, files = tmp_path / f"OUT{number}", [tmp_path / name for name in names]
        options = [part for path in files for part in (f"--{path.name}", path)]
        said, _ = run(given, output, *options, PLAIN)
        assert "75.00" in said
        assert "8 labelled Docs, 2 unlabelled. It ended because so." in said
        assert "student of round 1: F1 60.00, 50.00 without unlabelled text" in said
        assert output.is_dir()
        assert [path.exists() for path in (tmp_path / "report", tmp_path / "json")] == [
            name in names for name in ("report", "json")
        ]
        for path in files:
            path.unlink()


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    none, output = tmp_path / "none.spacy", tmp_path / "OUT"
    DocBin().to_disk(none)
    check_errors(
        run,
        (({**given, "unlabelled": none}, output, PLAIN), "no unlabelled text"),
        (({**given, "unlabelled": tmp_path / "absent.txt"}, output, PLAIN), "There is no text at"),
        (({**given, "train": tmp_path / "absent.spacy"}, output, PLAIN), "There is no corpus at"),
        ((given, output, "--threshold", 0, PLAIN), "must be above 0"),
        ((given, output, "--nlp.lang", "qq"), "cannot be used"),
    )
    assert not (tmp_path / "OUT").exists()
