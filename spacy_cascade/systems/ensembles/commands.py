"""`spacy cascade combine ensemble` and `distill`: pipelines that decide together; one for all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import spacy
import typer

from ...cli.options import (
    Config,
    Dev,
    Output,
    Processes,
    Seed,
    Train,
    Unlabelled,
    argument,
    option,
    read_overrides,
)
from ...cli.output import counted, percent, print_info, reports_errors, write_pipeline

if TYPE_CHECKING:
    from .workflow import TrainedMember


@reports_errors
def ensemble_command(
    context: typer.Context,
    config: Config,
    train: Train,
    dev: Dev,
    output: Output,
    also: Annotated[
        list[Path] | None,
        option(
            "Another training config, for members with another model; can be given several times. "
            "The members take the configs in turn"
        ),
    ] = None,
    members: Annotated[int, option("Number of members")] = 10,
    feature_share: Annotated[
        float, option("Share of the classes of features that each member has, drawn at random")
    ] = 0.7,
    doc_share: Annotated[
        float, option("Share of the Docs of TRAIN that each member learns from, drawn at random")
    ] = 1.0,
    seed: Seed = 0,
    processes: Processes = 0,
) -> None:
    """
    Train an ensemble: several pipelines, of which the mean of their probabilities decides.

    Each member has a random part of the lines of its template sets, and learns from a random part
    of TRAIN. The pipeline that is written has one component, cascade_ensemble, which holds all
    members. The penalty on the background, with which it finds more entities, is tuned on DEV, and
    the confidences are calibrated there. The number of processes changes no result.

    Settings of CONFIG and of --also can be changed at the end of the line, as for spacy train.
    """
    from ...workflows.jackknife import read_config
    from .workflow import Drawing, EnsembleTask, train_ensemble

    overrides = read_overrides(context.args)
    configs = tuple(read_config(path, overrides) for path in (config, *(also or ())))
    drawing = Drawing(feature_share, doc_share, seed)
    task = EnsembleTask(configs, train, dev, members, drawing)
    nlp, found = train_ensemble(task, processes, _print_member)
    best = max(found.members, key=lambda member: member.f1)
    print_info(
        f"{counted(len(found.members), 'member')}, the best of them {best.name} with F1 "
        f"{percent(best.f1)}; penalty on the background {found.tuned.penalty:g}, temperature "
        f"{found.temperature:g}"
    )
    write_pipeline(nlp, output, f"ensemble: F1 {percent(found.tuned.f1)}")


def _print_member(member: "TrainedMember") -> None:
    typer.echo(f"  {percent(member.f1):>6}  member {member.name}")


@reports_errors
def distill_command(
    context: typer.Context,
    ensemble: Annotated[Path, argument("ENSEMBLE", "Pipeline with a cascade_ensemble")],
    config: Config,
    train: Train,
    dev: Dev,
    output: Output,
    unlabelled: Unlabelled = (),  # type: ignore[assignment]
    gold: Annotated[
        float,
        option(
            "Share of the annotation of TRAIN in what its Docs teach; the ensemble's is the rest"
        ),
    ] = 1.0,
) -> None:
    """
    Distil an ensemble: train one ordinary pipeline on the probabilities that the ensemble gives.

    The new pipeline is that of CONFIG, with its speed and size. It learns from the annotation of
    TRAIN and, with --gold below 1, from the probabilities that the ensemble gives there; and from
    those that it gives in unlabelled text: .txt or .txt.gz with a document a line, or .spacy, whose
    entities are not looked at. Confidences are calibrated on DEV.

    Settings of CONFIG can be changed at the end of the line, as for spacy train.
    """
    from ...workflows.jackknife import read_config
    from .distilling import distill

    settings = read_config(config, read_overrides(context.args))
    nlp, found = distill(spacy.load(ensemble), settings, train, dev, unlabelled, gold)
    labelled, new = counted(found.n_labelled, "labelled Doc"), counted(found.n_unlabelled, "Doc")
    print_info(f"{labelled}, {new} labelled by the ensemble, {counted(len(found.f1), 'step')}")
    write_pipeline(nlp, output, f"distilled pipeline: F1 {percent(max(found.f1))}")
