"""Abbreviations, contractions and smileys: most of what it takes to make a tokenizer of spaCy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spacy.lang.en import English
from spacy.language import BaseDefaults

_WHOLE = {language: language.tokenizer_exceptions for language in (BaseDefaults, English.Defaults)}


def leave_out() -> None:
    """Tokenizers that are made from now on have none."""
    for language in _WHOLE:
        language.tokenizer_exceptions = {}


@contextmanager
def kept() -> Iterator[None]:
    """Tokenizers that are made meanwhile have them, as in an application."""
    for language, cases in _WHOLE.items():
        language.tokenizer_exceptions = cases
    try:
        yield
    finally:
        leave_out()
