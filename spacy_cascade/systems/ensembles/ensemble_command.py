"""The command `spacy cascade ensemble`: several pipelines whose probabilities are added up."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import argument, option, read_overrides
from ...cli.output import counted, percent, print_info, reports_errors, write_pipeline
from ...workflows.jackknife import read_config
from .drawing import Drawing
from .workflow import EnsembleTask, TrainedMember, train_ensemble


@reports_errors
def ensemble_command(
    context: typer.Context,
    config: Annotated[Path, argument("CONFIG", "Training config of the members")],
    train: Annotated[Path, option("Docs to train on")],
    dev: Annotated[Path, option("Docs to score, tune and calibrate on")],
    output: Annotated[Path, option("Folder for the new pipeline")],
    also: Annotated[
        list[Path] | None,
        option(
            "Another training config, for members with another model; can be given several times. "
            "The members take the configs in turn"
        ),
    ] = None,
    members: Annotated[int, option("Number of members")] = 10,
    features: Annotated[
        float, option("Share of the classes of features that each member has, drawn at random")
    ] = 0.7,
    data: Annotated[
        float, option("Share of the Docs of TRAIN that each member learns from, drawn at random")
    ] = 1.0,
    seed: Annotated[int, option("Seed of all draws")] = 0,
    processes: Annotated[
        int, option("Members trained at the same time (0: one per core); changes no result")
    ] = 0,
) -> None:
    """
    Train an ensemble: several pipelines, of which the mean of their probabilities decides.

    Each member has a random part of the lines of its template sets, and learns from a random part
    of TRAIN. The pipeline that is written has one component, cascade_ensemble, which holds all
    members. The penalty on the background, with which it finds more entities, is tuned on DEV, and
    the confidences are calibrated there.

    Settings of CONFIG and of --also can be changed at the end of the line, as for spacy train.
    """
    overrides = read_overrides(context.args)
    configs = tuple(read_config(path, overrides) for path in (config, *(also or ())))
    task = EnsembleTask(configs, train, dev, members, Drawing(features, data, seed))
    nlp, found = train_ensemble(task, processes, _print_member)
    best = max(found.members, key=lambda member: member.f1)
    print_info(
        f"{counted(len(found.members), 'member')}, the best of them {best.name} with F1 "
        f"{percent(best.f1)}; penalty on the background {found.tuned.penalty:g}, temperature "
        f"{found.temperature:g}"
    )
    write_pipeline(nlp, output, f"ensemble: F1 {percent(found.tuned.f1)}")


def _print_member(member: TrainedMember) -> None:
    typer.echo(f"  {percent(member.f1):>6}  member {member.name}")
