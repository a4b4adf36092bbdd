"""Words of text: the tasks that split it, and how often words and their forms occur."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.words import text
from spacy_cascade.tools.words.splitting import TokenizerChoice


def test_a_task_has_the_texts_of_so_many_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_CHARACTERS", 6)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("ef\ng\nh\n" * 2 + "k\n")
    tasks = text._tasks([tmp_path / "a.txt", tmp_path / "b.txt"], "text", TokenizerChoice())
    parts = [["ef\n", "g\n", "h\n"], ["ef\n", "g\n", "h\n"], ["k\n"]]
    assert [call.args[1] for (call,) in tasks] == parts * 2


def test_rare_words_count_by_their_form(tmp_path: Path) -> None:
    words, forms = tmp_path / "words", tmp_path / "forms"
    words.write_text("CDK17 a CDK18\n\nCDK29 b7\n")
    text.write_forms(forms, words, 3)
    assert forms.read_text() == "CDK00 a CDK00\n\nCDK00 b0\n"
    with pytest.raises(CorpusError, match="No word occurs 4 times in the text: it has 5 words"):
        text.write_forms(forms, words, 4)
    words.write_text("7 7 7 8\n")
    text.write_forms(forms, words, 3)
    assert forms.read_text() == "7 7 7 0\n"


def test_the_rarest_words_are_not_counted_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_MOST_DISTINCT", 3)
    path = tmp_path / "words"
    path.write_text("a a b b c a\nd\na\n")
    assert text._count(path) == {b"a": 4, b"b": 2}
    path.write_text("a a b b c a\nd\ne f\n")
    assert text._count(path) == {b"a": 3}
