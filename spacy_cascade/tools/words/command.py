"""The command `spacy cascade words make`: tables of words of text, vectors or a transformer."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import (
    Field,
    Force,
    Lang,
    Output,
    Processes,
    Seed,
    Tokenizer,
    argument,
    option,
    refuse_existing,
)
from ...cli.output import STOPPED, counted, print_good, print_info, print_warning, reports_errors
from ...errors import ConfigError


@reports_errors
def make_command(
    sources: Annotated[
        list[str],
        argument("SOURCE...", "Text (.txt, .jsonl, .spacy; .gz), vectors, pipeline or transformer"),
    ],
    output: Output,
    sizes: Annotated[
        str, option("Numbers of clusters, up to four, separated by commas")
    ] = "64,256,1024,4096",
    max_words: Annotated[
        int, option("Take only the first words, the most frequent ones")
    ] = 400_000,
    vocabulary: Annotated[
        Path | None, option("Transformer, floret: file of words, the most frequent one first")
    ] = None,
    name: Annotated[str, option("Name of the table. Default: that of OUTPUT")] = "",
    url: Annotated[str, option("Address of the source, for the meta of pipelines")] = "",
    author: Annotated[str, option("Author of the source, for the meta of pipelines")] = "",
    license: Annotated[str, option("Licence of the source, for the meta of pipelines")] = "",
    lang: Lang = "en",
    tokenizer: Tokenizer = None,
    field: Field = "text",
    min_count: Annotated[
        int, option("Text: rarer words are not listed, except by their form: digits as 0")
    ] = 5,
    dimensions: Annotated[int, option("Text: numbers in the vector of a word")] = 64,
    epochs: Annotated[int, option("Text: times that training reads it")] = 3,
    max_texts: Annotated[
        int, option("Transformer with text: texts that are drawn for it to read")
    ] = 10_000,
    processes: Processes = 0,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """
    Make a table of words of text, of word vectors, or of a transformer.

    The table has clusters of words at several sizes, those of one inside those of the size before.
    Words in the same cluster are of a kind, so a model can use what training says of one of them
    for the others. Give the table to init with --words. What SOURCE is follows from what is there:

    Text: plain text with a paragraph a line, JSONL with a text in each line, or .spacy files, whose
    tokens are taken as they are; files, or folders of them. Words that stand in like contexts get
    the same cluster. The tokenizer is best the one of the pipeline that will use the table.

    Vectors: a text or binary file of word2vec, GloVe, fastText or floret, or a pipeline with
    vectors, by its folder or the name of its package. If it is of floret's kind, give text, too.

    A transformer: a folder with its config.json, or OWNER/NAME. Each piece of a word that it knows
    is passed through alone. So all words have a cluster, as the means of their pieces. If text is
    given, too, words that are frequent in it get the mean over their contexts there.

    The command keeps what it has done in the folder OUTPUT.work and removes that at the end. If it
    is stopped, the same command continues. With one process, each run makes the same table.
    """
    from ...systems.words.table import About
    from .making import Settings, make_table, work_folder
    from .splitting import TokenizerChoice

    refuse_existing(output, force)
    settings = Settings(
        sizes=_numbers(sizes), seed=seed, max_words=max_words, vocabulary=vocabulary,
        processes=processes, tokenizer=TokenizerChoice(lang, tokenizer), json_field=field,
        min_count=min_count, dimensions=dimensions, epochs=epochs, max_texts=max_texts,
    )  # fmt: skip
    about = About(name or output.name.split(".")[0], url, author, license)
    try:
        table = make_table(sources, output, settings, about, print_info)
    except KeyboardInterrupt:
        print_warning(f"Stopped. The same command goes on with what is in {work_folder(output)}.")
        raise typer.Exit(STOPPED) from None
    made = ", ".join(f"{size:,}" for size in table.sizes)
    arrays = table.arrays()
    numbers = {"listed word": len(arrays["keys"]), "piece": len(arrays.get("rows", ()))}
    of = " and ".join(counted(number, noun) for noun, number in numbers.items() if number)
    print_good(f"{made} clusters of {of} -> {output}")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise ConfigError(f"--sizes are whole numbers with commas between, not {text!r}.") from None
