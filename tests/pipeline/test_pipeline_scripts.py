"""Languages told by their letters, and what is said of text without spaces."""

from __future__ import annotations

import re

import pytest

from spacy_cascade.pipeline import scripts
from spacy_cascade.pipeline.scripts import language_of_script, tokenizer_for


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("IL-2 gene", None),
        ("漢" * 19 + "か", "zh"),  # no more than a twentieth
        ("漢" * 18 + "か", "ja"),
        ("カナ", "ja"),
        ("漢字ab", None),  # half of the letters
        ("漢字a 12", "zh"),
        ("ก" * 2 + "ab", None),
        ("ก" * 2 + "a", "th"),
    ],
)
def test_most_letters_tell_the_language(text: str, expected: str | None) -> None:
    assert language_of_script(text) == expected


@pytest.mark.parametrize(
    ("text", "lang", "usable", "expected"),
    [
        ("漢字", "zh", True, r"^No spaces [\w ]+: set @tokenizers"),
        ("漢字", "en", True, "text: use the language 'zh'; or set @tokenizers"),
        ("漢字", None, False, r"'zh', after pip install \"spacy\[zh\]\"; or set"),
        ("abc漢", "en", True, r"text: set @tokenizers = \"spacy_cascade\.CharacterTokenizer\.v1\""),
        ("abc", "en", True, "Give the pipeline a tokenizer .*debug-data"),
    ],
)
def test_what_to_do_about_spans_that_cut_tokens(
    text: str, lang: str | None, usable: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "is_usable", lambda code: usable)
    assert re.search(expected, tokenizer_for(text, lang))


def test_what_spacy_can_make_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(code: str) -> None:
        raise ImportError(code)

    is_usable = scripts.is_usable.__wrapped__
    assert is_usable("xx")
    monkeypatch.setattr(scripts.spacy, "blank", missing)
    assert not is_usable("xx")
