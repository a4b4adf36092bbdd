"""Turns sentences of column files into spaCy `Doc`s and `.spacy` files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab
from tqdm import tqdm

from ...errors import CorpusError
from ...files import replace_file
from ...pipeline.spans.left_out import OVERLAPS, LeftOutSpan, left_out_span
from ..tokenizers.lost_spans import keep_lost, lost_spans
from .columns import Document, Sentence
from .placing import set_entities
from .spacing import Spacer, Spacing, Style, find_style, is_heading
from .tags import LabelledSpan, Scheme

SUFFIXES = (".iob", ".iob2", ".conll", ".tsv", ".txt", ".bio", ".bilou")
CHUNKS_KEY = "chunks"
Item = TypeVar("Item")
_DELAY_SECONDS = 2
_BREAK, _TAG_OF_BREAK = "\n", "_SP"
"""The token of a line break, and its part of speech, as in spaCy."""


@dataclass(slots=True)
class ConversionSummary:
    """Counts of what a conversion wrote.

    missing: number of words without annotation. entities: by label. overlapping: number of spans
    that are no entities, because a longer one overlaps them. lost: those that are nowhere; their
    documents are numbers. replaced: the words that were replaced
    with U+FFFD. schemes: those of the files. spacing: the one that the Docs have, which is not the
    one asked for if that could not be restored. style: of the words. line_breaks: number of
    sentences that one follows.
    """

    documents: int = 0
    sentences: int = 0
    words: int = 0
    missing: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    overlapping: int = 0
    lost: list[LeftOutSpan] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    schemes: set[Scheme] = field(default_factory=set)
    spacing: Spacing = Spacing.WORDS
    style: Style = field(default_factory=Style)
    line_breaks: int = 0

    def add(self, document: Document, doc: Doc) -> None:
        """Count a document and its Doc."""
        self.documents += 1
        self.entities.update(span.label_ for span in doc.ents)
        self.missing += sum(not token.ent_iob_ and token.text != _BREAK for token in doc)
        self.line_breaks += sum(token.text == _BREAK for token in doc)
        if document.scheme is not None:
            self.schemes.add(document.scheme)
        for sentence in document.sentences:
            self.sentences += 1
            self.words += len(sentence.words)
            self.overlapping += len(sentence.spans)
            self.replaced.extend(sentence.replaced)
        self.overlapping -= len(doc.ents)
        self.lost.extend(lost_spans(doc, self.documents))


def files_in(path: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """`path` itself, or all files of a folder with one of the suffixes, sorted by name.

    Folders inside the folder are not searched. Raises `CorpusError` if there is no such file.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise CorpusError(f"{path} does not exist. Give a file, or a folder of them.")
    files = (file for file in path.iterdir() if file.is_file())
    chosen = sorted(file for file in files if file.suffix.lower() in suffixes)
    if not chosen:
        raise CorpusError(
            f"The folder {path} has no files to read. Name one file, or give the files one of the "
            f"suffixes {' '.join(suffixes)}."
        )
    return chosen


def check_suffix(output: Path) -> None:
    """Raise `CorpusError` unless the name of the file ends in `.spacy`."""
    if output.suffix != ".spacy":
        raise CorpusError(f"{output} does not end in .spacy. Give the output file that suffix.")


def to_docs(
    documents: Iterable[Document],
    vocab: Vocab,
    *,
    spacing: Spacing = Spacing.WORDS,
    style: Style | None = None,
    lang: str = "en",
    spans_key: str | None = None,
    chunks_key: str = CHUNKS_KEY,
) -> Iterator[Doc]:
    """Make one `Doc` from each document, with sentence starts and entities.

    spacing: of the text; a line break is a token of its own. With the spacing of words the spaces
    between them are unknown, so training and evaluation take the words as they are. style: of the
    words; lang: spaCy's code of their language.

    Entities are in `doc.ents`: of spans that overlap the longest, the first of the same length.
    Words of the others that are in none are not annotated, and the spans are noted beside the Doc
    (`tokenizers.lost_spans`). With `spans_key` all spans are in `doc.spans[spans_key]`. If they
    were read, parts of speech are in `token.tag` and chunks in `doc.spans[chunks_key]`.

    Raises `CorpusError` if both kinds of spans would have the same key.
    """
    for document in documents:
        spacer = Spacer(style or Style(), lang)
        yield _to_doc(list(_lines(document, spacing, spacer)), vocab, spans_key, chunks_key)


def style_of(documents: Iterable[Document], spacing: Spacing) -> tuple[Style, Spacing]:
    """How words are written, and the spacing they can have: pieces of words keep that of words."""
    style = find_style(sentence.words for document in documents for sentence in document.sentences)
    return style, Spacing.WORDS if style.is_pieces else spacing


