"""The tables of English words that come with the package: they are those that the script makes."""

from __future__ import annotations

import runpy
from dataclasses import replace

import pytest

from helpers import PROJECT
from spacy_cascade.systems.words.files import read_table
from spacy_cascade.systems.words.sources import ENGLISH, FOLDER
from spacy_cascade.systems.words.table import WordTable, values_of

NAMES = {True: "pieces", False: "glove"}
SCRIPT = runpy.run_path(str(PROJECT / "scripts" / "make_english.py"))


@pytest.fixture(scope="module", params=ENGLISH)
def table(request: pytest.FixtureRequest) -> WordTable:
    return read_table(request.param, str(FOLDER / f"{request.param}.words"))


def test_checksums_are_those_of_the_script() -> None:
    assert set(SCRIPT["RESULTS"]) == {f"{name}.words" for name in ENGLISH}
    for name, checksum in SCRIPT["RESULTS"].items():
        SCRIPT["check"](FOLDER / name, checksum)
        with pytest.raises(SystemExit, match=f"{name} has the checksum {checksum}, not 0"):
            SCRIPT["check"](FOLDER / name, "0")


def test_they_take_less_than_twelve_megabytes() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 12_000_000


def test_each_says_where_it_comes_from(table: WordTable) -> None:
    is_lower = table.pieces is not None
    assert table.about == replace(SCRIPT["ABOUT"][NAMES[is_lower]], is_lower=is_lower)
    assert table.about.license in ("Apache 2.0", "PDDL 1.0 (public domain)")
    notice = (FOLDER / "NOTICE.md").read_text("utf8")
    assert f"`{NAMES[is_lower]}.words`" in notice


@pytest.mark.parametrize(
    "words", [["January", "October", "November"], ["Monday", "Tuesday", "Friday"]]
)
def test_words_of_one_kind_are_together(table: WordTable, words: list[str]) -> None:
    assert len(set(values_of(table.word_codes(words), 0).tolist()) - {0}) == 1


def test_pieces_know_words_that_no_list_has() -> None:
    words = ["Jurkattt", "tmrw", "dehydrogenase-like", "Zxqvian"]
    pieces, glove = (read_table(n, str(FOLDER / f"{n}.words")) for n in ("pieces", "glove"))
    assert pieces.share(words) == 1.0
    assert glove.share(words) < 0.5
