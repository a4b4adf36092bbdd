"""The command `spacy cascade annotate`: files of texts to files of entities."""

from typing import Annotated

import typer

from ...cli.options import (
    Field,
    Force,
    Model,
    Output,
    Processes,
    SpansKey,
    To,
    argument,
    option,
    valid_text,
)
from ...cli.output import STOPPED, counted, print_good, print_info, print_warning, reports_errors

_MEGABYTE = 1_000_000


@reports_errors
def annotate_command(
    model: Model,
    inputs: Annotated[
        list[str],
        argument(
            "INPUT...",
            "Files, folders, or patterns in quotation marks: .txt, .jsonl, .parquet, .spacy; .gz, "
            ".bz2, .xz, .zst",
        ),
    ],
    output: Output,
    to: To = "jsonl",
    processes: Processes = 1,
    field: Field = "text",
    id: Annotated[
        str,
        option("Column that names a record; made of file and number if missing",
               callback=valid_text),
    ] = "id",
    entities: Annotated[
        str, option("Column for the results", callback=valid_text)
    ] = "entities",
    spans_key: SpansKey = None,
    keep_text: Annotated[bool, option("Write the texts again", "--keep-text/--drop-text")] = True,
    shard_size: Annotated[
        int | None, option("Megabytes of input in a shard; chosen by the input", min=1)
    ] = None,
    engine: Annotated[
        str,
        option("Who does the work: local or ray (extra 'ray', RAY_ADDRESS)"),
    ] = "local",
    timeout: Annotated[
        float, option("Seconds that a record may take before it counts as failed (0: any)", min=0.0)
    ] = 300.0,
    force: Force = False,
) -> None:  # fmt: skip
    """
    Annotate files of any size on all cores.

    The input is divided into shards. Each process reads, annotates and writes shards of its own, so
    the results do not depend on --processes. The folder OUTPUT, as jsonl, jsonl.gz, spacy or
    parquet, gets a file for each shard, with ids, texts, all other columns of the input, and the
    entities: characters, labels, confidences; with --spans-key the spans of this group instead.
    --to is jsonl, jsonl.gz, spacy or parquet (extra parquet).

    If the command is stopped or killed, the same command goes on. It is refused if the pipeline,
    the input or an option has changed; --force begins anew.

    A record that cannot be read, annotated or written, or that takes longer than --timeout, does
    not stop the run. OUTPUT/_failed has its place and the reason.
    """
    from .run import Settings, annotate_files
    from .shards import FAILED
    from .sources.base import Names
    from .writers import Layout

    layout = Layout(to, Names(field, id, entities), keep_text, spans_key)
    size = None if shard_size is None else shard_size * _MEGABYTE
    settings = Settings(layout, engine, processes, size, force, timeout or None)
    try:
        found = annotate_files(model, inputs, output, settings)
    except KeyboardInterrupt:
        print_warning(f"Stopped. The same command goes on with what is in {output}.")
        raise typer.Exit(STOPPED) from None
    if found.continued:
        print_info(f"{counted(found.continued, 'shard')} of an earlier run stayed")
    if found.failed:
        print_warning(f"{counted(found.failed, 'record')} failed: see {output / FAILED}")
    if found.warning:
        print_warning(found.warning)
    print_good(
        f"{counted(found.records, 'record')}, {counted(found.tokens, 'token')}, "
        f"{counted(found.entities, 'entity', 'entities')} in {counted(found.shards, 'shard')} -> "
        f"{output}"
    )
