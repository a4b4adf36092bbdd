"""Whether a pipeline splits text as the one did that a component was trained in.

A component does not know the pipeline that it is sourced into (`nlp.add_pipe(..., source=...)`), so
it looks for the one that calls it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..features.resources import Tokenize
from .settings import PipelineReference

ATTRIBUTE = "tokenizer"
"""Of the model: the `Splitting` of training; None where it is not known."""
_TEXT = (
    "NF-kappaB well-known IL-2 p50/p65 (10.5 mg/kg). don't U.S.A. e.g. z.B. l'homme a.org/b-c "
    "a@b.org 2,5% $10 10km A's x=1 1:2 word.Next a_b #tag 3rd β-actin CD4+ [1] »Ja« 漢字 กข"
)
_WORDS = _TEXT.split()
_TRIES = 10
"""Docs that may tell nothing, before nothing is looked at any more."""


@dataclass
class Splitting:
    """The tokenizer of training, and its tokens of `_WORDS`.

    checked: the last pipeline that was compared with it. tries: how many Docs have told nothing
    since.
    """

    name: str
    words: list[str]
    checked: PipelineReference | None = None
    tries: int = 0

    @classmethod
    def of(cls, nlp: Language, tokenize: Tokenize) -> Splitting:
        """That of a pipeline."""
        section = nlp.config["nlp"]["tokenizer"]
        words = [" ".join(tokenize(word)) for word in _WORDS]
        return cls(f"{section.get('@tokenizers')} of '{nlp.lang}'", words)

    @classmethod
    def saved(cls, given: Sequence[str] | None) -> Splitting | None:
        """What a file has; None for one that has none, or of another release, with other words."""
        if given is None or len(given) != len(_WORDS) + 1:
            return None
        return cls(given[0], list(given[1:]))

    def is_done(self, doc: Doc) -> bool:
        """Whether nothing more is to be said of Docs like this one."""
        nlp = None if self.checked is None else self.checked()
        return self.tries == _TRIES or (nlp is not None and nlp.vocab is doc.vocab)

    def to_save(self) -> list[str]:
        """What a file has of it."""
        return [self.name, *self.words]


def splitting_of(nlp: Language | None, docs: Sequence[Doc], tokenize: Tokenize) -> Splitting | None:
    """That of a pipeline; None where its tokenizer did not make these Docs."""
    if nlp is None or not all(_is_made_by(nlp, doc) for doc in docs):
        return None
    return Splitting.of(nlp, tokenize)


def check_splitting(pipe: Any, known: Splitting, docs: Sequence[Doc]) -> None:
    """Warn once where another tokenizer than that of training has made the Docs of a batch.

    known: of the component, for which not all is said of these Docs.
    """
    known.tries += 1
    doc, nlp = docs[0], _calling(pipe)
    if nlp is None or doc.vocab is not nlp.vocab:
        return
    here = Splitting.of(nlp, lambda word: [token.text for token in nlp.tokenizer(word)])
    pairs = zip(_WORDS, known.words, here.words, strict=True)
    other = next((one for one in pairs if one[1] != one[2]), None)
    # Of others a Doc with given words tells nothing, nor does one with a token for each word.
    if other is not None and not (len(doc) > len(doc.text.split()) and _is_made_by(nlp, doc)):
        return
    components: list[tuple[str, Any]] = nlp.pipeline
    for model in (getattr(each, "model", None) for _, each in components):
        if isinstance(each := getattr(model, "attrs", {}).get(ATTRIBUTE), Splitting):
            each.checked, each.tries = PipelineReference(nlp), 0
    if other is not None:
        word, in_training, now = other
        warnings.warn(
            f"'{pipe.name}' was trained on tokens of {known.name}, but this pipeline has "
            f"{here.name}: '{word}' was '{in_training}' in training, and is '{now}' here. Entities "
            "may be missed. Give this pipeline the tokenizer of training: nlp.tokenizer = "
            "other.tokenizer, or [nlp.tokenizer] of its config.",
            stacklevel=3,
        )


def _is_made_by(nlp: Language, doc: Doc) -> bool:
    """Whether a tokenizer makes these tokens of the text; the spaces between them are known."""
    if doc.has_unknown_spaces:
        return False
    return [token.text for token in nlp.tokenizer(doc.text)] == [token.text for token in doc]


def _calling(pipe: object) -> Language | None:
    """The pipeline that has called a component; None where it was called by itself."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_varnames[:1] == ("self",):
            caller = frame.f_locals.get("self")
            if isinstance(caller, Language) and any(each is pipe for _, each in caller.pipeline):
                return caller
        frame = frame.f_back
    return None
