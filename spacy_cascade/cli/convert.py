"""The command `spacy cascade convert`: column files to a `.spacy` file."""

import warnings
from enum import Enum
from pathlib import Path
from typing import Annotated

from ..corpora.columns import ReadOptions
from ..corpora.docs import CHUNKS_KEY, SUFFIXES, ConversionSummary, convert
from ..corpora.spacing import Spacing
from ..corpora.tags import Scheme
from .options import argument, option, valid_text
from .output import counted, print_good, print_info, print_warning, reports_errors

_LISTED = 10


# Enums, because older releases of Typer do not support Literal.
class Separator(str, Enum):
    AUTO = "auto"
    TAB = "tab"
    SPACE = "space"


class OnBadWord(str, Enum):
    ERROR = "error"
    REPLACE = "replace"


@reports_errors
def convert_command(
    source: Annotated[
        Path, argument("INPUT", "Column file, or a folder whose files end in " + " ".join(SUFFIXES))
    ],
    output: Annotated[Path, argument("OUTPUT.spacy", "File to write")],
    scheme: Annotated[
        Scheme, option("Scheme of the tags; bilou is also called BILUO, IOBES and BIOES")
    ] = Scheme.AUTO,
    separator: Annotated[
        Separator, option("Separator of the columns; auto is a tab if any line has one")
    ] = Separator.AUTO,
    word_column: Annotated[int, option("Column of the words: 0 is the first, -1 the last")] = 0,
    tag_column: Annotated[int, option("Column of the entity tags")] = -1,
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
    lang: Annotated[str, option("Language code, for natural spacing", "--lang", "-l")] = "en",
    on_bad_word: Annotated[
        OnBadWord, option("Stop at words that are empty, whitespace or not UTF-8, or replace them")
    ] = OnBadWord.ERROR,
) -> None:
    """
    Convert column files (CoNLL, IOB, BILOU) to training data.

    Each line has one word, followed by its tags in columns that tabs or spaces separate. A
    blank line ends a sentence. A line -DOCSTART- or ###MEDLINE:<id> may start a document. Words
    are not tokenized any further.

    Column files do not say which words had a space between them. The command restores that by
    rules, so that a pipeline is trained on text as it will be used on: ( IL-2 ) . becomes (IL-2).
    A sentence that does not end in a mark, as headings do not, gets a line break, which is a token
    of its own. Words never change. spaCy's own reader then lets the pipeline tokenize the text:
    debug-data says which tokenizer suits the corpus.

    A word tagged O is outside of all entities. A word tagged - or ? is not annotated: training
    assumes neither that it is in an entity nor that it is outside. Tags without a type (B, I, O)
    get the label ENT.

    spaCy cannot use words that are empty, only whitespace, or not UTF-8. With
    --on-bad-word replace, the command puts U+FFFD in their place and lists them.
    """
    options = ReadOptions(
        scheme=scheme, separator=separator.value, word_column=word_column,
        tag_column=None if no_entities else tag_column, pos_column=pos_column,
        chunk_column=chunk_column, n_sents=n_sents, on_bad_word=on_bad_word.value,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", UserWarning)
        summary = convert(
            source, output, options, spacing=spacing, lang=lang, spans_key=spans_key,
            chunks_key=chunks_key, show_progress=True,
        )  # fmt: skip
    for warning in noted:
        print_warning(str(warning.message), to_stderr=True)
    if scheme == Scheme.AUTO and summary.schemes:
        found = ", ".join(sorted(found.value for found in summary.schemes))
        print_info(f"Tags read as {found}")
    _print_spacing(summary, spacing)
    _print_summary(summary, output)


def _print_spacing(summary: ConversionSummary, wanted: Spacing) -> None:
    style = summary.style
    if summary.spacing != wanted:
        print_warning(
            "Spaces are not restored: the words are pieces of words, such as ##ing. Training takes "
            "them as tokens."
        )
    elif wanted != Spacing.WORDS:
        inside = " ".join(sorted({place[0] for place in style.split_off}))
        joined = f" The corpus splits words at {inside}, so these are joined." if inside else ""
        print_info(f"Spaces restored as in running text.{joined} To keep words: --spacing words")
        if summary.line_breaks:
            n = counted(summary.line_breaks, "sentence")
            print_info(
                f"Line breaks follow {n} without a final mark. Without them: --spacing one-line"
            )
    if summary.spacing != Spacing.WORDS and style.escaped:
        words = counted(style.escaped, "word stands for a mark", "words stand for marks")
        print_warning(
            f"{words}, such as -LRB- or ``. Raw text has the marks: replace the words before "
            "training."
        )


def _print_summary(summary: ConversionSummary, output: Path) -> None:
    if summary.replaced:
        for word in summary.replaced[:_LISTED]:
            print_warning(word, to_stderr=True)
        words = counted(len(summary.replaced), "word")
        print_warning(f"Replaced {words} that spaCy cannot use with U+FFFD", to_stderr=True)
    labels = [f"{label} {n}" for label, n in summary.entities.most_common(_LISTED)]
    if len(summary.entities) > _LISTED:
        labels.append("…")
    parts = [
        counted(summary.documents, "document"),
        counted(summary.sentences, "sentence"),
        counted(summary.words, "word"),
        counted(summary.entities.total(), "entity", "entities")
        + (f" ({', '.join(labels)})" if labels else ""),
    ]
    if summary.missing:
        parts.append(f"{counted(summary.missing, 'word')} not annotated")
    print_good(f"{', '.join(parts)} -> {output}")
