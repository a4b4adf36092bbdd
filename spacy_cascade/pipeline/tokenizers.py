"""Tokenizers for technical text and for text that is tokenized already.

Corpora such as JNLPBA and GENIA keep `NF-kappa`, `IL-2-induced` and
`monocyte/macrophage-like` whole. spaCy's own rules split them, so a model trained on
such a corpus would meet words in raw text that it has never seen.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import regex
from spacy.lang.char_classes import (
    ALPHA_LOWER,
    ALPHA_UPPER,
    CONCAT_QUOTES,
    LIST_ELLIPSES,
    LIST_ICONS,
)
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import (
    DummyTokenizer,
    compile_infix_regex,
    compile_prefix_regex,
    compile_suffix_regex,
    registry,
)

from .lexeme_getters import quicken
from .scripts import WITHOUT_SPACES

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


_ANY = "\u6f22"
"""Stands for characters of scripts without spaces, of which it is one."""
_CHARACTER = regex.compile(r"\X(?:(?=\p{M})\X)*")
_RUN = regex.compile(rf"(?:(?={WITHOUT_SPACES.pattern}){_CHARACTER.pattern})+")


class CharacterTokenizer(DummyTokenizer):
    """Makes a token of each character of scripts without spaces between words, such as Thai.

    Combining marks stay with the character that they belong to. Other text is split as the rules of
    the language split it.
    """

    def __init__(self, nlp: Language) -> None:
        self.vocab = nlp.vocab
        quicken(nlp.vocab)
        self._by_rules: Tokenizer = registry.tokenizers.get("spacy.Tokenizer.v1")()(nlp)

    def __call__(self, text: str) -> Doc:
        """A Doc with the tokens of a text."""
        runs: Iterator[str] = (each[0] for each in _RUN.finditer(text))
        # One character stands for a whole run, which the vocabulary would keep like a word.
        doc = self._by_rules(_RUN.sub(_ANY, text))
        words, spaces = list[str](), list[bool]()
        for token in doc:
            before, *others = token.text.split(_ANY)
            words += self._words(before) if others else [before]
            for after in others:
                words += [*_CHARACTER.findall(next(runs)), *self._words(after)]
            spaces += [False] * (len(words) - len(spaces) - 1) + [bool(token.whitespace_)]
        return Doc(self.vocab, words=words, spaces=spaces)

    def _words(self, text: str) -> list[str]:
        return [token.text for token in self._by_rules(text)]


def make_character_tokenizer() -> Callable[[Language], CharacterTokenizer]:
    """A tokenizer for languages whose words no spaces separate.

    Registered as `spacy_cascade.CharacterTokenizer.v1`.
    """
    return CharacterTokenizer
