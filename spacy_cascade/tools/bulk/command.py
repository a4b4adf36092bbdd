"""The command `spacy cascade annotate`: files of texts to files of entities."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import Model, argument, option, valid_text
from ...cli.output import STOPPED, counted, print_good, print_info, print_warning, reports_errors
from .engines import ENGINES
from .run import Settings, annotate_files
from .shards import FAILED
from .sources.base import Names
from .sources.finding import SUFFIXES
from .writers import FORMATS, Layout

_MEGABYTE = 1_000_000


@reports_errors
def annotate_command(
    model: Model,
    inputs: Annotated[
        list[str],
        argument(
            "INPUT...", "Files, folders, or patterns in quotation marks: " + " ".join(SUFFIXES)
        ),
    ],
    output: Annotated[Path, option("Folder for the shards", "--output", "-o")],
    format: Annotated[str, option(f"Format of the output: {', '.join(FORMATS)}")] = "jsonl",
    processes: Annotated[int, option("Processes (0: one per core)", min=0)] = 1,
    text: Annotated[
        str, option("JSONL, Parquet: column with the text", callback=valid_text)
    ] = Names.text,
    id: Annotated[
        str,
        option("Column that names a record; made of file and number if missing",
               callback=valid_text),
    ] = Names.record,
    entities: Annotated[
        str, option("Column for the results", callback=valid_text)
    ] = Names.results,
    spans_key: Annotated[
        str | None,
        option("Write the spans of this group instead of the entities", callback=valid_text),
    ] = None,
    keep_text: Annotated[bool, option("Write the texts again", "--keep-text/--drop-text")] = True,
    shard_size: Annotated[
        int | None, option("Megabytes of input in a shard; chosen by the input", min=1)
    ] = None,
    engine: Annotated[
        str,
        option(f"Who does the work: {', '.join(ENGINES)} (extra 'ray', RAY_ADDRESS)"),
    ] = "local",
    timeout: Annotated[
        float, option("Seconds that a record may take before it counts as failed (0: any)", min=0.0)
    ] = 300.0,
    force: Annotated[
        bool, option("Remove the results of an earlier run first", "--force", "-F")
    ] = False,
) -> None:  # fmt: skip
    """
    Annotate files of any size on all cores.

    The input is divided into shards. Each process reads, annotates and writes shards of its own,
    so the results do not depend on --processes. OUTPUT gets a file for each shard, with ids,
    texts, all other columns of the input, and the entities: characters, labels, confidences.

    If the command is stopped or killed, the same command goes on. It is refused if the pipeline,
    the input or an option has changed; --force begins anew.

    A record that cannot be read, annotated or written, or that takes longer than --timeout, does
    not stop the run. OUTPUT/_failed has its place and the reason.
    """
    layout = Layout(format, Names(text, id, entities), keep_text, spans_key)
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
    print_good(
        f"{counted(found.records, 'record')}, {counted(found.tokens, 'token')}, "
        f"{counted(found.entities, 'entity', 'entities')} in {counted(found.shards, 'shard')} -> "
        f"{output}"
    )
