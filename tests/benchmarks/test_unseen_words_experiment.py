"""False and right warnings of unseen words, counted on made words."""

from __future__ import annotations

from benchmarks.suite import unseen_words

KNOWN = {"old", "word"}


def test_ordinary_words() -> None:
    words = ["The", "old", "word", ",", "u2", "straße", "DNA", "x"]
    assert unseen_words.ordinary(words) == ["old", "word", "straße", "x"]


def test_halves_and_pieces_at_home() -> None:
    """The second half of dev is new, and warned of after the first; the first is known."""
    dev = ["old"] * 4000 + ["new"] * 1000 + ["word"] * 3000
    row = unseen_words.row_at_home("made", KNOWN, dev)
    assert row["pieces"] == {"0": [2, 1], "4000": [2, 1], "2000": [4, 1], "1000": [8, 1]}


def test_away_from_home() -> None:
    home, away = ["old"] * 1900 + ["new"] * 100, ["old"] * 900 + ["new"] * 100
    row = unseen_words.row_away("a", "b", KNOWN, home, away)
    assert row == {"source": "a", "target": "b", "home": 0.05, "away": 0.1, "warns": True}
    assert not unseen_words.row_away("a", "b", KNOWN, away, home)["warns"]
