"""Training until a good model, and `spacy train` as a whole, over python-crfsuite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lib.processes import Result
from ...reports.figure_report import Row
from .batch import Outcome
from .setup import FigureSetup, best_f1, seconds_to_best

_LIMITS = 50, 100, 150, 200
_ONLINE_LIMITS = 3, 5, 10, 15, 20, 30, 50, 100
"""Iterations after which F1 of crfsuite is measured; L-BFGS trains once for each."""


def training_over_crfsuite(setup: FigureSetup) -> Outcome:
    return _compared(setup, setup.cascade(), "memb.cfg", "crfsuite", _LIMITS)


def online_training_over_crfsuite(setup: FigureSetup) -> Outcome:
    return _compared(setup, setup.online(), "ocr.cfg", "crfsuite_pa", _ONLINE_LIMITS)


def _compared(
    setup: FigureSetup, ours: Result, config: str, peer: str, limits: Sequence[int]
) -> Outcome:
    """Ratios of processor time, which other work on the machine disturbs least."""
    command, theirs = setup.train_command(config), setup.curve(peer, limits)
    details = {"ours": ours, "command": command, peer: theirs}
    if theirs is None:
        return [], details
    good, peer_good = seconds_to_best(ours)[1], seconds_to_best(theirs)[1]
    whole, peer_whole = command["computed_seconds"], theirs["series"][-1][1]
    title = f"of {config} over {peer}"
    bests = f"F1 {best_f1(ours):.2f} and {best_f1(theirs):.2f} at best"
    rows = [
        Row(
            f"training {title}, each to 0.1 F1 below its best", good / peer_good, "x",
            f"{good:.1f} s against {peer_good:.1f} s of processor time; {bests}",
        ),
        Row(
            f"`spacy train` {title}", whole / peer_whole, "x",
            f"{whole:.1f} s with saving and scores on dev, against {peer_whole:.1f} s of "
            f"{limits[-1]} iterations with features and saving, of processor time",
        ),
    ]  # fmt: skip
    return rows, details


CRFSUITE_FIGURES: dict[str, Callable[[FigureSetup], Outcome]] = {
    figure.__name__: figure for figure in (training_over_crfsuite, online_training_over_crfsuite)
}
