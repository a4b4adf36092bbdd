"""The command `spacy cascade tune`: the best settings of a training config, found by trials."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...cli.options import (
    Config,
    Folds,
    OtherDev,
    Processes,
    Rounds,
    Train,
    argument,
    option,
    read_overrides,
)
from ...cli.output import (
    STOPPED,
    counted,
    percent,
    print_good,
    print_warning,
    reports_errors,
    write_text,
)
from ...errors import ConfigError
from ...files import replace_file
from ...locking import lock_folder
from ...parallel import available_cores

if TYPE_CHECKING:
    from .quadrants import Axis
    from .trials import Trial

TRIALS, BEST, REPORT = "trials.jsonl", "best.cfg", "search.json"


@reports_errors
def tune_command(
    context: typer.Context,
    config: Config,
    output: Annotated[Path, argument("OUTPUT", "Folder for the results")],
    train: Train,
    dev: OtherDev = None,
    folds: Folds = 5,
    search: Annotated[
        list[str] | None,
        option(
            "Setting to search, as NAME=LOW..HIGH or NAME=LOW..HIGH:log; can be given several "
            "times, up to four. Default: sigma and kappa of each component"
        ),
    ] = None,
    component: Annotated[
        list[str] | None, option("Search this component only; can be given several times")
    ] = None,
    score: Annotated[str, option("Score to maximise")] = "ents_f",
    rounds: Rounds = 5,
    processes: Processes = 0,
) -> None:
    """
    Find the best settings of a training config.

    The search starts with the box of all ranges. It cuts the box in two along each setting, tries
    the middle of each part, and goes on with the best part, until a box brings no gain: each round
    cuts one box. It tunes one component after the other. Without --dev, the score is that of folds
    of TRAIN.

    OUTPUT gets best.cfg, the config with the best settings; trials.jsonl, all trials;
    search.json, the searches. If a run is stopped, the same command continues it.

    Settings of CONFIG can be changed at the end of the line, as for spacy train.
    """
    from ...pipeline.progress import progress
    from ...workflows.jackknife import read_config
    from .searches import settings_text, tune
    from .trials import Archive, Task

    overrides = read_overrides(context.args)
    paths = {"paths.train": str(train), "paths.dev": str(dev or train)}
    task = Task(config, overrides, train, dev, folds, score)
    searches = _searches(config, {**overrides, **paths}, search, component)
    with lock_folder(output), progress("Trials", unit=" trials") as bar:

        def done(trial: "Trial") -> None:
            bar.update()
            bar.write(_line(trial))

        try:
            chosen, made = tune(
                task, searches, output / TRIALS, rounds=rounds,
                processes=processes or available_cores(), done=done, tick=bar.refresh,
            )  # fmt: skip
        except KeyboardInterrupt:
            n = len(list(Archive(output / TRIALS, task.fingerprint())))
            print_warning(
                f"Stopped. {output / TRIALS} has {counted(n, 'trial')} of this search. The same "
                "command goes on from there.",
                to_stderr=True,
            )
            raise typer.Exit(STOPPED) from None
    replace_file(output / BEST, read_config(config, {**overrides, **chosen}).to_bytes())
    write_text(output / REPORT, json.dumps([asdict(one) for one in made], indent=1) + "\n")
    best = percent(made[-1].found.score)
    print_good(f"{score} {best} with {settings_text(chosen)} -> {output / BEST}")


def _searches(
    config: Path, overrides: dict[str, Any], search: list[str] | None, component: list[str] | None
) -> "Mapping[str, Sequence[Axis]]":
    from ...workflows.jackknife import read_config
    from .searches import default_searches, read_axis

    if search and component:
        raise ConfigError("Give --search or --component, not both.")
    if search:
        return {"search": [read_axis(text) for text in search]}
    searches = default_searches(read_config(config, overrides))
    unknown = sorted(set(component or ()) - set(searches))
    if unknown:
        raise ConfigError(
            f"'{unknown[0]}' has no sigma or kappa to search. Choose from the components that "
            f"have them: {', '.join(searches)}."
        )
    return {name: axes for name, axes in searches.items() if not component or name in component}


def _line(trial: "Trial") -> str:
    from .searches import settings_text

    return f"  {percent(trial.score):>6}  {settings_text(trial.settings)}  {trial.seconds:.0f} s"
