"""Languages by their script, or by their stop words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from runpy import run_path

import pytest
import spacy.lang

from spacy_cascade.pipeline.scripts import is_usable, language_of_script
from spacy_cascade.tools.tokenizers import languages
from spacy_cascade.tools.tokenizers.languages import Language, guess_language

LANGUAGES = ("de", "en", "es", "fr", "it", "pt", "nl", "sv", "pl", "ru")
"""Those with enough sentences in spaCy's language data."""


def words_of(code: str) -> Counter[str]:
    # Only this file is run: to import the languages takes seconds.
    file = Path(spacy.lang.__path__[0]) / code / "examples.py"
    sentences = run_path(str(file))["sentences"]
    return Counter(word for text in sentences for word in text.replace(".", " ").split())


def test_sentences_tell_most_languages_and_never_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(languages, "is_usable", lambda code: True)  # which takes seconds
    found = [guess_language({w: 5 * n for w, n in words_of(code).items()}) for code in LANGUAGES]
    pairs = zip(LANGUAGES, found, strict=True)
    assert all(one in (Language(code, True), Language("en", False)) for code, one in pairs)
    assert sum(one.is_sure for one in found) >= 8


def test_what_does_not_tell_is_assumed_to_be_english() -> None:
    assumed = Language("en", False)
    assert guess_language({}) == assumed
    assert guess_language({"the": 3, "and": 2}) == assumed  # too few
    assert guess_language({"STAT5": 500, "kinase": 500}) == assumed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("艾达在罗马。", "zh"),
        ("NBA球员姚明", "zh"),
        ("エイダはローマにいる", "ja"),
        ("東京都は日本の首都で、大きい", "ja"),
        ("สวัสดีชาวโลก", "th"),
        ("Ada wrote 艾达", None),
        ("한국어는 띄어쓰기를 한다", None),
        ("12.5 %", None),
        ("", None),
    ],
)
def test_languages_without_spaces_are_told_by_their_script(text: str, code: str | None) -> None:
    assert language_of_script(text) == code
    found = guess_language({text: 1})
    if code is None:
        assert found == Language("en", False)
    elif is_usable(code) or code == "zh":  # Chinese needs no other package
        assert found == Language(code, True)
        assert "script" in found.reason
    else:
        assert (found.code, found.is_sure, found.to_install) == ("en", False, code)
