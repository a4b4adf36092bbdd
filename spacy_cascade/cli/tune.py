"""The command `spacy cascade tune`: settings of a training config by trials."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import read_overrides
from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError, ConfigError
from spacy_cascade.files import replace_file
from spacy_cascade.parallel import available_cores
from spacy_cascade.search import quadrants, sampling
from spacy_cascade.search.axes import Axis, Searcher
from spacy_cascade.search.pictures import draw
from spacy_cascade.search.searches import (
    Search,
    default_searches,
    read_axis,
    settings_text,
    together,
    tune,
)
from spacy_cascade.search.trials import Archive, Task, Trial
from spacy_cascade.workflows.jackknife import read_config

TRIALS, BEST, REPORT = "trials.jsonl", "best.cfg", "search.json"


class Backend(str, Enum):
    """How to search."""

    quadrants = "quadrants"
    optuna = "optuna"


def tune_command(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Training config")],
    train: Annotated[Path, typer.Argument(metavar="TRAIN.spacy", help="Docs to train on")],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for what is found")],
    dev: Annotated[
        Path | None, typer.Option(help="Docs to score on; without it folds of TRAIN")
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of TRAIN, where there is no --dev")] = 5,
    search: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            help="NAME=LOW..HIGH or NAME=LOW..HIGH:log, for quadrants up to four times; by default "
            "sigma and kappa of each component",
            show_default=False,
        ),
    ] = None,
    component: Annotated[
        list[str] | None,
        typer.Option(help="Search sigma and kappa of this one only", show_default=False),
    ] = None,
    score: Annotated[str, typer.Option(help="Score that counts")] = "ents_f",
    backend: Annotated[Backend, typer.Option(help="How to search")] = Backend.quadrants,
    rounds: Annotated[int, typer.Option(help="The most boxes to cut into quadrants")] = 5,
    trials: Annotated[int, typer.Option(help="Trials of optuna; more can be had later")] = 30,
    processes: Annotated[
        int,
        typer.Option(help="Trials at once; 0: one a core. optuna's points depend on it"),
    ] = 0,
) -> None:
    """
    Find settings of a training config.

    By quadrants: the box of all ranges is cut in two along each setting, the middle of each part
    is tried, and the best part is the next box, until a box brings no gain; components come one
    after the other. By optuna: all settings at once, as many as there are, with a Bayesian sampler.

    OUTPUT gets best.cfg, the config with what was found; trials.jsonl, every trial; search.json;
    and pictures of two settings, with matplotlib. Stopped, the same command goes on where it was.

    Settings of CONFIG can be changed at the end of the line, as for spacy train.
    """
    try:
        overrides = read_overrides(context.args)
        paths = {"paths.train": str(train), "paths.dev": str(dev or train)}
        task = Task(config, overrides, train, dev, folds, score)
        searches = _searches(config, {**overrides, **paths}, search, component)
        processes = processes or available_cores()
        searcher: Searcher = partial(quadrants.search, rounds=rounds)
        if backend is Backend.optuna:
            searches = together(searches)
            searcher = partial(sampling.search, trials=trials, batch=processes)
        output.mkdir(parents=True, exist_ok=True)
        chosen, made = tune(
            task, searches, output / TRIALS, searcher=searcher, processes=processes,
            done=_print_trial,
        )  # fmt: skip
        replace_file(output / BEST, read_config(config, {**overrides, **chosen}).to_bytes())
        _report(task, made, output)
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    best = f"{100 * made[-1].found.score:.2f}"
    print_line(MESSAGES.GOOD, f"{score} {best} with {settings_text(chosen)} -> {output / BEST}")


def _searches(
    config: Path, overrides: dict[str, Any], search: list[str] | None, component: list[str] | None
) -> Mapping[str, Sequence[Axis]]:
    if search and component:
        raise ConfigError("Give --search or --component, not both.")
    if search:
        return {"search": [read_axis(text) for text in search]}
    searches = default_searches(read_config(config, overrides))
    unknown = sorted(set(component or ()) - set(searches))
    if unknown:
        raise ConfigError(
            f"There is no sigma or kappa to search in '{unknown[0]}'. Components that have them: "
            f"{', '.join(searches)}."
        )
    return {name: axes for name, axes in searches.items() if not component or name in component}


def _print_trial(trial: Trial) -> None:
    typer.echo(
        f"  {100 * trial.score:6.2f}  {settings_text(trial.settings)}  {trial.seconds:.0f} s"
    )


def _report(task: Task, made: list[Search], output: Path) -> None:
    report = [asdict(finished) for finished in made]
    replace_file(output / REPORT, (json.dumps(report, indent=1) + "\n").encode("utf8"))
    trials = list(Archive(output / TRIALS, task.fingerprint()))
    for finished in made:
        if len(finished.axes) == 2:
            try:
                draw(finished, trials, output / f"{finished.name}.png")
            except ImportError:
                text = 'No pictures: add matplotlib with pip install "spacy-cascade[viz]"'
                print_line(MESSAGES.INFO, text)
                return
