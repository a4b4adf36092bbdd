"""What a segmenter finds in each Doc of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats1d
from .nbest import Candidates, part_of

ENTITY = "ENT"
"""Label of spans whose types are collapsed."""


@dataclass(frozen=True)
class Segments:
    """Spans found in one Doc, the confidence of each and the N best where asked for."""

    spans: Spans
    confidences: Floats1d | None
    candidates: Candidates | None = None


def by_doc(spans: Spans, confidences: Floats1d | None, tokens: Tokens) -> list[Segments]:
    """Spans of a batch in ascending order, and their confidences, for each Doc."""
    cuts = np.searchsorted(spans.start, tokens.doc_starts)
    found = []
    for doc, offset in enumerate(tokens.doc_starts[:-1]):
        part = slice(cuts[doc], cuts[doc + 1])
        found.append(
            Segments(
                part_of(spans, part, offset),
                None if confidences is None else confidences[part],
            )
        )
    return found
