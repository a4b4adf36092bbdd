"""The command `spacy cascade calibrate`: confidences that agree with how often spans are right."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi import msg
from wasabi.util import MESSAGES

from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError
from spacy_cascade.pipeline.readers import examples_for
from spacy_cascade.pipeline.saving import save_pipeline
from spacy_cascade.workflows.calibrate import calibrate


def calibrate_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Trained pipeline")],
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA.spacy", help="Docs with entities that it was not trained on"),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the new pipeline")],
) -> None:
    """
    Calibrate the confidences of a pipeline.

    Scores of each component are divided by a temperature before they become probabilities: the
    one of least log loss on DATA. Entities stay the same, only their confidences change. MODEL
    stays as it is; OUTPUT gets a copy with the temperatures in its config.
    """
    try:
        nlp = spacy.load(model)
        calibrated, found = calibrate(nlp, examples_for(nlp, data))
        save_pipeline(calibrated, output)
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    rows = [
        (c.component, f"{c.temperature:g}", c.n_spans, f"{c.loss_before:.4f}", f"{c.loss:.4f}")
        for c in found
    ]
    header = ("component", "temperature", "spans", "log loss before", "after")
    msg.table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r"))
    print_line(MESSAGES.GOOD, f"Calibrated pipeline -> {output}")
