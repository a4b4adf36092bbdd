"""The command `spacy cascade jackknife`: tags and spans for a corpus as run time will have them."""

from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import DocBin
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import read_overrides
from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError, CorpusError
from spacy_cascade.files import replace_file
from spacy_cascade.workflows.jackknife import Jackknifed, jackknife, read_config


def jackknife_command(
    context: typer.Context,
    config: Annotated[
        Path,
        typer.Argument(metavar="CONFIG", help="Training config of the components, as configs/*"),
    ],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.spacy", help="Docs to annotate")],
    dev: Annotated[
        Path, typer.Argument(metavar="DEV.spacy", help="What the components are scored on")
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT.spacy", help="The annotated Docs")],
    train: Annotated[
        Path | None,
        typer.Option(help="Docs to learn from, by default CORPUS itself", show_default=False),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of CORPUS; each is left out once")] = 5,
) -> None:
    """
    Annotate a training corpus with tags and spans as earlier components will set them on new text.

    Each part of CORPUS is annotated by a pipeline that was trained without it: without its Docs,
    and without Docs of TRAIN that share a sentence of five or more words with it. A Doc without
    sentence starts counts as one sentence. Tags and span groups that the components set replace
    those in CORPUS; all else stays, doc.ents too.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_tagger.trainer.passes 5. TRAIN and DEV take the place of its corpora.
    """
    try:
        if output.suffix != ".spacy":
            raise CorpusError(f"{output} does not end in .spacy. Give the output file that suffix.")
        settings = read_config(config, read_overrides(context.args))
        found = jackknife(settings, corpus, dev, train_path=train, folds=folds)
        replace_file(output, DocBin(docs=found.docs, store_user_data=True).to_bytes())
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    trainings = "1 training" if found.n_trainings == 1 else f"{found.n_trainings} trainings"
    parts = [f"{len(found.docs)} Docs in {folds} folds by {trainings}", *_qualities(found)]
    print_line(MESSAGES.GOOD, f"{', '.join(parts)} -> {output}")


def _qualities(found: Jackknifed) -> list[str]:
    """What was set, and how good it is where there is gold to compare with."""
    tags = [_quality("tags", "accuracy", found.tag_accuracy)] if found.sets_tags else []
    return tags + [_quality(f"spans '{key}'", "F1", f1) for key, f1 in found.span_f1.items()]


def _quality(what: str, measure: str, value: float | None) -> str:
    return f"{what} (no gold)" if value is None else f"{what} {measure} {100 * value:.2f}"
