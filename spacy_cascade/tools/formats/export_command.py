"""The command `spacy cascade export`: entities to the files of annotation tools, with scores."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ...cli.options import Force, argument, option, pipeline_at, refuse_existing
from ...cli.output import counted, print_good, print_warning, reports_errors
from ...errors import ConfigError
from ...pipeline.readers import read_docs
from ...pipeline.spans.confidences import confidence_of
from ...text_sources import read_texts
from .annotated import NO_TEXT
from .converted import print_left_out
from .docs import with_progress
from .exchange.base import AnyFormat, FormatOptions, TextFormat
from .exchange.columns import Columns
from .exchange.registry import AUTO, find_sources, format_named
from .placing import misfit_of, text_of
from .texts import AnnotatedText, LeftOut

_DOCS = ".spacy"


@reports_errors
def export_command(
    source: Annotated[
        Path, argument("INPUT", ".spacy file; or texts in a format that convert reads")
    ],
    output: Annotated[Path, argument("OUTPUT", "File to write; a folder for brat")],
    to: Annotated[
        str, option("Format to write, such as prodigy, doccano, label-studio, brat, bioc-json")
    ],
    model: Annotated[
        Path | None,
        option(
            "Trained pipeline that annotates the texts of INPUT first, which may then also be "
            "plain text with a text a line",
            "--model", "-m", callback=pipeline_at,
        ),
    ] = None,
    form: Annotated[
        str, option("Format of INPUT; auto recognises it by the content", "--format", "-f")
    ] = AUTO,
    field: Annotated[str, option("Label Studio: the field with the text")] = "text",
    force: Force = False,
) -> None:  # fmt: skip
    """
    Write entities and their confidences in the format of an annotation tool.

    Without --model these are the entities of INPUT, such as a .spacy file of annotated documents.
    With --model a pipeline annotates the texts of INPUT, and the names of documents stay.

    docs/formats.md says where each format has the scores. The other way round: convert.
    """
    refuse_existing(output, force)
    writer = format_named(to)
    left_out: Counter[str] = Counter()
    if model is None:
        texts = list(_annotated(source, form, field, left_out))
    else:
        nlp = spacy.load(model)
        unread = _unannotated(source, form, field, nlp, left_out)
        texts = list(with_progress(_predicted(nlp, unread), output.name))
    if not texts:
        raise ConfigError(f"{source} has no texts. Check the path.")
    writer.write(texts, output)
    print_left_out(left_out)
    _print_renamed(writer, {mention.label for text in texts for mention in text.mentions})
    mentions = [mention for text in texts for mention in text.mentions]
    n_scored = sum(mention.score is not None for mention in mentions)
    print_good(
        f"{counted(len(texts), 'document')}, {counted(len(mentions), 'entity', 'entities')}, "
        f"{n_scored:,} of them with a score, as {writer.name} -> {output}"
    )


def _print_renamed(writer: AnyFormat, labels: set[str]) -> None:
    written: dict[str, list[str]] = {}
    for label in sorted(labels):
        written.setdefault(writer.written_label(label), []).append(label)
    for name, given in written.items():
        if given != [name]:
            listed = " and ".join(map(repr, given))
            verb = "is" if len(given) == 1 else "are"
            print_warning(f"The format {writer.name}: {listed} {verb} written as {name!r}")


def _annotated(
    path: Path, form: str, field: str, left_out: Counter[str]
) -> Iterator[AnnotatedText]:
    """The texts of a file with the entities that it has."""
    if path.suffix == _DOCS:
        for doc in read_docs(path, spacy.blank("xx").vocab):
            yield text_of(doc, confidence_of)
        return
    reader, sources = find_sources(path, form)
    if not isinstance(reader, TextFormat):
        raise ConfigError(
            f"{path} has words, but no text. Make a .spacy file of it with `spacy cascade "
            "convert` first; or give a pipeline with --model to annotate texts."
        )
    options = FormatOptions(field=field, predictions=True)
    records = (record for source in sources for record in reader.read(source, options))
    for record in records:
        if isinstance(record, LeftOut):
            left_out[record.reason] += 1
        else:
            yield _with_plain_spans(record, left_out)


def _with_plain_spans(text: AnnotatedText, left_out: Counter[str]) -> AnnotatedText:
    """The text without spans that are no one piece of it; these are counted."""
    kept = []
    for mention in text.mentions:
        misfit, _ = misfit_of(text.text, mention)
        if misfit is None:
            kept.append(mention)
        else:
            left_out[f"spans {misfit.value}"] += 1
    return replace(text, mentions=tuple(kept))


def _unannotated(
    path: Path, form: str, field: str, nlp: Language, left_out: Counter[str]
) -> Iterator[AnnotatedText]:
    """The texts of a file for a pipeline to annotate."""
    if path.suffix == _DOCS:
        for doc in read_docs(path, nlp.vocab):
            yield AnnotatedText(doc.text)
        return
    if path.is_file() and isinstance(find_sources(path, form)[0], Columns):
        for line in read_texts(path, field):
            yield AnnotatedText(line.strip())
        return
    for text in _annotated(path, form, field, left_out):
        if text.text.strip():
            yield text
        else:
            left_out[NO_TEXT] += 1


def _predicted(nlp: Language, texts: Iterable[AnnotatedText]) -> Iterator[AnnotatedText]:
    """The texts with the entities that the pipeline finds; their names stay."""
    pairs: Iterator[tuple[Doc, AnnotatedText]] = nlp.pipe(
        ((text.text, text) for text in texts), as_tuples=True
    )
    for doc, text in pairs:
        yield text_of(doc, confidence_of, name=text.name, where=text.where)
