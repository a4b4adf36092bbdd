"""One annotation of several: what most annotators say, or what a pipeline finds more probable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spacy.tokens import Doc, Span

from ...pipeline.readers import SENTENCES, input_doc
from ...pipeline.spans.placing import LabelledSpan
from ..formats.placing import set_entities
from .agreement import Reading, Reviewed, clusters
from .disagreements import Opinion
from .merge import Fate, Merge


def merged(document: Reviewed, by: Merge, opinion: Opinion | None, fates: Counter[Fate]) -> Doc:
    """A Doc with the entities that are decided on; `fates` counts the spans.

    A span counts by the annotators who have annotated all of its words. Where all agree on it, or
    most do and the vote decides, it is an entity, and what overlaps it is not. Of the spans that
    are left, those that overlap are looked at together. By vote they are outside where most
    annotators have none of them. Else the pipeline decides which annotator is right; without one
    their words are not annotated.
    """
    readings = list(document.readings.values())
    shares = {span: _share(span, readings) for reading in readings for span in reading.spans}
    kept: list[LabelledSpan] = []
    for span in sorted(shares, key=lambda span: (-shares[span], span)):
        is_sure = shares[span] == 1.0 or (by is Merge.VOTE and shares[span] > 0.5)
        if is_sure and not _overlap(span, kept):
            kept.append(span)
            fates[Fate.AGREED if shares[span] == 1.0 else Fate.MAJORITY] += 1
    left = [span for span in shares if span not in kept]
    free = [span for span in left if not _overlap(span, kept)]
    lost = Fate.OUTVOTED if by is Merge.VOTE else Fate.AGAINST_MODEL
    fates[lost] += len(left) - len(free)
    open_words = set.intersection(*(set(reading.unknown) for reading in readings))
    for cluster in clusters(free):
        said = _said(cluster, readings)
        if by is Merge.VOTE and 2 * said.count(()) > len(said):
            fates[Fate.OUTVOTED] += len(cluster)
        elif opinion is None:
            fates[Fate.DISPUTED] += len(cluster)
            open_words.update(i for start, end, _ in cluster for i in range(start, end))
        else:
            chosen = max(said, key=lambda spans: _probability(spans, cluster, opinion))
            kept += chosen
            fates[Fate.BY_MODEL] += len(chosen)
            fates[Fate.AGAINST_MODEL] += len(cluster) - len(chosen)
    doc = input_doc(document.doc, (SENTENCES,), document.doc.vocab)
    set_entities(doc, [Span(doc, *span) for span in sorted(kept)], open_words)
    return doc


def _share(span: LabelledSpan, readings: Sequence[Reading]) -> float:
    """Of the annotators who have annotated all words of a span, the share that has it."""
    has = [span in reading.spans for reading in readings if reading.knows(*span[:2])]
    return sum(has) / len(has)


def _overlap(span: LabelledSpan, others: Sequence[LabelledSpan]) -> bool:
    return any(start < span[1] and span[0] < end for start, end, _ in others)


def _said(
    cluster: Sequence[LabelledSpan], readings: Sequence[Reading]
) -> list[tuple[LabelledSpan, ...]]:
    """Which of the spans each annotator has who has annotated them, or who has one."""
    start, end = cluster[0][0], max(span[1] for span in cluster)
    found = []
    for reading in readings:
        spans = tuple(span for span in reading.spans if span in cluster)
        if spans or reading.knows(start, end):
            found.append(spans)
    return found


def _probability(
    spans: Sequence[LabelledSpan], cluster: Sequence[LabelledSpan], opinion: Opinion
) -> float:
    """Of the least probable of the spans; without one, that there is none of the cluster."""
    if spans:
        return min(opinion.probabilities[span] for span in spans)
    return 1.0 - sum(opinion.probabilities[span] for span in cluster)
