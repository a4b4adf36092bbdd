"""Any annotation, through any format that can be written: it is there, or `--lost` has a row.

A format is tested by being registered. Places are counted in characters that are no white space,
for formats of words restore the spaces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_cascade.errors import CorpusError
from spacy_cascade.pipeline.spans.left_out import LeftOutSpan
from spacy_cascade.pipeline.spans.parts import annotations_of
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.converting import Export, NewDocs, Reading, to_docs, to_format
from spacy_cascade.tools.formats.discontinuous import Discontinuous
from spacy_cascade.tools.formats.exchange.base import Format, FormatOptions
from spacy_cascade.tools.formats.exchange.registry import AUTO, format_named, formats
from spacy_cascade.tools.formats.spacing import Spacing
from spacy_cascade.tools.formats.tags import Scheme

ALPHABET = "ab éß漢กั😀-/.,|\t\n\u2028\u00a0<&\"'[({"
LABELS = ("protein", "cell type", "Größe", "!protein", "B-x")
WRITERS = [name for name, one in formats().items() if type(one).write is not Format.write]

Pairs = tuple[tuple[int, int], ...]


class Annotation(NamedTuple):
    """document: from 0. pairs: characters of each part that are no white space."""

    document: int
    pairs: Pairs
    text: str
    label: str


def plain(text: str) -> str:
    return "".join(text.split())


def annotation(document: int, text: str, parts: Pairs, label: str) -> Annotation:
    """With the white space left out, and what has nothing else."""
    pairs = ((len(plain(text[:start])), len(plain(text[:end]))) for start, end in parts)
    own = plain("".join(text[start:end] for start, end in parts))
    return Annotation(document, tuple(pair for pair in pairs if pair[0] < pair[1]), own, label)


@st.composite
def annotated_texts(draw: st.DrawFn) -> tuple[str, list[tuple[Pairs, str]]]:
    """A text with spans that overlap, cut tokens, have several parts or only white space."""
    text = draw(st.text(ALPHABET, min_size=1, max_size=25).filter(str.strip))
    spans = []
    for _ in range(draw(st.integers(0, 5))):
        n_places = draw(st.sampled_from([2, 2, 2, 4, 6]))
        places = st.lists(st.integers(0, len(text)), min_size=n_places, max_size=n_places)
        found = sorted(draw(places))
        pairs = tuple(zip(found[::2], found[1::2], strict=True))
        spans.append((pairs, draw(st.sampled_from(LABELS))))
    return text, spans


Texts = list[tuple[str, list[tuple[Pairs, str]]]]


def write_bioc(path: Path, texts: Texts) -> None:
    """A file that can say all this, written without the package."""
    documents = []
    for number, (text, spans) in enumerate(texts):
        found = [
            {
                "id": f"T{i}", "infons": {"type": label},
                "text": " ".join(text[start:end] for start, end in parts),
                "locations": [{"offset": start, "length": end - start} for start, end in parts],
            }
            for i, (parts, label) in enumerate(spans)
        ]  # fmt: skip
        passage = {"offset": 0, "infons": {}, "text": text, "annotations": found, "relations": []}
        documents.append({"id": f"d{number}", "infons": {}, "passages": [passage]})
    path.write_text(json.dumps({"source": "", "documents": documents}))


def read(path: Path, form: str, output: Path, key: str | None) -> list[LeftOutSpan]:
    """Convert to Docs with all that these can have; what was lost."""
    lost, columns = path.parent / "lost.jsonl", ReadOptions(scheme=Scheme.IOB2)
    if form == "columns":
        n_levels = path.read_text().split("\n")[0].count("\t")
        columns = ReadOptions(Scheme.IOB2, "tab", 0, tuple(range(1, n_levels + 1)))
    choice = Discontinuous.DROP if key is None else Discontinuous.PARTS
    making = NewDocs(
        Spacing.NATURAL, "xx", None, key, "chunks", choice, skip_empty=False, accept_loss=True
    )
    options = FormatOptions(columns, predictions=True)
    to_docs(Reading(path, form, None, False, lost), options, output, making)
    return rows_in(lost)


def docs_in(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def rows_in(path: Path) -> list[LeftOutSpan]:
    lines = path.read_text().split("\n")  # A text may have other line separators.
    return [LeftOutSpan(**json.loads(line)) for line in lines if line]


def annotations_in(docs: list[Doc], key: str | None) -> set[Annotation]:
    return {
        annotation(number, doc.text, tuple((p.start_char, p.end_char) for p in parts), p.label_)
        for number, doc in enumerate(docs)
        for parts in annotations_of(doc.ents if key is None else doc.spans[key])
        for p in parts[:1]
    }


def check(before: set[Annotation], after: set[Annotation], lost: list[LeftOutSpan]) -> None:
    """Each annotation is there, or has a row of its own; and nothing is new."""
    assert after <= before
    gone = Counter((one.text, one.label) for one in before - after)
    listed = Counter((plain(row.text), row.label) for row in lost)
    assert gone <= listed, (gone, lost)
    assert all(row.reason for row in lost)


@pytest.fixture(scope="module", autouse=True)
def one_pipeline() -> Iterator[None]:
    """To make a tokenizer takes longer than all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spacy, "blank", cache(spacy.blank))
        yield


def check_through(name: str, key: str | None, texts: Texts) -> None:
    """Texts of a file become Docs, go to a format, and become Docs again."""
    with TemporaryDirectory() as made:
        folder, writer = Path(made), format_named(name)
        given, first, out, second = (folder / each for each in ("in", "a.spacy", "out", "b.spacy"))
        write_bioc(given, texts)
        spans = {
            annotation(number, text, parts, label)
            for number, (text, found) in enumerate(texts)
            for parts, label in found
        }
        lost = read(given, "bioc-json", first, key)
        there = annotations_in(docs_in(first), key)
        check(spans, there, lost)
        export = Export(name, None, key, Discontinuous.DROP)
        reading = Reading(first, AUTO, None, False, folder / "left.jsonl")
        try:
            to_format(reading, FormatOptions(), out, export)
        except CorpusError as error:  # All or nothing: token lists have no levels.
            is_refused = name == "huggingface" and "overlaps another span" in str(error)
            if is_refused:
                return
            raise
        lost = rows_in(folder / "left.jsonl")
        lost += read(out, name, second, key)
        written = {one._replace(label=writer.written_label(one.label)) for one in there}
        listed = [one._replace(label=writer.written_label(one.label)) for one in lost]
        check(written, annotations_in(docs_in(second), key), listed)


@pytest.mark.parametrize("key", [None, "sc"])
@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=8, deadline=None)
@given(texts=st.lists(annotated_texts(), min_size=2, max_size=5))
def test_each_span_is_there_or_is_listed(name: str, key: str | None, texts: Texts) -> None:
    check_through(name, key, texts)
