"""Scripts that leave no spaces between words, and what splits text in them."""

from __future__ import annotations

import re
from functools import cache

import spacy

CHARACTERS = "spacy_cascade.CharacterTokenizer.v1"
WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\u3000-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese characters and marks."""
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_SHARE_OF_SCRIPT, _SHARE_OF_KANA = 0.5, 0.05
"""Shares of the letters of a text; of Japanese letters about half are kana."""


def language_of_script(text: str) -> str | None:
    """spaCy's code of a language that is written without spaces, if most letters tell it."""
    n_letters = sum(map(str.isalpha, text))
    han, kana, thai = (len(script.findall(text)) for script in (_HAN, _KANA, _THAI))
    if han + kana > _SHARE_OF_SCRIPT * n_letters:
        return "ja" if kana > _SHARE_OF_KANA * n_letters else "zh"
    return "th" if thai > _SHARE_OF_SCRIPT * n_letters else None


@cache
def is_usable(code: str) -> bool:
    """Whether spaCy can make a pipeline of the language with what is installed."""
    try:
        spacy.blank(code)
    except ImportError:
        return False
    return True


def tokenizer_for(text: str, lang: str | None) -> str:
    """What to do about spans of a text that cut tokens; lang: that of the pipeline."""
    if not WITHOUT_SPACES.search(text):
        return (
            "Give the pipeline a tokenizer that splits there: `spacy cascade debug-data` measures "
            "some."
        )
    code = language_of_script(text)
    package = "" if code is None or is_usable(code) else f', after pip install "spacy[{code}]"'
    own = "" if code in (None, lang) else f"use the language '{code}'{package}; or "
    return (
        f"No spaces separate the words of this text: {own}set @tokenizers = "
        f'"{CHARACTERS}" in [nlp.tokenizer], which makes a token of each character.'
    )
