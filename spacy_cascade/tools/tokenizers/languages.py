"""The language of a corpus, by its script or the stop words that spaCy's language data has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import spacy.lang

from ...pipeline.scripts import is_usable, language_of_script

ASSUMED = "en"
_SMALLEST_SHARE, _SMALLEST_LEAD = 0.04, 1.5
"""A language wins with that share of the words, weighted, and so many times that of the second."""
_SMALLEST_TEXT = 100
"""Words of letters below which nothing is said."""


@dataclass(frozen=True)
class Language:
    """code: spaCy's. is_sure: whether the text tells it; otherwise it is assumed. reason: why.

    to_install: what the text tells, if spaCy needs another package for it; else "".
    """

    code: str
    is_sure: bool
    reason: str = field(
        default="assumed, for the words do not tell; --lang names another", compare=False
    )
    to_install: str = ""


def guess_language(counts: Mapping[str, int]) -> Language:
    """The language of running text: by its script, else by its stop words.

    counts: how often each word occurs. The score of a language is the share of its stop words
    among all words, where a word counts `1 / n` that is a stop word of `n` languages: most words
    that Spanish shares with Catalan say nothing about which of the two it is.
    """
    code = language_of_script("".join(counts))
    if code is not None:
        if is_usable(code):
            return Language(code, True, "the text is in the script of this language")
        return Language(ASSUMED, False, f"assumed, for '{code}' is not installed", code)
    words: Counter[str] = Counter()
    for word, n in counts.items():
        if word.isalpha():
            words[word.lower()] += n
    total = words.total()
    if total < _SMALLEST_TEXT:
        return Language(ASSUMED, False)
    lists = _stop_words()
    n_lists = Counter(word for found in lists.values() for word in found)
    scores = {
        code: sum(words[word] / n_lists[word] for word in found) / total
        for code, found in lists.items()
    }
    (code, best), (_, second) = Counter(scores).most_common(2)
    is_sure = best >= _SMALLEST_SHARE and best >= _SMALLEST_LEAD * second and is_usable(code)
    if not is_sure:
        return Language(ASSUMED, False)
    return Language(code, True, "the text has the stop words of this language")


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    """The stop words of each language.

    Only the files of stop words are run: to import 76 languages takes seconds.
    """
    found = {}
    for file in sorted(Path(spacy.lang.__path__[0]).glob("*/stop_words.py")):
        spec = spec_from_file_location(f"{__name__}.{file.parent.name}", file)
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            found[file.parent.name] = frozenset(module.STOP_WORDS)
    return found


def how_to_install(code: str) -> str:
    """What a text in a language without spaces needs, which spaCy cannot split as it is."""
    return (
        f"The text seems to be of the language '{code}', which is written without spaces. spaCy "
        f'needs another package to split it: pip install "spacy[{code}]". Then set --lang {code}.'
    )
