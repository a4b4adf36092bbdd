"""Settings that are chosen on the other corpora: what a default is worth on a corpus not seen.

python -m benchmarks.suite.leave_one_out benchmarks/results/suite.jsonl --system init
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from ..lib.arguments import existing
from ..reports.markdown import table
from ..reports.settings_report import by_setting
from ..reports.suite_results import Column, Entry, home_columns, read_entries, shifted_columns

Scores = Mapping[str, Mapping[Column, float]]
"""F1 by setting and column."""


@dataclass(frozen=True)
class Choice:
    """What was chosen without looking at a column, its score there, and the best score there."""

    setting: str
    score: float
    best: float


def scores_of(entries: Sequence[Entry], system: str) -> dict[str, dict[Column, float]]:
    """The scores of all settings of a system on tokens, at home and away from home."""
    columns = [*home_columns(entries), *shifted_columns(entries)]
    return {
        setting.title: {c: f1 for c in columns if (f1 := setting.f1(c)) is not None}
        for setting in by_setting(entries, system)
    }


def leave_one_out(scores: Scores) -> dict[Column, Choice]:
    """For each column the setting with the best mean over columns without any of its corpora.

    Only columns count that every setting has. A column without any other is left out. Of equal
    settings the first one is chosen.
    """
    common = [
        column
        for column in next(iter(scores.values()), {})
        if all(column in of_setting for of_setting in scores.values())
    ]
    found = {}
    for column in common:
        others = [other for other in common if not set(other) & set(column)]
        if others:
            means = {name: mean(of[other] for other in others) for name, of in scores.items()}
            chosen = max(means, key=means.__getitem__)
            best = max(of_setting[column] for of_setting in scores.values())
            found[column] = Choice(chosen, scores[chosen][column], best)
    return found


def choice_table(choices: Mapping[Column, Choice]) -> str:
    rows = [
        [" → ".join(column), choice.setting, f"{choice.score:.2f}", f"{choice.best:.2f}"]
        for column, choice in choices.items()
    ]
    if choices:
        averages = [mean(c.score for c in choices.values()), mean(c.best for c in choices.values())]
        rows.append(["mean", "", *(f"{value:.2f}" for value in averages)])
    header = ["", "chosen on the other corpora", "F1", "best setting in hindsight"]
    return table(header, rows, "llrr")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=existing, help="file of the suite")
    parser.add_argument("--system", default="init", help="one with several settings")
    arguments = parser.parse_args()
    scores = scores_of(read_entries(arguments.results), arguments.system)
    print(choice_table(leave_one_out(scores)))


if __name__ == "__main__":
    main()
