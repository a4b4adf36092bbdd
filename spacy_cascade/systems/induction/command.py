"""The command `spacy cascade induce`: templates that a corpus needs, from nothing."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import Json, argument, option, read_overrides
from ...cli.output import counted, print_info, print_table, reports_errors, write_file, write_json
from ...tools.recipes.config_text import config_text
from ...workflows.jackknife import read_config
from .workflow import ComponentReport, induce


@reports_errors
def induce_command(
    context: typer.Context,
    config: Annotated[Path, argument("CONFIG", "Training config whose trainers have an induction")],
    train: Annotated[Path, option("Docs to train on")],
    output: Annotated[Path, option("File for the config with the induced templates")],
    json: Json = None,
    top: Annotated[int, option("Templates to print for each component", min=0)] = 20,
) -> None:
    """
    Find templates for a corpus by feature induction, and write them into a config.

    Each component of CONFIG whose trainer has an induction is trained on TRAIN once. The table
    shows the templates of what was induced: how many features of each, what they gained, and the
    feature that gained most, with its label. OUTPUT is CONFIG with these templates and without the
    induction. It trains with all features of these templates; training with CONFIG itself keeps
    only those that were induced.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_segmenter.trainer.induction.rounds 20.
    """
    frozen, found = induce(read_config(config, read_overrides(context.args)), train)
    for report in found:
        _show(report, top)
    if json is not None:
        write_json(json, [report.to_json() for report in found], "What was induced")
    write_file(output, config_text(frozen), "Config with the induced templates")


def _show(report: ComponentReport, top: int) -> None:
    print_info(
        f"{report.component}: {counted(report.n_features, 'feature')} of "
        f"{counted(len(report.templates), 'template')}, from {counted(report.n_tests, 'test')}"
    )
    rows = [
        (t.template, t.n_features, f"{t.gain:.0f}", t.round, f"{t.example} → {t.label}")
        for t in report.templates[:top]
    ]
    print_table(rows, ("template", "features", "gain", "round", "the best one"), "lrrrl")
