"""Words that spaCy cannot use."""

import re

REPLACEMENT = "\ufffd"

# Bytes that are not UTF-8 are read as lone surrogates (`surrogateescape`).
NOT_UTF8 = re.compile("[\ud800-\udfff]")


def word_problem(word: str) -> str | None:
    """Why spaCy cannot use `word`, or None if it can.

    A `Doc` refuses the empty string and invalid Unicode. It accepts a word of whitespace, but no
    entity can begin there.
    """
    if word and not word.isspace():
        return encoding_problem(word)
    return "is only whitespace" if word else "is empty"


def encoding_problem(text: str) -> str | None:
    return "is not valid UTF-8" if NOT_UTF8.search(text) else None
