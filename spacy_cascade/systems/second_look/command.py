"""`spacy cascade combine second-look`: a pipeline whose second pass looks at its first."""

import typer

from ...cli.options import Config, Dev, Folds, Output, Train, read_overrides
from ...cli.output import counted, percent, print_info, reports_errors, write_pipeline


@reports_errors
def second_look_command(
    context: typer.Context,
    config: Config,
    train: Train,
    dev: Dev,
    output: Output,
    folds: Folds = 5,
) -> None:
    """
    Train a pipeline of two passes: the second sees what the first found elsewhere in the document.

    The first pass is the pipeline of CONFIG. TRAIN is cut into parts, and each part is annotated
    by a first pass that was trained without it. The second pass, with the same settings, learns
    from this. In use both take about twice the time of the first. OUTPUT is the pipeline of both
    passes if its entity F1 on DEV is higher, else that of the first pass alone.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_segmenter.model.min_count 3.
    """
    from ...workflows.jackknife import read_config
    from .workflow import second_look

    settings = read_config(config, read_overrides(context.args))
    nlp, found = second_look(settings, train, dev, folds=folds)
    print_info(f"{counted(found.n_trainings, 'training')} without each of {folds} folds")
    first, second = percent(found.first_f1), percent(found.second_f1)
    if found.is_better:
        what = f"two passes: F1 {second}, the first pass alone {first}"
    else:
        what = f"the first pass alone: F1 {first}; a second pass gains nothing ({second})"
    write_pipeline(nlp, output, what)
