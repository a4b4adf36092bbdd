"""The report of the suite, made of its stored results: tables and a picture.

python -m benchmarks.reports.suite_report [RESULTS.jsonl]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from ..lib.paths import RESULTS
from .against_peers import comparison_table, difference_cell, published_table
from .markdown import table
from .output import can_draw
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
    ranks,
    raw_entries,
    read_entries,
    shifted_columns,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = RESULTS / "suite.jsonl"
Cells = list[str]


def suite_table(entries: Sequence[Entry]) -> str:
    """F1 of all systems on each corpus and away from home, with means and ranks."""
    if not entries:
        return ""
    found = competitors(entries)
    home, shifted = home_columns(entries), shifted_columns(entries)
    rows = [_row(found, column) for column in home]
    rows.append(_mean_row("**mean**", found, home))
    rows.append(_rank_row(found, home))
    if shifted:
        rows += [_row(found, column) for column in shifted]
        rows.append(_mean_row("**mean, shifted**", found, shifted))
    header = ["dev F1", *(competitor.title for competitor in found)]
    return table([*header, f"`{DEFAULT}` − best peer"], rows)


def _row(found: Sequence[Competitor], column: Column) -> Cells:
    scores = [competitor.f1(column) for competitor in found]
    return [" → ".join(column), *_bold_best(scores), _gap_cell(found, column)]


def _of_best_peer(found: Sequence[Competitor], column: Column) -> float | None:
    peer = best_peer(found, column)
    return peer.f1(column) if peer else None


def _bold_best(scores: Sequence[float | None]) -> Cells:
    best = max((score for score in scores if score is not None), default=0.0)
    return [f"**{_number(s)}**" if s == best else _number(s) for s in scores]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def gap(found: Sequence[Competitor], column: Column) -> float | None:
    """F1 of `init`'s default minus that of the best peer in a column."""
    ours = next((c.f1(column) for c in found if c.system == DEFAULT), None)
    theirs = _of_best_peer(found, column)
    return None if ours is None or theirs is None else ours - theirs


def _gap_cell(found: Sequence[Competitor], column: Column) -> str:
    value = gap(found, column)
    if value is None:
        return ""
    if len(column) > 1:
        return f"{value:+.2f}"
    ours = next(c for c in found if c.system == DEFAULT)
    peer = best_peer(found, column)
    assert peer is not None
    return difference_cell(difference(ours, peer, column[0]))


def _mean_row(title: str, found: Sequence[Competitor], columns: Sequence[Column]) -> Cells:
    """Means over all columns; a system without a result in one of them has none."""
    lists = [[competitor.f1(column) for column in columns] for competitor in found]
    known = [[score for score in scores if score is not None] for scores in lists]
    means = [mean(k) if k and len(k) == len(columns) else None for k in known]
    gaps = [value for column in columns if (value := gap(found, column)) is not None]
    last = f"{mean(gaps):+.2f}" if gaps and len(gaps) == len(columns) else ""
    return [title, *_bold_best(means), last]


def _rank_row(found: Sequence[Competitor], columns: Sequence[Column]) -> Cells:
    """Mean ranks among the systems that have a result on every corpus."""
    lists = [[competitor.f1(column) for column in columns] for competitor in found]
    complete = [[s for s in scores if s is not None] for scores in lists if None not in scores]
    of_corpora = [ranks(scores) for scores in zip(*complete, strict=True)]
    means = (f"{mean(of):.1f}" for of in zip(*of_corpora, strict=True))
    cells = ["" if None in scores else next(means) for scores in lists]
    return ["mean rank", *cells, ""]


def raw_table(entries: Sequence[Entry]) -> str:
    """F1 on raw text, by characters, and how much less that is than on the corpus' tokens."""
    found = [competitor for competitor in competitors(entries) if not competitor.is_peer]
    raw = raw_entries(entries)
    rows = []
    for column in home_columns(entries):
        cells = []
        for competitor in found:
            entry, given = raw.get((column[0], competitor.system)), competitor.f1(column)
            if entry is None or given is None:
                cells.append("")
            else:
                cells.append(f"{entry['f1']:.2f} ({entry['f1'] - given:+.2f})")
        rows.append([column[0], *cells])
    return table(["raw text", *(competitor.title for competitor in found)], rows)


