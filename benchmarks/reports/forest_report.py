"""Tables and figures of results of `suite.forest`, as the report on MEMMs has them."""

from __future__ import annotations

from typing import Any

from .markdown import Curves, machine_sentence, table

Result = dict[str, Any]
HOME = "at home"


def f1(counts: list[int]) -> float:
    """In percent, of numbers of right, found and gold entities."""
    right, found, gold = counts
    return 200 * right / max(found + gold, 1)


def corpora_of(row: Result) -> list[str]:
    """The names of the corpora of a row; the empty one is the corpus at home."""
    return list(row["scores"])


def curves(row: Result, corpus: str) -> Curves:
    """F1 by the penalty, for each number of members."""
    return {
        f"{size} members": [(float(penalty), f1(counts)) for penalty, counts in found.items()]
        for size, found in row["scores"][corpus]["ensembles"].items()
    }


def at_tuned_penalty(row: Result, size: str) -> dict[str, float]:
    """F1 on each corpus with the penalty that is best at home, and this penalty."""
    home = row["scores"][""]["ensembles"][size]
    penalty = max(home, key=lambda it: f1(home[it]))
    scores = {name: f1(found["ensembles"][size][penalty]) for name, found in row["scores"].items()}
    return {"penalty": float(penalty), **scores}


def best_member(row: Result, size: str) -> dict[str, float]:
    """F1 on each corpus of the member of the ensemble that is best there."""
    return {
        name: max(map(f1, found["members"][: int(size)])) for name, found in row["scores"].items()
    }


def make_report(results: Result) -> str:
    rows = results["rows"]
    names = corpora_of(rows[0])
    shown = [name or f"{rows[0]['source']} ({HOME})" for name in names]
    header = ["classes", "members", "penalty", *shown]
    lines = []
    for row in rows:
        for size in row["scores"][""]["ensembles"]:
            found = at_tuned_penalty(row, size)
            own = best_member(row, size)
            cells = [f"{found[name]:.2f} ({found[name] - own[name]:+.2f})" for name in names]
            lines.append([f"{100 * row['share']:.0f} %", size, f"{found['penalty']:g}", *cells])
    parts = [
        "# Ensembles of random classes of features\n",
        f"Entity F1 on dev in percent, of models of {rows[0]['source']}; tokens and sentences "
        "given. The penalty is the one that is best at home. In brackets the gain over the member "
        "that is best on that corpus, as it was trained.\n",
        table(header, lines),
        "\nThe picture has F1 by the penalty on the background.\n",
        f"\n{machine_sentence(results['machine'])}\n",
    ]
    return "\n".join(parts)


def draw(results: Result, path: str) -> None:
    """Figure 3: F1 by the penalty, a panel for each corpus, a line for each share of classes."""
    from .plotting import COLOURS, draw_curves, new_figure, save

    rows = [row for row in results["rows"] if row["share"] < 1]
    names = corpora_of(rows[0])
    figure, panels = new_figure(5 * len(names), 4.5, len(names))
    for axes, name in zip(panels, names, strict=True):
        lines = {}
        for row in rows:
            *_, (most, line) = curves(row, name).items()
            lines[f"{100 * row['share']:.0f} % of the classes, {most}"] = line
        draw_curves(axes, lines, COLOURS)
        axes.set(xlabel="penalty on the background", ylabel="F1, %", title=name or HOME)
    panels[0].legend(frameon=False)
    save(figure, path)
