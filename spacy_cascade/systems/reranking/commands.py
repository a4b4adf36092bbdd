"""The commands `spacy cascade rerank train` and `rerank tune`."""

from typing import Annotated

import spacy
import typer

from ...cli.options import Dev, Folds, Model, NewPipeline, Train, option, option_to_try
from ...cli.output import (
    counted,
    percent,
    print_info,
    print_warning,
    reports_errors,
    write_pipeline,
)

_N_BEST = "Length of the N-best lists"


@reports_errors
def train_reranker_command(
    model: Model,
    output: NewPipeline,
    train: Train,
    dev: Dev,
    folds: Folds = 4,
    n_best: Annotated[int, option(_N_BEST)] = 6,
    passes: Annotated[int, option("Largest number of passes over the lists")] = 8,
    scale: Annotated[
        list[float] | None, option_to_try("Scale of the stages' scores", (1.0, 2.5))
    ] = None,
    weight: Annotated[
        list[float] | None, option_to_try("Weight of the type scores", (0.5, 1.0, 1.5))
    ] = None,
) -> None:
    """
    Train a reranker, and add it to a trained pipeline.

    TRAIN, the corpus that MODEL was trained on, is cut into parts. For each part, a cascade is
    trained on the other parts with the training config of MODEL, and makes N-best lists for it. The
    reranker learns from these lists by minimum-risk training, once for each scale and weight. The
    trial with the highest entity F1 on DEV is written to OUTPUT. MODEL is not changed. The reranker
    chooses for each sentence, or for each document where MODEL was trained on whole ones. A
    pipeline of sentences that sets no sentence starts gets a sentencizer.
    """
    from ...pipeline.readers import examples_for
    from ...workflows.reconfigure import take_own_scores
    from . import training

    trained, found = training.train_reranker(
        spacy.load(model), train, dev, folds=folds, n_best=n_best, passes=passes,
        scales=scale or training.SCALES, weights=weight or training.WEIGHTS
    )  # fmt: skip
    print_info("Entity F1 by scale and weight (rows) and number of passes (columns)")
    longest = max(len(trial.f1) for trial in found.trials)
    typer.echo(f"{'scale':>8}{'weight':>8}" + "".join(f"{n:7}" for n in range(1, longest + 1)))
    for trial in found.trials:
        scores = "".join(f"{percent(f1):>7}" for f1 in trial.f1)
        typer.echo(f"{trial.scale:8g}{trial.weight:8g}{scores}")
    best, n = found.best
    take_own_scores(trained, list(examples_for(trained, dev)))
    write_pipeline(
        trained,
        output,
        f"scale {best.scale:g}, weight {best.weight:g}, {counted(n, 'pass', 'passes')}: "
        f"F1 {percent(found.f1)}, without reranking {percent(found.baseline)}",
    )


@reports_errors
def tune_reranker_command(
    model: Model,
    output: NewPipeline,
    dev: Dev,
    weight: Annotated[
        list[float] | None,
        option_to_try("Weight of the type scores", (0, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3)),
    ] = None,
    n_best: Annotated[list[int] | None, option(_N_BEST, show_default="1, 2, 3, 5, 8, 11")] = None,
) -> None:
    """
    Tune a reranker, and add it to a trained pipeline.

    The N best segmentations, with their types, are rescored with each weight. --weight and --n-best
    can be given several times. The pair of weight and list length with the highest entity F1 on
    DEV is written to OUTPUT; if reranking lowers F1, OUTPUT has no reranker. MODEL is not changed.
    The reranker chooses for each sentence, or for each document where MODEL was trained on whole
    ones. A pipeline of sentences that sets no sentence starts gets a sentencizer.
    """
    from ...pipeline.readers import examples_for
    from ...workflows.reconfigure import take_own_scores
    from . import tuning

    nlp = spacy.load(model)
    examples = list(examples_for(nlp, dev))
    tuned, found = tuning.tune_reranker(
        nlp, examples, weight or tuning.WEIGHTS, n_best or tuning.SIZES
    )
    take_own_scores(tuned, examples)
    weights = sorted({weight for _, weight in found.grid})
    print_info("Entity F1 by n_best (rows) and weight (columns)")
    typer.echo("     " + "".join(f"{weight:7g}" for weight in weights))
    for n in sorted({n for n, _ in found.grid}):
        typer.echo(f"{n:5}" + "".join(f"{percent(found.grid[n, w]):>7}" for w in weights))
    if found.is_worse:
        print_warning(
            f"Reranking lowers F1 to {percent(found.f1)} at best (n_best {found.n_best}, weight "
            f"{found.weight:g}), so the pipeline has no reranker."
        )
        write_pipeline(tuned, output, f"Without reranking: F1 {percent(found.baseline)}")
        return
    write_pipeline(
        tuned,
        output,
        f"n_best {found.n_best}, weight {found.weight:g}: F1 {percent(found.f1)}, without "
        f"reranking {percent(found.baseline)}",
    )
