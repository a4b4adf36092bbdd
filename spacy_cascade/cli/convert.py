"""The command `spacy cascade convert`: column files to a `.spacy` file."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import valid_text
from spacy_cascade.cli.output import print_line
from spacy_cascade.corpora.columns import ReadOptions
from spacy_cascade.corpora.docs import CHUNKS_KEY, SUFFIXES, ConversionSummary, convert
from spacy_cascade.corpora.tags import Scheme
from spacy_cascade.errors import CascadeError

_LISTED_LABELS = 10
_LISTED_WORDS = 10


# Enums, since releases of Typer for Python 3.10 do not take a Literal.
class Separator(str, Enum):
    """Choices of --separator."""

    AUTO = "auto"
    TAB = "tab"
    SPACE = "space"


class OnBadWord(str, Enum):
    """Choices of --on-bad-word."""

    ERROR = "error"
    REPLACE = "replace"


def convert_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="Column file, or a folder: all files in it ending in " + " ".join(SUFFIXES),
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT.spacy", help="File to write")],
    scheme: Annotated[
        Scheme,
        typer.Option(
            help="How tags mark phrases. bilou is also known as BILUO, IOBES and BIOES. "
            "auto tells it from all tags of a file"
        ),
    ] = Scheme.AUTO,
    separator: Annotated[
        Separator,
        typer.Option(help="What stands between columns. auto: tab if any line has one"),
    ] = Separator.AUTO,
    word_column: Annotated[
        int, typer.Option(help="Column of the words, from 0, or from the end if negative")
    ] = 0,
    tag_column: Annotated[
        int, typer.Option(help="Column of the entity tags, by default the last")
    ] = -1,
    no_entities: Annotated[
        bool, typer.Option("--no-entities", help="There is no column of entity tags")
    ] = False,
    pos_column: Annotated[
        int | None, typer.Option(help="Column to keep as token.tag", show_default=False)
    ] = None,
    chunk_column: Annotated[
        int | None,
        typer.Option(
            help="Column of phrase tags to keep in doc.spans, in whatever scheme they are",
            show_default=False,
        ),
    ] = None,
    chunks_key: Annotated[
        str, typer.Option(callback=valid_text, help="Key of chunks in doc.spans")
    ] = CHUNKS_KEY,
    spans_key: Annotated[
        str | None,
        typer.Option(
            callback=valid_text,
            help="Put entities in doc.spans under this key too, besides doc.ents",
            show_default=False,
        ),
    ] = None,
    n_sents: Annotated[
        int,
        typer.Option(
            "--n-sents",
            "-n",
            min=0,
            help="Sentences a document where a file has no document marks (0: one document)",
        ),
    ] = 10,
    on_bad_word: Annotated[
        OnBadWord,
        typer.Option(
            help="What to do about words spaCy cannot use (empty, only whitespace, or not "
            "UTF-8): stop, or put U+FFFD in their place and list them"
        ),
    ] = OnBadWord.ERROR,
) -> None:
    """
    Convert column files (CoNLL, IOB, BILOU) to training data.

    One word a line, with its tags in further columns separated by tabs or spaces; a
    blank line after each sentence; optionally a line -DOCSTART- or ###MEDLINE:<id>
    before each document. Words stay as they are: nothing is tokenized.

    A word tagged O is outside of all entities. A word tagged - or ? is not annotated:
    training takes it for neither. Tags without a type (B, I, O) get the label ENT.
    """
    options = ReadOptions(
        scheme=scheme,
        separator=separator.value,
        word_column=word_column,
        tag_column=None if no_entities else tag_column,
        pos_column=pos_column,
        chunk_column=chunk_column,
        n_sents=n_sents,
        on_bad_word=on_bad_word.value,
    )
    try:
        summary = convert(
            source,
            output,
            options,
            spans_key=spans_key,
            chunks_key=chunks_key,
            show_progress=True,
        )
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    _print_summary(summary, output, scheme)


def _print_summary(summary: ConversionSummary, output: Path, scheme: Scheme) -> None:
    if scheme == Scheme.AUTO and summary.schemes:
        found = ", ".join(sorted(found.value for found in summary.schemes))
        print_line(MESSAGES.INFO, f"Tags read as {found}")
    if summary.replaced:
        for word in summary.replaced[:_LISTED_WORDS]:
            print_line(MESSAGES.WARN, word, to_stderr=True)
        text = f"{len(summary.replaced)} words that spaCy cannot use were replaced by U+FFFD"
        print_line(MESSAGES.WARN, text, to_stderr=True)
    labels = [f"{label} {n}" for label, n in summary.entities.most_common(_LISTED_LABELS)]
    if len(summary.entities) > _LISTED_LABELS:
        labels.append("…")
    parts = [
        f"{summary.documents} documents",
        f"{summary.sentences} sentences",
        f"{summary.words} words",
        f"{summary.entities.total()} entities" + (f" ({', '.join(labels)})" if labels else ""),
    ]
    if summary.missing:
        parts.append(f"{summary.missing} words not annotated")
    print_line(MESSAGES.GOOD, f"{', '.join(parts)} -> {output}")
