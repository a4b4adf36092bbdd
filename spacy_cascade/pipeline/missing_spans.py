"""What to do where no component before a classifier writes the spans that it types."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


def warn_missing(
    nlp: Language | None, name: str, own: object, key: str, docs: Sequence[Doc]
) -> bool:
    """Warn where none of the Docs has `doc.spans[key]`, with the likely cause; whether it did.

    name, own: of the component that looks for them. nlp: its pipeline, None where it has none.
    """
    if any(key in doc.spans for doc in docs) or not any(len(doc) for doc in docs):
        return False
    warnings.warn(
        f"'{name}' finds no doc.spans['{key}'] in these Docs, so it gives no entities. "
        f"{_cause(nlp, own, key)}",
        stacklevel=3,
    )
    return True


def _cause(nlp: Language | None, own: object, key: str) -> str:
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
    after = False
    other = ""
    for name, pipe in components:
        after |= pipe is own
        written = _key_written_by(pipe)
        if written == key and nlp is not None and name in nlp.disabled:
            return f"'{name}' would write it, but is disabled: enable it."
        if written == key and after:
            return f"'{name}' writes it, but comes later: move it before."
        if written is not None and not other:
            other = f"'{name}' writes doc.spans['{written}']: give both the same spans_key."
    return other or f'Add a cascade_segmenter with spans_key = "{key}" before it.'


def _key_written_by(pipe: Any) -> str | None:
    """Key of the span group that a component finds spans for; None where it finds none."""
    finds_spans = hasattr(pipe, "gold_spans") or not hasattr(pipe, "gold_key")
    key = getattr(pipe, "spans_key", getattr(pipe, "key", None)) if finds_spans else None
    return key if isinstance(key, str) else None
