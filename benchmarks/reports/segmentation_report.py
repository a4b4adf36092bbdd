"""Tables and figure 1 of Sarawagi and Cohen (2004), of results of `suite.segmentations`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import Any

from .markdown import Curves, curve_table, machine_sentence, table
from .output import Picture
from .plotting import COLOURS, draw_curves, new_figure, save

CRF_1, CRF_4, SEMI_CRF = "CRF/1", "CRF/4", "semi-CRF"
SYSTEMS = (CRF_1, CRF_4, SEMI_CRF)
"""Chains with tags I and O and with tags B, I, L, O and U, and segmentations."""
ORDERS = (1, 2, 3)
"""Of the chains of table 2."""
BASELINE, INTERNAL, EXTERNAL, BOTH = "baseline", "internal", "external", "both"
DICTIONARIES = (BASELINE, INTERNAL, EXTERNAL, BOTH)
TABLE_SHARE = 0.1
Result = dict[str, Any]


def of_order(system: str, order: int) -> str:
    """The name of a chain in which a tag depends on so many tags before."""
    return system if order == 1 else f"{system}, L = {order}"


class Scores:
    """Mean F1 by task, system, dictionaries and share."""

    def __init__(self, rows: Iterable[Result]) -> None:
        self.rows = {
            (row["task"], row["system"], row["dictionaries"], row["share"]): row for row in rows
        }
        self.tasks = list(dict.fromkeys(key[0] for key in self.rows))

    def f1(self, task: str, system: str, dictionaries: str, share: float = TABLE_SHARE) -> float:
        values: list[float] = self.rows[task, system, dictionaries, share]["f1"]
        return mean(values)

    def change(self, task: str, system: str, dictionaries: str, since: str) -> float:
        """Of F1 in percent of that with other dictionaries."""
        before = self.f1(task, system, since)
        return 100 * (self.f1(task, system, dictionaries) - before) / before

    def curves(self, task: str) -> Curves:
        """F1 against the share in percent, for learners with more than one share."""
        found: dict[str, list[tuple[float, float]]] = {}
        for (its, system, dictionaries, share), row in sorted(
            self.rows.items(), key=lambda item: item[0][3]
        ):
            if its == task:
                added = "" if dictionaries == BASELINE else f" + {dictionaries}"
                found.setdefault(system + added, []).append((100 * share, mean(row["f1"])))
        return {name: curve for name, curve in found.items() if len(curve) > 1}


def conditions(scores: Scores) -> list[Result]:
    """The paper's ten: each task with and without the external dictionary.

    The semi-CRF has the internal dictionary, too; of the chains the better way counts.
    """
    ways = {"no": (BASELINE, INTERNAL), "yes": (EXTERNAL, BOTH)}
    return [
        {
            "task": task,
            "external": external,
            **{
                system: max(scores.f1(task, system, way) for way in (without, with_internal))
                for system in (CRF_1, CRF_4)
            },
            SEMI_CRF: scores.f1(task, SEMI_CRF, with_internal),
        }
        for external, (without, with_internal) in ways.items()
        for task in scores.tasks
    ]


def make_report(results: Result) -> str:
    scores = Scores(results["rows"])
    return "\n".join(
        [
            "# Segmentations: tables and figure 1 of Sarawagi and Cohen (2004)\n",
            _about(results, scores),
            "## Table 1\n",
            _table_1(scores),
            "## The ten conditions\n",
            _conditions(scores),
            "## In short\n",
            _summary(scores),
            *_table_2(scores),
            "## Figure 1\n",
            *(
                curve_table(curves, f"{task}, % of the documents", 1)
                for task in scores.tasks
                if (curves := scores.curves(task))
            ),
        ]
    )


def _about(results: Result, scores: Scores) -> str:
    of_table_1 = [row for row in results["rows"] if row["system"] in (CRF_1, CRF_4, SEMI_CRF)]
    draws = sorted({(row["share"], len(row["f1"])) for row in of_table_1})
    counted = ", ".join(f"{n} of {100 * share:g} %" for share, n in draws)
    return (
        f"Mean F1 of spans on dev over random draws of the training documents ({counted}). "
        f"Maximum likelihood with a Gaussian prior of width {results['sigma']:g}, to the optimum. "
        "CRF/1 has tags I and O, CRF/4 has B, I, L, O and U. ∆base: change in percent of the "
        "baseline. ∆extern: in percent of F1 with the external dictionary alone. The internal "
        "dictionary of the chains has words, that of the semi-CRF words and phrases.\n\n"
        f"{machine_sentence(results['machine'])}\n"
    )


def _table_1(scores: Scores) -> str:
    header = [
        "", "task", "baseline", "+internal", "∆base", "+external", "∆base", "+both", "∆base",
        "∆extern",
    ]  # fmt: skip
    rows = []
    for system in SYSTEMS:
        for task in scores.tasks:
            row = [system, task, f"{scores.f1(task, system, BASELINE):.1f}"]
            for dictionaries in DICTIONARIES[1:]:
                row += [
                    f"{scores.f1(task, system, dictionaries):.1f}",
                    f"{scores.change(task, system, dictionaries, BASELINE):.1f}",
                ]
            rows.append([*row, f"{scores.change(task, system, BOTH, EXTERNAL):.1f}"])
    return table(header, rows, "ll" + "r" * 8)


def _table_2(scores: Scores) -> list[str]:
    """Chains of higher orders, on the tasks and draws that all of them were trained for."""
    chains = [of_order(system, order) for system in (CRF_1, CRF_4) for order in ORDERS]
    systems = [*chains, SEMI_CRF]
    by_task = {
        task: [scores.rows.get((task, system, BASELINE, TABLE_SHARE)) for system in systems]
        for task in scores.tasks
    }
    found = {task: [row["f1"] for row in rows if row] for task, rows in by_task.items()}
    found = {task: f1 for task, f1 in found.items() if len(f1) == len(systems)}
    if not found:
        return []
    n_draws = min(len(f1) for of_task in found.values() for f1 in of_task)
    rows = [[task, *(f"{mean(f1[:n_draws]):.1f}" for f1 in f1s)] for task, f1s in found.items()]
    header = [f"{system} L = {order}" for system in (CRF_1, CRF_4) for order in ORDERS]
    about = (
        "A tag depends on the L tags before, and features see L tags. Without dictionaries, mean "
        f"of {n_draws} draws.\n\n"
    )
    lines = table(["", *header, SEMI_CRF], rows, "l" + "r" * len(systems))
    return ["## Table 2\n", about + lines]


def _conditions(scores: Scores) -> str:
    rows = []
    for found in conditions(scores):
        best = max(SYSTEMS, key=found.__getitem__)
        values = [
            f"**{found[system]:.2f}**" if system == best else f"{found[system]:.2f}"
            for system in SYSTEMS
        ]
        rows.append([found["task"], found["external"], *values])
    return table(["task", "external", *SYSTEMS], rows, "ll" + "r" * len(SYSTEMS))


def _summary(scores: Scores) -> str:
    wins = sum(max(SYSTEMS, key=found.__getitem__) == SEMI_CRF for found in conditions(scores))
    gains = [
        scores.f1(task, SEMI_CRF, BASELINE) - scores.f1(task, CRF_4, BASELINE)
        for task in scores.tasks
    ]
    least = min(scores.change(task, SEMI_CRF, INTERNAL, BASELINE) for task in scores.tasks)
    spread = mean(
        stdev(row["f1"]) for key, row in scores.rows.items() if len(row["f1"]) > 1
        and key[3] == TABLE_SHARE
    )  # fmt: skip
    return (
        f"- The semi-CRF is the best of the three in {wins} of {len(conditions(scores))} "
        "conditions.\n"
        f"- Without dictionaries it gains {mean(gains):+.2f} F1 over CRF/4 on average "
        f"({_listed(gains)}).\n"
        f"- The least change by its internal dictionary is {least:+.1f} %.\n"
        f"- F1 differs between draws by {spread:.1f} (mean standard deviation).\n"
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.2f}" for value in values)


def draw(results: Result, path: str) -> None:
    """A panel for each task of figure 1."""
    scores = Scores(results["rows"])
    tasks = [task for task in scores.tasks if scores.curves(task)]
    figure, panels = new_figure(4.6 * len(tasks), 4.4, len(tasks))
    for axes, task in zip(panels, tasks, strict=True):
        draw_curves(axes, scores.curves(task), COLOURS)
        axes.set(title=task, xlabel="training documents, %", ylabel="F1 of spans, %")
    panels[0].legend(frameon=False, loc="lower right")
    save(figure, path)


REPORT = make_report, Picture("F1 by the share of the training documents", draw)
