"""The command `spacy cascade convert`: corpora to training data, and entities to other formats."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import (
    Field,
    Force,
    Form,
    Lang,
    Lost,
    OtherModel,
    SkipBad,
    SpansKey,
    To,
    Tokenizer,
    argument,
    option,
    refuse_existing,
    valid_text,
)
from ...cli.output import check_rows_file, reports_errors
from ...errors import ConfigError, CorpusError
from .discontinuous import Discontinuous
from .spacing import Spacing
from .tags import Scheme, scheme_named

_SPACY = "spacy"


# Enums, because older releases of Typer do not support Literal.
class Separator(str, Enum):
    AUTO = "auto"
    TAB = "tab"
    SPACE = "space"


class OnBadWord(str, Enum):
    ERROR = "error"
    REPLACE = "replace"


def _scheme(name: str) -> str:
    """A callback that replaces a name of a scheme by its first one; raises `BadParameter`."""
    try:
        return scheme_named(name).value
    except CorpusError as error:
        raise typer.BadParameter(str(error)) from error


def _columns(text: str | None) -> str | None:
    """A callback that refuses what is no list of numbers; raises `BadParameter`."""
    for part in [] if text is None else text.split(","):
        try:
            int(part)
        except ValueError as error:
            raise typer.BadParameter(
                f"{part!r} is not a valid integer. Give a number, or several, as in 1,2."
            ) from error
    return text


def _tag_names(text: str | None) -> str | None:
    """A callback that reads a file with a name a line in place of names with commas."""
    if text is None or not Path(text).is_file():
        return text
    return ",".join(Path(text).read_text(encoding="utf-8").split())


@reports_errors
def convert_command(
    source: Annotated[
        Path, argument("INPUT", "File, or folder of files in one format; with --to also .spacy")
    ],
    output: Annotated[Path, argument("OUTPUT", "File to write: .spacy, or as --to says")],
    form: Form = "auto",
    to: To = _SPACY,
    model: OtherModel = None,
    scheme: Annotated[
        str,
        option(
            "Scheme of the tags: auto, iob1, iob2 (also called bio), bilou (also biluo, iobes, "
            "bioes) or io (types without a prefix)",
            callback=_scheme,
        ),
    ] = Scheme.AUTO.value,
    separator: Annotated[
        Separator, option("Separator of the columns; auto is a tab if any line has one")
    ] = Separator.AUTO,
    encoding: Annotated[
        str | None, option("Encoding of INPUT; default: by its byte order mark, else UTF-8")
    ] = None,
    word_column: Annotated[
        int | None,
        option(
            "Column of the words: 0 is the first, -1 the last; default: the first one that does "
            "not number the words"
        ),
    ] = None,
    tag_column: Annotated[
        str | None,
        option(
            "Column of the entity tags; default: the one with the most of them, else the last. "
            "With --spans-key also several levels of nesting, as in 1,2; default: all",
            callback=_columns,
        ),
    ] = None,
    no_entities: Annotated[bool, option("No column has entity tags", "--no-entities")] = False,
    pos_column: Annotated[int | None, option("Column to keep as token.tag")] = None,
    chunk_column: Annotated[int | None, option("Column of chunk tags for doc.spans")] = None,
    chunks_key: Annotated[str, option("Key of the chunks", callback=valid_text)] = "chunks",
    spans_key: SpansKey = None,
    discontinuous: Annotated[
        Discontinuous,
        option(
            "Spans of several parts: drop; covering: one from the first to the last character; "
            "parts: each part is in the group of --spans-key, with a common id"
        ),
    ] = Discontinuous.DROP,
    n_sents: Annotated[
        int, option("Sentences per document if none is marked (0: all)", "--n-sents", "-n", min=0)
    ] = 10,
    spacing: Annotated[
        Spacing,
        option(
            "natural: the text has spaces where running text has them, and a line break after a "
            "sentence without a final mark; one-line: no line breaks; words: a space after each "
            "word, and training takes the words as tokens"
        ),
    ] = Spacing.NATURAL,
    lang: Lang = "en",
    tokenizer: Tokenizer = None,
    field: Field = "text",
    tag_names: Annotated[
        str | None,
        option(
            "Hugging Face: names of tags that are numbers, from 0, as in O,B-PER,I-PER; or a file "
            "with a name a line",
            callback=_tag_names,
        ),
    ] = None,
    predictions: Annotated[
        bool,
        option(
            "Label Studio: texts without annotation count by their last prediction", "--predictions"
        ),
    ] = False,
    on_bad_word: Annotated[
        OnBadWord, option("Stop at words that are empty, whitespace or not UTF-8, or replace them")
    ] = OnBadWord.ERROR,
    skip_bad: SkipBad = False,
    skip_empty: Annotated[
        bool, option("Formats with text: leave out texts without a span", "--skip-empty")
    ] = False,
    accept_loss: Annotated[
        bool, option("Formats with text: go on where most spans are no entities", "--accept-loss")
    ] = False,
    lost: Lost = None,
    force: Force = False,
) -> None:  # fmt: skip
    """
    Convert an annotated corpus to training data, or entities to the format of another tool.

    OUTPUT is a .spacy file for training, unless --to names another format. The formats, recognised
    by the content: column files (CoNLL, IOB, BILOU), CSV and Excel, JSONL of Prodigy and Doccano,
    JSON of Label Studio and Argilla, training data of spaCy 2 and GLiNER, token lists of Hugging
    Face, WebAnno TSV 3, CoNLL-U, folders of BRAT, PubTator, BioC in XML and JSON, and others.
    docs/formats.md has a table.

    Spans that no tokens can express (inside tokens, overlapping, discontinuous) are counted and
    shown; --lost lists all of them. Their words are not annotated then. So are texts that are
    rejected, ignored or cancelled. It is an error if they are more than half of all spans, unless
    --accept-loss is given.

    Records and spans that cannot be read are an error that names the first of them. --skip-bad
    leaves them out and lists each with its line.

    With --spans-key the entities are also kept in this group of doc.spans, with those that overlap;
    with --to this group is written. In column files several columns of tags are then levels of
    nesting. --discontinuous says what becomes of spans of several parts, such as "left lung" in
    "left and right lung".

    --lang says how text is split, and where natural spacing has spaces. Words that a file has stay,
    unless --tokenizer is given.

    In a column file each line has one word, followed by its tags in columns that tabs or spaces
    separate. A blank line ends a sentence. A line -DOCSTART- or ###MEDLINE:<id> may start a
    document. A line that begins with # is a word if it has a tag, else a comment. Words are not
    tokenized any further.

    Column files and token lists do not say which words had a space between them. The command
    restores that by rules, so that a pipeline is trained on text as it will be used on: ( IL-2 ) .
    becomes (IL-2). A sentence that does not end in a mark, as headings do not, gets a line break,
    which is a token of its own. Words never change. spaCy's own reader then lets the pipeline
    tokenize the text: debug-data says which tokenizer suits the corpus.

    A word tagged O is outside of all entities. A word tagged - or ? is not annotated: training
    assumes neither that it is in an entity nor that it is outside. Tags without a type (B, I, O)
    get the label ENT.

    spaCy cannot use words that are empty, only whitespace, or not UTF-8. With
    --on-bad-word replace, the command puts U+FFFD in their place and lists them.

    With --to prodigy, doccano, label-studio, brat, columns and others, OUTPUT gets entities with
    their confidences: those of INPUT, such as a .spacy file of annotated documents. With --model
    it gets those that the pipeline finds in the texts of INPUT, which may then also be plain text
    with a text a line. The names of documents stay. docs/formats.md says where each format has the
    scores. A file that is there already is replaced with --force only.
    """
    from .columns import ReadOptions
    from .converting import Export, NewDocs, Reading, to_docs, to_format
    from .exchange.base import FormatOptions

    tags = None if tag_column is None else tuple(map(int, tag_column.split(",")))
    if spans_key is None and discontinuous is Discontinuous.PARTS:
        raise ConfigError(
            "--discontinuous parts keeps parts in a group of doc.spans. Name it: --spans-key sc."
        )
    if spans_key is None and tags is not None and len(tags) > 1:
        raise ConfigError(
            f"--tag-column {tag_column} names several levels, whose spans may overlap. Name the "
            "group of doc.spans for them: --spans-key sc. Or give one column."
        )
    columns = ReadOptions(
        scheme=Scheme(scheme), separator=separator.value,
        word_column="auto" if word_column is None else word_column,
        tag_column=None if no_entities else "auto" if tags is None else tags,
        has_levels=spans_key is not None, pos_column=pos_column,
        chunk_column=chunk_column, n_sents=n_sents, on_bad_word=on_bad_word.value,
    )  # fmt: skip
    names = tuple(name.strip() for name in (tag_names or "").split(",") if name.strip())
    check_rows_file(lost)
    reading = Reading(source, form, encoding, skip_bad, lost)
    options = FormatOptions(columns, names, field, predictions or to != _SPACY, reading.bad.append)
    if to != _SPACY:
        refuse_existing(output, force)
        to_format(reading, options, output, Export(to, model, spans_key, discontinuous))
    elif model is not None:
        raise ConfigError("--model annotates texts for --to. Add --to and the format to write.")
    else:
        making = NewDocs(
            spacing, lang, tokenizer, spans_key, chunks_key, discontinuous, skip_empty, accept_loss
        )
        to_docs(reading, options, output, making)
