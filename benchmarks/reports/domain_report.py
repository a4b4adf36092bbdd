"""Tables and a figure of results of `suite.domains`, as the report on MEMMs has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .markdown import Curves, machine_sentence, table

Result = dict[str, Any]
FEW = 100
"""Sentences by which forgetting is judged."""
PRIORS = {
    "Gaussian": "Gaussian: the prior of the report, centred on the weights of the source.",
    "plain": "Plain: passive-aggressive updates that go on from the weights of the source.",
    "curvature": "Curvature: a weight that the source has determined well moves less.",
}
TABLES = {
    "matched": "Tables 2 and 3, matched: trained and scored on the target",
    "mismatched": "Table 4, mismatched: trained on CoNLL-2003, scored on the target",
    "adapted": "Table 5, adapted: the model of CoNLL-2003 adapted to all of the target",
    "pooled": "Table 6, pooled: trained on both corpora",
}


class Rows:
    """Rows of the results, by what they are of."""

    def __init__(self, rows: Iterable[Result]) -> None:
        self.rows = list(rows)
        self.systems = list(dict.fromkeys(row["system"] for row in self.rows))
        self.targets = list(dict.fromkeys(row["target"] for row in self.rows))
        self.priors = list(dict.fromkeys(row["prior"] for row in self.rows if "prior" in row))

    def scores(self, **named: object) -> Result:
        """The scores of the only row with these values."""
        (found,) = (r for r in self.rows if all(r.get(k) == v for k, v in named.items()))
        scores: Result = found["scores"]
        return scores

    def f1(self, part: str = "target", **named: object) -> float:
        return float(self.scores(**named)[part]["f1"])

    def curves(self, target: str, sentences: Result) -> Curves:
        """F1 on a target by the number of sentences, for each system and prior."""
        found = {}
        sizes = sorted({row["size"] for row in self.rows if "size" in row})
        for system in self.systems:
            start = self.f1(system=system, target=target, regime="mismatched")
            for prior in self.priors:
                points = [(0.0, start)]
                for size in sizes:
                    named = {"system": system, "target": target, "prior": prior, "size": size}
                    points.append((sentences[f"{target} {size}"], self.f1(**named)))
                found[f"{system}, {prior}"] = sorted(points)
        return found


def make_report(results: Result) -> str:
    rows = Rows(results["rows"])
    parts = [
        "# A model of one domain in another\n",
        "Persons, places and organisations of CoNLL-2003 in three other corpora. F1 on dev, and "
        "F1 of persons in brackets, in percent; tokens and sentences given. "
        f"{' '.join(PRIORS[prior] for prior in rows.priors)}\n\n"
        f"{machine_sentence(results['machine'])}\n",
    ]
    for regime, title in TABLES.items():
        parts += [f"## {title}\n", _table(rows, regime)]
    parts += [
        "## In short\n", _summary(rows),
        f"## Old domain: F1 on CoNLL-2003 lost by adapting to {FEW} sentences\n", _lost(rows),
        "## Figure 2: F1 by the number of sentences\n",
        *(_curve_table(rows, target, results["sentences"]) for target in rows.targets),
    ]  # fmt: skip
    return "\n".join(parts)


def _table(rows: Rows, regime: str) -> str:
    lines = []
    for system in rows.systems:
        for prior in rows.priors if regime == "adapted" else [None]:
            more = {"prior": prior, "size": 0} if prior else {}
            line = [system if prior is None else f"{system}, {prior}"]
            for target in rows.targets:
                named = {"system": system, "target": target, "regime": regime, **more}
                scores = rows.scores(**named)["target"]
                line.append(f"{scores['f1']:.2f} ({scores['by_type'].get('PER', 0.0):.2f})")
            lines.append(line)
    return table(["", *rows.targets], lines)


def _summary(rows: Rows) -> str:
    lines = []
    for system in rows.systems:
        for prior in rows.priors:

            def wins(regime: str, system: str = system, prior: str = prior) -> int:
                return sum(
                    rows.f1(system=system, target=t, regime="adapted", prior=prior, size=0)
                    > rows.f1(system=system, target=t, regime=regime)
                    for t in rows.targets
                )

            lines.append([f"{system}, {prior}", str(wins("pooled")), str(wins("matched"))])
    n = len(rows.targets)
    header = ["adapted is better", f"than pooled, of {n}", f"than the target alone, of {n}"]
    return table(header, lines)


def _lost(rows: Rows) -> str:
    def line(label: str, value: Callable[[str], float]) -> list[str]:
        return [label, *(f"{value(target):+.2f}" for target in rows.targets)]

    lines = []
    for system in rows.systems:
        for prior in rows.priors:

            def lost(target: str, system: str = system, prior: str = prior) -> float:
                before = rows.f1("source", system=system, target=target, regime="mismatched")
                named = {"system": system, "target": target, "prior": prior, "size": FEW}
                return rows.f1("source", **named) - before

            lines.append(line(f"{system}, {prior}", lost))
    return table(["change", *rows.targets], lines)


def _curve_table(rows: Rows, target: str, sentences: Result) -> str:
    lines = []
    header: list[str] = []
    for name, curve in rows.curves(target, sentences).items():
        header = [target, *(f"{point[0]:g}" for point in curve)]
        lines.append([name, *(f"{point[1]:.2f}" for point in curve)])
    return table(header, lines)


def draw(results: Result, path: str) -> None:
    """A panel for each target of figure 2."""
    from .plotting import COLOURS, draw_curves, new_figure, save

    rows = Rows(results["rows"])
    figure, panels = new_figure(4.8 * len(rows.targets), 4.4, len(rows.targets))
    for axes, target in zip(panels, rows.targets, strict=True):
        draw_curves(axes, rows.curves(target, results["sentences"]), COLOURS)
        axes.set_xscale("symlog", linthresh=20)
        axes.set(title=target, xlabel="sentences to adapt to", ylabel="F1, %")
    panels[-1].legend(frameon=False, loc="lower right", fontsize=9)
    save(figure, path)
