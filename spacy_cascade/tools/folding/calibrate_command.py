"""The command `spacy cascade calibrate`: confidences that agree with how often spans are right."""

from enum import Enum
from typing import Annotated

import spacy

from ...cli.options import Dev, Force, Model, NewPipeline, option, refuse_existing
from ...cli.output import counted, percent, print_info, print_table, reports_errors, write_pipeline


class Decoding(str, Enum):
    best = "best"
    expected_f1 = "expected_f1"


@reports_errors
def calibrate_command(
    model: Model,
    output: NewPipeline,
    dev: Dev,
    decoding: Annotated[
        Decoding,
        option("best: the entities stay the same; expected_f1: those of the greatest expected F1"),
    ] = Decoding.best,
    force: Force = False,
) -> None:
    """
    Calibrate the confidences of a pipeline.

    The scores of each component are divided by a temperature before they become probabilities.
    The temperature is chosen to minimise the log loss on DEV. The entities stay the same, only
    their confidences change. MODEL is not changed; OUTPUT gets a copy whose config has the
    temperatures.

    With --decoding expected_f1 the copy chooses its entities among all likely spans, by a
    threshold of half the F1 that its confidences promise on DEV.

    The scores in the copy's meta.json are its own on DEV.
    """
    from ...pipeline.readers import examples_for
    from ...workflows.calibrate import calibrate
    from ...workflows.decoding import decode_for_f1
    from ...workflows.reconfigure import take_own_scores

    refuse_existing(output, force)
    nlp = spacy.load(model)
    examples = list(examples_for(nlp, dev))
    calibrated, found = calibrate(nlp, examples)
    rows = [
        (c.component, f"{c.temperature:g}", c.n_spans, f"{c.loss_before:.4f}", f"{c.loss:.4f}")
        for c in found
    ]
    print_table(rows, ("component", "temperature", "spans", "log loss before", "after"), "lrrrr")
    if decoding is Decoding.expected_f1:
        docs = [example.predicted for example in examples]
        calibrated, decoded = decode_for_f1(calibrated, docs)
        listed = counted(decoded.n_listed, "likely span")
        print_info(
            f"{decoded.component} chooses among {listed} with threshold {decoded.threshold:g}: "
            f"{counted(decoded.n_chosen, 'entity', 'entities')}, expected F1 {percent(decoded.f1)}"
        )
    take_own_scores(calibrated, examples)
    write_pipeline(calibrated, output, "Calibrated pipeline")
