"""What `convert` does: annotated texts and words to Docs, and entities to other formats."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ...cli.output import print_info, print_warning
from ...errors import ConfigError, CorpusError
from ...files import replace_file
from ...pipeline.readers import read_docs
from ...pipeline.spans.confidences import confidence_of
from ...text_sources import DOCS, read_texts
from ..tokenizers.lost_spans import Lost, keep_lost
from ..words.splitting import TokenizerChoice
from .annotated import NO_TEXT, TextSummary, check_any, place_texts
from .bad_records import check_none
from .columns import Document
from .contradictions import Piece
from .converted import (
    AS_ONE,
    print_bad,
    print_contradictions,
    print_discontinuous,
    print_exported,
    print_left_out,
    print_texts,
    print_words,
    print_written,
    report_lost,
)
from .discontinuous import Discontinuous, number_of, writable
from .docs import check_suffix, with_progress, write_documents
from .exchange.base import AnyFormat, FormatOptions, TextFormat, WordFormat
from .exchange.columns import Columns
from .exchange.registry import AUTO, find_sources, format_named
from .exchange.source import Source
from .placing import LostSpan, Misfit, misfit_of, text_of
from .spacing import Spacing
from .tags import Scheme
from .texts import AnnotatedText, LeftOut, Record, without_words


@dataclass(frozen=True)
class Reading:
    """What is read, in which format and encoding, and the errors of records on the way.

    skip_bad: whether records that cannot be read are left out; else they are an error.
    """

    path: Path
    form: str
    encoding: str | None
    skip_bad: bool
    bad: list[CorpusError] = field(default_factory=list)

    def sources(self) -> tuple[AnyFormat, list[Source]]:
        """The format, and the files to read."""
        return find_sources(self.path, self.form, self.encoding)

    def check(self, bad_spans: int = 0) -> None:
        """Tell the errors; raises `CorpusError` where they are not to be skipped."""
        if not self.skip_bad:
            check_none(self.bad)
        print_bad(self.bad, bad_spans)


@dataclass(frozen=True)
class NewDocs:
    """How Docs are made, by the options of `convert`."""

    spacing: Spacing
    lang: str
    tokenizer: str | None
    spans_key: str | None
    chunks_key: str
    discontinuous: Discontinuous
    skip_empty: bool
    accept_loss: bool


@dataclass(frozen=True)
class Export:
    """What is written for another tool, by the options of `convert`.

    to: name of the format. model: annotates the texts first. spans_key: of the group of spans to
    write, in place of entities.
    """

    to: str
    model: Path | None
    spans_key: str | None
    discontinuous: Discontinuous


def to_docs(reading: Reading, options: FormatOptions, output: Path, making: NewDocs) -> None:
    """Write a `.spacy` file to train on."""
    check_suffix(output)
    reader, sources = reading.sources()
    if reading.form == AUTO and reader.name != "columns":
        print_info(f"Read as {reader.name}")
    if isinstance(reader, TextFormat):
        records = (record for one in sources for record in reader.read(one, options))
        _texts_to_docs(records, reading, output, making)
    else:
        _words_to_docs(reader, sources, options, reading, output, making)


def _texts_to_docs(
    records: Iterable[Record], reading: Reading, output: Path, making: NewDocs
) -> None:
    """Each text becomes a Doc, with the spans that were lost noted beside them."""
    nlp = TokenizerChoice(making.lang, making.tokenizer).load()
    used = records if making.tokenizer is None else map(without_words, records)
    made = TextSummary()
    placed = place_texts(
        used, nlp.make_doc, nlp.vocab, made, spans_key=making.spans_key,
        discontinuous=making.discontinuous, skip_empty=making.skip_empty,
    )  # fmt: skip
    docs, pieces = DocBin(store_user_data=True), list[Piece]()
    for text, one in with_progress(placed, output.name):
        # Those that overlap are in the group, where there is one.
        gone = [
            each for each in one.lost if making.spans_key is None or each.misfit != Misfit.OVERLAPS
        ]
        keep_lost(one.doc, map(_noted, gone))
        docs.add(one.doc)
        pieces.extend(_piece_of(text))
    reading.check(made.bad_spans)
    check_any(made, output)
    print_texts(made)
    print_contradictions(pieces)
    report_lost(
        made, nlp, spans_key=making.spans_key, discontinuous=making.discontinuous,
        accept_loss=making.accept_loss,
    )  # fmt: skip
    replace_file(output, docs.to_bytes())
    print_written(made, output)


def _words_to_docs(
    reader: WordFormat,
    sources: Sequence[Source],
    options: FormatOptions,
    reading: Reading,
    output: Path,
    making: NewDocs,
) -> None:
    """Words become Docs with the spaces that are restored between them."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", UserWarning)
        by_source = [(one.path, reader.read(one, options)) for one in sources]
    for warning in noted:
        print_warning(str(warning.message), to_stderr=True)
    reading.check()
    documents = [document for _, found in by_source for document in found]
    if not documents:
        raise CorpusError(
            f"{reading.path} has no sentence that can be read, so nothing is written."
        )
    print_contradictions(piece for path, found in by_source for piece in pieces_in(path, found))
    summary = write_documents(
        documents, output, spacing=making.spacing, lang=making.lang, spans_key=making.spans_key,
        chunks_key=making.chunks_key,
    )  # fmt: skip
    if options.columns.scheme == Scheme.AUTO and summary.schemes:
        schemes = ", ".join(sorted(scheme.value for scheme in summary.schemes))
        print_info(f"Tags read as {schemes}")
    print_words(summary, making.spacing, output)


