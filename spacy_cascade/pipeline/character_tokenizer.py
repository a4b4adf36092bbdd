"""A tokenizer for scripts without spaces between words."""

from collections.abc import Callable, Iterator

import regex
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import DummyTokenizer, registry

from .lexeme_getters import quicken
from .scripts import WITHOUT_SPACES

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
