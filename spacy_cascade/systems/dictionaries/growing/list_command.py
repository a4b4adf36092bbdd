"""The command `spacy cascade grow-list`: a term list of what a pipeline finds in texts."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ....cli.options import Model, argument, option
from ....cli.output import STOPPED, counted, print_table, print_warning, reports_errors, write_file
from ....parallel import available_cores
from ....pipeline.progress import progress
from ....pipeline.readers import read_docs
from ....text_sources import DOCS, find_sources, read_texts
from .phrases import Batch, Words, squeezed
from .workflow import GrownList, GrownTerm, Thresholds, grow_list

_AT_ONCE = 1024
"""Texts that a process has at a time; it meets their words anew."""
_DEFAULT = Thresholds()


@reports_errors
def grow_list_command(
    model: Model,
    texts: Annotated[
        list[Path],
        argument("TEXT...", "Files .txt (a text a line), .jsonl, .spacy; .gz; or folders of them"),
    ],
    output: Annotated[Path, option("The list", "--output", "-o")],
    min_confidence: Annotated[
        float, option("Confidence that an entity needs to count", min=0, max=1)
    ] = _DEFAULT.confidence,
    min_contexts: Annotated[
        int, option("Different pairs of neighbouring words that a phrase needs", min=1)
    ] = _DEFAULT.contexts,
    min_agreement: Annotated[
        float,
        option("Share of the phrase's occurrences that must be found as entity", min=0, max=1),
    ] = _DEFAULT.agreement,
    max_terms: Annotated[
        int | None, option("Keep only so many terms, those in most contexts", min=1)
    ] = None,
    labels: Annotated[str, option("Labels to list, such as DNA,protein. Default: all")] = "",
    known: Annotated[
        Path | None, option("Docs whose entities are left out of the list, .spacy")
    ] = None,
    field: Annotated[str, option("Field of .jsonl with the text")] = "text",
    processes: Annotated[
        int | None, option("Processes. Default: one for each core", min=1, show_default=False)
    ] = None,
) -> None:
    """
    Make a term list of the phrases that a pipeline finds in unlabelled text.

    Each line of the list is a pattern with its label and the counts behind it. The list can be a
    lexicon of a further training. Whether that gains anything, only a measurement shows: train
    with and without it, and compare on dev.
    """
    sources = find_sources(texts)
    batches = partial(_batches, sources, field)
    try:
        grown = grow_list(
            str(model),
            batches,
            Thresholds(min_confidence, min_contexts, min_agreement),
            labels=[label.strip() for label in labels.split(",") if label.strip()],
            known=_known(known),
            processes=processes or available_cores(),
        )
    except KeyboardInterrupt:
        print_warning("Stopped. No list was written.", to_stderr=True)
        raise typer.Exit(STOPPED) from None
    _write(grown, grown.terms[:max_terms], output)


def _batches(sources: Iterable[Path], field: str, task: str) -> Iterator[Batch]:
    """All texts, some at a time, with a progress bar."""
    with progress(task, unit=" texts") as bar:
        for source in sources:
            found = _words(source) if source.name.lower().endswith(DOCS) else _lines(source, field)
            while batch := list[str | Words](islice(found, _AT_ONCE)):
                yield batch
                bar.update(len(batch))


def _lines(path: Path, field: str) -> Iterator[str]:
    """Texts without the line breaks at their ends, which would be tokens."""
    return map(str.strip, read_texts(path, field))


def _words(path: Path) -> Iterator[Words]:
    """The words and sentences of the Docs of a file, without their entities."""
    for doc in read_docs(path, Vocab()):
        spaces = None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc]
        yield Words([t.text for t in doc], spaces, [t.is_sent_start for t in doc])


def _known(path: Path | None) -> set[str]:
    docs: Iterable[Doc] = () if path is None else read_docs(path, Vocab())
    return {squeezed(entity.text) for doc in docs for entity in doc.ents}


def _write(grown: GrownList, terms: list[GrownTerm], output: Path) -> None:
    lines = [json.dumps(asdict(term), ensure_ascii=False) + "\n" for term in terms]
    by_label = Counter(term.label for term in terms)
    rows = [
        (label, f"{n:,}", ", ".join([t.pattern for t in terms if t.label == label][:3]))
        for label, n in by_label.most_common()
    ]
    print_table(rows, ("label", "terms", "in most contexts"), "lrl")
    of = counted(grown.n_phrases, "phrase")
    write_file(output, "".join(lines), f"{counted(len(terms), 'term')} of {of} found")
