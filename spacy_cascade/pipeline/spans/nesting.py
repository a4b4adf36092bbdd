"""Spans inside spans: how deep they are, how much is inside them, and one level of them.

A span is inside another one if that has all its tokens. Of spans with equal bounds, those whose
label comes first in the alphabet are inside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .placing import LabelledSpan


@dataclass(frozen=True)
class Nesting:
    """What is inside what.

    spans: by first token, longer ones before shorter ones. depths: how many spans the longest chain
    around each one has; 0 for outermost ones. heights: the same of spans inside it; 0 for innermost
    ones. crossing: numbers of spans that share tokens with one before them, and are not inside it.
    """

    spans: list[LabelledSpan]
    depths: list[int]
    heights: list[int]
    crossing: list[int]

    def take(self, chosen: Callable[[int, int], bool]) -> list[LabelledSpan]:
        """The spans of whose depth and height something holds, in ascending order."""
        values = zip(self.spans, self.depths, self.heights, strict=True)
        return sorted(span for span, depth, height in values if chosen(depth, height))


def nesting(spans: Sequence[LabelledSpan]) -> Nesting:
    """The nesting of the spans of one Doc, each of which counts once."""
    distinct = set(spans)
    if len(distinct) < 2:
        return Nesting([*distinct], [0] * len(distinct), [0] * len(distinct), [])
    backwards = sorted(distinct, key=lambda span: span[2], reverse=True)
    ordered = sorted(backwards, key=lambda span: (span[0], -span[1]))
    depths, around, crossing = list[int](), list[list[int]](), list[int]()
    for i, (start, end, _) in enumerate(ordered):
        open_spans = [] if not i else [j for j in [*around[-1], i - 1] if ordered[j][1] > start]
        holding = [j for j in open_spans if ordered[j][1] >= end]
        if len(holding) < len(open_spans):
            crossing.append(i)
        # Those that it crosses may hold later spans, so they are handed on with the others.
        around.append(open_spans)
        depths.append(1 + max((depths[j] for j in holding), default=-1))
    heights = [0] * len(ordered)
    for i in range(len(ordered) - 1, -1, -1):
        for j in around[i]:
            if ordered[j][1] >= ordered[i][1]:
                heights[j] = max(heights[j], heights[i] + 1)
    return Nesting(ordered, depths, heights, crossing)


ALL = "all"

LEVELS: Mapping[str, Callable[[int, int], bool]] = {
    "innermost": lambda depth, height: height == 0,
    "outermost": lambda depth, height: depth == 0,
}
"""Levels of spans by name, each by depth and height."""
