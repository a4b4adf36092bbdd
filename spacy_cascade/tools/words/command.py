"""The command `spacy cascade words cluster`: word clusters of unlabelled text."""

from typing import Annotated

import typer

from ...cli.options import (
    Field,
    Force,
    Lang,
    Output,
    Processes,
    Seed,
    Texts,
    Tokenizer,
    option,
    refuse_existing,
)
from ...cli.output import STOPPED, counted, print_good, print_info, print_warning, reports_errors


@reports_errors
def cluster_command(
    text: Texts,
    output: Output,
    lang: Lang = "en",
    tokenizer: Tokenizer = None,
    field: Field = "text",
    n_clusters: Annotated[int, option("Number of clusters")] = 1024,
    min_count: Annotated[
        int, option("Rarer words get no cluster, except by their form: digits as 0")
    ] = 5,
    size: Annotated[int, option("Numbers in the vector of a word")] = 64,
    epochs: Annotated[int, option("Times that training reads the text")] = 3,
    processes: Processes = 0,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """
    Make hierarchical clusters of the words of unlabelled text.

    Words that stand in like contexts get the same cluster. The clusters are the leaves of a
    binary tree, and OUTPUT has a line for each word: the path to its cluster, the word, and how
    often it occurs, with tabs between. It is compressed if its name ends in .gz. Templates use it
    as cluster(NAME).

    TEXT is plain text with a paragraph a line, JSONL with a text in each line, or .spacy files,
    whose tokens are taken as they are. The tokenizer is best the one of the pipeline that will use
    the clusters. With one process, each run makes the same clusters.

    The command keeps what it has done in the folder OUTPUT.work and removes that at the end. If
    it is stopped, the same command continues.
    """
    from .making import Settings, make_clusters, work_folder
    from .splitting import TokenizerChoice

    refuse_existing(output, force)
    settings = Settings(
        tokenizer=TokenizerChoice(lang, tokenizer), json_field=field, min_count=min_count,
        size=size, epochs=epochs, n_clusters=n_clusters, seed=seed, processes=processes,
    )  # fmt: skip
    try:
        made = make_clusters(text, output, settings, print_info)
    except KeyboardInterrupt:
        print_warning(f"Stopped. The same command goes on with what is in {work_folder(output)}.")
        raise typer.Exit(STOPPED) from None
    words = f"{counted(made.words, 'word')} that occur {made.occurrences:,} times"
    print_good(f"{counted(made.clusters, 'cluster')} of {words} -> {output}")
