"""The command `spacy cascade calibrate`: confidences that agree with how often spans are right."""

import spacy

from ..pipeline.readers import examples_for
from ..workflows.calibrate import calibrate
from .options import Model, Output, Unseen
from .output import print_table, reports_errors, write_pipeline


@reports_errors
def calibrate_command(model: Model, data: Unseen, output: Output) -> None:
    """
    Calibrate the confidences of a pipeline.

    The scores of each component are divided by a temperature before they become probabilities.
    The temperature is chosen to minimise the log loss on DATA. The entities stay the same, only
    their confidences change. MODEL is not changed; OUTPUT gets a copy whose config has the
    temperatures.
    """
    nlp = spacy.load(model)
    calibrated, found = calibrate(nlp, examples_for(nlp, data))
    rows = [
        (c.component, f"{c.temperature:g}", c.n_spans, f"{c.loss_before:.4f}", f"{c.loss:.4f}")
        for c in found
    ]
    print_table(rows, ("component", "temperature", "spans", "log loss before", "after"), "lrrrr")
    write_pipeline(calibrated, output, "Calibrated pipeline")
