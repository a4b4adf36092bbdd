"""A picture of the suite: F1 of each system minus that of the best peer, corpus by corpus."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from .plotting import COLOURS, new_figure, save
from .suite_results import (
    DEFAULT,
    Column,
    Competitor,
    Entry,
    best_peer,
    competitors,
    difference,
    home_columns,
    shifted_columns,
)

_PEERS = ("s", "D", "^", "v", "P")
_LEAST = -12.0
"""Differences below are drawn here, with their value beside them."""


def draw(entries: Sequence[Entry], path: str) -> None:
    """A line for each corpus and each corpus away from home. Ours are round, peers are not."""
    found = competitors(entries)
    columns = [*home_columns(entries), *shifted_columns(entries)]
    columns = [column for column in columns if best_peer(found, column)]
    figure, (axes,) = new_figure(9, 1.6 + 0.42 * len(columns), grid="x")
    places = {column: -i for i, column in enumerate(columns)}
    axes.axvline(0, color="#888888", linewidth=1)
    markers = iter(_PEERS)
    for number, competitor in enumerate(found):
        marker = next(markers) if competitor.is_peer else "o"
        is_default = competitor.system == DEFAULT
        x, y = _points(found, competitor, places)
        axes.scatter(
            [max(value, _LEAST) for value in x],
            y,
            s=80 if is_default else 42,
            marker=marker,
            facecolor="none" if competitor.is_peer else COLOURS[number % len(COLOURS)],
            edgecolor=COLOURS[number % len(COLOURS)],
            label=competitor.title.replace("`", ""),
            zorder=4 if is_default else 3,
        )
        for value, place in zip(x, y, strict=True):
            if value < _LEAST:
                text = f"{value:.0f}"
                axes.annotate(text, (_LEAST, place), (-22, -4), textcoords="offset points")
        if is_default:
            _draw_intervals(axes, found, competitor, places)
    axes.set_yticks(list(places.values()), [" → ".join(column) for column in columns])
    axes.set_ylim(0.5 - max(len(columns), 1), 0.5)
    axes.set_xlabel("F1 on dev minus that of the best peer")
    axes.set_xlim(left=_LEAST - 1.5)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    save(figure, path)


def _points(
    found: Sequence[Competitor], competitor: Competitor, places: dict[Column, int]
) -> tuple[list[float], list[int]]:
    """Differences to the best peer, and the heights of their lines."""
    x, y = [], []
    for column, place in places.items():
        score, peer = competitor.f1(column), best_peer(found, column)
        best = peer.f1(column) if peer else None
        if score is not None and best is not None:
            x.append(score - best)
            y.append(place)
    return x, y


def _draw_intervals(
    axes: Axes, found: Sequence[Competitor], ours: Competitor, places: dict[Column, int]
) -> None:
    """The 95 % interval of the difference at home."""
    for column, place in places.items():
        peer = best_peer(found, column)
        if peer and len(column) == 1 and column[0] in ours.entries:
            gap = difference(ours, peer, column[0])
            axes.plot([gap.low, gap.high], [place, place], color=COLOURS[0], linewidth=1.5)
