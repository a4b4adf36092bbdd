"""The command `spacy cascade evaluate`: scores of a pipeline, with the input of its task."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.scorer import Scorer
from spacy.training import Example
from wasabi import msg
from wasabi.util import MESSAGES

from spacy_cascade.cli.output import print_line, write_file
from spacy_cascade.errors import CascadeError
from spacy_cascade.pipeline.readers import GIVEN, examples_for, make_corpus
from spacy_cascade.reports.page import N_MISTAKES, make_page
from spacy_cascade.reports.texts import draw_page

_PER_TYPE = "_per_type"
_ENTITIES = "entities.html"
"""Name of the page, as `spacy evaluate` has it for spaCy's own `ner`."""


def evaluate_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Trained pipeline")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA.spacy", help="Docs with the gold annotation")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file to write the scores to")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What components see beside the words: {' or '.join(GIVEN)}; give it several "
            "times. By default what the dev corpus of the training config gives",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="HTML file for a report of the entities, with the worst mistakes"),
    ] = None,
    mistakes: Annotated[
        int, typer.Option(min=0, help="Sentences with mistakes that the report shows")
    ] = N_MISTAKES,
    displacy_path: Annotated[
        Path | None,
        typer.Option(
            "--displacy-path",
            "-dp",
            help=f"Folder for {_ENTITIES}, displaCy's page of the entities found and the gold ones",
        ),
    ] = None,
    displacy_limit: Annotated[
        int, typer.Option("--displacy-limit", "-dl", min=1, help="Docs on displaCy's page")
    ] = 25,
) -> None:
    """
    Evaluate a pipeline on gold data.

    As `spacy evaluate`, with two differences: DATA is read as the training config reads its dev
    corpus, with the sentences and tags that `spacy_cascade.Corpus.v1` gives, and every score of
    every component is shown, those of spans by label. --displacy-path is for pipelines of any
    components that set doc.ents, while that of `spacy evaluate` wants one made by `ner`.
    """
    try:
        nlp = spacy.load(model)
        corpus = examples_for(nlp, data) if not given else make_corpus(data, given)(nlp)
        scorer = _KeepingScorer(nlp)
        scores = nlp.evaluate(list(corpus), scorer=scorer)
        _print_scores(scores)
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            srsly.write_json(output, scores)
            print_line(MESSAGES.GOOD, f"Scores -> {output}")
        if html is not None:
            page = make_page(
                nlp, scorer.examples, model=model.name, data=data.name, n_mistakes=mistakes
            )
            write_file(html, page, "Report")
        if displacy_path is not None:
            page = draw_page(scorer.examples[:displacy_limit])
            write_file(displacy_path / _ENTITIES, page, "Entities")
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None


class _KeepingScorer(Scorer):
    """Keeps the examples that it scored, with what the pipeline predicted, for the report."""

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        self.examples = list(examples)
        scores: dict[str, Any] = super().score(self.examples, **settings)
        return scores


def _print_scores(scores: Mapping[str, Any]) -> None:
    speed = scores.get("speed")
    rows = [
        (name, f"{100 * value:.2f}")
        for name, value in sorted(scores.items())
        if isinstance(value, float) and name != "speed" and not name.startswith("token_")
    ]
    if isinstance(speed, float):
        rows.append(("words a second", f"{speed:,.0f}"))
    msg.table(rows, title="Scores", aligns=("l", "r"))
    for name, by_label in sorted(scores.items()):
        if name.endswith(_PER_TYPE) and by_label:
            _print_by_label(name.removesuffix(_PER_TYPE), by_label)


def _print_by_label(name: str, by_label: Mapping[str, Mapping[str, float]]) -> None:
    rows = [
        (label, *(f"{100 * found[key]:.2f}" for key in ("p", "r", "f")))
        for label, found in sorted(by_label.items())
    ]
    header = (f"{name} by label", "P", "R", "F1")
    msg.table(rows, header=header, divider=True, aligns=("l", "r", "r", "r"))