@dataclass(slots=True)
class _Line:
    """A sentence with the spaces after its words, if known, and after a line break that follows."""

    sentence: Sentence
    spaces: list[bool]
    ends_line: bool = False

    def __len__(self) -> int:
        return len(self.sentence.words) + self.ends_line

    @property
    def words(self) -> list[str]:
        return [*self.sentence.words, *[_BREAK] * self.ends_line]

    @property
    def tags(self) -> list[str]:
        tags = self.sentence.pos
        return [""] * len(self) if tags is None else [*tags, *[_TAG_OF_BREAK] * self.ends_line]

    @property
    def missing(self) -> Sequence[int]:
        """Words without annotation, and the line break after a sentence of such words."""
        missing = self.sentence.missing
        return range(len(self)) if len(missing) == len(self.sentence.words) else missing


def _lines(document: Document, spacing: Spacing, spacer: Spacer) -> Iterator[_Line]:
    for number, sentence in enumerate(document.sentences, start=1):
        if spacing == Spacing.WORDS:
            yield _Line(sentence, [])
            continue
        *spaces, last = spacer.spaces(sentence.words)
        is_last = number == len(document.sentences)
        ends_line = spacing == Spacing.NATURAL and not is_last and is_heading(sentence.words)
        after = [False, False] if ends_line else [last and not is_last]
        yield _Line(sentence, [*spaces, *after], ends_line)


def _to_doc(lines: Sequence[_Line], vocab: Vocab, spans_key: str | None, chunks_key: str) -> Doc:
    words = [word for line in lines for word in line.words]
    spaces = [space for line in lines for space in line.spaces]
    tags = [tag for line in lines for tag in line.tags]
    starts: list[bool | int | None] = [i == 0 for line in lines for i in range(len(line))]
    doc = Doc(
        vocab,
        words=words,
        spaces=spaces or None,
        # Empty tags would count as annotation, so they are left out.
        tags=tags if any(line.sentence.pos for line in lines) else None,
        sent_starts=starts,
    )
    placed = list(zip(accumulate(map(len, lines), initial=0), lines, strict=False))
    spans = [_span(doc, at, span) for at, line in placed for span in line.sentence.spans]
    open_words = {at + i for at, line in placed for i in line.missing}
    open_words.update(i for span in spans for i in range(span.start, span.end))
    entities = filter_spans(spans)
    set_entities(doc, entities, open_words)
    if spans_key is not None:
        doc.spans[spans_key] = spans
    else:
        keep_lost(doc, _without(spans, entities))
    if any(line.sentence.chunks is not None for line in lines):
        if chunks_key == spans_key:
            raise CorpusError(
                f"Entities and chunks cannot both be stored in doc.spans[{chunks_key!r}]. "
                "Change --spans-key or --chunks-key."
            )
        doc.spans[chunks_key] = [
            _span(doc, at, span) for at, line in placed for span in line.sentence.chunks or ()
        ]
    return doc


def _without(spans: Sequence[Span], entities: Sequence[Span]) -> Iterator[LeftOutSpan]:
    """The spans that are no entities; of equal ones the first is one."""
    left = Counter(entities)
    for span in spans:
        if left[span]:
            left[span] -= 1
        else:
            place = [(span.start_char, span.end_char)]
            yield left_out_span("", span.doc.text, place, span.label_, OVERLAPS)


def _span(doc: Doc, offset: int, span: LabelledSpan) -> Span:
    return Span(doc, offset + span.start, offset + span.end, label=span.label)


def write_documents(
    documents: Sequence[Document],
    output: Path,
    *,
    spacing: Spacing = Spacing.NATURAL,
    lang: str = "en",
    spans_key: str | None = None,
    chunks_key: str = CHUNKS_KEY,
) -> ConversionSummary:
    """Write documents of words to one `.spacy` file.

    spacing: of the text of the Docs. Natural spacing is restored by rules
    (`tools.formats.spacing`), in part by language; words that are pieces of words keep the spacing
    of words. Missing folders above `output` are created. `to_docs` says where the annotation goes.
    A progress bar is shown in a terminal after two seconds.

    Raises `CorpusError` if `output` does not end in `.spacy`; then nothing is written.
    """
    check_suffix(output)
    style, done = style_of(documents, spacing)
    summary = ConversionSummary(spacing=done, style=style)
    docs = to_docs(
        documents, spacy.blank("xx").vocab, spacing=done, style=style, lang=lang,
        spans_key=spans_key, chunks_key=chunks_key,
    )  # fmt: skip
    doc_bin = DocBin(store_user_data=True)
    pairs = zip(documents, docs, strict=True)
    for document, doc in with_progress(pairs, output.name, len(documents)):
        summary.add(document, doc)
        doc_bin.add(doc)
    replace_file(output, doc_bin.to_bytes())
    return summary


def with_progress(items: Iterable[Item], name: str, total: int | None = None) -> Iterable[Item]:
    """The items, with a progress bar in a terminal if they take more than two seconds."""
    # None shows a bar only if stderr is a terminal.
    shown: Iterable[Item] = tqdm(
        items, desc=name, total=total, unit=" documents", delay=_DELAY_SECONDS, disable=None,
        leave=False,
    )  # fmt: skip
    return shown
