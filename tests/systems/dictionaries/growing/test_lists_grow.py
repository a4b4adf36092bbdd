"""`spacy cascade lists grow`: its files, options and messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers import blank
from spacy_cascade.cli import app
from spacy_cascade.systems.dictionaries.terms import read_terms

PAGE = "<ul><li>Rome<li>Oslo<li>New Delhi<li>Lima</ul><p>Oslo"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "more").mkdir(parents=True)
    (folder / "a.html").write_text(PAGE, encoding="utf8")
    (folder / "more" / "b.HTM").write_text(PAGE, encoding="utf8")
    (folder / "c.txt").write_text("Rome", encoding="utf8")
    (tmp_path / "cities.txt").write_text("Rome\nOslo\n", encoding="utf8")
    return folder


def run(*arguments: object, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["lists", "grow", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_the_list_is_a_lexicon(pages: Path, tmp_path: Path) -> None:
    output = tmp_path / "more.jsonl"
    printed = run(tmp_path / "cities.txt", pages, "--output", output, "--with-seeds")
    assert "2 of 2 seeds on 2 pages" in printed
    assert "2 new terms -> " in printed
    terms = list(read_terms("more", str(output)))
    assert [" ".join(term.words) for term in terms] == ["Rome", "Oslo", "Lima", "New Delhi"]
    assert {term.label for term in terms} == {"cities"}
    last = json.loads(output.read_text(encoding="utf8").splitlines()[-1])
    assert last["score"] > 0.7
    assert [e["group"] for e in last["evidence"]] == ["list 0: li"] * 2


def test_options(pages: Path, tmp_path: Path) -> None:
    output = tmp_path / "more.jsonl"
    page = pages / "a.html"
    run(tmp_path / "cities.txt", page, "--output", output, "--label", "GPE", "--max-terms", 1)
    (row,) = map(json.loads, output.read_text(encoding="utf8").splitlines())
    assert (row["label"], row["pattern"]) == ("GPE", "Lima")
    assert "No new terms" in run(
        tmp_path / "cities.txt", page, "--output", output, "--min-score", 1
    )
    assert output.read_text(encoding="utf8") == ""


def test_words_near_the_seeds_join_the_terms_of_pages(pages: Path, tmp_path: Path) -> None:
    nlp = blank()
    empty, output = tmp_path / "no_vectors", tmp_path / "more.jsonl"
    nlp.to_disk(empty)
    nlp.vocab.reset_vectors(width=2)
    for word, row in {"Rome": [2, 1], "Oslo": [3, 1], "Lima": [4, 1], "Kyiv": [3, 1.1],
                      "oxygen": [0, 1], "water": [0.1, 1]}.items():  # fmt: skip
        nlp.vocab.set_vector(word, np.array(row, dtype="f"))
    nlp.to_disk(tmp_path / "vectors")
    seeds = tmp_path / "cities.txt"
    seeds.write_text("Rome\nOslo\nNew Delhi\nLima\n", encoding="utf8")
    two = run(seeds, pages, "--vectors", tmp_path / "vectors", "--output", output)
    assert "4 of 4 seeds on 2 pages" in two
    assert "3 of 4 seeds with vectors" in two
    (row,) = map(json.loads, output.read_text(encoding="utf8").splitlines())
    assert (row["pattern"], row["evidence"][0]["group"][:8]) == ("Kyiv", "vectors:")
    assert "has no word vectors" in run(seeds, "--vectors", empty, "--output", output, exit_code=1)


def test_ctrl_c_is_one_line_and_writes_nothing(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = "spacy_cascade.systems.dictionaries.growing.formatting.from_pages"
    monkeypatch.setattr(function, Mock(side_effect=KeyboardInterrupt))
    seeds, output = tmp_path / "cities.txt", tmp_path / "more.jsonl"
    result = CliRunner().invoke(
        app, ["lists", "grow", str(seeds), str(pages), "--output", str(output)]
    )
    assert (result.exit_code, result.stdout) == (130, "")
    assert "Stopped. No list was written." in result.stderr
    assert not output.exists()


def test_what_cannot_be_read(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds, output = tmp_path / "cities.txt", ("--output", tmp_path / "more.jsonl")
    assert "no page at" in run(seeds, tmp_path / "gone.html", *output, exit_code=1)
    (tmp_path / "empty").mkdir()
    assert "nothing to look at" in run(seeds, *output, exit_code=1)
    assert "no pages in" in run(seeds, tmp_path / "empty", *output, exit_code=1)
    assert "Cannot read the lexicon" in run(tmp_path / "gone.txt", pages, *output, exit_code=1)
    monkeypatch.setitem(sys.modules, "lxml.etree", None)
    assert "spacy-cascade[web]" in run(seeds, pages, *output, exit_code=1)
