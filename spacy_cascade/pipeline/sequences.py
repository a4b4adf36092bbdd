"""What a sequence is: a sentence, or a whole Doc.

Training decides, by what most of its tokens are shown in, and the model keeps it: annotation cuts
as training did, whatever component set sentence starts before. A model that was saved without this
takes sentences where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..features.tokens import Tokens, read_tokens

ATTRIBUTE = "sentences"
"""Of the model: whether a sequence is a sentence; None where training has not decided."""


@dataclass
class Shown:
    """How many tokens of training stood in Docs with sentence starts, and how many in others.

    Docs of one token are both.
    """

    with_sentences: int = 0
    without: int = 0

    def add(self, tokens: Tokens) -> None:
        """Count the tokens of further Docs."""
        lengths = np.diff(tokens.doc_starts)
        lengths = np.where(lengths > 1, lengths, 0)
        self.with_sentences += int(lengths[tokens.has_sentences].sum())
        self.without += int(lengths[~tokens.has_sentences].sum())

    def decide(self, model: Model[Any, Any]) -> None:
        """Have the model cut sentences if most tokens stood in Docs that have them."""
        model.attrs[ATTRIBUTE] = self.with_sentences > self.without


def of_sentences(pipe: Any) -> bool | None:
    """Whether a sequence is a sentence rather than a whole Doc; None before training."""
    found: bool | None = pipe.model.attrs[ATTRIBUTE]
    return found


def decide_by(docs: Sequence[Doc], model: Model[Any, Any], shown: Shown) -> None:
    """Decide by Docs that the model is trained on now, and by what was shown before."""
    shown.add(read_tokens(docs, ()))
    shown.decide(model)


def cut(tokens: Tokens, model: Model[Any, Any]) -> Tokens:
    """Tokens of training in the sequences that it has decided on."""
    return tokens.as_documents() if model.attrs[ATTRIBUTE] is False else tokens
