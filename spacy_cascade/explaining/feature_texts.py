"""Texts behind the hashes that features are made of, for their names."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc

from ..features.space import TextOf
from ..features.strings import hash_string
from ..pipeline.component import CascadePipe


def text_reader(pipe: CascadePipe, docs: Iterable[Doc] = ()) -> TextOf:
    """Gives words, labels and tags by their hashes, with those of spans that templates look at.

    docs: where such spans can be that no component of the pipeline finds. What is unknown, such
    as a phrase between two spans, is shown by its hash.
    """
    tags = {f"{prefix}-{label}" for prefix in "BI" for label in _labels(pipe, docs)}
    of_spans = {hash_string(tag): tag for tag in (*tags, "O")}
    strings = pipe.vocab.strings

    def text_of(number: int) -> str:
        if number in of_spans:
            return of_spans[number]
        try:
            return str(strings[number])
        except KeyError:
            return f"#{number:016x}"

    return text_of


def _labels(pipe: CascadePipe, docs: Iterable[Doc]) -> set[str]:
    """Labels of the spans that the templates of a component look at."""
    keys = pipe.space.span_keys
    labels = {span.label_ for doc in docs for key in keys for span in doc.spans.get(key, ())}
    for _, other in () if pipe.pipeline is None else pipe.pipeline.pipeline:
        if isinstance(other, CascadePipe) and getattr(other.options, "spans_key", None) in keys:
            labels.update(other.labels)
    return labels
