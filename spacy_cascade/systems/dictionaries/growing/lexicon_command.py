"""The command `spacy cascade grow-lexicon`: terms like known ones, of web pages and vectors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import spacy
import typer

from ....cli.options import argument, option
from ....cli.output import STOPPED, counted, print_table, print_warning, reports_errors, write_file
from ....errors import ConfigError, CorpusError
from ....files import UNREADABLE
from ....pipeline.progress import progress
from ....pipeline.reading import VocabularyVectors
from ..terms import read_terms
from .evidence import Evidence, GrownTerm, distinct_seeds, ranked_terms
from .formatting import Thresholds, from_pages
from .neighbours import from_vectors

_DEFAULT = Thresholds()
_SCORE = 0.5
_PAGES = (".html", ".htm", ".xhtml")
_SHOWN = 5


@reports_errors
def grow_lexicon_command(
    seeds: Annotated[
        Path, argument("SEEDS", "Known terms of one kind: .txt (a term a line), .tsv or .jsonl")
    ],
    output: Annotated[Path, option("The list", "--output", "-o")],
    pages: Annotated[
        list[Path] | None, argument("[PAGE...]", "HTML pages, or folders of them")
    ] = None,
    vectors: Annotated[
        str | None, option("Pipeline with word vectors: words near the seeds are terms, too")
    ] = None,
    label: Annotated[str, option("Label of the terms. Default: the name of the seeds' file")] = "",
    min_score: Annotated[
        float, option("Least score of a term, from 0 to 1", min=0, max=1)
    ] = _SCORE,
    min_seeds: Annotated[
        int, option("Different seeds that a list, column or pattern needs", min=1)
    ] = _DEFAULT.seeds,
    min_share: Annotated[
        float, option("Share of seeds among the texts of a list, column or pattern", min=0, max=1)
    ] = _DEFAULT.share,
    max_terms: Annotated[int | None, option("Keep only so many terms, the best", min=1)] = None,
    with_seeds: Annotated[bool, option("Also write the seeds")] = False,
) -> None:
    """
    Find terms like known ones, on web pages and among words with vectors.

    On a page they stand in the same list, in the same column of a table, or in elements of the same
    kind as the seeds. Among words with vectors, they are as near to the seeds as seeds are to each
    other. Each line of the list is a pattern with its score and the evidence for it. Read the list
    before you use it as a lexicon.
    """
    known = distinct_seeds([" ".join(term.words) for term in read_terms("seeds", str(seeds))])
    if not pages and vectors is None:
        raise ConfigError("There is nothing to look at. Give pages, or a pipeline with --vectors.")
    thresholds = Thresholds(min_seeds, min_share)
    evidence: list[tuple[str, Evidence]] = []
    try:
        if pages:
            evidence += _of_pages(list(known.values()), pages, thresholds)
        if vectors is not None:
            evidence += _of_vectors(list(known.values()), vectors)
    except KeyboardInterrupt:
        print_warning("Stopped. No list was written.", to_stderr=True)
        raise typer.Exit(STOPPED) from None
    found = [term for term in ranked_terms(evidence) if term.score >= min_score][:max_terms]
    _report(found)
    label = label or seeds.name.partition(".")[0]
    lines = [_line(text, label) for text in known.values()] if with_seeds else []
    lines += [_line(term.text, label, term) for term in found]
    write_file(output, "".join(lines), counted(len(found), "new term"))


def _of_pages(
    seeds: list[str], paths: list[Path], thresholds: Thresholds
) -> list[tuple[str, Evidence]]:
    pages = _find_pages(paths)
    found = from_pages(seeds, _read_pages(pages), thresholds)
    of_seeds = f"{found.found_seeds:,} of {counted(len(seeds), 'seed')}"
    typer.echo(f"{of_seeds} on {counted(len(pages), 'page')}")
    return found.evidence


def _of_vectors(seeds: list[str], pipeline: str) -> list[tuple[str, Evidence]]:
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
    with progress("Reading pages", total=len(paths), unit=" pages") as bar:
        for path in paths:
            try:
                content = path.read_bytes()
            except UNREADABLE as error:
                raise CorpusError(f"The page {path} cannot be read: {error}.") from None
            yield str(path), content
            bar.update()


def _line(text: str, label: str, term: GrownTerm | None = None) -> str:
    """One pattern of the list; a seed has no evidence."""
    row: dict[str, object] = {"label": label, "pattern": text}
    if term is not None:
        row["score"] = round(term.score, 4)
        row["evidence"] = [
            {"source": e.source, "group": e.group, "seeds": e.seeds, "texts": e.size}
            for e in term.evidence
        ]
    return json.dumps(row, ensure_ascii=False) + "\n"


def _report(terms: list[GrownTerm]) -> None:
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
