"""`spacy cascade adapt`: a copy that has learnt more, and its scores."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from commands import run_command
from helpers import SENTENCES, Sentence, blank, gold_doc
from spacy_cascade.tools.annotation import adapting

NEW: list[Sentence] = [("HIV infects primary monocytes .", [(0, 1, "virus"), (2, 4, "cell")])]


def write(path: Path, sentences: list[Sentence]) -> Path:
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in sentences]).to_disk(path)
    return path


run = partial(run_command, "adapt")


def test_the_copy_knows_the_new_label_and_the_old_ones(model: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.spacy", NEW)
    dev = write(tmp_path / "dev.spacy", SENTENCES + NEW)
    output = tmp_path / "adapted"
    stdout, stderr = run(model, new, output, "--dev", dev, "--updates", 3)
    assert stderr == ""
    scores = {line.split()[0]: line.split()[1:] for line in stdout.splitlines() if line.strip()}
    tried = [line.split("  ")[0] for line in stdout.splitlines() if line.startswith("a")]
    assert tried == ["as it was", "adapted", "adapted, old share 0.3", "all"]
    assert scores["as"][-1] == "0.0"
    assert 0.0 < float(scores["adapted"][-1]) < 60.0
    assert f"Pipeline, adapted -> {output}" in stdout
    assert scores["all"][1] == "100.00"
    assert float(scores["all"][0]) < 100.0
    assert scores["virus"][1] == "100.00"
    doc = spacy.load(output)("HIV infects primary monocytes .")
    assert [span.label_ for span in doc.ents] == ["virus", "cell"]
    assert "virus" not in spacy.load(model).get_pipe("cascade_classifier").labels


def test_a_dev_of_old_documents_alone_is_told(model: Path, tmp_path: Path) -> None:
    """What is new cannot be better there; with some of the new ones, it is."""
    nlp = spacy.load(model)
    nlp.meta["performance"] = {"ents_f": 0.25}
    nlp.to_disk(model := tmp_path / "model")
    new, old = write(tmp_path / "new.spacy", NEW), write(tmp_path / "old.spacy", SENTENCES)
    stdout, _ = run(model, new, tmp_path / "kept", "--dev", old)
    warning = (
        "The pipeline is kept as it was: no way to learn is better on DEV. DEV has no entity of "
        "virus, so what is learnt of that does not count. DEV needs old and new documents: "
    )
    assert warning in stdout
    assert "Pipeline, as it was -> " in stdout
    assert spacy.load(tmp_path / "kept").meta["performance"] == {"ents_f": 0.25}
    both = write(tmp_path / "both.spacy", SENTENCES + NEW)
    stdout, _ = run(model, new, tmp_path / "adapted", "--dev", both)
    assert "DEV needs" not in stdout
    assert "Pipeline, adapted" in stdout
    assert spacy.load(tmp_path / "adapted").meta["performance"] == {"ents_f": 1.0}


@pytest.mark.slow(kind="commands")
def test_the_old_share_is_chosen_where_that_is_asked_for(model: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.spacy", SENTENCES)
    output = tmp_path / "adapted"
    stdout, stderr = run(model, new, output, "--updates", 1, "--old-share", "auto")
    assert stderr == ""
    assert "F1 on kept-back Docs" in stdout
    assert spacy.load(output).pipe_names == spacy.load(model).pipe_names
    run(model, new, output, "--old-share", "0.5")


def test_the_chosen_share_is_what_the_pipeline_is_adapted_with(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = [adapting.Tried(1.0, 0.25), adapting.Tried(0.3, 0.5)]
    monkeypatch.setattr(adapting, "choose_share", lambda *_: (0.3, tried))
    new = write(tmp_path / "new.spacy", NEW)
    stdout, _ = run(model, new, tmp_path / "adapted", "--old-share", "auto")
    lines = [line.split() for line in stdout.splitlines()]
    assert ["1", "25.00"] in lines
    assert ["0.3", "50.00"] in lines
    assert "Pipeline, adapted, old share 0.3 -> " in stdout


def test_errors_are_one_line(model: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.spacy"
    DocBin().to_disk(empty)
    new = write(tmp_path / "new.spacy", NEW)
    for arguments, message in (
        ((tmp_path / "nowhere", empty), "nowhere"),
        ((model, empty), "no new annotation"),
        ((model, empty, "--old-share", "much"), "not 'much'"),
        ((model, new, "--old-share", "2"), "from 0 to 1"),
    ):
        stderr = run(*arguments, tmp_path / "out", exit_code=1)[1]
        assert message in stderr
        assert "Traceback" not in stderr
    assert not (tmp_path / "out").exists()


def test_records_that_cannot_be_read_are_skipped_when_asked(model: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text('{"text": "STAT5 binds .", "label": [[0, 5, "protein"], [6, 99, "x"]]}\n{"\n')
    error = run(model, new, tmp_path / "out", exit_code=1)[1]
    assert "2 records or spans cannot be read" in error
    stdout, stderr = run(model, new, tmp_path / "out", "--skip-bad")
    assert f"{new}:1: a span goes from character 6 to 99" in stderr
    assert "Left out, because it cannot be read: 1 record and 1 span" in stdout
