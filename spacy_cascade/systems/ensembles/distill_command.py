"""The command `spacy cascade distill`: one pipeline that learns from an ensemble."""

from pathlib import Path
from typing import Annotated

import spacy
import typer

from ...cli.options import argument, option, read_overrides
from ...cli.output import counted, percent, print_info, reports_errors, write_pipeline
from ...workflows.jackknife import read_config
from .distilling import distill


@reports_errors
def distill_command(
    context: typer.Context,
    ensemble: Annotated[Path, argument("ENSEMBLE", "Pipeline with a cascade_ensemble")],
    config: Annotated[Path, argument("CONFIG", "Training config of the new pipeline")],
    train: Annotated[Path, option("Labelled Docs to learn from")],
    dev: Annotated[Path, option("Docs to score and calibrate on")],
    output: Annotated[Path, option("Folder for the new pipeline")],
    unlabelled: Annotated[
        list[Path] | None,
        option(
            "Docs (.spacy; entities are not looked at) or texts (.txt, .txt.gz; a document a line) "
            "that the ensemble labels; can be given several times"
        ),
    ] = None,
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
    TRAIN and, with --gold below 1, from what the ensemble holds for likely there; and from what it
    holds for likely in unlabelled text. Confidences are calibrated on DEV.

    Settings of CONFIG can be changed at the end of the line, as for spacy train.
    """
    settings = read_config(config, read_overrides(context.args))
    more = unlabelled or ()
    nlp, found = distill(spacy.load(ensemble), settings, train, dev, more, gold)
    labelled, new = counted(found.n_labelled, "labelled Doc"), counted(found.n_unlabelled, "Doc")
    print_info(f"{labelled}, {new} labelled by the ensemble, {counted(len(found.f1), 'step')}")
    write_pipeline(nlp, output, f"distilled pipeline: F1 {percent(max(found.f1))}")
