"""The command `spacy cascade learn`: a pipeline learns what annotators sent back."""

from pathlib import Path
from typing import Annotated

import spacy

from ...cli.options import Model, argument, option
from ...cli.output import (
    counted,
    percent,
    print_info,
    print_line,
    print_table,
    print_warning,
    reports_errors,
    write_pipeline,
)
from ...pipeline.readers import examples_for
from ...workflows.own_scores import take_own_scores
from ..formats.converted import print_left_out
from ..formats.lost_spans_report import described
from .learn import AS_IT_WAS, Learnt, learn
from .returned import Returned, read_returned

_SHOWN = 3
"""Spans that are no entities."""


@reports_errors
def learn_command(
    model: Model,
    annotated: Annotated[
        Path, argument("ANNOTATED", "New annotation: .spacy, or a format that convert reads")
    ],
    output: Annotated[Path, option("Folder for the new pipeline")],
    train: Annotated[
        Path | None, option("Docs that MODEL was trained on; they allow retraining")
    ] = None,
    dev: Annotated[Path | None, option("Docs that decide which way is best")] = None,
) -> None:
    """
    Learn new annotation in seconds, by adaptation or by retraining.

    The pipeline is adapted to ANNOTATED, and with --train retrained on TRAIN and ANNOTATED
    together. What is best on DEV is written to OUTPUT; that is MODEL itself where nothing is
    better. Without --dev, it is retrained if TRAIN is given, and adapted otherwise.
    """
    nlp = spacy.load(model)
    new = read_returned(annotated, nlp)
    _print_left_out(new)
    old = [] if train is None else list(examples_for(nlp, train))
    held = [] if dev is None else list(examples_for(nlp, dev))
    learnt = learn(nlp, new.examples, old, held)
    _print_tried(learnt)
    if learnt.nlp is not nlp:
        take_own_scores(learnt.nlp, held)
    write_pipeline(learnt.nlp, output, f"Pipeline, {learnt.way}")


def _print_left_out(new: Returned) -> None:
    print_info(counted(len(new.examples), "annotated text"))
    print_left_out(new.left_out)
    if new.lost:
        print_warning(
            f"No entity for {counted(len(new.lost), 'span')}. Their words count as not annotated:"
        )
        for lost in new.lost[:_SHOWN]:
            print_line(f"  {described(lost)}")


def _print_tried(learnt: Learnt) -> None:
    if learnt.tried[0].f1 is None:
        print_info(f"Nothing was compared: the pipeline is {learnt.way}. For that give --dev.")
        return
    before = learnt.tried[0].f1
    rows = [
        (each.way, percent(each.f1), f"{100 * ((each.f1 or 0.0) - before):+.2f}",
         f"{each.seconds:.1f}")
        for each in learnt.tried
    ]  # fmt: skip
    print_table(rows, ("pipeline", "F1 on dev", "gain", "seconds"), "lrrr")
    if learnt.way == AS_IT_WAS:
        print_warning("No way to learn is better on dev than the pipeline as it was. It is kept.")