def cost_table(entries: Sequence[Entry], name: str, shown: Callable[[Entry], str]) -> str:
    """A figure of each training at home. name: what it is."""
    found = competitors(entries)
    rows = [
        [column[0], *(shown(c.entries[column[0]]) if column[0] in c.entries else "" for c in found)]
        for column in home_columns(entries)
    ]
    return table([name, *(competitor.title for competitor in found)], rows)


def seconds_cell(entry: Entry) -> str:
    return f"{entry['computed_seconds']:.0f}"


def size_cell(entry: Entry) -> str:
    return f"{entry['bytes'] / 1e6:.1f}"


def interval_cell(entry: Entry) -> str:
    low, high = entry["f1_interval"]
    return f"{low:.1f} to {high:.1f}"


def calibration_table(entries: Sequence[Entry]) -> str:
    """Errors of confidences at home and away from home; nothing where none were measured."""
    columns = [*home_columns(entries), *shifted_columns(entries)]
    found = [c for c in competitors(entries) if any(map(c.calibration, columns))]
    if not found:
        return ""
    rows = [
        [" → ".join(column), *(_calibration_cell(competitor, column) for competitor in found)]
        for column in columns
    ]
    return table(["ECE (excess)", *(competitor.title for competitor in found)], rows)


def _calibration_cell(competitor: Competitor, column: Column) -> str:
    known = competitor.calibration(column)
    return "" if known is None else f"{known['error']:.3f} ({known['excess']:+.3f})"


def best_setting_table(entries: Sequence[Entry]) -> str:
    """The best point of each peer's grid, by corpus."""
    found = [c for c in competitors(entries) if c.title.endswith("best of grid")]
    rows = [
        [column[0], *(c.entries.get(column[0], {}).get("setting", "") for c in found)]
        for column in home_columns(entries)
    ]
    header = ["", *(competitor.title for competitor in found)]
    return table(header, rows, "l" * len(header))


def report(entries: Sequence[Entry]) -> str:
    """All tables, with what they show."""
    parts: Iterable[tuple[str, str]] = (
        (
            "F1 on dev, tokens and sentences given. Below the mean rank, models are scored away "
            "from home on the labels that both corpora have.",
            suite_table(entries),
        ),
        (
            "Ours against the best peer on each corpus, all points of the grids included, with "
            "paired 95 % intervals (bootstrap over documents). *From the corpus alone*: neither "
            "has word knowledge. *As it comes*: both have the same; peers without count, too.",
            comparison_table(entries),
        ),
        (
            "Published figures without a transformer, by exact match. They are of the test parts, "
            "which are kept back here: do not compare them with figures on dev.",
            published_table(),
        ),
        ("95 % intervals of F1 (bootstrap over documents).",
         cost_table(entries, "dev F1", interval_cell)),
        ("Expected calibration error of the confidences of entities in ten bins; in brackets their "
         "mean minus precision. They were calibrated on the same dev part.",
         calibration_table(entries)),
        ("Raw text: F1 by characters; in brackets the difference to given tokens.",
         raw_table(entries)),
        ("Processor seconds of training, without scoring.",
         cost_table(entries, "seconds", seconds_cell)),
        ("Size of the saved model in megabytes.", cost_table(entries, "MB", size_cell)),
        ("The best point of each grid, chosen on the same dev.", best_setting_table(entries)),
    )  # fmt: skip
    return "# The suite\n\n" + "\n".join(
        f"{text}\n\n{content}" for text, content in parts if content
    )


def write(path: Path) -> None:
    """Write the report and the picture beside a file of results."""
    entries = read_entries(path)
    text, picture = report(entries), path.with_suffix(".png")
    if can_draw([picture]):
        draw(entries, str(picture))
        text += f"\n![F1 against the best peer on each corpus]({picture.name})\n"
    path.with_suffix(".md").write_text(text, encoding="utf8")


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
    markers = cycle(_PEERS)
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="?", default=FILE)
    write(parser.parse_args().results)


if __name__ == "__main__":
    main()
