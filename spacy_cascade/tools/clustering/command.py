"""The command `spacy cascade cluster`: word clusters of unlabelled text."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import Force, argument, option, refuse_existing, valid_text
from ...cli.output import STOPPED, counted, print_good, print_info, print_warning, reports_errors
from ...text_sources import SUFFIXES
from .making import Settings, make_clusters, work_folder
from .splitting import TokenizerChoice


@reports_errors
def cluster_command(
    text: Annotated[
        list[Path], argument("TEXT...", "Files, or folders of files: " + " ".join(SUFFIXES))
    ],
    output: Annotated[
        Path, option("File to write; compressed if its name ends in .gz", "--output", "-o")
    ],
    lang: Annotated[
        str, option("Language code: its tokenizer splits the text", "--lang", "-l")
    ] = "en",
    tokenizer: Annotated[
        str | None,
        option(
            "Pipeline, or training config (.cfg), whose tokenizer splits the text instead: the "
            "one that will use the clusters"
        ),
    ] = None,
    field: Annotated[str, option("JSONL: the field with the text", callback=valid_text)] = "text",
    clusters: Annotated[int, option("Number of clusters")] = Settings.clusters,
    min_count: Annotated[
        int, option("Rarer words get no cluster, except by their form: digits as 0")
    ] = Settings.min_count,
    size: Annotated[int, option("Numbers in the vector of a word")] = Settings.size,
    epochs: Annotated[int, option("Times that training reads the text")] = Settings.epochs,
    processes: Annotated[
        int, option("Processes (0: one per core); with 1, each run makes the same clusters")
    ] = Settings.processes,
    seed: Annotated[int, option("Seed of k-means", min=0, max=2**32 - 1)] = Settings.seed,
    force: Force = False,
) -> None:
    """
    Make hierarchical clusters of the words of unlabelled text.

    Words that stand in like contexts get the same cluster. The clusters are the leaves of a
    binary tree, and OUTPUT has a line for each word: the path to its cluster, the word, and how
    often it occurs, with tabs between. Templates use it as cluster(NAME).

    TEXT is plain text with a paragraph a line, JSONL with a text in each line, or .spacy files,
    whose tokens are taken as they are.

    The command keeps what it has done in the folder OUTPUT.work and removes that at the end. If
    it is stopped, the same command continues.
    """
    refuse_existing(output, force)
    settings = Settings(
        tokenizer=TokenizerChoice(lang, tokenizer), json_field=field, min_count=min_count,
        size=size, epochs=epochs, clusters=clusters, seed=seed, processes=processes,
    )  # fmt: skip
    try:
        made = make_clusters(text, output, settings, print_info)
    except KeyboardInterrupt:
        print_warning(f"Stopped. The same command goes on with what is in {work_folder(output)}.")
        raise typer.Exit(STOPPED) from None
    words = f"{counted(made.words, 'word')} that occur {made.occurrences:,} times"
    print_good(f"{counted(made.clusters, 'cluster')} of {words} -> {output}")
