"""The command `spacy cascade convert`: corpora in many formats to a `.spacy` file."""

import warnings
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ...cli.options import argument, option, valid_text
from ...cli.output import print_info, print_warning, reports_errors
from ...errors import CorpusError
from ...files import replace_file
from ..clustering.splitting import TokenizerChoice
from .annotated import check_any
from .bad_records import check_none
from .columns import ReadOptions
from .converted import print_bad, print_contradictions, print_texts, print_words, print_written
from .converting import convert_texts, pieces_in
from .docs import CHUNKS_KEY, check_suffix, write_documents
from .exchange.base import FormatOptions, TextFormat
from .exchange.registry import AUTO, find_sources
from .lost_spans_report import report_lost
from .spacing import Spacing
from .tags import Scheme, scheme_named
from .texts import without_words


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


def _tag_names(text: str | None) -> str | None:
    """A callback that reads a file with a name a line in place of names with commas."""
    if text is None or not Path(text).is_file():
        return text
    return ",".join(Path(text).read_text(encoding="utf-8").split())


@reports_errors
def convert_command(
    source: Annotated[Path, argument("INPUT", "File, or folder of files in one format")],
    output: Annotated[Path, argument("OUTPUT.spacy", "File to write")],
    form: Annotated[
        str, option("Format of INPUT; auto recognises it by the content", "--format", "-f")
    ] = AUTO,
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
        int | None,
        option("Column of the entity tags; default: the one with the most of them, else the last"),
    ] = None,
    no_entities: Annotated[bool, option("No column has entity tags", "--no-entities")] = False,
    pos_column: Annotated[int | None, option("Column to keep as token.tag")] = None,
    chunk_column: Annotated[int | None, option("Column of chunk tags for doc.spans")] = None,
    chunks_key: Annotated[str, option("Key of the chunks", callback=valid_text)] = CHUNKS_KEY,
    spans_key: Annotated[
        str | None, option("Additional key in doc.spans for the entities", callback=valid_text)
    ] = None,
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
    lang: Annotated[
        str, option("Language code, for natural spacing and the tokenizer", "--lang", "-l")
    ] = "en",
    tokenizer: Annotated[
        str | None,
        option(
            "Formats with text: registered tokenizer, pipeline, or training config (.cfg) that "
            "splits it. Default: the words of the file, else the tokenizer of the language"
        ),
    ] = None,
    field: Annotated[str, option("Label Studio: the field with the text")] = "text",
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
    skip_bad: Annotated[
        bool, option("Leave out records and spans that cannot be read, and list them", "--skip-bad")
    ] = False,
    skip_empty: Annotated[
        bool, option("Formats with text: leave out texts without a span", "--skip-empty")
    ] = False,
    accept_loss: Annotated[
        bool, option("Formats with text: go on where most spans are no entities", "--accept-loss")
    ] = False,
) -> None:
    """
    Convert an annotated corpus to training data.

    The formats, recognised by the content: column files (CoNLL, IOB, BILOU), JSONL of Prodigy and
    Doccano, JSON of Label Studio, token lists of Hugging Face, CoNLL-U, folders of BRAT, PubTator,
    and BioC in XML and JSON. docs/formats.md has a table.

    Spans that no tokens can express (inside tokens, overlapping, discontinuous) are counted and
    shown. Their words are not annotated then. So are texts that are rejected, ignored or cancelled.
    It is an error if they are more than half of all spans, unless --accept-loss is given.

    Records and spans that cannot be read are an error that names the first of them. --skip-bad
    leaves them out and lists each with its line.

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
    """
    columns = ReadOptions(
        scheme=Scheme(scheme), separator=separator.value,
        word_column="auto" if word_column is None else word_column,
        tag_column=None if no_entities else "auto" if tag_column is None else tag_column,
        pos_column=pos_column,
        chunk_column=chunk_column, n_sents=n_sents, on_bad_word=on_bad_word.value,
    )  # fmt: skip
    names = tuple(name.strip() for name in (tag_names or "").split(",") if name.strip())
    check_suffix(output)
    bad: list[CorpusError] = []
    options = FormatOptions(columns, names, field, predictions, bad.append)
    reader, sources = find_sources(source, form, encoding)
    if form == AUTO and reader.name != "columns":
        print_info(f"Read as {reader.name}")
    if isinstance(reader, TextFormat):
        nlp = TokenizerChoice(lang, tokenizer).load()
        records = (record for one in sources for record in reader.read(one, options))
        used = records if tokenizer is None else map(without_words, records)
        converted = convert_texts(used, nlp, output.name, spans_key, skip_empty)
        made = converted.summary
        if not skip_bad:
            check_none(bad)
        print_bad(bad, made.bad_spans)
        check_any(made, output)
        print_texts(made)
        print_contradictions(converted.pieces)
        report_lost(made, nlp, spans_key=spans_key, accept_loss=accept_loss)
        replace_file(output, converted.docs.to_bytes())
        print_written(made, output)
        return
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", UserWarning)
        by_source = [(one.path, reader.read(one, options)) for one in sources]
    for warning in noted:
        print_warning(str(warning.message), to_stderr=True)
    if not skip_bad:
        check_none(bad)
    print_bad(bad, 0)
    documents = [document for _, found in by_source for document in found]
    if not documents:
        raise CorpusError(f"{source} has no sentence that can be read, so nothing is written.")
    print_contradictions(piece for path, found in by_source for piece in pieces_in(path, found))
    summary = write_documents(
        documents, output, spacing=spacing, lang=lang, spans_key=spans_key, chunks_key=chunks_key,
    )  # fmt: skip
    if columns.scheme == Scheme.AUTO and summary.schemes:
        found = ", ".join(sorted(found.value for found in summary.schemes))
        print_info(f"Tags read as {found}")
    print_words(summary, spacing, output)
