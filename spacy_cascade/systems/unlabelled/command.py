"""The command `spacy cascade combine cotrain`: a pipeline of labelled and unlabelled Docs."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from spacy.util import load_model_from_config
from spacy.vocab import Vocab

from ...cli.options import (
    Config,
    Dev,
    Field,
    Json,
    Output,
    Rounds,
    Train,
    Unlabelled,
    option,
    read_overrides,
)
from ...cli.output import (
    counted,
    percent,
    print_info,
    print_table,
    reports_errors,
    write_file,
    write_json,
    write_pipeline,
)


class Method(str, Enum):
    cotrain = "cotrain"
    self = "self"


@reports_errors
def cotrain_command(
    context: typer.Context,
    config: Config,
    train: Train,
    dev: Dev,
    unlabelled: Unlabelled,
    output: Output,
    method: Annotated[
        Method,
        option(
            "cotrain: two models, of the phrase itself and of its context, teach each other; self: "
            "the pipeline teaches itself"
        ),
    ] = Method.cotrain,
    threshold: Annotated[
        float, option("Confidence from which on a span is taken as an entity")
    ] = 0.4,
    background: Annotated[
        float, option("Probability of being inside any entity up to which a token is background")
    ] = 0.05,
    rounds: Rounds = 5,
    field: Field = "text",
    report: Annotated[
        Path | None, option("Write what was added in each round to this Markdown file")
    ] = None,
    json: Json = None,
) -> None:
    """
    Train a pipeline on labelled Docs and on unlabelled text.

    Each round, teachers annotate the unlabelled text. What they are sure of becomes partial
    annotation: confident spans are entities, tokens that are hardly inside any are background, and
    the rest stays missing. The pipeline of CONFIG is trained on this and on TRAIN. The rounds end
    when entity F1 on DEV gains nothing more. OUTPUT is the best pipeline on DEV, which may be that
    of TRAIN alone.

    Unlabelled text is .txt (a text a line), .jsonl, .spacy, compressed as .gz or not, or a folder
    of such files. Entities in .spacy files are not learnt from. What was added is compared with
    them.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_segmenter.model.min_count 1.
    """
    from ...pipeline.readers import read_unlabelled
    from ...text_sources import find_sources
    from ...workflows.folds import filled_config
    from ...workflows.jackknife import read_config
    from . import teachers
    from .pseudo_labels import Confidence
    from .reporting import HEADER, as_json, as_markdown, rounds_of
    from .rounds import learn_unlabelled

    settings = read_config(config, read_overrides(context.args))
    sure = Confidence(threshold, background)
    bare = load_model_from_config(filled_config(settings, train, dev), auto_fill=True)
    vocab = Vocab()
    docs = [
        doc
        for source in find_sources(unlabelled)
        for doc in read_unlabelled(source, field, bare.tokenizer, vocab)
    ]
    nlp, learnt = learn_unlabelled(
        settings, train, dev, docs, method=teachers.Method(method.value), sure=sure, rounds=rounds
    )
    if learnt.rounds:
        print_table(rounds_of(learnt), HEADER, "r" * len(HEADER))
    of_docs = f"{counted(learnt.n_labelled, 'labelled Doc')}, {learnt.n_unlabelled:,} unlabelled"
    print_info(f"{of_docs}. It ended because {learnt.because}.")
    if report is not None:
        write_file(report, as_markdown(learnt, sure), "Report")
    if json is not None:
        write_json(json, as_json(learnt, sure), "Report")
    before, after = percent(learnt.labelled_f1), percent(learnt.best_f1)
    write_pipeline(nlp, output, f"{learnt.best}: F1 {after}, {before} without unlabelled text")
