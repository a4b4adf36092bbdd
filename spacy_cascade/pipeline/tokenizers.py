"""Tokenizers for technical text and for text that is tokenized already.

Corpora such as JNLPBA and GENIA keep `NF-kappa`, `IL-2-induced` and
`monocyte/macrophage-like` whole. spaCy's own rules split them, so a model trained on
such a corpus would meet words in raw text that it has never seen.
"""

import re
from collections.abc import Callable
from typing import Any

from spacy.lang.char_classes import (
    ALPHA_LOWER,
    ALPHA_UPPER,
    CONCAT_QUOTES,
    LIST_ELLIPSES,
    LIST_ICONS,
)
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import (
    compile_infix_regex,
    compile_prefix_regex,
    compile_suffix_regex,
)

from .lexeme_getters import quicken

MARK = r"[^\w\s]|_"
"""A mark of punctuation or a symbol, as a regular expression."""
_SENTENCE_STOP_INSIDE = rf"(?<=[{ALPHA_LOWER}{CONCAT_QUOTES}])\.(?=[{ALPHA_UPPER}{CONCAT_QUOTES}])"


def make_whole_names_tokenizer() -> Callable[[Language], Tokenizer]:
    """The language's tokenizer that splits no word at hyphens, slashes, commas or colons.

    Registered as `spacy_cascade.WholeNamesTokenizer.v1` for `[nlp.tokenizer]`.
    """
    return _create_tokenizer


def _create_tokenizer(nlp: Language) -> Tokenizer:
    quicken(nlp.vocab)
    # Made as spaCy makes its own: where infixes are set later, it reads all exceptions again.
    language: Any = nlp.Defaults
    prefixes, suffixes = language.prefixes, language.suffixes
    infixes = [*LIST_ELLIPSES, *LIST_ICONS, _SENTENCE_STOP_INSIDE]
    return Tokenizer(
        nlp.vocab,
        rules=language.tokenizer_exceptions,
        prefix_search=compile_prefix_regex(prefixes).search if prefixes else None,
        suffix_search=compile_suffix_regex(suffixes).search if suffixes else None,
        infix_finditer=compile_infix_regex(infixes).finditer,
        token_match=language.token_match,
        url_match=language.url_match,
    )


def make_punctuation_tokenizer() -> Callable[[Language], Tokenizer]:
    """A tokenizer that makes a token of each punctuation mark and symbol, also inside words.

    Registered as `spacy_cascade.PunctuationTokenizer.v1`; for corpora that write `NF - kappa` and
    `1 . 5` in separate tokens.
    """
    return _split_at_marks


def _split_at_marks(nlp: Language) -> Tokenizer:
    quicken(nlp.vocab)
    return Tokenizer(
        nlp.vocab,
        prefix_search=re.compile(f"^(?:{MARK})").search,
        suffix_search=re.compile(f"(?:{MARK})$").search,
        infix_finditer=re.compile(MARK).finditer,
    )


def make_space_tokenizer() -> Callable[[Language], Tokenizer]:
    """A tokenizer that splits at white space only; registered as `spacy_cascade.SpaceTokenizer.v1`.

    For corpora that come in words, such as CoNLL's, when `[corpora]` reads them as text.
    """
    return _split_at_spaces


def _split_at_spaces(nlp: Language) -> Tokenizer:
    quicken(nlp.vocab)
    return Tokenizer(nlp.vocab)
