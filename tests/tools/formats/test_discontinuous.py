"""Spans of several parts: what `spacy cascade convert` makes of them, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run_command as run
from format_files import docs_in, written

TEXT = "left and right lung fail"
LEFT_LUNG = [{"offset": 0, "length": 4}, {"offset": 15, "length": 4}]


@pytest.fixture
def brat(tmp_path: Path) -> Path:
    folder = tmp_path / "brat"
    folder.mkdir()
    written(folder / "a.txt", TEXT)
    written(folder / "a.ann", "T4\tsite 9 19\tright lung\nT6\tsite 0 4;15 19\tleft lung\n")
    return folder


@pytest.fixture
def bioc(tmp_path: Path) -> Path:
    """Annotations of two passages may have one id."""
    rows = [
        {"id": name, "infons": {"type": "site"}, "text": "lung", "locations": places}
        for name, places in (("x", LEFT_LUNG), ("x", [*LEFT_LUNG, {"offset": 20, "length": 4}]))
    ]
    passage = {"offset": 0, "text": TEXT, "annotations": rows}
    document = {"id": "1", "passages": [passage]}
    return written(tmp_path / "in.json", json.dumps({"documents": [document]}))


def group(path: Path) -> list[tuple[str, str]]:
    return [(span.text, span.id_) for doc in docs_in(path) for span in doc.spans["sc"]]


def test_they_are_left_out_and_the_choices_are_told(brat: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    stdout, _ = run("convert", brat, output, "--spans-key", "sc")
    assert "No entity for 1 span of several parts:" in stdout
    assert "characters 0-4, 15-19: site in" in stdout
    assert "--discontinuous covering takes" in stdout
    assert group(output) == [("right lung", "")]


def test_one_span_covers_the_parts(brat: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    options = ("--spans-key", "sc", "--discontinuous", "covering")
    stdout, _ = run("convert", brat, output, *options)
    assert "1 discontinuous span: each as one piece, from its first to its last" in stdout
    assert "of several parts" not in stdout
    assert group(output) == [("right lung", ""), ("left and right lung", "")]
    (doc,) = docs_in(output)
    assert [span.text for span in doc.ents] == ["left and right lung"]


def test_parts_have_the_id_of_their_annotation(brat: Path, bioc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    options = ("--spans-key", "sc", "--discontinuous", "parts")
    stdout, _ = run("convert", brat, output, *options)
    assert "1 discontinuous span: in doc.spans['sc'], as parts with a common id" in stdout
    assert "--discontinuous covering" not in stdout
    assert group(output) == [
        ("right lung", ""), ("left", "part-of:T6"), ("lung", "part-of:T6"),
    ]  # fmt: skip
    (doc,) = docs_in(output)
    assert [(token.text, token.ent_iob_) for token in doc] == [
        ("left", ""), ("and", "O"), ("right", "B"), ("lung", "I"), ("fail", "O"),
    ]  # fmt: skip
    # These are all spans of the file, and none is lost.
    run("convert", bioc, output, *options)
    assert [name for _, name in group(output)] == ["part-of:x"] * 2 + ["part-of:x-2"] * 3
    error = run("convert", bioc, output, "--spans-key", "sc", exit_code=1)[1]
    assert "2 of 2 spans would be lost (2 of several parts)" in error


def test_parts_need_a_group(brat: Path, tmp_path: Path) -> None:
    for to in ((), ("--to", "bioc-json")):
        output = tmp_path / "out.spacy"
        error = run("convert", brat, output, "--discontinuous", "parts", *to, exit_code=1)[1]
        assert "--discontinuous parts keeps parts in a group of doc.spans" in error
        assert "--spans-key sc" in error
        assert not output.exists()


@pytest.mark.parametrize(
    ("to", "choice", "expected"),
    [
        ("bioc-json", "drop", [[(9, 10)]]),
        ("bioc-json", "covering", [[(9, 10)], [(0, 19)]]),
        ("bioc-json", "parts", [[(9, 10)], [(0, 4), (15, 4)]]),
        ("doccano", "drop", [[9, 19, "site"]]),
        ("doccano", "covering", [[9, 19, "site"], [0, 19, "site"]]),
        ("doccano", "parts", [[9, 19, "site"], [0, 4, "site"], [15, 19, "site"]]),
    ],
)
def test_files_go_to_other_formats_as_chosen(
    to: str, choice: str, expected: object, brat: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    options = ("--spans-key", "sc", "--discontinuous", choice)
    stdout, _ = run("convert", brat, output, "--to", to, *options)
    assert ("Left out, spans of several parts: 1" in stdout) == (choice == "drop")
    assert ("1 discontinuous span: each" in stdout) == (choice != "drop")
    assert ("each as one piece, from its first to its last" in stdout) == (choice == "covering")
    value = json.loads(output.read_text())
    if to == "doccano":
        assert value["label"] == expected
        return
    found = value["documents"][0]["passages"][0]["annotations"]
    places = [[(one["offset"], one["length"]) for one in each["locations"]] for each in found]
    assert places == expected
