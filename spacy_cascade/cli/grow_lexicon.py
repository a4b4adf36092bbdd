"""The command `spacy cascade grow-lexicon`: terms of web pages formatted like known ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CorpusError
from ..features.terms import read_terms
from ..files import UNREADABLE
from ..pipeline.progress import progress
from ..web.growing import GrownLexicon, Thresholds, WebTerm, grow_lexicon
from .options import argument, option
from .output import counted, print_table, print_warning, reports_errors, write_file

_DEFAULT = Thresholds()
_SCORE = 0.5
_PAGES = (".html", ".htm", ".xhtml")
_SHOWN = 5
_STOPPED = 130
"""Exit status after Ctrl-C, as shells have it."""


@reports_errors
def grow_lexicon_command(
    seeds: Annotated[
        Path, argument("SEEDS", "Known terms of one kind: .txt (a term a line), .tsv or .jsonl")
    ],
    pages: Annotated[list[Path], argument("PAGE...", "HTML pages, or folders of them")],
    output: Annotated[Path, option("The list", "--output", "-o")],
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
    Find terms that share the formatting of known terms on web pages.

    Terms stand in the same list, in the same column of a table, or in elements of the same kind as
    the seeds. Each line of the list is a pattern with its score and the evidence for it. Read the
    list before you use it as a lexicon.
    """
    known = [" ".join(term.words) for term in read_terms("seeds", str(seeds))]
    thresholds = Thresholds(min_seeds, min_share)
    try:
        grown = grow_lexicon(known, _read_pages(_find_pages(pages)), thresholds)
    except KeyboardInterrupt:
        print_warning("Stopped. No list was written.", to_stderr=True)
        raise typer.Exit(_STOPPED) from None
    terms = [term for term in grown.terms if term.score >= min_score][:max_terms]
    _report(grown, terms, len(set(known)))
    label = label or seeds.name.partition(".")[0]
    lines = [_line(text, label) for text in known] if with_seeds else []
    lines += [_line(term.text, label, term) for term in terms]
    write_file(output, "".join(lines), counted(len(terms), "new term"))


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


def _line(text: str, label: str, term: WebTerm | None = None) -> str:
    """One pattern of the list; a seed has no evidence."""
    row: dict[str, object] = {"label": label, "pattern": text}
    if term is not None:
        row["score"] = round(term.score, 4)
        row["evidence"] = [
            {"page": e.page, "formatting": e.formatting, "seeds": e.seeds, "texts": e.size}
            for e in term.evidence
        ]
    return json.dumps(row, ensure_ascii=False) + "\n"


def _report(grown: GrownLexicon, terms: list[WebTerm], n_seeds: int) -> None:
    found = f"{grown.found_seeds:,} of {counted(n_seeds, 'seed')}"
    typer.echo(f"{found} on {counted(grown.n_pages, 'page')}")
    if not terms:
        print_warning(
            "No new terms: too few seeds stand together. Give more seeds, pages that list such "
            "terms, or lower --min-score and --min-seeds."
        )
        return
    rows = [
        (term.text, f"{term.score:.2f}", term.evidence[0].page, term.evidence[0].formatting)
        for term in terms[:_SHOWN]
    ]
    print_table(rows, ("best terms", "score", "page", "formatting"), "lrll")
