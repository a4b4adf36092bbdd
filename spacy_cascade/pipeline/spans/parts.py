"""Discontinuous annotations in span groups: spans with a common id are the parts of one.

`left … lung` in `left and right lung` is two spans of `doc.spans[KEY]` with the same label, and the
same `span.id_`, such as `part-of:T1`. The name behind the prefix is unique in its Doc.
"""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Span

PREFIX = "part-of:"
"""What begins the id of a span that is a part of an annotation."""


def part_id(name: str) -> str:
    """The id of the parts of an annotation, by the name of the annotation in its Doc."""
    return PREFIX + name


def is_part_id(text: str) -> bool:
    """Whether an id is that of a part: it has the prefix and a name."""
    return text.startswith(PREFIX) and text != PREFIX


def annotations_of(spans: Iterable[Span]) -> list[list[Span]]:
    """The annotations of a group, each with its spans; both in the order of the text.

    The spans of an annotation have a common id of parts; a span without such an id is alone.
    Annotations that begin at the same word keep the order of the group.
    """
    found: list[list[Span]] = []
    of_name: dict[str, list[Span]] = {}
    for span in spans:
        if not is_part_id(span.id_):
            found.append([span])
        elif span.id_ in of_name:
            of_name[span.id_].append(span)
        else:
            found.append(of_name.setdefault(span.id_, [span]))
    ordered = [sorted(parts, key=_place) for parts in found]
    return sorted(ordered, key=lambda parts: parts[0].start)


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end
