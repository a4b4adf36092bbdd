"""Silver labels: what another pipeline finds, as annotation to learn from.

Spans that the teacher is sure of become entities. Those that it is not sure of become missing
annotation: training sums over all that may be there, so a doubtful span teaches neither that there
is an entity nor that there is none (docs/method.md, section 3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from spacy.tokens import Doc, Span

from ...errors import ConfigError
from ...pipeline.readers import SENTENCES, input_doc
from ...pipeline.spans.confidences import confidence_of, scores_of

Confidence: TypeAlias = Callable[[Span], float | None]
THRESHOLD = 0.8


def silver(
    docs: Iterable[Doc],
    key: str | None = None,
    threshold: float = THRESHOLD,
    unlikely: float = 0.0,
    confidence: Confidence | None = None,
) -> Iterator[Doc]:
    """New Docs with the spans of a teacher as their annotation, one for each Doc.

    docs: as the teacher left them, for example `teacher.pipe(texts)`. key: `doc.spans` key of its
    spans, None for `doc.ents`. threshold: spans with this confidence or more become entities, of
    overlapping ones the surest. unlikely: spans with less than this are no entities. Tokens of the
    spans between count as missing, all others as outside. confidence: gives that of a span; by
    default the group's `attrs["scores"]`, or what a component of this package found. Raises
    `ConfigError` for a span without a confidence, a missing group, and limits out of order.
    """
    if not 0.0 <= unlikely <= threshold <= 1.0:
        raise ConfigError(
            f"Silver labels need 0 <= unlikely <= threshold <= 1, not {unlikely:g} and "
            f"{threshold:g}."
        )
    for doc in docs:
        sure, doubtful = list[Span](), list[Span]()
        for value, span in sorted(
            zip(_confidences(doc, key, confidence), _spans(doc, key), strict=True),
            key=lambda pair: (-pair[0], pair[1].start, pair[1].end),
        ):
            is_free = not any(span.start < s.end and s.start < span.end for s in sure)
            if value >= threshold and is_free:
                sure.append(span)
            elif value >= unlikely:
                doubtful.append(span)
        yield _annotated(doc, sure, doubtful)


def _annotated(doc: Doc, sure: Sequence[Span], doubtful: Sequence[Span]) -> Doc:
    found = input_doc(doc, (SENTENCES,), doc.vocab)
    taken = {i for span in sure for i in range(span.start, span.end)}
    open_tokens = {i for span in doubtful for i in range(span.start, span.end)} - taken
    found.set_ents(
        [Span(found, span.start, span.end, span.label_) for span in sure],
        missing=[found[i : i + 1] for i in sorted(open_tokens)],
        default="outside",
    )
    return found


def _spans(doc: Doc, key: str | None) -> Sequence[Span]:
    if key is None:
        return doc.ents
    if key not in doc.spans:
        raise ConfigError(
            f"The Doc that begins '{doc.text[:50]}' has no doc.spans['{key}'], only "
            f"{sorted(doc.spans)}. Give the key of the teacher's spans."
        )
    return list(doc.spans[key])


def _confidences(doc: Doc, key: str | None, confidence: Confidence | None) -> list[float]:
    spans = _spans(doc, key)
    scores = scores_of(doc.spans[key]) if confidence is None and key is not None else None
    if scores is not None:
        values: list[float] = scores[~np.isnan(scores)].tolist()
    else:
        found = [(confidence or confidence_of)(span) for span in spans]
        values = [float(value) for value in found if value is not None]
    if len(values) != len(spans):
        raise ConfigError(
            f"Not every span of the Doc that begins '{doc.text[:50]}' has a confidence. Give a "
            "function of a span as 'confidence'; lambda span: 1.0 takes all."
        )
    return values