def pieces_in(path: Path, documents: Sequence[Document]) -> Iterator[Piece]:
    """The sentences of a file that are annotated as a whole."""
    for document in documents:
        for sentence in document.sentences:
            if not sentence.missing:
                spans = frozenset((span.start, span.end, span.label) for span in sentence.spans)
                yield Piece(f"{path}:{sentence.line}", " ".join(sentence.words), spans)


def _piece_of(text: AnnotatedText) -> Iterator[Piece]:
    if not (text.is_partial or text.bad_spans):
        spans = frozenset((one.start, one.end, one.label) for one in text.mentions)
        yield Piece(text.where, text.text, spans)


def _noted(lost: LostSpan) -> Lost:
    """Without white space at its ends where tokens may express it."""
    _, pairs = misfit_of(lost.text.text, lost.mention)
    parts = pairs or lost.mention.parts
    return Lost(parts[0][0], parts[-1][1], lost.mention.label, lost.misfit.value)


def to_format(reading: Reading, options: FormatOptions, output: Path, export: Export) -> None:
    """Write the spans of texts, or those that a pipeline finds there, in another format."""
    writer = format_named(export.to)
    left_out: Counter[str] = Counter()
    if export.model is None:
        texts = list(_annotated(reading, options, export, left_out))
    else:
        nlp = spacy.load(export.model)
        unread = _unannotated(reading, options, export, nlp, left_out)
        texts = list(with_progress(_predicted(nlp, unread, export), output.name))
    reading.check(sum(text.bad_spans for text in texts))
    if not texts:
        raise ConfigError(f"{reading.path} has no texts. Check the path.")
    n_discontinuous = sum(number_of(text.mentions) for text in texts)
    writable_of = partial(writable, choice=export.discontinuous, keeps_parts=writer.keeps_parts)
    texts = [replace(text, mentions=tuple(writable_of(text))) for text in texts]
    writer.write(texts, output)
    print_left_out(left_out)
    print_discontinuous(n_discontinuous, _as_written(writer, export.discontinuous))
    print_exported(writer, texts, output)


def _as_written(writer: AnyFormat, choice: Discontinuous) -> str:
    """How discontinuous spans are written."""
    if writer.keeps_parts and choice is not Discontinuous.COVERING:
        return "each as one annotation of several parts"
    return {
        Discontinuous.DROP: f"left out, as {writer.name} has none. See --discontinuous",
        Discontinuous.COVERING: AS_ONE,
        Discontinuous.PARTS: f"each part as a span, as {writer.name} has no discontinuous ones",
    }[choice]


def _annotated(
    reading: Reading, options: FormatOptions, export: Export, left_out: Counter[str]
) -> Iterator[AnnotatedText]:
    """The texts of a file with the spans that it has."""
    if reading.path.suffix == DOCS:
        groups = set[str]()
        docs = read_docs(reading.path, spacy.blank("xx").vocab)
        for number, doc in enumerate(docs, start=1):
            groups.update(doc.spans)
            where = f"{reading.path}, document {number}"
            yield text_of(doc, confidence_of, spans_key=export.spans_key, where=where)
        _check_group(groups, export.spans_key, reading.path)
        return
    reader, sources = reading.sources()
    if not isinstance(reader, TextFormat):
        raise ConfigError(
            f"{reading.path} has words, but no text. Make a .spacy file of it with `spacy cascade "
            "convert` first; or give a pipeline with --model to annotate texts."
        )
    records = (record for source in sources for record in reader.read(source, options))
    for record in records:
        if isinstance(record, LeftOut):
            left_out[record.reason] += 1
        else:
            yield _with_plain_spans(record, export.discontinuous, left_out)


def _with_plain_spans(
    text: AnnotatedText, choice: Discontinuous, left_out: Counter[str]
) -> AnnotatedText:
    """The text without spans that cannot be written; these are counted."""
    kept = []
    for mention in text.mentions:
        misfit, _ = misfit_of(text.text, mention)
        are_parts = misfit is Misfit.PARTS and choice is not Discontinuous.DROP
        if misfit is None or are_parts:
            kept.append(mention)
        else:
            left_out[f"spans {misfit.value}"] += 1
    return replace(text, mentions=tuple(kept))


def _unannotated(
    reading: Reading,
    options: FormatOptions,
    export: Export,
    nlp: Language,
    left_out: Counter[str],
) -> Iterator[AnnotatedText]:
    """The texts of a file for a pipeline to annotate."""
    path = reading.path
    if path.suffix == DOCS:
        for doc in read_docs(path, nlp.vocab):
            yield AnnotatedText(doc.text)
        return
    if path.is_file() and isinstance(reading.sources()[0], Columns):
        for line in read_texts(path, options.field):
            yield AnnotatedText(line.strip())
        return
    for text in _annotated(reading, options, export, left_out):
        if text.text.strip():
            yield text
        else:
            left_out[NO_TEXT] += 1


def _predicted(
    nlp: Language, texts: Iterable[AnnotatedText], export: Export
) -> Iterator[AnnotatedText]:
    """The texts with the spans that the pipeline finds; their names stay."""
    pairs: Iterator[tuple[Doc, AnnotatedText]] = nlp.pipe(
        ((text.text, text) for text in texts), as_tuples=True
    )
    key, groups = export.spans_key, set[str]()
    for doc, text in pairs:
        groups.update(doc.spans)
        yield text_of(doc, confidence_of, spans_key=key, name=text.name, where=text.where)
    _check_group(groups, key, export.model)


def _check_group(groups: Set[str], key: str | None, source: object) -> None:
    """Raise `ConfigError` where the group with the spans to write is in none of the Docs."""
    if key is not None and key not in groups:
        known = f"The keys are: {', '.join(sorted(groups))}." if groups else "There is no group."
        raise ConfigError(
            f"No document of {source} has doc.spans[{key!r}]. {known} Change --spans-key, or leave "
            "it out to write entities."
        )
