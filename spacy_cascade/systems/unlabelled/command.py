"""The command `spacy cascade cotrain`: a pipeline of few labelled and many unlabelled Docs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from spacy.vocab import Vocab
from thinc.api import Config

from ...cli.options import Json, argument, option, read_overrides
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
from ...pipeline.readers import read_docs
from ...text_sources import DOCS, find_sources, read_texts
from ...workflows.folds import filled_config
from ...workflows.jackknife import read_config
from .pseudo_labels import Confidence
from .reporting import as_json, as_markdown
from .rounds import ROUNDS, Learnt, learn_unlabelled
from .teachers import Method


@reports_errors
def cotrain_command(
    context: typer.Context,
    config: Annotated[Path, argument("CONFIG", "Training config of the pipeline")],
    train: Annotated[Path, option("Labelled Docs to train on")],
    dev: Annotated[Path, option("Docs to score on")],
    unlabelled: Annotated[
        list[Path],
        option(
            "Unlabelled text: files .txt (a text a line), .jsonl, .spacy; .gz; or folders of them; "
            "can be given several times"
        ),
    ],
    output: Annotated[Path, option("Folder for the new pipeline")],
    method: Annotated[
        Method,
        option(
            "cotrain: two models, of the phrase itself and of its context, teach each other; self: "
            "the pipeline teaches itself"
        ),
    ] = Method.cotrain,
    threshold: Annotated[
        float, option("Confidence from which on a span is taken as an entity")
    ] = Confidence.threshold,
    background: Annotated[
        float, option("Probability of being inside any entity up to which a token is background")
    ] = Confidence.background,
    rounds: Annotated[int, option("Largest number of rounds")] = ROUNDS,
    field: Annotated[str, option("JSONL: the field with the text")] = "text",
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

    Entities in unlabelled .spacy files are not learnt from. What was added is compared with them.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --components.cascade_segmenter.model.min_count 1.
    """
    settings = read_config(config, read_overrides(context.args))
    sure = Confidence(threshold, background)
    docs = list(_read(find_sources(unlabelled), field, filled_config(settings, train, dev)))
    nlp, learnt = learn_unlabelled(
        settings, train, dev, docs, method=method, sure=sure, rounds=rounds
    )
    _tell(learnt)
    if report is not None:
        write_file(report, as_markdown(learnt, sure), "Report")
    if json is not None:
        write_json(json, as_json(learnt, sure), "Report")
    before, after = percent(learnt.labelled_f1), percent(learnt.best_f1)
    write_pipeline(nlp, output, f"{learnt.best}: F1 {after}, {before} without unlabelled text")


def _read(sources: Sequence[Path], field: str, config: Config) -> Iterator[Doc]:
    """Docs of .spacy files as they are, and texts as the pipeline's tokenizer splits them."""
    tokenizer = load_model_from_config(config, auto_fill=True).tokenizer
    vocab = Vocab()
    for source in sources:
        if source.name.lower().endswith(DOCS):
            yield from read_docs(source, vocab)
        else:
            yield from (tokenizer(text.strip()) for text in read_texts(source, field))


def _tell(learnt: Learnt) -> None:
    rows = [
        (
            number,
            f"{each.added.spans:,}",
            percent(each.added.expected),
            percent(each.added.right),
            f"{each.added.background:,}",
            percent(each.added.background_right),
            percent(each.student_f1),
            percent(each.product_f1),
        )
        for number, each in enumerate(learnt.rounds, 1)
    ]
    header = (
        "round", "spans added", "expected right", "right", "background", "right", "F1 student",
        "F1 product",
    )  # fmt: skip
    if rows:
        print_table(rows, header, "rrrrrrrr")
    docs = f"{counted(learnt.n_labelled, 'labelled Doc')}, {learnt.n_unlabelled:,} unlabelled"
    print_info(f"{docs}. It ended because {learnt.because}.")
