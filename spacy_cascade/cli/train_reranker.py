"""The command `spacy cascade train-reranker`: weights of a reranker from jackknifed lists."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import to_try
from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError
from spacy_cascade.pipeline.saving import save_pipeline
from spacy_cascade.workflows.train_reranker import (
    PASSES,
    SCALES,
    WEIGHTS,
    Trained,
    Trial,
    train_reranker,
)


def train_reranker_command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Pipeline with both stages, as trained")
    ],
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN.spacy", help="The corpus that it was trained on")
    ],
    dev: Annotated[
        Path, typer.Argument(metavar="DEV.spacy", help="Docs with entities that it has not seen")
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the new pipeline")],
    folds: Annotated[
        int, typer.Option(help="Parts of TRAIN; both stages are trained anew without each")
    ] = 4,
    n_best: Annotated[int, typer.Option("--n-best", "-n", help="Length of the N-best lists")] = 6,
    passes: Annotated[int, typer.Option(help="The most passes over the lists")] = PASSES,
    scale: Annotated[list[float] | None, to_try("Scale of the stages' scores", SCALES)] = None,
    weight: Annotated[list[float] | None, to_try("Weight of the type scores", WEIGHTS)] = None,
) -> None:
    """
    Train a reranker, and add it to a trained pipeline.

    Each part of TRAIN gets N-best lists of a cascade that was trained on the others, with the
    training config of MODEL; on these lists the reranker learns by minimum risk. Of its trials
    the one of highest entity F1 on DEV is written to OUTPUT. MODEL stays as it is. A choice is
    made for each sentence: a pipeline that sets no sentence starts gets a sentencizer.
    """
    try:
        trained, found = train_reranker(
            spacy.load(model), train, dev, folds=folds, n_best=n_best, passes=passes,
            scales=scale or SCALES, weights=weight or WEIGHTS,
        )  # fmt: skip
        save_pipeline(trained, output)
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    _print_found(found, output)


def _print_found(found: Trained, output: Path) -> None:
    print_line(MESSAGES.INFO, "Entity F1 by scale and weight (rows) and number of passes")
    typer.echo("                " + "".join(f"{n:7}" for n in range(1, _longest(found.trials) + 1)))
    for trial in found.trials:
        scores = "".join(f"{100 * f1:7.2f}" for f1 in trial.f1)
        typer.echo(f"{trial.scale:8g}{trial.weight:8g}{scores}")
    best, passes = found.best
    print_line(
        MESSAGES.GOOD,
        f"scale {best.scale:g}, weight {best.weight:g}, {passes} passes: F1 {100 * found.f1:.2f}, "
        f"without reranking {100 * found.baseline:.2f} -> {output}",
    )


def _longest(trials: list[Trial]) -> int:
    return max(len(trial.f1) for trial in trials)
