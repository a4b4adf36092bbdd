"""What a web service should answer."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.language import Language


def answered(nlp: Language, text: str) -> list[dict[str, Any]]:
    """The entities of a text, as `examples/serve.py` gives them."""
    return [
        {
            "start": entity.start_char,
            "end": entity.end_char,
            "label": entity.label_,
            "confidence": pytest.approx(entity._.confidence),
        }
        for entity in nlp(text).ents
    ]
