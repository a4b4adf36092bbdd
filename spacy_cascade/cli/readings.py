"""The command `spacy cascade readings`: the most probable readings of each sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import valid_text
from spacy_cascade.cli.output import print_line, print_table, write_file, write_json
from spacy_cascade.errors import CascadeError
from spacy_cascade.explaining.hypotheses import Hypotheses, Hypothesis, joint_hypotheses
from spacy_cascade.pipeline.spans.nbest import MOST
from spacy_cascade.pipeline.spans.placing import LabelledSpan
from spacy_cascade.reports.explanation import make_readings_page


def readings_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Trained pipeline")],
    text: Annotated[str, typer.Argument(metavar="TEXT", callback=valid_text, help="Text to read")],
    n: Annotated[
        int, typer.Option("--n", "-n", min=1, max=MOST, help="Hypotheses of each sentence")
    ] = 5,
    json: Annotated[Path | None, typer.Option(help="JSON file to write them to")] = None,
    html: Annotated[Path | None, typer.Option(help="HTML file to show them in")] = None,
) -> None:
    """
    Show the most probable readings of each sentence.

    A reading has spans and their types; its probability is that of the spans times those of the
    types. The first reading of a sentence is shown whole, of the others what they have more and
    what they have less.
    """
    try:
        nlp = spacy.load(model)
        doc = nlp(text)
        sentences = joint_hypotheses(nlp, doc, n)
        for sentence in sentences:
            _print_sentence(doc, sentence)
        if json is not None:
            found = [sentence.to_json(doc) for sentence in sentences]
            write_json(json, found, "Hypotheses")
        if html is not None:
            page = make_readings_page(doc, sentences, model=model.name)
            write_file(html, page, "Hypotheses")
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None


def _print_sentence(doc: Doc, sentence: Hypotheses) -> None:
    typer.echo()
    print_line("", doc[sentence.start : sentence.end].text)
    first = sentence.hypotheses[0].entities
    rows = [(1, _probability(sentence.hypotheses[0]), _shown(doc, "", first) or "nothing")]
    for rank, reading in enumerate(sentence.hypotheses[1:], 2):
        more = [entity for entity in reading.entities if entity not in first]
        less = [entity for entity in first if entity not in reading.entities]
        differences = filter(None, (_shown(doc, "+ ", more), _shown(doc, "- ", less)))
        rows.append((rank, _probability(reading), ", ".join(differences)))
    print_table(rows, ("", "probability", "entities"), "rrl")


def _probability(reading: Hypothesis) -> str:
    return f"{reading.probability:.4f}"


def _shown(doc: Doc, sign: str, entities: Sequence[LabelledSpan]) -> str:
    return ", ".join(f"{sign}{doc[s:e].text} [{label}]" for s, e, label in entities)
