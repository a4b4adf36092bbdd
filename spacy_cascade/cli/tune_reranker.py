"""The command `spacy cascade tune-reranker`: settings of a reranker from data."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import to_try
from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError
from spacy_cascade.pipeline.readers import examples_for
from spacy_cascade.pipeline.saving import save_pipeline
from spacy_cascade.workflows.tune_reranker import SIZES, WEIGHTS, Tuned, tune_reranker


def tune_reranker_command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Trained pipeline with both stages")
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.spacy", help="Docs with entities that the stages were not trained on"
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the tuned pipeline")],
    weight: Annotated[list[float] | None, to_try("Weight of the type scores", WEIGHTS)] = None,
    n_best: Annotated[
        list[int] | None, to_try("Length of the N-best list", SIZES, "--n-best", "-n")
    ] = None,
) -> None:
    """
    Tune a reranker, and add it to a trained pipeline.

    Segmentations and types of the N best are rescored with each weight; the one of highest
    entity F1 on DATA is written to OUTPUT. MODEL stays as it is. A choice is made for
    each sentence: a pipeline that sets no sentence starts gets a sentencizer.
    """
    try:
        nlp = spacy.load(model)
        examples = examples_for(nlp, data)
        tuned, found = tune_reranker(nlp, examples, weight or WEIGHTS, n_best or SIZES)
        save_pipeline(tuned, output)
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    _print_found(found, output)


def _print_found(found: Tuned, output: Path) -> None:
    weights = sorted({weight for _, weight in found.grid})
    print_line(MESSAGES.INFO, "Entity F1 by n_best (rows) and weight")
    typer.echo("     " + "".join(f"{weight:7g}" for weight in weights))
    for n in sorted({n for n, _ in found.grid}):
        typer.echo(f"{n:5}" + "".join(f"{100 * found.grid[n, w]:7.2f}" for w in weights))
    print_line(
        MESSAGES.GOOD,
        f"n_best {found.n_best}, weight {found.weight:g}: F1 {100 * found.f1:.2f}, without "
        f"reranking {100 * found.baseline:.2f} -> {output}",
    )
