"""The command `spacy cascade adapt`: a trained pipeline learns from a few more Docs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from wasabi import msg
from wasabi.util import MESSAGES

from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError
from spacy_cascade.pipeline.readers import examples_for
from spacy_cascade.pipeline.saving import save_pipeline
from spacy_cascade.workflows.adapt import UPDATES, adapt


def adapt_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Trained pipeline")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA.spacy", help="A few Docs with all their entities")
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the new pipeline")],
    dev: Annotated[
        Path | None, typer.Option(help="Docs to score the pipeline on, before and after")
    ] = None,
    updates: Annotated[int, typer.Option(help="Calls of nlp.update on DATA")] = UPDATES,
) -> None:
    """
    Adapt a pipeline to new Docs, and keep what it has learnt before.

    Components of the cascade learn the words and the labels of DATA, under a prior centred on the
    weights that they have. MODEL stays as it is; OUTPUT gets the adapted pipeline. Other
    components, settings and temperatures stay the same.
    """
    try:
        nlp = spacy.load(model)
        before = _scores(nlp, dev)
        adapt(nlp, examples_for(nlp, data), updates)
        after = _scores(nlp, dev)
        save_pipeline(nlp, output)
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    if dev is not None:
        rows = [(label, _shown(before, label), _shown(after, label)) for label in after]
        header = ("F1 of", "before", "after")
        msg.table(rows, header=header, divider=True, aligns=("l", "r", "r"))
    print_line(MESSAGES.GOOD, f"Adapted pipeline -> {output}")


def _scores(nlp: Language, dev: Path | None) -> dict[str, float | None]:
    """Entity F1 of all labels together, and of each."""
    if dev is None:
        return {}
    scores: Mapping[str, Any] = nlp.evaluate(list(examples_for(nlp, dev)))
    by_label = scores.get("ents_per_type") or {}
    return {
        "all": scores.get("ents_f"),
        **{label: by_label[label]["f"] for label in sorted(by_label)},
    }


def _shown(scores: Mapping[str, float | None], label: str) -> str:
    score = scores.get(label)
    return "-" if score is None else f"{100 * score:.2f}"
