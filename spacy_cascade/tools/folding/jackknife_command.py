"""`spacy cascade combine jackknife`: tags and spans in a corpus as new text will have them."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import DocBin

from ...cli.options import Config, Dev, Folds, OtherTrain, argument, read_overrides
from ...cli.output import STOPPED, counted, percent, print_good, print_warning, reports_errors
from ...errors import ConfigError
from ...files import replace_file
from ...stages import Stages


@reports_errors
def jackknife_command(
    context: typer.Context,
    config: Config,
    corpus: Annotated[Path, argument("CORPUS.spacy", "Docs to annotate")],
    output: Annotated[Path, argument("OUTPUT.spacy", "The annotated Docs")],
    dev: Dev,
    train: OtherTrain = None,
    folds: Folds = 5,
) -> None:
    """
    Annotate a training corpus with tags and spans as earlier components will set them on new text.

    CORPUS is cut into parts. Each part is annotated by a pipeline that was trained without it:
    without its Docs, and without Docs of TRAIN that share a sentence of five or more words with it.
    TRAIN is CORPUS itself if it is not given. A Doc without sentence starts counts as one sentence.
    Tags and span groups that the components set replace those in CORPUS; everything else stays,
    doc.ents too. After Ctrl-C, the same command goes on with the trainings that are left.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_tagger.trainer.passes 5. TRAIN and DEV take the place of its corpora.
    """
    from ...workflows.jackknife import jackknife, read_config
    from ..formats.docs import check_suffix

    check_suffix(output)
    settings = read_config(config, read_overrides(context.args))
    work = output.with_name(f"{output.name}.work")
    try:
        found = jackknife(settings, corpus, dev, train_path=train, folds=folds, work=work)
    except KeyboardInterrupt:
        n = len(list(work.glob("training-*")))
        if not n:
            raise
        text = f"Stopped after {counted(n, 'training')}. The same command goes on from {work}."
        print_warning(text, to_stderr=True)
        raise typer.Exit(STOPPED) from None
    replace_file(output, DocBin(docs=found.docs, store_user_data=True).to_bytes())
    with suppress(ConfigError), Stages(work) as stages:  # unless a new run has begun there
        stages.remove()
    docs, trainings = counted(len(found.docs), "Doc"), counted(found.n_trainings, "training")
    parts = [f"{docs} in {folds} folds with {trainings}"]
    if found.sets_tags:
        parts.append(_quality("tags", "accuracy", found.tag_accuracy))
    parts += [_quality(f"spans '{key}'", "F1", f1) for key, f1 in found.span_f1.items()]
    print_good(f"{', '.join(parts)} -> {output}")


def _quality(what: str, measure: str, value: float | None) -> str:
    """What was set, and how good it is if there is gold annotation to compare with."""
    return f"{what} (no gold)" if value is None else f"{what} {measure} {percent(value)}"
