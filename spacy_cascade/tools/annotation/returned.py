"""What came back from annotators, as examples to learn from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from spacy.language import Language
from spacy.training import Example

from ...errors import CorpusError
from ...pipeline.readers import examples_for, input_doc
from ..formats.annotated import annotated_only
from ..formats.bad_records import check_none
from ..formats.exchange.base import FormatOptions, TextFormat
from ..formats.exchange.registry import find_sources
from ..formats.placing import LostSpan, place
from ..formats.texts import AnnotatedText
from ..tokenizers.tokenizing import tokenize


@dataclass(frozen=True)
class Returned:
    """examples: to learn from. left_out: texts by the reason. lost: spans that are no entities.

    bad: errors of records and spans that were left out; bad_spans: how many of them are spans.
    """

    examples: list[Example]
    left_out: Counter[str] = field(default_factory=Counter)
    lost: tuple[LostSpan, ...] = ()
    bad: tuple[CorpusError, ...] = ()
    bad_spans: int = 0


def read_returned(path: Path, nlp: Language, skip_bad: bool = False) -> Returned:
    """The examples of a `.spacy` file, or of any format with text that `convert` reads.

    skip_bad: whether records and spans that cannot be read are left out. Raises `CorpusError` for a
    file that cannot be read, or that has nothing to learn.
    """
    if path.suffix == ".spacy":
        return Returned(list(examples_for(nlp, path)))
    reader, sources = find_sources(path)
    if not isinstance(reader, TextFormat):
        raise CorpusError(
            f"{path} has words without a text. Make a .spacy file of it: python -m spacy cascade "
            f"convert {path} NEW.spacy"
        )
    left_out: Counter[str] = Counter()
    bad: list[CorpusError] = []
    options = FormatOptions(on_bad=bad.append)
    records = (record for one in sources for record in reader.read(one, options))
    examples, lost, bad_spans = list[Example](), list[LostSpan](), 0
    for text in annotated_only(records, left_out):
        example, without_place = example_of(text, nlp)
        examples.append(example)
        lost += without_place
        bad_spans += text.bad_spans
    if not skip_bad:
        check_none(bad)
    if not examples:
        raise CorpusError(f"{path} has no accepted annotation. Annotate some sentences first.")
    return Returned(examples, left_out, tuple(lost), tuple(bad), bad_spans)


def example_of(text: AnnotatedText, nlp: Language) -> tuple[Example, tuple[LostSpan, ...]]:
    """An annotated text with the tokens of the pipeline, or its own; spans that have no place."""
    placed = place(text, partial(tokenize, nlp), nlp.vocab, spans_key=None)
    return Example(input_doc(placed.doc, (), nlp.vocab), placed.doc), placed.lost
