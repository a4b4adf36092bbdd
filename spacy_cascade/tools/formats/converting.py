"""What `convert` does: annotated texts and words to Docs, and entities to other formats."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ...cli.output import print_info, print_warning
from ...errors import ConfigError, CorpusError
from ...files import replace_file
from ...pipeline.readers import read_docs
from ...pipeline.spans.confidences import confidence_of
from ...pipeline.spans.left_out import PARTS, LeftOutSpan, left_out_span
from ...text_sources import DOCS, read_texts
from ..tokenizers.lost_spans import keep_lost
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
    write_lost,
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

    skip_bad: whether records that cannot be read are left out; else they are an error. lost: file
    for the spans that are left out.
    """

    path: Path
    form: str
    encoding: str | None
    skip_bad: bool
    lost: Path | None = None
    bad: list[CorpusError] = field(default_factory=list)

    def sources(self) -> tuple[AnyFormat, list[Source]]:
        """The format, and the files to read."""
        return find_sources(self.path, self.form, self.encoding)

    def check(self, bad_spans: int = 0) -> None:
        """Tell the errors; raises `CorpusError` where they are not to be skipped."""
        if not self.skip_bad:
            check_none(self.bad)
        print_bad(self.bad, bad_spans)

    def write_lost(self, spans: Iterable[LeftOutSpan]) -> None:
        """Write what is left out to the file for it, with what could not be read."""
        bad = (LeftOutSpan("", None, None, "", "", str(error)) for error in self.bad)
        write_lost(self.lost, [*spans, *bad])


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

    def keeps(self, lost: LostSpan) -> bool:
        """Whether the group of spans has one that is no entity."""
        of_group = {Misfit.OVERLAPS} if self.spans_key is not None else set()
        if self.discontinuous is Discontinuous.PARTS:
            of_group.add(Misfit.PARTS)
        return lost.misfit in of_group


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
    docs, pieces, gone = DocBin(store_user_data=True), list[Piece](), list[LeftOutSpan]()
    for text, one in with_progress(placed, output.name):
        of_doc = [_row_of(each) for each in one.lost if not making.keeps(each)]
        keep_lost(one.doc, of_doc)
        gone += of_doc
        docs.add(one.doc)
        pieces.extend(_piece_of(text))
    reading.check(made.bad_spans)
    reading.write_lost(gone)
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
    places = [f"{path}:{one.sentences[0].line}" for path, found in by_source for one in found]
    reading.write_lost(one._replace(document=places[int(one.document) - 1]) for one in summary.lost)
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


def _row_of(lost: LostSpan) -> LeftOutSpan:
    """Without white space at its ends where tokens may express it."""
    text, mention = lost.text, lost.mention
    _, pairs = misfit_of(text.text, mention)
    where, parts = text.name or text.where, pairs or mention.parts
    return left_out_span(where, text.text, parts, mention.label, lost.misfit.value)


def to_format(reading: Reading, options: FormatOptions, output: Path, export: Export) -> None:
    """Write the spans of texts, or those that a pipeline finds there, in another format."""
    writer = format_named(export.to)
    left_out, lost = Counter[str](), list[LeftOutSpan]()
    if export.model is None:
        texts = list(_annotated(reading, options, export, left_out))
    else:
        nlp = spacy.load(export.model)
        unread = _unannotated(reading, options, export, nlp, left_out)
        texts = list(with_progress(_predicted(nlp, unread, export), output.name))
    reading.check(sum(text.bad_spans for text in texts))
    if not texts:
        raise ConfigError(f"{reading.path} has no texts. Check the path.")
    # A group of Docs has parts because somebody wanted them; a file just has them.
    is_of_docs = export.model is not None or reading.path.suffix == DOCS
    are_dropped = export.discontinuous is Discontinuous.DROP and not is_of_docs
    n_discontinuous = 0 if are_dropped else sum(number_of(text.mentions) for text in texts)
    keeps_parts = writer.keeps_parts and not are_dropped
    texts = [_as_writable(text, export.discontinuous, keeps_parts, lost) for text in texts]
    reading.write_lost(lost)
    writer.write(texts, output)
    left_out.update(f"spans {one.reason}" for one in lost if are_dropped or one.reason != PARTS)
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
            yield record


def _as_writable(
    text: AnnotatedText, choice: Discontinuous, keeps_parts: bool, lost: list[LeftOutSpan]
) -> AnnotatedText:
    """The text with spans that can be written; the others are added to those that are lost."""
    kept = []
    for mention in text.mentions:
        misfit, _ = misfit_of(text.text, mention)
        if misfit is Misfit.PARTS and (keeps_parts or choice is not Discontinuous.DROP):
            misfit = None
        if misfit is None:
            kept.append(mention)
        else:
            lost.append(_row_of(LostSpan(misfit, mention, text)))
    plain = replace(text, mentions=tuple(kept))
    return replace(text, mentions=tuple(writable(plain, choice, keeps_parts=keeps_parts)))


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
