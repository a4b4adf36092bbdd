"""The commands `spacy cascade lists collect` and `lists grow`: term lists of texts and terms."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import spacy
import typer
from spacy.vocab import Vocab

from ....cli.options import (
    Field,
    Labels,
    MaxTerms,
    Model,
    Output,
    Processes,
    Texts,
    Vectors,
    argument,
    option,
    split_labels,
)
from ....cli.output import STOPPED, counted, print_table, print_warning, reports_errors, write_file
from ....errors import ConfigError, CorpusError
from ....files import UNREADABLE
from ....parallel import available_cores

if TYPE_CHECKING:
    from . import evidence
    from .collecting import Batch, GrownList
    from .formatting import Thresholds

_AT_ONCE = 1024
"""Texts that a process has at a time; it meets their words anew."""
_PAGES = (".html", ".htm", ".xhtml")
_SHOWN = 5


@reports_errors
def collect_command(
    model: Model,
    texts: Texts,
    output: Output,
    min_confidence: Annotated[
        float, option("Confidence that an entity needs to count", min=0, max=1)
    ] = 0.9,
    min_contexts: Annotated[
        int, option("Different pairs of neighbouring words that a phrase needs", min=1)
    ] = 3,
    min_agreement: Annotated[
        float,
        option("Share of the phrase's occurrences that must be found as entity", min=0, max=1),
    ] = 0.5,
    max_terms: MaxTerms = None,
    labels: Labels = "",
    known: Annotated[
        Path | None, option("Docs whose entities are left out of the list, .spacy")
    ] = None,
    field: Field = "text",
    processes: Processes = 0,
) -> None:
    """
    Make a term list of the phrases that a pipeline finds in unlabelled text.

    Each line of the list is a pattern with its label and the counts behind it. The list can be a
    lexicon of a further training. Whether that gains anything, only a measurement shows: train
    with and without it, and compare on dev. The best terms are those in most contexts.
    """
    from ....text_sources import find_sources
    from .collecting import Thresholds, grow_list

    sources = find_sources(texts)
    batches = partial(_batches, sources, field)
    try:
        grown = grow_list(
            str(model),
            batches,
            Thresholds(min_confidence, min_contexts, min_agreement),
            labels=list(split_labels(labels)),
            known=_known(known),
            processes=processes or available_cores(),
        )
    except KeyboardInterrupt:
        print_warning("Stopped. No list was written.", to_stderr=True)
        raise typer.Exit(STOPPED) from None
    _write(grown, max_terms, output)


def _batches(sources: Iterable[Path], field: str, task: str) -> "Iterator[Batch]":
    """All texts, some at a time, with a progress bar."""
    from ....pipeline.progress import progress

    texts = chain.from_iterable(_texts(source, field) for source in sources)
    with progress(task, unit=" texts") as bar:
        while batch := list(islice(texts, _AT_ONCE)):
            yield batch
            bar.update(len(batch))


def _texts(path: Path, field: str) -> "Iterator[str | bytes]":
    """Texts without the line breaks at their ends, which would be tokens; Docs without entities."""
    from ....pipeline.readers import SENTENCES, input_doc, read_docs
    from ....text_sources import DOCS, read_texts

    if path.name.lower().endswith(DOCS):
        vocab = Vocab()
        return (input_doc(d, (SENTENCES,), vocab).to_bytes() for d in read_docs(path, vocab))
    return map(str.strip, read_texts(path, field))


def _known(path: Path | None) -> set[str]:
    from ....pipeline.readers import read_docs
    from .collecting import squeezed

    docs = [] if path is None else read_docs(path, Vocab())
    return {squeezed(entity.text) for doc in docs for entity in doc.ents}


def _write(grown: "GrownList", most: int | None, output: Path) -> None:
    terms = grown.terms[:most]
    lines = [json.dumps(asdict(term), ensure_ascii=False) + "\n" for term in terms]
    by_label = Counter(term.label for term in terms)
    rows = [
        (label, f"{n:,}", ", ".join([t.pattern for t in terms if t.label == label][:3]))
        for label, n in by_label.most_common()
    ]
    print_table(rows, ("label", "terms", "in most contexts"), "lrl")
    of = counted(grown.n_phrases, "phrase")
    write_file(output, "".join(lines), f"{counted(len(terms), 'term')} of {of} found")


@reports_errors
def grow_command(
    seeds: Annotated[
        Path, argument("SEEDS", "Known terms of one kind: .txt (a term a line), .tsv or .jsonl")
    ],
    output: Output,
    pages: Annotated[
        list[Path] | None, argument("[PAGE...]", "HTML pages, or folders of them")
    ] = None,
    vectors: Vectors = None,
    label: Annotated[str, option("Label of the terms. Default: the name of the seeds' file")] = "",
    min_score: Annotated[float, option("Least score of a term, from 0 to 1", min=0, max=1)] = 0.5,
    min_seeds: Annotated[
        int, option("Different seeds that a list, column or pattern needs", min=1)
    ] = 2,
    min_share: Annotated[
        float, option("Share of seeds among the texts of a list, column or pattern", min=0, max=1)
    ] = 0.02,
    max_terms: MaxTerms = None,
    with_seeds: Annotated[bool, option("Also write the seeds")] = False,
) -> None:
    """
    Find terms like known ones, on web pages and among words with vectors.

    On a page they stand in the same list, in the same column of a table, or in elements of the same
    kind as the seeds. Among the words of --vectors, they are as near to the seeds as seeds are to
    each other. Each line of the list is a pattern with its score and the evidence for it. Read the
    list before you use it as a lexicon.
    """
    from ..terms import read_terms
    from .evidence import distinct_seeds, ranked_terms
    from .formatting import Thresholds

    known = distinct_seeds([" ".join(term.words) for term in read_terms("seeds", str(seeds))])
    if not pages and vectors is None:
        raise ConfigError("There is nothing to look at. Give pages, or a pipeline with --vectors.")
    thresholds = Thresholds(min_seeds, min_share)
    seen: list[tuple[str, evidence.Evidence]] = []
    try:
        if pages:
            seen += _of_pages(list(known.values()), pages, thresholds)
        if vectors is not None:
            seen += _of_vectors(list(known.values()), vectors)
    except KeyboardInterrupt:
        print_warning("Stopped. No list was written.", to_stderr=True)
        raise typer.Exit(STOPPED) from None
    found = [term for term in ranked_terms(seen) if term.score >= min_score][:max_terms]
    _report(found)
    label = label or seeds.name.partition(".")[0]
    lines = [_line(text, label) for text in known.values()] if with_seeds else []
    lines += [_line(term.text, label, term) for term in found]
    write_file(output, "".join(lines), counted(len(found), "new term"))


def _of_pages(
    seeds: list[str], paths: list[Path], thresholds: "Thresholds"
) -> "list[tuple[str, evidence.Evidence]]":
    from .formatting import from_pages

    pages = _find_pages(paths)
    found = from_pages(seeds, _read_pages(pages), thresholds)
    of_seeds = f"{found.found_seeds:,} of {counted(len(seeds), 'seed')}"
    typer.echo(f"{of_seeds} on {counted(len(pages), 'page')}")
    return found.evidence


def _of_vectors(seeds: list[str], pipeline: str) -> "list[tuple[str, evidence.Evidence]]":
    from ....pipeline.vocabulary_vectors import VocabularyVectors
    from .neighbours import from_vectors

    nlp = spacy.load(pipeline)
    vectors = VocabularyVectors.of_vocabulary(nlp.vocab)
    if vectors is None:
        raise ConfigError(f"The pipeline {pipeline} has no word vectors. Give one that has.")
    found = from_vectors(
        seeds, pipeline, vectors, lambda text: [token.text for token in nlp.make_doc(text)]
    )
    of_seeds = f"{found.found_seeds:,} of {counted(len(seeds), 'seed')}"
    typer.echo(f"{of_seeds} with vectors in {pipeline}")
    return found.evidence


def _find_pages(paths: list[Path]) -> list[Path]:
    """All pages. Raises `CorpusError` where there is none."""
    found = []
    for path in paths:
        if path.is_dir():
            found += sorted(p for p in path.rglob("*") if p.suffix.lower() in _PAGES)
        elif path.exists():
            found.append(path)
        else:
            raise CorpusError(f"There is no page at {path}. Check the path.")
    if not found:
        raise CorpusError(
            f"There are no pages in {paths[0]}. Give files, or folders with {', '.join(_PAGES)}."
        )
    return found


def _read_pages(paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    from ....pipeline.progress import progress

    with progress("Reading pages", total=len(paths), unit=" pages") as bar:
        for path in paths:
            try:
                content = path.read_bytes()
            except UNREADABLE as error:
                raise CorpusError(f"The page {path} cannot be read: {error}.") from None
            yield str(path), content
            bar.update()


def _line(text: str, label: str, term: "evidence.GrownTerm | None" = None) -> str:
    """One pattern of the list; a seed has no evidence."""
    row: dict[str, object] = {"label": label, "pattern": text}
    if term is not None:
        row["score"] = round(term.score, 4)
        row["evidence"] = [
            {"source": e.source, "group": e.group, "seeds": e.seeds, "texts": e.size}
            for e in term.evidence
        ]
    return json.dumps(row, ensure_ascii=False) + "\n"


def _report(terms: "list[evidence.GrownTerm]") -> None:
    if not terms:
        print_warning(
            "No new terms: too few seeds stand together. Give more seeds, pages that list such "
            "terms, or lower --min-score and --min-seeds."
        )
        return
    rows = [
        (term.text, f"{term.score:.2f}", term.evidence[0].source, term.evidence[0].group)
        for term in terms[:_SHOWN]
    ]
    print_table(rows, ("best terms", "score", "source", "group"), "lrll")
