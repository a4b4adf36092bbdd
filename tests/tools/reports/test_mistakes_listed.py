"""The list of mistakes of `evaluate`: a row for each span that was missed, or is wrong."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import DocBin

from commands import check_errors, run_command
from helpers import SENTENCES, blank, gold_doc

run = partial(run_command, "evaluate")
TEXT, FOUND = SENTENCES[0]
"""The IL-2 gene needs STAT5 in T cells, with three entities that the pipeline finds."""
GOLD = {
    "type": [(1, 3, "protein"), *FOUND[1:]],
    "bounds": [FOUND[0], FOUND[1], (7, 8, "cell")],
    "missed": [*FOUND, (3, 4, "DNA")],
    "spurious": FOUND[1:],
}


def listed(model: Path, spans: list, path: Path) -> list[dict]:
    nothing, doc = blank().make_doc(TEXT), gold_doc(blank().vocab, TEXT, spans)
    DocBin(docs=[nothing, doc]).to_disk(path.with_suffix(".spacy"))
    stdout, _ = run(model, path.with_suffix(".spacy"), "--mistakes-list", path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]
    assert f"{len(rows)} mistake" in stdout
    return rows


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("type", [(4, 13, "wrong type", "protein", "DNA")]),
        (
            "bounds",
            [
                (29, 36, "wrong bounds", None, "cell"),
                (31, 36, "wrong bounds", "cell", None),
            ],
        ),
        ("missed", [(14, 19, "missed", "DNA", None)]),
        ("spurious", [(4, 13, "spurious", None, "DNA")]),
    ],
)
def test_each_kind_has_its_rows(
    case: str, expected: list, trained: Language, model: Path, tmp_path: Path
) -> None:
    """The first document is not annotated, so nothing there is a mistake."""
    rows = listed(model, GOLD[case], tmp_path / "list.jsonl")
    assert [
        (row["start"], row["end"], row["kind"], row["gold"], row["found"]) for row in rows
    ] == expected
    doc = trained(gold_doc(trained.vocab, TEXT, []).copy())
    sure = {(e.start_char, e.end_char): e._.confidence for e in doc.ents}
    for row in rows:
        assert row["document"] == 2
        assert row["text"] == TEXT[row["start"] : row["end"]]
        assert row["context"].rstrip() == TEXT
        if row["found"]:
            assert row["confidence"] == pytest.approx(sure[row["start"], row["end"]])
        if row["gold"]:
            assert row["gold_probability"] < 0.5


def test_a_table_has_a_cell_for_each_column(model: Path, tmp_path: Path) -> None:
    DocBin(docs=[gold_doc(blank().vocab, TEXT, GOLD["missed"])]).to_disk(tmp_path / "d.spacy")
    run(model, tmp_path / "d.spacy", "--mistakes-list", tmp_path / "list.csv")
    with (tmp_path / "list.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["text"], row["gold"], row["found"], row["confidence"]) == ("needs", "DNA", "", "")


def test_another_suffix_is_refused_before_the_work_begins(model: Path, tmp_path: Path) -> None:
    check_errors(run, ((model, "nowhere.spacy", "--mistakes-list", "list.txt"), "no file for rows"))
